"""The events of messages as Arrow batches of the shape ``DECODED``, and as columns of tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from typing import Literal, Self, TypeAlias, cast

import numpy as np
import pyarrow as pa

from ticdc_producer.model.column_functions import Numbers, flat_positions
from ticdc_producer.model.event import EventColumn, Kind, Value
from ticdc_producer.model.shapes import DECODED, DecodedBatch, StoredMessageBatch
from ticdc_producer.protocols.arrow_text import lengths
from ticdc_producer.protocols.base import DecodedRows

_COLUMNS = DECODED.field("columns").type
Cells: TypeAlias = Sequence[object] | pa.Array


def batch_of_columns(columns: Mapping[str, Cells], schema: pa.Schema) -> pa.RecordBatch:
    """Convert columns to an Arrow batch.

    :param columns: by name; the descriptions of a row's columns are dicts, its images map names to values.
    :param schema: columns of the shape ``DECODED``.
    """
    arrays = [_NESTED.get(field.name, _plain(field.type))(columns[field.name]) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _plain(kind: pa.DataType) -> Callable[[Cells], pa.Array]:
    return lambda cells: cells if isinstance(cells, pa.Array) else pa.array(cells, kind)


def _descriptions(cells: Cells) -> pa.Array:
    """Convert the column descriptions; rows of one table share one list, which is converted once."""
    numbers: dict[int, int] = {}
    indexes = [None if cell is None else numbers.setdefault(id(cell), len(numbers)) for cell in cells]
    distinct = {id(cell): cell for cell in cells if cell is not None}
    return pa.array([distinct[number] for number in numbers], _COLUMNS).take(pa.array(indexes, pa.int32()))


def _images(cells: Cells) -> pa.Array:
    """Convert row images: concatenated names and values, and the start of each row.

    >>> _images([{"a": b"1", "b": None}, None, {}]).to_pylist()
    [[('a', b'1'), ('b', None)], None, []]
    """
    absent = np.array([image is None for image in cells], np.bool_)
    images = [cast("Mapping[str, Value]", image) for image in cells if image is not None]
    starts = np.zeros(len(cells) + 1, np.int32)
    starts[1:][~absent] = [*map(len, images)]
    names = [*chain.from_iterable(images)]
    values = [*chain.from_iterable(image.values() for image in images)]
    return pa.MapArray.from_arrays(
        pa.array(np.cumsum(starts, dtype=np.int32), mask=np.append(absent, False)),
        pa.array(names, pa.string()),
        pa.array(values, pa.binary()),
    )


_NESTED: Mapping[str, Callable[[Cells], pa.Array]] = {
    "columns": _descriptions,
    "before": _images,
    "after": _images,
}


@lru_cache(maxsize=256)
def described(columns: tuple[EventColumn, ...]) -> list[dict[str, object]]:
    """Return column descriptions, created once for all rows of a table. Do not modify the result."""
    return [{"name": column.name, "type": column.type, "flag": column.flag} for column in columns]


_FLAT = pa.schema([field for field in DECODED if field.name not in _NESTED])


def of_messages(messages: StoredMessageBatch, numbers: Numbers) -> dict[str, Cells]:
    """Return the columns of events that say where they are.

    :param numbers: the number of each event's message.
    """
    rows = pa.array(numbers)
    columns = {name: messages.column(name).take(rows) for name in ("topic", "partition", "offset")}
    sizes = lengths(messages.column("key")) + lengths(messages.column("value"))
    return {**columns, "size": pa.array(sizes[numbers])}


@dataclass(frozen=True, kw_only=True)
class DecodedEvents:
    """The events of a few messages, in their order.

    :param messages: shape ``MESSAGES``.
    :param contents: their keys and values; none if the messages are unknown.
    :param counts: the number of events of each message.
    :param rows: events as columns of their tables.
    :param others: the events of all other messages (shape ``DECODED``).
    :param row_ids: ids of the rows in ``others``; 0 where the message has none; None: they are unknown.
    """

    messages: pa.RecordBatch
    contents: Sequence[tuple[bytes | None, bytes | None]] = ()
    counts: Numbers
    rows: Sequence[DecodedRows]
    others: DecodedBatch
    row_ids: pa.Array | None = None

    @classmethod
    def of_batch(cls, batch: DecodedBatch) -> Self:
        """Return events (shape ``DECODED``) of which none are columns."""
        return cls(messages=batch, counts=np.ones(batch.num_rows, np.int64), rows=(), others=batch)

    @cached_property
    def batch(self) -> DecodedBatch:
        """All events (shape ``DECODED``)."""
        return _joined(self) if self.rows else self.others

    @cached_property
    def numbers(self) -> Sequence[Numbers]:
        """The numbers of the events in ``batch``: of each element of ``rows``, and at last of ``others``.

        >>> rows = DecodedRows(**dict.fromkeys(DecodedRows.__slots__) | {"messages": pa.array([0, 2])})
        >>> others = pa.record_batch({"offset": [1, 1]})
        >>> events = DecodedEvents(messages=None, counts=np.array([1, 2, 1]), rows=[rows], others=others)
        >>> [numbers.tolist() for numbers in events.numbers]
        [[0, 3], [1, 2]]
        """
        starts = np.cumsum(self.counts) - self.counts
        of_rows = [group.messages.to_numpy() for group in self.rows]
        single = np.zeros(len(self.counts), np.bool_)
        for messages in of_rows:
            single[messages] = True
        events = np.flatnonzero(np.repeat(~single, self.counts))
        return [*(starts[messages] for messages in of_rows), events]

    @cached_property
    def order(self) -> Numbers:
        """For each event in ``batch``, its position in the concatenation of ``numbers``."""
        return _inverse(np.concatenate(self.numbers))

    @cached_property
    def layout_numbers(self) -> Numbers:
        """The number of each event's group of rows, and another one for each event that is in none.

        Events with the same number have the same kind and layout.

        >>> rows = DecodedRows(**dict.fromkeys(DecodedRows.__slots__) | {"messages": pa.array([0, 2])})
        >>> others = pa.record_batch({"offset": [1, 1]})
        >>> events = DecodedEvents(messages=None, counts=np.array([1, 2, 1]), rows=[rows], others=others)
        >>> events.layout_numbers.tolist()
        [0, 1, 2, 0]
        """
        sizes = [*map(len, self.rows)]
        groups = np.repeat(np.arange(len(sizes)), sizes)
        others = len(sizes) + np.arange(self.others.num_rows)
        return np.concatenate([groups, others])[self.order]

    @cached_property
    def all_row_ids(self) -> Numbers:
        """The id of the row of each event in ``batch``; 0: it is not known."""
        row_ids = np.zeros(int(self.counts.sum()), np.int64)
        ids = [*(group.row_ids for group in self.rows), self.row_ids]
        for numbers, of_numbers in zip(self.numbers, ids, strict=True):
            if of_numbers is not None:
                row_ids[numbers] = of_numbers.to_numpy()
        return row_ids


def _joined(events: DecodedEvents) -> DecodedBatch:
    """Return all events as a batch."""
    flat = [_flat(events.messages, group) for group in events.rows]
    columns = pa.concat_batches([*flat, events.others.select(_FLAT.names)]).take(pa.array(events.order))
    descriptions = pa.concat_arrays([
        pa.array([described(group.columns) for group in events.rows], _COLUMNS),
        events.others.column("columns"),
    ])  # fmt: skip
    nested = {
        "columns": descriptions.take(pa.array(events.layout_numbers)),
        "before": _joined_images(events, "before"),
        "after": _joined_images(events, "after"),
    }
    arrays = [nested[name] if name in nested else columns.column(name) for name in DECODED.names]
    batch: DecodedBatch = pa.RecordBatch.from_arrays(arrays, schema=DECODED)
    return batch


def _inverse(numbers: Numbers) -> Numbers:
    """Return the index of each number from 0 on.

    >>> _inverse(np.array([2, 0, 1])).tolist()
    [1, 2, 0]
    """
    indexes = np.empty(len(numbers), np.int64)
    indexes[numbers] = np.arange(len(numbers))
    return indexes


def _flat(messages: StoredMessageBatch, rows: DecodedRows) -> pa.RecordBatch:
    """Return rows without their column descriptions and images."""
    columns = {
        **of_messages(messages, rows.messages.to_numpy()),
        "commit_ts": rows.commit_ts,
        "table_id": rows.table_id,
    }
    of_all = {
        "index": 0, "events": 1, "kind": Kind.ROW.label, "schema": rows.schema, "table": rows.table,
        "op": rows.op.label, "handle_key_only": int(rows.handle_key_only),
    }  # fmt: skip
    arrays = [
        columns[field.name]
        if field.name in columns
        else pa.repeat(pa.scalar(of_all.get(field.name), field.type), len(rows))
        for field in _FLAT
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=_FLAT)


def _joined_images(events: DecodedEvents, side: Literal["before", "after"]) -> pa.MapArray:
    """Return the old or the new images of all events.

    >>> from types import SimpleNamespace
    >>> rows = SimpleNamespace(after={"a": pa.array([b"1", b"2"]), "b": pa.array([b"5", None])})
    >>> others = pa.record_batch({"after": pa.array([[("c", b"7")], None], DECODED.field("after").type)})
    >>> numbers = [np.array([0, 3]), np.array([1, 2])]
    >>> events = SimpleNamespace(counts=np.ones(4, np.int64), numbers=numbers, rows=[rows], others=others)
    >>> [image and dict(image) for image in _joined_images(events, "after").to_pylist()]
    [{'a': b'1', 'b': b'5'}, {'c': b'7'}, None, {'a': b'2', 'b': None}]
    """
    others = events.others.column(side)
    *of_rows, of_others = events.numbers
    images: list[Mapping[str, pa.Array] | None] = [getattr(rows, side) for rows in events.rows]
    sizes = np.zeros(int(events.counts.sum()), np.int64)
    present = np.zeros(len(sizes), np.bool_)
    present[of_others] = others.is_valid().to_numpy(zero_copy_only=False)
    widths = np.where(present[of_others], np.diff(others.offsets.to_numpy(zero_copy_only=False)), 0)
    sizes[of_others] = widths
    for numbers, image in zip(of_rows, images, strict=True):
        if image is not None:
            present[numbers], sizes[numbers] = True, len(image)
    bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    names = {
        name: code for code, name in enumerate(dict.fromkeys(chain.from_iterable(i or () for i in images)))
    }
    cells = [
        (bounds[numbers] + index, np.full(len(numbers), names[name]), values)
        for numbers, image in zip(of_rows, images, strict=True)
        for index, (name, values) in enumerate((image or {}).items())
    ]
    positions = flat_positions(bounds[of_others], widths)
    cells.append((positions, len(names) + np.arange(len(positions)), others.items))
    order = _inverse(np.concatenate([positions for positions, _, _ in cells]))
    codes = np.concatenate([codes for _, codes, _ in cells])
    texts = pa.concat_arrays([pa.array([*names], pa.string()), others.keys])
    return pa.MapArray.from_arrays(
        pa.array(bounds.astype(np.int32), mask=np.append(~present, False)),
        texts.take(pa.array(codes[order])),
        pa.concat_arrays([values for _, _, values in cells]).take(pa.array(order)),
    )
