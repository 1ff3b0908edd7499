"""Strict decoder of Simple: every malformed message is a ``DecodeError`` with its position.

Row messages name the version of their table; a DDL or BOOTSTRAP message contains the schema of that version:
columns, types and handle key. Rows wait until the schema of their version has been received.
"""

from __future__ import annotations

import binascii
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from typing import TypeAlias

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.column import ColumnFlag
from ticdc_producer.model.event import (
    DDLEvent,
    Event,
    EventColumn,
    Image,
    Op,
    ResolvedEvent,
    RowChecksum,
    RowEvent,
    Value,
)
from ticdc_producer.model.mysql_type import LOBS, STRINGS, TYPES, type_names
from ticdc_producer.protocols.base import BadValue
from ticdc_producer.protocols.compression import DEFAULT_LIMIT, plain
from ticdc_producer.protocols.simple.avro_envelope import AvroCell, cell_text, is_avro, parse_avro_envelope
from ticdc_producer.protocols.simple.envelope import (
    BOOTSTRAP,
    DDL_TYPE_NAMES,
    OPS,
    WATERMARK,
    ChecksumJSON,
    IndexJSON,
    RowJSON,
    SchemaColumnJSON,
    SimpleEnvelope,
    TableSchema,
    TimestampJSON,
    action_of,
    parse_envelope,
)
from ticdc_producer.protocols.value_parsers import Parser, parser_for

SCHEMA_NAME = b'ableSchema"'
"""The end of the names of the members that have table schemas."""
_Version: TypeAlias = tuple[str, str, int]
"""Database, table, version."""
_UNSPECIFIED = "unspecified"  # columns of a view, which has no rows
_BYTES = type_names(STRINGS | LOBS, binary=True)
_TIMESTAMP = "timestamp"
_Cell: TypeAlias = str | TimestampJSON


class SimpleDecoder:
    """A decoder of messages to events; it remembers the schema of every table version that it has received.

    :param schema_messages: values of the messages of the topic that contain table schemas, from any position.
        If they are given, no row waits: a row of a version without a schema is a decode error. Schema
        messages that do not decode are ignored here; they are errors at their own position.
    :param max_bytes: limit of the decompressed value of a message.
    """

    def __init__(
        self, schema_messages: Iterable[bytes] | None = None, max_bytes: int = DEFAULT_LIMIT
    ) -> None:
        self._max_bytes = max_bytes
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
        """Yield the events of one message, in order; for a schema message also the rows that waited for it.

        :param key: ignored; messages of this protocol have no key.
        :raises DecodeError: for anything that is not a message of this protocol.
        """
        message = parsed_message(value or b"", self._max_bytes)
        if message.type in OPS:
            yield from self._row(message)
        elif message.type == WATERMARK:
            yield ResolvedEvent(commit_ts=message.commit_ts)
        elif message.type == BOOTSTRAP or message.type in DDL_TYPE_NAMES:
            released = [waiting for schema in _schemas(message) for waiting in self._learn(schema)]
            if message.type != BOOTSTRAP:
                yield _ddl(message)
            for waiting in released:
                yield from self._row(waiting)
        else:
            known = ", ".join([*OPS, WATERMARK, BOOTSTRAP, *sorted(DDL_TYPE_NAMES)])
            raise _error("TYPE", f"a type of {known}")

    def _learn_schemas(self, value: bytes) -> None:
        try:
            for schema in _schemas(parsed_message(value, self._max_bytes)):
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


def parsed_message(value: bytes, max_bytes: int = DEFAULT_LIMIT) -> SimpleEnvelope:
    """Parse a message in JSON or Avro, which may be compressed."""
    text = plain(value, "value", max_bytes)
    return parse_avro_envelope(text) if is_avro(text) else parse_envelope(text)


def schema_versions(value: bytes) -> frozenset[Hashable]:
    """Return the table versions whose schema a message contains; empty if it does not decode."""
    try:
        text = plain(value, "value")
        if not is_avro(text) and SCHEMA_NAME not in text:
            return frozenset()
        return frozenset(
            (schema.schema, schema.table, schema.version) for schema in _schemas(parsed_message(text))
        )
    except DecodeError:
        return frozenset()


def is_bootstrap(value: bytes) -> bool:
    """Return whether a message describes a table and carries no event; False if it does not decode."""
    try:
        text = plain(value, "value")
        if not is_avro(text) and b"BOOTSTRAP" not in text:
            return False
        return parsed_message(text).type == BOOTSTRAP
    except DecodeError:
        return False


def _error(code: str, expected: str) -> DecodeError:
    return DecodeError(f"SIMPLE-{code}", expected, part="value", byte=0)


def _schemas(message: SimpleEnvelope) -> list[TableSchema]:
    """Return the table schemas in a message.

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
    """Check that the images match the operation.

    :raises DecodeError: if they do not.
    """
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
        checksum=None if message.checksum is None else _checksum(message, message.checksum, table),
    )


def _checksum(message: SimpleEnvelope, checksum: ChecksumJSON, table: TableReader) -> RowChecksum:
    rows = [row for row in (message.data, message.old) if row is not None]
    verifiable = not message.handle_key_only and not any(map(_is_damaged, rows))
    return RowChecksum(
        version=checksum.version,
        corrupted=checksum.corrupted,
        current=checksum.current,
        previous=checksum.previous,
        columns=tuple(name for name in table.columns if name in rows[0]) if verifiable else (),
        time_zone=next((zone for row in rows for zone in map(_location, row.values()) if zone), "UTC"),
    )


def _is_damaged(row: RowJSON) -> bool:
    """Return whether a text may have lost bytes that are not UTF-8, which JSON has as U+FFFD."""
    return any(isinstance(cell, str) and "\ufffd" in cell for cell in row.values())


def _location(cell: object) -> str:
    """Return the time zone of a TIMESTAMP; empty for other values."""
    if isinstance(cell, TimestampJSON):
        return cell.location
    value = cell.value if isinstance(cell, AvroCell) else None
    return value[0] if isinstance(value, tuple) else ""


class TableReader:
    """A reader of the rows of one table version.

    :param schema: the table schema in a DDL or BOOTSTRAP message.
    :raises DecodeError: for a column whose type is not a MySQL type.
    """

    def __init__(self, schema: TableSchema) -> None:
        key = _handle_key(schema.indexes)
        self.columns = {column.name: _event_column(column, column.name in key) for column in schema.columns}
        self._readers = {column.name: _reader(column) for column in schema.columns}
        self._texts = {
            name: read for name, read in self._readers.items() if self.columns[name].type != _TIMESTAMP
        }
        self._latest: tuple[tuple[str, ...], tuple[EventColumn, ...]] = (), ()

    def event_columns(self, row: RowJSON) -> tuple[EventColumn, ...]:
        """Return the columns of a row, in the order of the row. The result for the last order is cached.

        :raises DecodeError: for a column that the table does not have.
        """
        names, columns = tuple(row), self.columns
        if names != self._latest[0]:
            self._latest = names, tuple([columns[self._known(name)] for name in names])
        return self._latest[1]

    def image(self, row: RowJSON) -> Image:
        """Return the values of a row.

        :raises DecodeError: for a column that the table does not have, or a value that its type does not
            allow.
        """
        image: dict[str, Value] = {}
        texts, name = self._texts, ""
        try:
            for name, cell in row.items():
                read = texts.get(name)
                if read is not None and cell.__class__ is str:
                    image[name] = read(cell)
                else:
                    image[name] = self._other(self._known(name), cell)
        except BadValue as bad:
            raise _error(bad.code, f"{bad.expected} in column {name!r}") from None
        return image

    def _known(self, name: str) -> str:
        if name not in self.columns:
            raise _error("COLUMN", f"columns of the table; {name!r} is none")
        return name

    def _other(self, name: str, cell: _Cell | AvroCell | None) -> Value:
        """Convert NULL, a TIMESTAMP or an Avro value.

        :raises BadValue: for any other value.
        """
        if cell is None:
            return None
        if isinstance(cell, AvroCell):
            return cell_text(self.columns[name].type, cell, self._readers[name])
        if name in self._texts:
            raise BadValue("a string", "VALUE")
        if isinstance(cell, str):
            raise BadValue("a location and a value", "VALUE")
        return self._readers[name](cell.value)


def _handle_key(indexes: Iterable[IndexJSON]) -> frozenset[str]:
    """Return the columns of the handle key: the primary key, else the best unique index without NULLs.

    An index called ``primary`` with the columns of another unique index is not the primary key: TiCDC adds
    it.
    """
    unique = [index for index in indexes if index.unique and not index.nullable and not index.primary]
    others = [index.columns for index in unique]
    primary = [index for index in indexes if index.primary]
    own = [index for index in primary if index.name != "primary" or index.columns not in others]
    best = own or sorted(unique, key=lambda index: len(index.columns))
    return frozenset(best[0].columns) if best else frozenset()


def _event_column(column: SchemaColumnJSON, in_key: bool) -> EventColumn:
    kind = column.data_type
    flag = ColumnFlag.BINARY if kind.charset == "binary" else ColumnFlag(0)
    flag |= ColumnFlag.HANDLE_KEY if in_key else ColumnFlag(0)
    flag |= ColumnFlag.NULLABLE if column.nullable else ColumnFlag(0)
    flag |= ColumnFlag.UNSIGNED if kind.unsigned else ColumnFlag(0)
    return EventColumn(column.name, _type_text(column), int(flag))


_SIGNED = frozenset(spec.name for spec in TYPES.values() if spec.unsigned == "optional")


def _type_text(column: SchemaColumnJSON) -> str:
    name = column.data_type.mysql_type
    return f"{name} unsigned" if column.data_type.unsigned and name in _SIGNED else name


def _reader(column: SchemaColumnJSON) -> Parser:
    """Return the parser of the texts of a column; it raises ``BadValue``."""
    text = _type_text(column)
    if text in _BYTES:
        return _bytes
    if text == _UNSPECIFIED:
        return _unreadable
    try:
        return parser_for(text)
    except BadValue as bad:
        raise _error(bad.code, f"{bad.expected} of column {column.name!r}") from None


def _unreadable(_: str) -> bytes:
    raise BadValue("no value, since the column has no type,", "VALUE")


def _bytes(text: str) -> bytes:
    try:
        return binascii.a2b_base64(text, strict_mode=True)
    except ValueError:  # also raised for characters outside of ASCII
        raise BadValue("Base64", "BASE64") from None
