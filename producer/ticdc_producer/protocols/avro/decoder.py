"""Strict decoder of Avro as TiCDC writes it: every malformed message is a ``DecodeError`` with its position.

Messages contain the ids of their schemas, which a schema registry resolves. A row without operation is an
insert, and one without commit-ts has 0. The value of a delete is NULL, its commit-ts, or a record.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TypeAlias

import msgspec

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.column import ColumnFlag
from ticdc_producer.model.event import (
    DDLEvent,
    Event,
    EventColumn,
    Op,
    ResolvedEvent,
    RowChecksum,
    RowEvent,
    Value,
)
from ticdc_producer.model.tso import MAX_TS
from ticdc_producer.protocols.avro.field_reader import AvroCursor, BadSchema
from ticdc_producer.protocols.avro.names import (
    DDL,
    DELETE,
    WATERMARK,
    head_size,
    schema_id_of,
)
from ticdc_producer.protocols.avro.records import RecordReader, RecordRow, record_reader
from ticdc_producer.protocols.base import schema_id_text
from ticdc_producer.protocols.wire import json_form


class _DDL(msgspec.Struct, rename="camel"):
    query: str
    type: int
    schema: str
    table: str
    commit_ts: int = msgspec.field(name="commitTs")


_DDL_DECODER = msgspec.json.Decoder(_DDL)


def control_event(value: bytes) -> Event | None:
    """Return the event of a DDL or watermark message; None for any other message.

    :raises DecodeError: for a malformed DDL or watermark message.
    """
    if value[:1] == bytes((WATERMARK,)):
        return ResolvedEvent(commit_ts=_ts_of(value, "WATERMARK"))
    return _ddl_of(value[1:]) if value[:1] == bytes((DDL,)) else None


def _ts_of(value: bytes, kind: str) -> int:
    """Return the time stamp after the first byte."""
    ts = int.from_bytes(value[1:], "big")
    if len(value) != 9 or ts > MAX_TS:
        raise DecodeError(f"AVRO-{kind}", "a time stamp of 8 bytes", part="value", byte=1)
    return ts


def _ddl_of(text: bytes) -> DDLEvent:
    try:
        ddl = _DDL_DECODER.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise DecodeError("AVRO-DDL", "a DDL event as JSON", part="value", byte=1) from None
    if not (0 <= ddl.commit_ts <= MAX_TS and 0 <= ddl.type < 1 << 8):
        raise DecodeError("AVRO-DDL", "a commitTs of 0 … 2^63-1 and a type of TiDB's", part="value", byte=1)
    return DDLEvent(
        commit_ts=ddl.commit_ts,
        schema=ddl.schema,
        table=ddl.table,
        query=ddl.query,
        ddl_type=ddl.type,
    )


SchemaOf: TypeAlias = Callable[[int], str | None]
"""Schema id to schema; None for an id that the registry does not have."""


class AvroDecoder:
    """A decoder of messages to events. It caches the schemas.

    :param schema_of: looks up a schema; called once per known id.
    :param time_zone: of TIMESTAMP values; their checksums are of UTC.
    """

    def __init__(self, schema_of: SchemaOf, time_zone: str = "UTC") -> None:
        self._schema_of, self._time_zone = schema_of, time_zone
        self._readers: dict[int, RecordReader] = {}

    def events(self, key: bytes | None, value: bytes | None) -> Iterator[Event]:
        """Yield the event of one message. A tombstone, a message without a value, is the delete of its key.

        Without a key it has no event: TiCDC's new architecture sends rows without keys.

        :raises DecodeError: for anything that is not a message of this protocol.
        """
        control = None if key is not None or value is None else control_event(value)
        if control is not None:
            yield control
            return
        key_part = None if key is None else self._part(key, "key")
        if key_part is not None and (value is None or _is_delete(value)):
            yield _delete(*key_part, 0 if value is None else _ts_of(value, "DELETE"))
        elif value is not None:
            start = 0 if key is None else head_size(key)
            yield _row_event(key_part, self._part(value, "value"), start)

    def _part(self, data: bytes, part: str) -> tuple[RecordReader, RecordRow]:
        schema_id = schema_id_of(data)
        if schema_id is None:
            raise DecodeError("AVRO-HEAD", "a header with the id of a schema", part=part, byte=0)
        if schema_id not in self._readers:
            self._readers[schema_id] = self._load_reader(schema_id, part)
        reader = self._readers[schema_id]
        return reader, reader.row(AvroCursor(data, part, head_size(data)))

    def _load_reader(self, schema_id: int, part: str) -> RecordReader:
        schema = self._schema_of(schema_id)
        if schema is None:
            what = f"an id of the registry, not {schema_id_text(schema_id)},"
            raise DecodeError("AVRO-SCHEMA-ID", what, part=part, byte=1)
        try:
            return record_reader(schema, self._time_zone)
        except BadSchema as bad:
            raise DecodeError(
                "AVRO-SCHEMA", f"{bad.expected} as schema {schema_id_text(schema_id)}", part=part, byte=1
            ) from None


def _is_delete(value: bytes) -> bool:
    return value[:1] == bytes((DELETE,)) and schema_id_of(value) is None


def wire_form(schema_of: SchemaOf) -> Callable[[bytes], object]:
    """Return a function that returns the content of a key or value: its schema in place of the id, and bytes.

    >>> wire_form({7: '{"type":"long"}'}.get)(bytes([0, 0, 0, 0, 7, 2]))
    {'schema': {'type': 'long'}, 'record': '02'}
    """
    schemas: dict[int, object] = {}

    def form(part: bytes) -> object:
        number = schema_id_of(part)
        if number is None:
            return part.hex()
        if number not in schemas:
            text = schema_of(number)
            schemas[number] = schema_id_text(number) if text is None else json_form(text.encode())
        return {"schema": schemas[number], "record": part[head_size(part) :].hex()}

    return form


def _delete(reader: RecordReader, row: RecordRow, commit_ts: int) -> RowEvent:
    """Return the delete of a message without a record as its value."""
    if reader.own:
        raise DecodeError("AVRO-KEY", "the schema of a key", part="key", byte=1)
    columns = _columns(reader, reader.types)
    return _event(reader, Op.DELETE, columns, commit_ts, before=row.values, after=None)


def _row_event(
    key: tuple[RecordReader, RecordRow] | None, value: tuple[RecordReader, RecordRow], start: int
) -> RowEvent:
    """Return the event of a row.

    :param start: position of the record in the key.
    """
    reader, row = value
    columns, op = _columns(reader, _key_names(key, reader, row, start)), row.op or Op.INSERT
    after = None if op == Op.DELETE else row.values
    return _event(reader, op, columns, row.commit_ts, before=row.before, after=after, checksum=row.checksum)


def _key_names(
    key: tuple[RecordReader, RecordRow] | None, reader: RecordReader, row: RecordRow, start: int
) -> frozenset[str]:
    """Return the names of the key columns.

    :raises DecodeError: if the key does not match the row.
    """
    if key is None:
        return frozenset()
    key_reader, key_row = key
    if (key_reader.schema, key_reader.table) != (reader.schema, reader.table):
        raise DecodeError("AVRO-KEY", "a key of the value's table", part="key", byte=1)
    if any(name not in row.values or row.values[name] != value for name, value in key_row.values.items()):
        raise DecodeError("AVRO-KEY", "columns and values that the value has too", part="key", byte=start)
    return frozenset(key_row.values)


def _columns(reader: RecordReader, key: Collection[str]) -> tuple[EventColumn, ...]:
    flag = int(ColumnFlag.HANDLE_KEY)
    return tuple(EventColumn(name, text, flag if name in key else 0) for name, text in reader.types.items())


def _event(
    reader: RecordReader,
    op: Op,
    columns: tuple[EventColumn, ...],
    commit_ts: int,
    *,
    before: Mapping[str, Value] | None,
    after: Mapping[str, Value] | None,
    checksum: RowChecksum | None = None,
) -> RowEvent:
    return RowEvent(
        commit_ts=commit_ts,
        schema=reader.schema,
        table=reader.table,
        op=op,
        columns=columns,
        before=before,
        after=after,
        checksum=checksum,
    )
