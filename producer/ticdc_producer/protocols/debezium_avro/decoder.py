"""Strict decoder of Debezium in Avro as TiCDC writes it: every malformed message is a ``DecodeError``.

Messages contain the ids of their schemas, which a schema registry resolves. A tombstone, a message without a
value, has no event. Messages do not contain the type of a DDL event, so it is decoded as 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.column import ColumnFlag
from ticdc_producer.model.event import DDLEvent, Event, EventColumn, Op, ResolvedEvent, RowEvent, Value
from ticdc_producer.model.tso import MAX_TS, physical
from ticdc_producer.model.values.temporal_text import zone_of
from ticdc_producer.protocols.avro.decoder import SchemaOf
from ticdc_producer.protocols.avro.field_reader import AvroCursor, BadSchema
from ticdc_producer.protocols.avro.names import Part, head_size, schema_id_of
from ticdc_producer.protocols.base import schema_id_text
from ticdc_producer.protocols.debezium_avro.records import JSON, Image, MessageReader, message_reader

_OPS = {"c": Op.INSERT, "u": Op.UPDATE, "d": Op.DELETE}
_PROTOCOL = "DEBEZIUM-AVRO"


@dataclass(slots=True)
class _Message:
    """A parsed key or value.

    :param members: its members by name.
    """

    cursor: AvroCursor
    members: Mapping[str, JSON] = field(default_factory=dict)

    def error(self, code: str, expected: str) -> DecodeError:
        self.cursor.position = head_size(self.cursor.data)
        return self.cursor.error(code, expected)


class DebeziumAvroDecoder:
    """A decoder of messages to events. It caches the schemas.

    :param schema_of: looks up a schema; called once per known id.
    :param time_zone: time zone of the changefeed; TIMESTAMP values are returned in it.
    """

    def __init__(self, schema_of: SchemaOf, *, time_zone: str = "UTC") -> None:
        self._schema_of, self._zone = schema_of, zone_of(time_zone)
        self._readers: dict[tuple[int, Part], MessageReader] = {}

    def events(self, key: bytes | None, value: bytes | None) -> Iterator[Event]:
        """Yield the event of one message; nothing for a tombstone, a message without a value.

        :raises DecodeError: for anything that is not a message of this protocol.
        """
        of_key = None if key is None else self._message(key, "key")
        if value is not None:
            yield _event(of_key, self._message(value, "value"))

    def _message(self, data: bytes, part: Part) -> _Message:
        cursor = AvroCursor(data, part, head_size(data), _PROTOCOL)
        message, number = _Message(cursor), schema_id_of(data)
        if number is None:
            cursor.position = 0
            raise cursor.error("HEAD", "a header with the id of a schema")
        if (number, part) not in self._readers:
            self._readers[number, part] = self._load_reader(number, part, cursor)
        try:
            message.members = self._readers[number, part](cursor)
        except RecursionError:
            raise message.error("DEPTH", "a record of a few levels") from None
        cursor.end()
        return message

    def _load_reader(self, number: int, part: Part, cursor: AvroCursor) -> MessageReader:
        cursor.position = 1
        schema = self._schema_of(number)
        if schema is None:
            raise cursor.error("SCHEMA-ID", f"an id of the registry, not {schema_id_text(number)},")
        try:
            reader = message_reader(schema, self._zone, of_key=part == "key")
        except BadSchema as bad:
            raise cursor.error("SCHEMA", f"{bad.expected} as schema {schema_id_text(number)}") from None
        cursor.position = head_size(cursor.data)
        return reader


def _event(key: _Message | None, value: _Message) -> Event:
    members = value.members
    source = cast("Mapping[str, JSON]", members["source"])
    commit_ts, ts_ms = source["commit_ts"], source["ts_ms"]
    if not isinstance(source["db"], str) or not isinstance(source["table"], str):
        raise value.error("SOURCE", "the texts db and table")
    if type(commit_ts) is not int or not 0 <= commit_ts <= MAX_TS:
        raise value.error("SOURCE", "a commit_ts of 0 … 2^63-1")
    if ts_ms != physical(commit_ts):
        raise value.error("SOURCE", "the milliseconds of commit_ts in ts_ms")
    if "after" in members:
        return _row_event(key, value, source, commit_ts)
    if "op" in members:
        if members["op"] != "m" or (key is not None and key.members):
            raise value.error("OP", "an op m, and an empty key")
        return ResolvedEvent(commit_ts=commit_ts)
    database = members["databaseName"]
    if not isinstance(members["ddl"], str) or not isinstance(database, str):
        raise value.error("DDL", "a ddl and its databaseName")
    if key is not None and _canonical(key.members.get("databaseName")) != database.encode():
        raise key.error("KEY", "the value's databaseName")
    return DDLEvent(
        commit_ts=commit_ts,
        schema=database,
        table=str(source["table"]),
        query=members["ddl"],
        ddl_type=0,
    )


def _row_event(key: _Message | None, value: _Message, source: Mapping[str, JSON], commit_ts: int) -> RowEvent:
    members = value.members
    op = _OPS.get(str(members["op"]))
    before, after = (cast("Image | None", members[name]) for name in ("before", "after"))
    if op is None:
        raise value.error("OP", "an op c, u or d")
    if (after is None) != (op == Op.DELETE) or (before is None and op == Op.DELETE):
        raise value.error("ROW", "the images of its op")
    if before is not None and op == Op.INSERT:
        raise value.error("ROW", "no old image of an insert")
    image = before if after is None else after
    if image is None:
        raise value.error("ROW", "an image")
    names = frozenset[str]() if key is None else _key_names(key, image)
    flag = int(ColumnFlag.HANDLE_KEY)
    return RowEvent(
        commit_ts=commit_ts,
        schema=str(source["db"]),
        table=str(source["table"]),
        op=op,
        columns=tuple(
            EventColumn(name, kind, flag if name in names else 0) for name, kind in image.types.items()
        ),
        before=None if before is None else before.values,
        after=None if after is None else after.values,
    )


def _key_names(key: _Message, image: Image) -> frozenset[str]:
    """Return the names of the key columns.

    :raises DecodeError: if the key does not match the row.
    """
    for name, value in key.members.items():
        if name in image.values and image.values[name] == value:
            continue
        raise key.error("KEY", "columns and values that the value has too")
    return frozenset(key.members)


def _canonical(value: JSON) -> Value:
    return value if isinstance(value, bytes) else None
