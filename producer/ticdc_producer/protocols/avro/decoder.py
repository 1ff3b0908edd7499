"""Strict decoder of Avro as TiCDC writes it: every malformed message is a ``DecodeError`` with its place.

Messages name their schemas by number; what a number stands for, a registry knows. Without the extension
rows tell neither operation nor commit-ts: a row with a value reads as an insert, and its commit-ts as 0, as
does that of every delete.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TypeAlias

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.event import Event, EventColumn, Op, RowEvent
from ticdc_producer.model.flags import ColumnFlag
from ticdc_producer.protocols.avro.control_decoder import told_event
from ticdc_producer.protocols.avro.cursor import Cursor
from ticdc_producer.protocols.avro.field_reader import BadSchema
from ticdc_producer.protocols.avro.layout import HEAD, MAGIC
from ticdc_producer.protocols.avro.record_reader import RecordReader, Row, record_reader

SchemaOf: TypeAlias = Callable[[int], str | None]
"""The schema that a registry has under an id; None where it has none."""


class AvroDecoder:
    """Messages in, events out; remembers the schemas it has met.

    :param schema_of: is asked once for each id that is known.
    """

    def __init__(self, schema_of: SchemaOf) -> None:
        self._schema_of = schema_of
        self._readers: dict[int, RecordReader] = {}

    def events(self, key: bytes | None, value: bytes | None) -> Iterator[Event]:
        """The event of one message.

        :raises DecodeError: for anything that is not a message of this protocol.
        """
        other = None if key is not None or value is None else told_event(value)
        if other is not None:
            yield other
            return
        named = None if key is None else self._part(key, "key")
        shown = None if value is None else self._part(value, "value")
        yield _row_event(named, shown)

    def _part(self, data: bytes, part: str) -> tuple[RecordReader, Row]:
        number = schema_number(data)
        if number is None:
            raise DecodeError("AVRO-HEAD", "a byte 0 and the id of a schema", part=part, byte=0)
        if number not in self._readers:
            self._readers[number] = self._found(number, part)
        reader = self._readers[number]
        return reader, reader.row(Cursor(data, part, HEAD))

    def _found(self, number: int, part: str) -> RecordReader:
        schema = self._schema_of(number)
        if schema is None:
            raise DecodeError("AVRO-SCHEMA-ID", f"an id of the registry, not {number},", part=part, byte=1)
        try:
            return record_reader(schema)
        except BadSchema as bad:
            raise DecodeError(
                "AVRO-SCHEMA", f"{bad.expected} as schema {number}", part=part, byte=1
            ) from None


def schema_number(data: bytes) -> int | None:
    """The id of a message part's schema; None where it names none."""
    return int.from_bytes(data[1:HEAD], "big") if len(data) >= HEAD and data[0] == MAGIC else None


def _row_event(key: tuple[RecordReader, Row] | None, value: tuple[RecordReader, Row] | None) -> RowEvent:
    if value is None:
        if key is None:
            raise DecodeError("AVRO-EMPTY", "a key or a value", part="value", byte=0)
        reader, row = key
        if reader.extended:
            raise DecodeError("AVRO-KEY", "the schema of a key", part="key", byte=1)
        columns = _columns(reader, reader.types)
        return _event(reader, Op.DELETE, columns, before=row)
    reader, row = value
    names = _key_names(key, reader, row)
    return _event(reader, row.op or Op.INSERT, _columns(reader, names), after=row)


def _key_names(key: tuple[RecordReader, Row] | None, reader: RecordReader, row: Row) -> frozenset[str]:
    """Columns of the key.

    :raises DecodeError: for a key that is not of the row.
    """
    if key is None:
        return frozenset()
    named, shown = key
    if (named.schema, named.table) != (reader.schema, reader.table):
        raise DecodeError("AVRO-KEY", "a key of the value's table", part="key", byte=1)
    if any(name not in row.values or row.values[name] != value for name, value in shown.values.items()):
        raise DecodeError("AVRO-KEY", "columns and values that the value has too", part="key", byte=HEAD)
    return frozenset(shown.values)


def _columns(reader: RecordReader, key: Collection[str]) -> tuple[EventColumn, ...]:
    flag = int(ColumnFlag.HANDLE_KEY)
    return tuple(EventColumn(name, text, flag if name in key else 0) for name, text in reader.types.items())


def _event(
    reader: RecordReader,
    op: Op,
    columns: tuple[EventColumn, ...],
    *,
    before: Row | None = None,
    after: Row | None = None,
) -> RowEvent:
    return RowEvent(
        commit_ts=0 if after is None else after.commit_ts,
        schema=reader.schema,
        table=reader.table,
        op=op,
        columns=columns,
        before=None if before is None else before.values,
        after=None if after is None else after.values,
    )
