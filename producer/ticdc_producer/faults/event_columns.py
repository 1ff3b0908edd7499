"""Reads and replaces columns of a batch of the event stream.

``events`` has the columns of ``EVENT_STREAM``, its rows are in any order; results have one element per event,
in the same order.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.event import Kind, Op
from ticdc_producer.model.shapes import EVENT_STREAM
from ticdc_producer.pipeline.row_images import Flags, Numbers, numbers, typed

Columns: TypeAlias = dict[str, pa.Array | Numbers | int | str]
"""New columns; a number or text is that of every row."""


def integers(events: pa.RecordBatch, name: str) -> Numbers:
    """A column of integers or of one of the enums, as int64; -1 for NULL."""
    column = events.column(name)
    return numbers(pc.fill_null(column, -1) if column.null_count else column)


def is_kind(events: pa.RecordBatch, kind: Kind) -> Flags:
    """Which events are of a kind."""
    found: Flags = integers(events, "kind") == int(kind)
    return found


def has_op(events: pa.RecordBatch, *ops: Op) -> Flags:
    """Which events are row changes with one of these operations."""
    return is_kind(events, Kind.ROW) & np.isin(integers(events, "op"), [int(op) for op in ops])


def replaced(events: pa.RecordBatch, columns: Columns) -> pa.RecordBatch:
    """The events with other columns.

    :param columns: by name, values that are cast to the types of ``EVENT_STREAM``.
    :return: shape ``EVENT_STREAM``.
    """
    arrays = {name: events.column(name) for name in EVENT_STREAM.names}
    for name, column in columns.items():
        if isinstance(column, np.ndarray):
            arrays[name] = pa.array(column)
        elif isinstance(column, int | str | bytes):
            arrays[name] = pa.repeat(column, events.num_rows)
        else:
            arrays[name] = column
    return pa.record_batch(
        [typed(arrays[field.name], field.type) for field in EVENT_STREAM], schema=EVENT_STREAM
    )


def chosen(events: pa.RecordBatch, rows: Flags) -> pa.RecordBatch:
    """The events whose flag is set, with all their columns."""
    return events if rows.all() else events.filter(pa.array(rows))
