"""The events as the invariants read them: columns of numbers and texts, without images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import IntEnum
from functools import cached_property
from typing import Annotated, Any, Self, TypeAlias, get_type_hints

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.shuffle_codec import numbered_texts
from ticdc_producer.model.column_functions import Flags, Numbers
from ticdc_producer.model.event import MAX_EVENTS, TOMBSTONE
from ticdc_producer.model.shapes import DecodedBatch

TextColumn: TypeAlias = Annotated[pa.Array, pa.string()]
FlagColumn: TypeAlias = Annotated[Flags, pa.bool_()]
Int8Column: TypeAlias = Annotated[Numbers, pa.int8()]
Int32Column: TypeAlias = Annotated[Numbers, pa.int32()]
Int64Column: TypeAlias = Annotated[Numbers, pa.int64()]
"""Columns, each with the type in which it is stored and moved; numpy's numbers have 64 bits."""
Offset: TypeAlias = tuple[str, int, int]
"""Topic, partition and offset of a message."""
EventID: TypeAlias = tuple[str, int, int, int]
"""Topic, partition, offset of the message, and index in it."""


@dataclass(frozen=True, kw_only=True)
class EventColumns:
    """Locations and times of events; subclasses add columns. Texts are Arrow arrays, all else is numpy's.

    :param position: offset and index in the message in one number, see ``events.positions``.
    :param commit_ts: 0 for none.
    """

    topic: TextColumn
    schema: TextColumn
    table: TextColumn
    partition: Int32Column
    position: Int64Column
    commit_ts: Int64Column

    def __len__(self) -> int:
        return len(self.position)

    def take(self, rows: Numbers | Flags) -> Self:
        """Return some of the events, by number or by flag."""
        indexes = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        selection = pa.array(indexes)
        return type(self)(
            **{
                field.name: column.take(selection) if isinstance(column, pa.Array) else column[indexes]
                for field in fields(self)
                for column in [getattr(self, field.name)]
            }
        )

    @cached_property
    def topics(self) -> tuple[Numbers, list[str]]:
        """For each event the number of its topic, and the topics in the order of their numbers."""
        return numbered_texts(self.topic)

    @cached_property
    def tables(self) -> tuple[Numbers, list[tuple[str, str]]]:
        """For each event the number of its table, and ``(schema, table)`` by number."""
        return numbered_pairs(self.schema, self.table)

    @classmethod
    def with_columns(cls, rows: int, **columns: object) -> Self:
        """Return events of which some columns are given: a value per event, or one value for all events.

        The other columns are 0, False and empty texts.

        >>> events = KeyedEvents.with_columns(2, topic="t", key=[7, 8])
        >>> events.topic.to_pylist(), events.key.tolist(), events.commit_ts.tolist()
        (['t', 't'], [7, 8], [0, 0])
        """
        schema = cls.arrow_schema()
        empty = {column.name: _EMPTY.get(column.type, 0) for column in schema}
        return cls(
            **{
                name: _read(_filled(values, schema.field(name).type, rows), schema.field(name).type)
                for name, values in (empty | columns).items()
            }
        )

    @classmethod
    def part_of(cls, events: EventColumns, **others: Numbers | Flags) -> Self:
        """Return the columns of this class of events that have more columns.

        :param others: the columns that ``events`` lack.
        """
        columns: dict[str, Any] = dict(others)
        for field in fields(cls):
            if field.name not in others:
                columns[field.name] = getattr(events, field.name)
        return cls(**columns)

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Return the events of all parts."""
        columns = {field.name: [getattr(part, field.name) for part in parts] for field in fields(cls)}
        return cls(
            **{
                name: pa.concat_arrays(arrays) if isinstance(arrays[0], pa.Array) else np.concatenate(arrays)
                for name, arrays in columns.items()
            }
        )

    @classmethod
    def arrow_schema(cls) -> pa.Schema:
        """Return the columns as they are stored and moved, with the types that the annotations declare."""
        if cls not in _SCHEMAS:
            hints = get_type_hints(cls, include_extras=True)
            columns = [pa.field(field.name, hints[field.name].__metadata__[0]) for field in fields(cls)]
            _SCHEMAS[cls] = pa.schema(columns)
        return _SCHEMAS[cls]

    def to_batch(self) -> pa.RecordBatch:
        """Return the events with the columns of ``arrow_schema``."""
        schema = self.arrow_schema()
        columns = [_stored(getattr(self, column.name), column.type) for column in schema]
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    @classmethod
    def of(cls, batch: pa.RecordBatch) -> Self:
        """Return the events of a batch, the inverse of :meth:`to_batch`."""
        schema = cls.arrow_schema()
        columns = zip(schema, batch.columns, strict=True)
        return cls(**{column.name: _read(values, column.type) for column, values in columns})


_SCHEMAS: dict[type[EventColumns], pa.Schema] = {}
_EMPTY: dict[pa.DataType, object] = {pa.string(): "", pa.bool_(): False}


def _filled(values: object, kind: pa.DataType, rows: int) -> pa.Array:
    """Return a column of values, or of one value."""
    return pa.array(values if isinstance(values, list | np.ndarray | pa.Array) else [values] * rows, kind)


def _stored(values: pa.Array | Numbers | Flags, kind: pa.DataType) -> pa.Array:
    if isinstance(values, pa.Array):
        return values
    return pa.array(values if kind in (pa.int64(), pa.bool_()) else values.astype(kind.to_pandas_dtype()))


def _read(values: pa.Array, kind: pa.DataType) -> Any:
    if pa.types.is_string(kind):
        return values
    if pa.types.is_boolean(kind):
        return values.to_numpy(zero_copy_only=False)
    return values.to_numpy().astype(np.int64, copy=False)


def numbered_pairs(schemas: pa.Array, tables: pa.Array) -> tuple[Numbers, list[tuple[str, str]]]:
    """Return the number of each pair of texts, and the pairs by number.

    >>> numbers, pairs = numbered_pairs(pa.array(["a", "a", "a"]), pa.array(["u", "t", "u"]))
    >>> [pairs[number] for number in numbers.tolist()]
    [('a', 'u'), ('a', 't'), ('a', 'u')]
    """
    (of_schema, schema_names), (of_table, table_names) = numbered_texts(schemas), numbered_texts(tables)
    codes, numbers = np.unique(of_schema * max(len(table_names), 1) + of_table, return_inverse=True)
    pairs = [divmod(code, len(table_names)) for code in codes.tolist()]
    return numbers, [(schema_names[schema], table_names[table]) for schema, table in pairs]


INDEX_BITS = MAX_EVENTS.bit_length() - 1
NOTHING = -1
"""A time stamp or position of no event."""


class EventKind(IntEnum):
    """Kind of an observed event; the first three numbers are those of ``model.event.Kind``."""

    ROW = 1
    DDL = 2
    RESOLVED = 3
    ERROR = 4
    OLD_KEY = 5
    """The old key of an update that changes the handle key: the row with that key is gone."""


def without_tombstones(decoded: DecodedBatch) -> DecodedBatch:
    """Return the events of a batch (shape ``DECODED``): messages without value have none."""
    tombstones = pc.equal(decoded.column("kind"), TOMBSTONE)
    return decoded.filter(pc.invert(tombstones)) if pc.any(tombstones).as_py() else decoded


class Rule(IntEnum):
    """The dispatch rule of an event's table."""

    UNKNOWN = 0
    TABLE = 1
    INDEX_VALUE = 2
    COLUMNS = 3
    TS = 4


class Effect(IntEnum):
    """The effect of a DDL on the known rows of its table.

    - ``CREATES``: a new table without rows.
    - ``CLEARS``: the table, or all tables of the database, lose all rows.
    - ``MOVES``: rows move between tables; the event names only one of them.
    - ``CHANGES``: anything else. The values of a column, or the handle key, may have changed.
    """

    CREATES = 1
    CLEARS = 2
    MOVES = 3
    CHANGES = 4


@dataclass(frozen=True, kw_only=True)
class KeyedEvents(EventColumns):
    """Events that are brought together by key.

    :param key, key_check: 128 bits of the row key of a row with handle key; of the content of a row without;
        of kind and time stamp of other events. Events of one group are processed together.
    """

    key: Int64Column
    key_check: Int64Column


@dataclass(frozen=True, kw_only=True)
class Events(KeyedEvents):
    """Observed events, one element of each column per event.

    :param op: ``model.event.Op``; 0 for other events than rows.
    :param keyed: a row with handle key.
    :param identity: 64 bits that identical events of a group share.
    :param shape: 64 bits of names, types and flags of the columns, 0 without columns.
    :param wire: 64 bits of the event's bytes; 0 if they are not compared.
    :param whole: all columns of the row are in the event, not the handle key only.
    :param old, new: 64 bits of the images, 0 if there is none or it is not whole; an old image of the updated
        columns only is completed with the columns that did not change.
    :param content: 64 bits of the new image, whole or not; 0 for a delete.
    :param moves: an update that changes the handle key.
    :param key_change: names of the unique or handle columns that an update changes, separated by commas.
    :param hashes_handle: the rule hashes the handle key.
    :param dispatch_key: -1 if unknown.
    :param uncomparable: the rows of the table cannot be tracked.
    :param effect: ``Effect`` of a DDL; 0 for other events.
    :param slice: number of the part of the stream that was read in one piece. The following are relative to
        it until ``marks_across_slices`` adds what came before.
    :param resolved_ts, resolved_position: the newest resolved event before it in its partition, -1 if none.
    :param ddl_ts, ddl_position: the newest DDL before it in its partition.
    :param own_ddl_ts, own_ddl_position: the newest DDL of the event's table or database before it.
    :param table_ts, table_position: the newest row of the event's table partition before it.
    :param insert_ts: commit-ts of the newest insert before it in its partition, -1 if none.
    """

    key_change: TextColumn
    kind: Int8Column
    table_id: Int64Column
    op: Int8Column
    keyed: FlagColumn
    identity: Int64Column
    shape: Int64Column
    wire: Int64Column
    whole: FlagColumn
    old: Int64Column
    new: Int64Column
    content: Int64Column
    moves: FlagColumn
    rule: Int8Column
    hashes_handle: FlagColumn
    dispatch_key: Int64Column
    uncomparable: FlagColumn
    effect: Int8Column
    slice: Int32Column
    resolved_ts: Int64Column
    resolved_position: Int64Column
    ddl_ts: Int64Column
    ddl_position: Int64Column
    own_ddl_ts: Int64Column
    own_ddl_position: Int64Column
    table_ts: Int64Column
    table_position: Int64Column
    insert_ts: Int64Column

    @cached_property
    def batch_value(self) -> Numbers:
        """The value that rows of a table share to be in one batch; -1 if the table alone decides.

        TiCDC's batcher preserves the order of the rows of a table partition with equal values.
        """
        by_value = (self.rule == Rule.INDEX_VALUE) | (self.rule == Rule.COLUMNS)
        return np.where(by_value, self.dispatch_key, NOTHING)


def positions(offsets: Numbers, indexes: Numbers) -> Numbers:
    """Return offset and index of events in one number.

    >>> [offset_and_index(position) for position in positions(np.array([7, 7]), np.array([0, 3])).tolist()]
    [(7, 0), (7, 3)]

    :param offsets: at most ``model.event.MAX_OFFSET``.
    :param indexes: less than ``model.event.MAX_EVENTS``.
    """
    return (offsets << INDEX_BITS) + indexes


def offset_and_index(position: int) -> tuple[int, int]:
    """Return the offset of an event's message, and its index in the message."""
    return position >> INDEX_BITS, position & ((1 << INDEX_BITS) - 1)
