"""Converts events to Arrow batches, column by column."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import pyarrow as pa

from ticdc_producer.model.shapes import DECODED

_IMAGE = DECODED.field("before").type
_COLUMNS = DECODED.field("columns").type
_Cells: TypeAlias = Sequence[Any]


def event_batch(rows: Sequence[Mapping[str, Any]]) -> pa.RecordBatch:
    """Convert rows to an Arrow batch (shape ``DECODED``).

    :param rows: as returned by ``event_rows``, with all columns in their order.
    """
    cells = zip(*(row.values() for row in rows), strict=True) if rows else [()] * len(DECODED)
    return batch_of_columns(dict(zip(DECODED.names, cells, strict=True)), DECODED)


def batch_of_columns(columns: Mapping[str, _Cells], schema: pa.Schema) -> pa.RecordBatch:
    """Convert columns to an Arrow batch.

    :param columns: by name; the descriptions of a row's columns are dicts, its images map names to values.
    :param schema: columns of the shape ``DECODED``.
    """
    arrays = [_NESTED.get(field.name, _plain(field.type))(columns[field.name]) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


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
    values: list[bytes | str | None] = []
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


_NESTED: Mapping[str, Callable[[_Cells], pa.Array]] = {
    "columns": _descriptions,
    "before": _images,
    "after": _images,
}
