"""Combinations of column flags that TiDB never produces (docs/stream-semantics.md §11, INV-FLAGS)."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as sf

from ticdc_producer.model.flags import ColumnFlag as F
from ticdc_producer.verifier.identity import has_flag

_UNSIGNED = "^(bit|year)"
_BINARY = (
    "^(tinyint|smallint|mediumint|int|bigint|float|double|decimal|bit|year|date|datetime|timestamp|time|json)"
    "( |$|\\()"
)


def odd_flags() -> Column:
    """Names of the event's columns with flags that TiDB never produces; NULL if there are none.

    A primary key is not nullable; the handle key is a primary or unique key; BIT and YEAR are unsigned;
    numbers, dates and JSON are binary.
    """

    def odd(column: Column) -> Column:
        flag, kind = column["flag"], sf.lower(column["type"])
        key = has_flag(flag, F.PRIMARY_KEY | F.UNIQUE_KEY)
        return (
            (has_flag(flag, F.PRIMARY_KEY) & has_flag(flag, F.NULLABLE))
            | (has_flag(flag, F.HANDLE_KEY) & ~key)
            | (sf.rlike(kind, sf.lit(_UNSIGNED)) & ~has_flag(flag, F.UNSIGNED))
            | (sf.rlike(kind, sf.lit(_BINARY)) & ~has_flag(flag, F.BINARY))
        )

    names = sf.transform(sf.filter("columns", odd), lambda column: column["name"])
    return sf.nullif(names, sf.array().cast("array<string>"))
