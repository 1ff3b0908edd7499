"""Rows of one table as typed changes, with the columns of Spark's change data capture."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Collection, Iterable, Iterator, Mapping
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
from ticdc_producer.rows.image_columns import DELETE, image_columns
from ticdc_producer.rows.origin import Origin
from ticdc_producer.targets.decoded_events import DecodedEvents

CHANGE_TYPES = ("insert", "delete", "update_preimage", "update_postimage")
"""In the order of the kinds of images (``image_columns``)."""
TYPE, VERSION, TIMESTAMP, ERROR = "_change_type", "_commit_version", "_commit_timestamp", "_error"
OF_CHANGES = pa.schema([(TYPE, pa.string()), (VERSION, pa.int64()), (TIMESTAMP, pa.timestamp("us", "UTC"))])
"""The columns of Spark's change data capture, after those of the table."""
OF_ERRORS = pa.schema([(ERROR, pa.string())])
_DAMAGED = len(CHANGE_TYPES)
_ONLY_KEY = "the message has the handle key alone, because the row was too large for it"


def sends_base64(fidelity: Fidelity) -> bool:
    """Return whether a protocol sends byte strings as the Base64 of their bytes."""
    column, value = ColumnInfo(name="", type=MySQLType.VAR_STRING), b"\xff"
    return fidelity.full_projection(column)(value) == b64encode(value)


@dataclass(frozen=True, kw_only=True)
class ChangeReader:
    """The function from events (shape ``DECODED``, or ``DecodedEvents``) to the changes of one table.

    :param schema, table: the table.
    :param columns: the columns of the changes, with their types.
    :param zone: time zone of TIMESTAMP values.
    :param on_error: what happens with a message that does not decode, and a value that its type cannot hold.
    :param definitions: definitions of columns by name, of those that are known.
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
        return self.changes(map(DecodedEvents.of_batch, batches))

    def changes(self, parts: Iterator[DecodedEvents]) -> Iterator[pa.RecordBatch]:
        """Yield the changes of each part of the events that has any."""
        for events in parts:
            changes = _Changes(events, self)
            if len(changes.kinds):
                yield changes.batch()

    def rows(self, images: pa.MapArray) -> pa.RecordBatch:
        """Return rows of the table without the columns of changes.

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
    """The changes in some events, image by image; ``batch`` brings them into the order of the events.

    :ivar kinds: of each change, its number in ``CHANGE_TYPES``, or ``_DAMAGED``.
    """

    def __init__(self, events: DecodedEvents, reader: ChangeReader) -> None:
        self._events, self._reader = events, reader
        self._images = [*image_columns(events, reader.schema, reader.table)]
        damaged = events.numbers[-1][damage(events.others, reader.on_error)]
        sizes = [*(len(images.events) for images in self._images), len(damaged)]
        self._numbers = np.concatenate([*(images.events for images in self._images), damaged])
        self.kinds = np.repeat([*(images.kind for images in self._images), _DAMAGED], sizes)
        self._damaged = len(damaged)
        self._order = np.lexsort((self.kinds, self._numbers))

    def batch(self) -> pa.RecordBatch:
        """Return the changes in the reader's columns.

        :raises ProducerError: for the first value that its type cannot hold, if errors are not rows.
        """
        errors: dict[int, str] = {}
        self._reject_keys(errors)
        cells = {name: self._typed(name, errors) for name in self._reader.conversions}
        commit_ts = self._joined([images.commit_ts for images in self._images], pa.int64())
        known = pc.if_else(pc.equal(commit_ts, 0), None, commit_ts)
        cells[TYPE] = pa.array([*CHANGE_TYPES, None], pa.string()).take(pa.array(self.kinds))
        cells[VERSION] = known
        cells[TIMESTAMP] = _times(known)
        if ERROR in self._reader.columns.names:
            cells[ERROR] = self._errors(errors)
        schema = self._reader.columns
        changes = pa.RecordBatch.from_arrays([cells[name] for name in schema.names], schema=schema)
        is_in_order = bool((self._order[1:] > self._order[:-1]).all())
        return changes if is_in_order else changes.take(pa.array(self._order))

    def _typed(self, name: str, errors: dict[int, str]) -> pa.Array:
        """Return the values of a column; those that its type cannot hold are added to the errors."""
        of_images = [
            images.values[name] if name in images.values else pa.nulls(len(images.events), pa.binary())
            for images in self._images
        ]
        values = self._joined(of_images, pa.binary())
        typed = converted(values, self._reader.conversions[name])
        for change in self._in_order(typed.rejected):
            self._reject(change, self._reader.unfit(name, values[change].as_py()), errors)
        return typed.values

    def _joined(self, of_images: list[pa.Array], kind: pa.DataType) -> pa.Array:
        """Return a value per change: those of all images, and NULL for damaged messages."""
        return pa.concat_arrays([*of_images, pa.nulls(self._damaged, kind)])

    def _in_order(self, changes: Collection[int]) -> Iterable[int]:
        """Return some changes in the order of the events."""
        if len(changes) < 2:
            return changes
        ordered: list[int] = self._order[np.isin(self._order, [*changes])].tolist()
        return ordered

    def _reject_keys(self, errors: dict[int, str]) -> None:
        """Reject changes of which the message has only the handle key; a delete needs no more."""
        start = 0
        rejected: list[int] = []
        for images in self._images:
            if images.handle_key_only and images.kind != DELETE:
                rejected += range(start, start + len(images.events))
            start += len(images.events)
        for change in self._in_order(rejected):
            self._reject(change, _ONLY_KEY, errors)

    def _reject(self, change: int, what: str, errors: dict[int, str]) -> None:
        error = rejected_value(self._events.batch, int(self._numbers[change]), what, self._reader.hint)
        if self._reader.on_error == "fail":
            raise error
        errors.setdefault(change, str(error))

    def _errors(self, errors: Mapping[int, str]) -> pa.Array:
        texts: list[str | None] = [errors.get(change) for change in range(len(self.kinds))]
        for change in np.flatnonzero(self.kinds == _DAMAGED).tolist():
            texts[change] = str(damage_error(self._events.batch, int(self._numbers[change])))
        return pa.array(texts, pa.string())


def _times(commit_ts: pa.Array) -> pa.Array:
    """Return the physical time of TSOs."""
    micros = pc.multiply(pc.shift_right(commit_ts, LOGICAL_BITS), 1000)
    return micros.cast(pa.timestamp("us", "UTC"))


def _printed(value: bytes | None) -> str:
    return repr((value or b"").decode("utf-8", "backslashreplace")[:120])
