"""Combinations of column flags that TiDB never produces (docs/stream-semantics.md §11, INV-FLAGS)."""

from __future__ import annotations

import re

from ticdc_producer.model.flags import ColumnFlag as F
from ticdc_producer.verifier.forms import EventColumn

_UNSIGNED = re.compile("bit|year")
_BINARY = re.compile(
    "(tinyint|smallint|mediumint|int|bigint|float|double|decimal|bit|year|date|datetime|timestamp|time|json)"
    r"( |$|\()"
)


def is_odd(column: EventColumn) -> bool:
    """Whether a column has flags that TiDB never produces.

    A primary key is not nullable; the handle key is a primary or unique key; BIT and YEAR are unsigned;
    numbers, dates and JSON are binary. TiCDC new architecture sends a column of a partitioned table that was
    added or renamed without flags, but for the handle key's.
    """
    flag, kind = column.flag, column.type.lower()
    return bool(flag & ~F.HANDLE_KEY) and bool(
        (flag & F.PRIMARY_KEY and flag & F.NULLABLE)
        or (flag & F.HANDLE_KEY and not flag & (F.PRIMARY_KEY | F.UNIQUE_KEY))
        or (_UNSIGNED.match(kind) and not flag & F.UNSIGNED)
        or (_BINARY.match(kind) and not flag & F.BINARY)
    )
