"""Change logs of a few rows, written by hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from ticdc_producer.model.event import Op, Value
from ticdc_producer.model.shapes import IMAGE, ChangeBatch
from ticdc_producer.pipeline.mutations import IN_KEY_ORDER
from ticdc_producer.scenario.history import Change

Image = Sequence[Value] | None


def images(values: Iterable[Image]) -> pa.ListArray:
    return pa.array(values, IMAGE)


def sliced(values: Sequence[Image]) -> pa.ListArray:
    """The images as a slice of a longer array."""
    return images([(b"before",), *values, None]).slice(1, len(values))


def op_of(before: Image, after: Image) -> Op:
    if before is None:
        return Op.INSERT
    return Op.DELETE if after is None else Op.UPDATE


def change(row_key: bytes, before: Image, after: Image, **others: Any) -> Change:
    """A change of a row of table 100, in commit 0; ``others`` are other values of ``Change``."""
    given: dict[str, Any] = {"commit_seq": 0, "row_seq": 0, "table_version": 0, "table_id": 100, "row_id": 0}
    given |= others
    old, new = (None if image is None else tuple(image) for image in (before, after))
    return Change(row_key=row_key, op=op_of(before, after), before=old, after=new, **given)


def in_key_order(changes: ChangeBatch) -> ChangeBatch:
    """Sort changes as ``collapse`` needs them."""
    return changes.sort_by([(name, "ascending") for name in IN_KEY_ORDER])
