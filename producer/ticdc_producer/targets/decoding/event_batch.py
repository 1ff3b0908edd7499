"""Rows of the shape ``DECODED`` as an Arrow batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import pyarrow as pa

from ticdc_producer.model.dataframes import DECODED_ARROW

_IMAGE = DECODED_ARROW.field("before").type
_COLUMNS = DECODED_ARROW.field("columns").type
_Cells: TypeAlias = Sequence[Any]


def event_batch(rows: Sequence[Mapping[str, Any]]) -> pa.RecordBatch:
    """Rows as ``event_rows`` gives them."""
    nested = {"columns": _descriptions, "before": _images, "after": _images}
    arrays = [
        nested.get(field.name, _plain(field.type))([row.get(field.name) for row in rows])
        for field in DECODED_ARROW
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=DECODED_ARROW)


def _plain(kind: pa.DataType) -> Callable[[_Cells], pa.Array]:
    return lambda cells: pa.array(cells, kind)


def _descriptions(cells: _Cells) -> pa.Array:
    """Columns of rows: those of one table are one and the same list, which is converted once."""
    numbers: dict[int, int] = {}
    places = [None if cell is None else numbers.setdefault(id(cell), len(numbers)) for cell in cells]
    distinct = {id(cell): cell for cell in cells if cell is not None}
    return pa.array([distinct[one] for one in numbers], _COLUMNS).take(pa.array(places, pa.int32()))


def _images(cells: _Cells) -> pa.Array:
    """Images of rows: names and values one behind the other, and where each row's begin."""
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
