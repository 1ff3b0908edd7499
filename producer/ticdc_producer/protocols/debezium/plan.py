"""The compiled plan for encoding the rows of one table version, with Kafka Connect's schemas of its columns.

Order of members: tidb_type (with the extension), type, optional, name, version, parameters, field,
default. Source: tiflow ``debezium/codec.go`` (writeDebeziumFieldSchema), ``debezium/helper.go``
(getTiDBType).

A plan holds the constant texts of the messages; only the values between them differ per row. Values are
rendered column by column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.column import ColumnFlag, ColumnInfo
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols import member_text as members
from ticdc_producer.protocols.arrow_text import NULL, Fragment, Fragments, Renderer, concat
from ticdc_producer.protocols.debezium import envelope, text
from ticdc_producer.protocols.debezium.envelope import DebeziumSource, schema_prefix
from ticdc_producer.protocols.debezium.options import DebeziumOptions
from ticdc_producer.protocols.debezium.values import default_text, null_text, renderer

T = MySQLType

_TYPES = {
    T.TINY: "int16", T.INT24: "int32", T.LONGLONG: "int64", T.DOUBLE: "double", T.NEW_DECIMAL: "double",
    T.DATE: "int32", T.NEW_DATE: "int32", T.DATETIME: "int64", T.DURATION: "int64", T.YEAR: "int32",
}  # fmt: skip
_NAMES = {
    T.ENUM: "io.debezium.data.Enum", T.SET: "io.debezium.data.EnumSet", T.JSON: "io.debezium.data.Json",
    T.DATE: "io.debezium.time.Date", T.NEW_DATE: "io.debezium.time.Date",
    T.DURATION: "io.debezium.time.MicroTime", T.TIMESTAMP: "io.debezium.time.ZonedTimestamp",
    T.YEAR: "io.debezium.time.Year", T.VECTOR_FLOAT32: "io.debezium.data.TiDBVectorFloat32",
}  # fmt: skip


def column_schema(column: ColumnInfo, options: DebeziumOptions) -> bytes:
    """The schema object of a column."""
    parts = []
    if options.enable_tidb_extension:
        parts.append(b'"tidb_type":%b' % text.string(tidb_type(column)))
    parts.append(b'"type":"%b"' % connect_type(column).encode())
    parts.append(b'"optional":true' if column.nullable else b'"optional":false')
    parts += _logical_type(column)
    parts.append(b'"field":%b' % text.string(column.name))
    default = default_text(column, options)
    if default is not None:
        parts.append(b'"default":%b' % default)
    return b"{%b}" % b",".join(parts)


def tidb_type(column: ColumnInfo) -> str:
    """The SQL type name without parameters; DECIMAL UNSIGNED is ``decimal``."""
    return "decimal" if column.type == T.NEW_DECIMAL else column.type_name


def connect_type(column: ColumnInfo) -> str:
    """Kafka Connect's type of the values."""
    match column.type:
        case T.SHORT:
            return "int32" if column.unsigned else "int16"
        case T.LONG:
            return "int64" if column.unsigned else "int32"
        case T.FLOAT:
            return "float" if column.decimal == -1 else "double"
        case T.BIT:
            return "boolean" if column.length == 1 else "bytes"
    return _TYPES.get(column.type, "string")


def _logical_type(column: ColumnInfo) -> list[bytes]:
    name = _logical_name(column)
    if not name:
        return []
    parts = [b'"name":"%b"' % name.encode()]
    if column.type != T.VECTOR_FLOAT32:
        parts.append(b'"version":1')
    if column.type == T.BIT:
        parts.append(b'"parameters":{"length":"%d"}' % column.length)
    elif column.type in (T.ENUM, T.SET):
        parts.append(b'"parameters":{"allowed":%b}' % text.string(members.allowed(column)))
    return parts


def _logical_name(column: ColumnInfo) -> str:
    if column.type == T.BIT:
        return "" if column.length == 1 else "io.debezium.data.Bits"
    if column.type == T.DATETIME:
        return f"io.debezium.time.{'Timestamp' if column.decimal <= 3 else 'MicroTimestamp'}"
    return _NAMES.get(column.type, "")


Image: TypeAlias = Sequence[pa.Array]
"""The images of many rows: one array of canonical texts per sent column."""
Rendered: TypeAlias = Sequence[Fragments]
"""An ``Image`` rendered to JSON, one entry per sent column."""

_MAY_BE_REFUSED = (MySQLType.DATETIME, MySQLType.TIMESTAMP)


@dataclass(frozen=True, slots=True)
class DebeziumColumnPlan:
    """One column of the images.

    :param prefix: ``"name":``.
    :param null: the JSON that replaces NULL.
    :param may_be_refused: whether TiCDC refuses some values of the column.
    :param default: canonical text of the DEFAULT, for the errors of refused values.
    """

    prefix: bytes
    render: Renderer
    null: bytes
    may_be_refused: bool
    default: bytes

    def values(self, column: pa.Array) -> Fragments:
        """The values of the column as JSON."""
        rendered = self.render(column)
        if self.null == NULL or not column.null_count:
            return rendered
        return (pc.fill_null(concat(rendered, len(column), null=None), self.null),)


@dataclass(frozen=True, slots=True)
class DebeziumTablePlan:
    """The plan of one table version.

    :param key: the members of a key: image indexes, and the text of virtual columns, which images lack.
    :param key_tail: the text after the members of a key, including the schema.
    :param value_tail: the text after the members of the payload, including the schema.
    """

    columns: tuple[DebeziumColumnPlan, ...]
    key: tuple[int | bytes, ...]
    source: DebeziumSource
    key_tail: bytes
    value_tail: bytes

    def rendered(self, image: Image) -> Rendered:
        """Render all values of an image; empty if there is no image."""
        return [plan.values(column) for plan, column in zip(self.columns, image, strict=bool(image))]

    def members(self, rendered: Rendered) -> Iterator[Fragment]:
        """The JSON members of an image."""
        yield from self._members(rendered, range(len(self.columns)))

    def key_members(self, rendered: Rendered) -> Iterator[Fragment]:
        """The JSON members of a key."""
        yield from self._members(rendered, self.key)

    def _members(self, rendered: Rendered, chosen: Iterable[int | bytes]) -> Iterator[Fragment]:
        between = b""
        for one in chosen:
            if isinstance(one, bytes):
                yield between + one
            else:
                yield between + self.columns[one].prefix
                yield from rendered[one]
            between = b","


def table_plan(table: TableInfo, options: DebeziumOptions) -> DebeziumTablePlan:
    """Compile the plan of one table version."""
    key_tail, value_tail = b"}}", b"}}"
    if not options.debezium_disable_schema:
        prefix = schema_prefix(options.cluster_id, table.schema, table.name)
        key_tail = b'},"schema":%b}' % envelope.key_schema(prefix, _key_columns(table, options))
        value_tail = b'},"schema":%b}' % envelope.row_schema(prefix, _columns(table, options), options)
    return DebeziumTablePlan(
        columns=tuple(_column_plan(column, options) for column in table.sent_columns),
        key=tuple(_key_member(table, offset) for offset in _key_offsets(table, options)),
        source=envelope.source(options.cluster_id, table.schema, table.name),
        key_tail=key_tail,
        value_tail=value_tail,
    )


def _column_plan(column: ColumnInfo, options: DebeziumOptions) -> DebeziumColumnPlan:
    return DebeziumColumnPlan(
        prefix=text.string(column.name) + b":",
        render=renderer(column, options),
        null=null_text(column, options),
        may_be_refused=column.type in _MAY_BE_REFUSED,
        default=column.default or b"",
    )


def _key_offsets(table: TableInfo, options: DebeziumOptions) -> Iterator[int]:
    """The columns of the message key, in table order. New architecture's handle key can have virtual ones."""
    for offset, (column, flag) in enumerate(zip(table.columns, table.flags, strict=True)):
        virtual = column.is_virtual and options.profile == "new"
        if flag & ColumnFlag.HANDLE_KEY and (offset in table.sent or virtual):
            yield offset


def _key_member(table: TableInfo, offset: int) -> int | bytes:
    index = table.image_index(offset)
    return text.string(table.columns[offset].name) + b":" + NULL if index is None else index


def _key_columns(table: TableInfo, options: DebeziumOptions) -> bytes:
    key = (table.columns[offset] for offset in _key_offsets(table, options))
    return b",".join(column_schema(column, options) for column in key)


def _columns(table: TableInfo, options: DebeziumOptions) -> bytes:
    """The schemas of all columns: those of the images, then the virtual columns, which images lack.

    TiCDC new architecture also lists the virtual columns at their position in the table.
    """
    virtual = tuple(column for column in table.columns if column.is_virtual)
    first = table.sent_columns
    if options.profile == "new":
        first = tuple(one for i, one in enumerate(table.columns) if i not in table.unselected)
    return b",".join(column_schema(column, options) for column in first + virtual)
