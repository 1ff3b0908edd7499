"""Strict decoder of Simple: every malformed message is a ``DecodeError`` with its position.

Row messages name the version of their table; a DDL or BOOTSTRAP message carries the schema of that version.
Rows wait until the schema of their version has been received.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from typing import TypeAlias

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.event import DDLEvent, Event, Op, ResolvedEvent, RowEvent
from ticdc_producer.protocols.compression import plain
from ticdc_producer.protocols.simple.avro_envelope import is_avro, parse_avro_envelope
from ticdc_producer.protocols.simple.envelope import (
    BOOTSTRAP,
    DDL_TYPE_NAMES,
    OPS,
    WATERMARK,
    SimpleEnvelope,
    TableSchema,
    action_of,
    parse_envelope,
)
from ticdc_producer.protocols.simple.schema_cache import TableReader

_Version: TypeAlias = tuple[str, str, int]
"""Database, table, version."""


class SimpleDecoder:
    """Decodes messages to events; remembers the schema of every table version that it has received.

    :param schema_messages: values of the messages of the topic that carry table schemas, from any position.
        If they are given, no row waits: a row of a version without a schema is a decode error. Schema
        messages that do not decode are ignored here; they are errors at their own position.
    """

    def __init__(self, schema_messages: Iterable[bytes] | None = None) -> None:
        self._tables: dict[_Version, TableReader] = {}
        self._waiting: dict[_Version, list[SimpleEnvelope]] = defaultdict(list)
        self._complete = schema_messages is not None
        for value in schema_messages or ():
            self._learn_schemas(value)

    @property
    def waiting(self) -> int:
        """Number of rows that wait for the schema of their table."""
        return sum(map(len, self._waiting.values()))

    def events(
        self,
        key: bytes | None,  # noqa: ARG002  # the protocol leaves it empty
        value: bytes | None,
    ) -> Iterator[Event]:
        """The events of one message, in order. A schema message also yields the rows that waited for it.

        :param key: ignored; messages of this protocol have no key.
        :raises DecodeError: for anything that is not a message of this protocol.
        """
        message = _parsed(value or b"")
        if message.type in OPS:
            yield from self._row(message)
        elif message.type == WATERMARK:
            yield ResolvedEvent(commit_ts=message.commit_ts)
        elif message.type == BOOTSTRAP or message.type in DDL_TYPE_NAMES:
            released = [each for schema in _schemas(message) for each in self._learn(schema)]
            if message.type != BOOTSTRAP:
                yield _ddl(message)
            for waiting in released:
                yield from self._row(waiting)
        else:
            known = ", ".join([*OPS, WATERMARK, BOOTSTRAP, *sorted(DDL_TYPE_NAMES)])
            raise _error("TYPE", f"a type of {known}")

    def _learn_schemas(self, value: bytes) -> None:
        try:
            for schema in _schemas(_parsed(value)):
                self._learn(schema)
        except DecodeError:
            return

    def _learn(self, schema: TableSchema) -> list[SimpleEnvelope]:
        """Store a table schema and return the rows that waited for it."""
        version = schema.schema, schema.table, schema.version
        if version not in self._tables:
            self._tables[version] = TableReader(schema)
        return self._waiting.pop(version, [])

    def _row(self, message: SimpleEnvelope) -> Iterator[RowEvent]:
        version = message.database, message.table, message.schema_version
        table = self._tables.get(version)
        if table is not None:
            yield _row_event(message, table)
        elif self._complete:
            raise _error("UNDESCRIBED", "a table version that a DDL or BOOTSTRAP message describes")
        else:
            _check_images(message)
            self._waiting[version].append(message)


def _parsed(value: bytes) -> SimpleEnvelope:
    """Parse a message in JSON or Avro; Avro messages are never compressed."""
    return parse_avro_envelope(value) if is_avro(value) else parse_envelope(plain(value, "value"))


def schema_versions(value: bytes) -> frozenset[Hashable]:
    """The table versions whose schema a message carries; empty if it does not decode."""
    try:
        text = value if is_avro(value) else plain(value, "value")
        if not is_avro(value) and b'ableSchema"' not in text:
            return frozenset()
        return frozenset((schema.schema, schema.table, schema.version) for schema in _schemas(_parsed(text)))
    except DecodeError:
        return frozenset()


def _error(code: str, expected: str) -> DecodeError:
    return DecodeError(f"SIMPLE-{code}", expected, part="value", byte=0)


def _schemas(message: SimpleEnvelope) -> list[TableSchema]:
    """The table schemas in a message.

    :raises DecodeError: for a BOOTSTRAP message without a schema.
    """
    if message.type == BOOTSTRAP and message.table_schema is None:
        raise _error("BOOTSTRAP", "a tableSchema in a BOOTSTRAP message")
    schemas = (message.pre_table_schema, message.table_schema)
    return [schema for schema in schemas if schema is not None]


def _ddl(message: SimpleEnvelope) -> DDLEvent:
    table = message.table_schema
    return DDLEvent(
        commit_ts=message.commit_ts,
        schema="" if table is None else table.schema,
        table="" if table is None else table.table,
        query=message.sql,
        ddl_type=action_of(message.type),
    )


def _check_images(message: SimpleEnvelope) -> None:
    """:raises DecodeError: if the images do not match the operation."""
    op = OPS[message.type]
    if (message.data is None) != (op == Op.DELETE) or (message.old is None) != (op == Op.INSERT):
        raise _error("IMAGES", "data in inserts and updates alone, old in updates and deletes alone")
    if message.data is not None and message.old is not None and message.data.keys() != message.old.keys():
        raise _error("COLUMN", "the same columns in data and old")


def _row_event(message: SimpleEnvelope, table: TableReader) -> RowEvent:
    _check_images(message)
    row = message.old if message.data is None else message.data
    return RowEvent(
        commit_ts=message.commit_ts,
        schema=message.database,
        table=message.table,
        op=OPS[message.type],
        columns=table.event_columns(row or {}),
        before=None if message.old is None else table.image(message.old),
        after=None if message.data is None else table.image(message.data),
        table_id=message.table_id,
        handle_key_only=message.handle_key_only,
        claim_check=message.claim_check_location,
    )
