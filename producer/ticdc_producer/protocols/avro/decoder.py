"""Strict decoder of Avro as TiCDC writes it: every malformed message is a ``DecodeError`` with its position.

Messages contain the ids of their schemas, which a schema registry resolves. Without the TiDB extension rows
contain neither operation nor commit-ts: a row with a value is decoded as an insert with commit-ts 0. Deletes
always have commit-ts 0.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TypeAlias

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.event import Event, EventColumn, Op, RowEvent
from ticdc_producer.model.flags import ColumnFlag
from ticdc_producer.protocols.avro.control_decoder import control_event
from ticdc_producer.protocols.avro.cursor import Cursor
from ticdc_producer.protocols.avro.field_reader import BadSchema
from ticdc_producer.protocols.avro.layout import HEAD, MAGIC
from ticdc_producer.protocols.avro.record_reader import RecordReader, Row, record_reader

SchemaOf: TypeAlias = Callable[[int], str | None]
"""Schema id to schema; None for an id that the registry does not have."""


class AvroDecoder:
    """Decodes messages to events. Caches the schemas.

    :param schema_of: looks up a schema; called once per known id.
    """

    def __init__(self, schema_of: SchemaOf) -> None:
        self._schema_of = schema_of
        self._readers: dict[int, RecordReader] = {}

    def events(self, key: bytes | None, value: bytes | None) -> Iterator[Event]:
        """The event of one message.

        :raises DecodeError: for anything that is not a message of this protocol.
        """
        control = None if key is not None or value is None else control_event(value)
        if control is not None:
            yield control
            return
        key_part = None if key is None else self._part(key, "key")
        value_part = None if value is None else self._part(value, "value")
        yield _row_event(key_part, value_part)

    def _part(self, data: bytes, part: str) -> tuple[RecordReader, Row]:
        schema_id = schema_id_of(data)
        if schema_id is None:
            raise DecodeError("AVRO-HEAD", "a byte 0 and the id of a schema", part=part, byte=0)
        if schema_id not in self._readers:
            self._readers[schema_id] = self._load_reader(schema_id, part)
        reader = self._readers[schema_id]
        return reader, reader.row(Cursor(data, part, HEAD))

    def _load_reader(self, schema_id: int, part: str) -> RecordReader:
        schema = self._schema_of(schema_id)
        if schema is None:
            raise DecodeError("AVRO-SCHEMA-ID", f"an id of the registry, not {schema_id},", part=part, byte=1)
        try:
            return record_reader(schema)
        except BadSchema as bad:
            raise DecodeError(
                "AVRO-SCHEMA", f"{bad.expected} as schema {schema_id}", part=part, byte=1
            ) from None


def schema_id_of(data: bytes) -> int | None:
    """The schema id of a message part; None if it does not have one."""
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
    """The names of the key columns.

    :raises DecodeError: if the key does not match the row.
    """
    if key is None:
        return frozenset()
    key_reader, key_row = key
    if (key_reader.schema, key_reader.table) != (reader.schema, reader.table):
        raise DecodeError("AVRO-KEY", "a key of the value's table", part="key", byte=1)
    if any(name not in row.values or row.values[name] != value for name, value in key_row.values.items()):
        raise DecodeError("AVRO-KEY", "columns and values that the value has too", part="key", byte=HEAD)
    return frozenset(key_row.values)


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
