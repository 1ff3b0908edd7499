"""Converts rows of the shape ``DECODED`` to an Arrow batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import pyarrow as pa

from ticdc_producer.model.shapes import DECODED

_IMAGE = DECODED.field("before").type
_COLUMNS = DECODED.field("columns").type
_Cells: TypeAlias = Sequence[Any]


def event_batch(rows: Sequence[Mapping[str, Any]]) -> pa.RecordBatch:
    """Convert rows to an Arrow batch.

    :param rows: as returned by ``event_rows``.
    """
    nested = {"columns": _descriptions, "before": _images, "after": _images}
    arrays = [
        nested.get(field.name, _plain(field.type))([row.get(field.name) for row in rows]) for field in DECODED
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=DECODED)


def _plain(kind: pa.DataType) -> Callable[[_Cells], pa.Array]:
    return lambda cells: pa.array(cells, kind)


def _descriptions(cells: _Cells) -> pa.Array:
    """Convert the column descriptions; rows of one table share one list, which is converted once."""
    numbers: dict[int, int] = {}
    indexes = [None if cell is None else numbers.setdefault(id(cell), len(numbers)) for cell in cells]
    distinct = {id(cell): cell for cell in cells if cell is not None}
    return pa.array([distinct[one] for one in numbers], _COLUMNS).take(pa.array(indexes, pa.int32()))


def _images(cells: _Cells) -> pa.Array:
    """Convert row images: concatenated names and values, and the start of each row."""
    names: list[str] = []
    values: list[bytes | None] = []
    starts: list[int | None] = []
    for image in cells:
        starts.append(None if image is None else len(names))
        if image is not None:
            names.extend(image)
            values.extend(image.values())
    starts.append(len(names))
    return pa.MapArray.from_arrays(
        pa.array(starts, pa.int32()), pa.array(names, pa.string()), pa.array(values, pa.binary())
    )
