"""Rows of one table as typed changes, with the columns of Spark's change data capture."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.errors import ArgumentError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.tso import LOGICAL_BITS
from ticdc_producer.protocols.arrow_text import map_values
from ticdc_producer.rows.columns import (
    Conversion,
    OnError,
    conversion,
    converted,
    damage,
    damage_error,
    rejected_value,
)
from ticdc_producer.rows.origin import Origin
from ticdc_producer.verifier.event_layouts import Descriptions, EventLayout, Images, group_by_layout
from ticdc_producer.verifier.fingerprint import Flags, Numbers

CHANGE_TYPES = ("insert", "delete", "update_preimage", "update_postimage")
TYPE, VERSION, TIMESTAMP, ERROR = "_change_type", "_commit_version", "_commit_timestamp", "_error"
OF_CHANGES = pa.schema([(TYPE, pa.string()), (VERSION, pa.int64()), (TIMESTAMP, pa.timestamp("us", "UTC"))])
"""The columns of Spark's change data capture, after those of the table."""
OF_ERRORS = pa.schema([(ERROR, pa.string())])
_INSERT, _DELETE, _BEFORE, _AFTER, _DAMAGED = range(5)
_OPS = pa.array(["insert", "delete", "", "update"])
"""The operation of an event, at the number of its change; of an update, at that of its new row."""
_ONLY_KEY = "the message has the handle key alone, because the row was too large for it"


def sends_base64(fidelity: Fidelity) -> bool:
    """Return whether a protocol sends byte strings as the Base64 of their bytes."""
    column, value = ColumnInfo(name="", type=MySQLType.VAR_STRING), b"\xff"
    return fidelity.full_projection(column)(value) == b64encode(value)


@dataclass(frozen=True, kw_only=True)
class ChangeReader:
    """The function from events (shape ``DECODED``) to the changes of one table.

    :param schema, table: the table.
    :param columns: the columns of the changes, with their types.
    :param zone: time zone of TIMESTAMP values.
    :param on_error: what happens with a message that does not decode, and a value that its type cannot hold.
    :param definitions: definitions of columns by name, as far as they are known.
    :param base64: whether byte strings are Base64 in the messages.
    :param hint: what to do about a value that its type cannot hold.
    """

    schema: str
    table: str
    columns: pa.Schema
    zone: str
    on_error: OnError
    definitions: Mapping[str, ColumnInfo] = field(default_factory=dict)
    base64: bool = False
    hint: str = ""

    @classmethod
    def of(
        cls, read: Origin, name: tuple[str, str], columns: pa.Schema, on_error: OnError, hint: str
    ) -> Self:
        """Return the reader of a table's changes in some messages.

        :param name: schema and table.
        :raises ArgumentError: for a type that no column has.
        """
        known = read.tables.get(".".join(name))
        reader = cls(
            schema=name[0],
            table=name[1],
            columns=columns,
            zone=read.changefeed.time_zone,
            on_error=on_error,
            definitions={} if known is None else {column.name: column for column in known.columns},
            base64=sends_base64(read.fidelity),
            hint=hint,
        )
        _ = reader.conversions  # rejects types that no column has
        return reader

    @cached_property
    def conversions(self) -> Mapping[str, Conversion]:
        """The conversions of the table's columns.

        :raises ArgumentError: for a type that no column has.
        """
        own = {TYPE, VERSION, TIMESTAMP, ERROR}
        return {column.name: self._conversion(column) for column in self.columns if column.name not in own}

    def _conversion(self, column: pa.Field) -> Conversion:
        if self.base64 and pa.types.is_binary(column.type):
            return lambda values: map_values(values, b64decode)
        return conversion(column.name, column.type, self.zone, self.definitions.get(column.name))

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the changes of each batch that has any."""
        for batch in batches:
            changes = _Changes(batch, self)
            if len(changes.events):
                yield changes.batch()

    def rows(self, images: pa.MapArray) -> pa.RecordBatch:
        """Return rows of the table, which are no changes, in the table's columns.

        :param images: their values by column (``shapes.EVENT_IMAGE``).
        :raises ArgumentError: for a value that its type cannot hold.
        """
        cells = []
        for name, convert in self.conversions.items():
            values = pc.map_lookup(images, name, "first")
            typed = converted(values, convert)
            if typed.rejected:
                what = self.unfit(name, values[typed.rejected[0]].as_py())
                raise ArgumentError(what, argument="schema", hint=self.hint)
            cells.append(typed.values)
        return pa.RecordBatch.from_arrays(cells, schema=self.columns)

    def unfit(self, name: str, value: bytes | None) -> str:
        """Say that a value of a column is not one of the column's type."""
        return f"column {name!r}: {_printed(value)} is not a value of {self.columns.field(name).type}"


class _Changes:
    """The changes of one batch of events.

    :ivar events: of each change, the row of its event.
    :ivar kinds: of each change, its number in ``CHANGE_TYPES``, or ``_DAMAGED``.
    """

    def __init__(self, batch: pa.RecordBatch, reader: ChangeReader) -> None:
        self._batch, self._reader = batch, reader
        self._old, self._new = Images(batch.column("before")), Images(batch.column("after"))
        self._layouts = [
            layout
            for layout in group_by_layout(batch, self._old, self._new, Descriptions(batch.column("columns")))
            if (layout.schema, layout.table) == (reader.schema, reader.table)
        ]
        rows = np.concatenate([np.empty(0, np.int64), *(layout.rows for layout in self._layouts)])
        ops = batch.column("op").take(pa.array(rows))
        kinds = pc.index_in(ops, value_set=_OPS).to_numpy(zero_copy_only=False).astype(np.int64)
        before = rows[(kinds == _AFTER) & self._old.lists.present[rows]]
        damaged = np.flatnonzero(damage(batch, reader.on_error))
        events = np.concatenate([rows, before, damaged])
        kinds = np.concatenate([kinds, np.full(len(before), _BEFORE), np.full(len(damaged), _DAMAGED)])
        order = np.lexsort((kinds, events))
        self.events, self.kinds = events[order], kinds[order]

    def batch(self) -> pa.RecordBatch:
        """Return the changes in the reader's columns.

        :raises ProducerError: for the first value that its type cannot hold, if errors are not rows.
        """
        errors: dict[int, str] = {}
        self._reject_keys(errors)
        cells = {name: self._typed(name, errors) for name in self._reader.conversions}
        commit_ts = self._batch.column("commit_ts").take(pa.array(self.events))
        known = pc.if_else(pc.equal(commit_ts, 0), None, commit_ts)
        types = pa.array([*CHANGE_TYPES, None], pa.string())
        cells[TYPE] = types.take(pa.array(self.kinds))
        cells[VERSION] = known
        cells[TIMESTAMP] = _times(known)
        if ERROR in self._reader.columns.names:
            cells[ERROR] = self._errors(errors)
        schema = self._reader.columns
        return pa.RecordBatch.from_arrays([cells[name] for name in schema.names], schema=schema)

    def _typed(self, name: str, errors: dict[int, str]) -> pa.Array:
        """Return the values of a column; those that its type cannot hold are added to the errors."""
        values = self._values.take(self._positions(name))
        typed = converted(values, self._reader.conversions[name])
        for change in typed.rejected:
            self._reject(change, self._reader.unfit(name, values[change].as_py()), errors)
        return typed.values

    @cached_property
    def _values(self) -> pa.Array:
        """The values of all old images, and those of all new images."""
        return pa.concat_arrays([self._old.values, self._new.values])

    def _positions(self, name: str) -> pa.Array:
        """Return where the values of a column are; NULL where an image does not have the column."""
        old, new = self._side_positions(name, old=True), self._side_positions(name, old=False)
        old, new = old[self.events], new[self.events]
        # An old image may have only the columns that changed.
        old = np.where((self.kinds == _BEFORE) & (old < 0), new, old)
        positions = np.where((self.kinds == _DELETE) | (self.kinds == _BEFORE), old, new)
        absent = (positions < 0) | (self.kinds == _DAMAGED)
        return pa.array(positions, mask=absent)

    def _side_positions(self, name: str, *, old: bool) -> Numbers:
        """Return the position of a column's value for each event; -1 without it."""
        positions = np.full(self._batch.num_rows, -1, np.int64)
        for layout in self._layouts:
            names, start = _side(layout, old=old)
            if name in names:
                positions[layout.rows] = start[layout.rows] + names[name]
        return positions if old else np.where(positions < 0, -1, positions + len(self._old.values))

    def _reject_keys(self, errors: dict[int, str]) -> None:
        """Reject changes of which the message has only the handle key; a delete needs no more."""
        only_key = pc.fill_null(self._batch.column("handle_key_only"), 0).to_numpy(zero_copy_only=False)
        rejected: Flags = (only_key[self.events] != 0) & (self.kinds != _DELETE)
        for change in np.flatnonzero(rejected).tolist():
            self._reject(change, _ONLY_KEY, errors)

    def _reject(self, change: int, what: str, errors: dict[int, str]) -> None:
        error = rejected_value(self._batch, int(self.events[change]), what, self._reader.hint)
        if self._reader.on_error == "fail":
            raise error
        errors.setdefault(change, str(error))

    def _errors(self, errors: Mapping[int, str]) -> pa.Array:
        texts: list[str | None] = [errors.get(change) for change in range(len(self.events))]
        for change in np.flatnonzero(self.kinds == _DAMAGED).tolist():
            texts[change] = str(damage_error(self._batch, int(self.events[change])))
        return pa.array(texts, pa.string())


def _side(layout: EventLayout, *, old: bool) -> tuple[Mapping[str, int], Numbers]:
    if old:
        return layout.before, layout.old_images.lists.starts
    return layout.after, layout.new_images.lists.starts


def _times(commit_ts: pa.Array) -> pa.Array:
    """Return the physical time of TSOs."""
    micros = pc.multiply(pc.shift_right(commit_ts, LOGICAL_BITS), 1000)
    return micros.cast(pa.timestamp("us", "UTC"))


def _printed(value: bytes | None) -> str:
    return repr((value or b"").decode("utf-8", "backslashreplace")[:120])
