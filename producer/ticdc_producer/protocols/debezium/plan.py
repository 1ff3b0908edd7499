"""The compiled plan for encoding the rows of one table version: per column its schema, NULL and DEFAULT.

A plan holds the constant texts of the messages; only the values between them differ per row. Values are
rendered column by column.

Order of the members of a column's schema: tidb_type (with the extension), type, optional, name, version,
parameters, field, default. TiCDC writes the DEFAULT of a column if the row contains NULL. Source: tiflow
``debezium/codec.go`` (EncodeKey, EncodeValue, writeDebeziumFieldSchema, writeDebeziumFieldValue),
``debezium/helper.go`` (getTiDBType, getValue).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.column import ColumnFlag, ColumnInfo
from ticdc_producer.model.mysql_type import CHARSET_BEARING, FLOATS, INTEGERS, LOBS, STRINGS, MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.number_text import plain_text
from ticdc_producer.model.values.temporal_text import two_digit_year
from ticdc_producer.protocols.arrow_text import NULL, Fragment, Fragments, Renderer, concat
from ticdc_producer.protocols.debezium.envelope import (
    DebeziumSource,
    key_schema,
    row_schema,
    schema_prefix,
    source,
)
from ticdc_producer.protocols.debezium.temporal import EPOCH, FIRST_TIMESTAMP, REFUSED, timestamp_json
from ticdc_producer.protocols.debezium.values import default_string, float64, renderer, string
from ticdc_producer.protocols.member_text import allowed, stored_default
from ticdc_producer.protocols.row_options import DebeziumOptions

T = MySQLType

_NOW = "CURRENT_TIMESTAMP"
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


Image: TypeAlias = Sequence[pa.Array]
"""The images of many rows: one array of canonical texts per sent column."""
Rendered: TypeAlias = Sequence[Fragments]
"""An ``Image`` rendered to JSON, one entry per sent column."""

_MAY_BE_REFUSED = (T.DATETIME, T.TIMESTAMP)


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
        """Return the values of the column as JSON.

        >>> column = DebeziumColumnPlan(b'"n":', lambda values: (values,), b"7", False, b"7")
        >>> [texts.to_pylist() for texts in column.values(pa.array([b"1", None]))]
        [[b'1', b'7']]
        """
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
        """Yield the JSON members of an image."""
        yield from self._members(rendered, range(len(self.columns)))

    def key_members(self, rendered: Rendered) -> Iterator[Fragment]:
        """Yield the JSON members of a key."""
        yield from self._members(rendered, self.key)

    def _members(self, rendered: Rendered, members: Iterable[int | bytes]) -> Iterator[Fragment]:
        between = b""
        for member in members:
            if isinstance(member, bytes):
                yield between + member
            else:
                yield between + self.columns[member].prefix
                yield from rendered[member]
            between = b","


def table_plan(table: TableInfo, options: DebeziumOptions) -> DebeziumTablePlan:
    """Compile the plan of one table version."""
    key_tail, value_tail = b"}}", b"}}"
    if not options.debezium_disable_schema:
        prefix = schema_prefix(options.cluster_id, table.schema, table.name)
        key_tail = b'},"schema":%b}' % key_schema(prefix, _key_columns(table, options))
        value_tail = b'},"schema":%b}' % row_schema(prefix, _columns(table, options), options)
    return DebeziumTablePlan(
        columns=tuple(_column_plan(column, options) for column in table.sent_columns),
        key=tuple(_key_member(table, offset) for offset in _key_offsets(table, options)),
        source=source(options.cluster_id, table.schema, table.name),
        key_tail=key_tail,
        value_tail=value_tail,
    )


def _column_plan(column: ColumnInfo, options: DebeziumOptions) -> DebeziumColumnPlan:
    return DebeziumColumnPlan(
        prefix=string(column.name) + b":",
        render=renderer(column, options),
        null=null_json(column, options),
        may_be_refused=column.type in _MAY_BE_REFUSED,
        default=column.default or b"",
    )


def _key_offsets(table: TableInfo, options: DebeziumOptions) -> Iterator[int]:
    """Yield the offsets of the message key's columns, in table order.

    In TiCDC new architecture, a handle key can have virtual columns.
    """
    for offset, (column, flag) in enumerate(zip(table.columns, table.flags, strict=True)):
        virtual = column.is_virtual and options.profile == "new"
        if flag & ColumnFlag.HANDLE_KEY and (offset in table.sent or virtual):
            yield offset


def _key_member(table: TableInfo, offset: int) -> int | bytes:
    index = table.image_index(offset)
    return string(table.columns[offset].name) + b":" + NULL if index is None else index


def _key_columns(table: TableInfo, options: DebeziumOptions) -> bytes:
    key = (table.columns[offset] for offset in _key_offsets(table, options))
    return b",".join(_column_schema(column, options) for column in key)


def _columns(table: TableInfo, options: DebeziumOptions) -> bytes:
    """Return the schemas of all columns: those of the images, then the virtual columns, which images lack.

    TiCDC new architecture also lists the virtual columns at their position in the table.
    """
    virtual = tuple(column for column in table.columns if column.is_virtual)
    first = table.sent_columns
    if options.profile == "new":
        first = tuple(column for i, column in enumerate(table.columns) if i not in table.unselected)
    return b",".join(_column_schema(column, options) for column in first + virtual)


def _column_schema(column: ColumnInfo, options: DebeziumOptions) -> bytes:
    """Return the schema object of a column."""
    parts = []
    if options.enable_tidb_extension:
        parts.append(b'"tidb_type":%b' % string(tidb_type(column)))
    parts.append(b'"type":"%b"' % connect_type(column).encode())
    parts.append(b'"optional":true' if column.nullable else b'"optional":false')
    parts += _logical_type(column)
    parts.append(b'"field":%b' % string(column.name))
    default = _default_text(column, options)
    if default is not None:
        parts.append(b'"default":%b' % default)
    return b"{%b}" % b",".join(parts)


def tidb_type(column: ColumnInfo) -> str:
    """Return the SQL type name without parameters; DECIMAL UNSIGNED is ``decimal``."""
    return "decimal" if column.type == T.NEW_DECIMAL else column.type_name


def connect_type(column: ColumnInfo) -> str:
    """Return Kafka Connect's type of the values."""
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
    name = logical_name(column)
    if not name:
        return []
    parts = [b'"name":"%b"' % name.encode()]
    if column.type != T.VECTOR_FLOAT32:
        parts.append(b'"version":1')
    if column.type == T.BIT:
        parts.append(b'"parameters":{"length":"%d"}' % column.length)
    elif column.type in (T.ENUM, T.SET):
        parts.append(b'"parameters":{"allowed":%b}' % string(allowed(column)))
    return parts


def logical_name(column: ColumnInfo) -> str:
    """Return Debezium's name of the logical type; empty if it has none."""
    if column.type == T.BIT:
        return "" if column.length == 1 else "io.debezium.data.Bits"
    if column.type == T.DATETIME:
        return f"io.debezium.time.{'Timestamp' if column.decimal <= 3 else 'MicroTimestamp'}"
    return _NAMES.get(column.type, "")


def _single_value(column: ColumnInfo, options: DebeziumOptions, value: bytes) -> bytes:
    """Render a single value to JSON."""
    (json,) = concat(renderer(column, options)(pa.array([value], pa.binary())), 1).to_pylist()
    return bytes(json)


def null_json(column: ColumnInfo, options: DebeziumOptions) -> bytes:
    """Return the JSON for NULL: the DEFAULT of the column, if it has one."""
    if column.default_expression == _NOW:
        return _now_for_null(column)
    if column.default_expression and replaces_null_by_expression(column):
        return string(column.default_expression)
    default = text_default(column)
    if default is None:
        return NULL
    if options.profile == "new" and reads_as_zero(column):
        return b"0"
    if options.profile == "classic":
        if column.type == T.YEAR:  # the DEFAULT is written as text, unlike the values
            return string(stored_default(column) or "")
        if column.type in FLOATS:
            return float64(default)
    if column.type == T.NEW_DECIMAL:  # the digits of the DEFAULT as the user wrote them
        return float64(default)
    if column.type in FLOATS:
        default = plain_text(float(default), column.type)
    if column.type == T.TIMESTAMP and default[:19] < FIRST_TIMESTAMP:
        return NULL
    return _single_value(column, options, default)


def text_default(column: ColumnInfo) -> bytes | None:
    """Return the DEFAULT that TiCDC converts: for strings, DECIMAL and YEAR the text in TiDB's metadata."""
    of_metadata = column.type in STRINGS | {T.NEW_DECIMAL, T.YEAR}
    return column.metadata_default if of_metadata else column.default


def _now_for_null(column: ColumnInfo) -> bytes:
    if column.type == T.DATETIME:
        return b"0"
    return NULL if column.nullable else EPOCH


def _default_text(column: ColumnInfo, options: DebeziumOptions) -> bytes | None:
    """Return the ``default`` in the schema of a column; None if it has none."""
    if column.default_expression == _NOW:
        return _now_in_schema(column)
    if column.default_expression:
        return _expression_in_schema(column)
    default = text_default(column)
    if default is None:
        return None
    if column.type in CHARSET_BEARING - {T.ENUM, T.SET}:  # including byte strings, which are not Base64 here
        return default_string(default)
    if column.type in (T.DATE, T.NEW_DATE, T.DATETIME):
        json = _single_value(column, options, default)
        return b"0" if json == REFUSED else None if json == NULL else json
    if column.type == T.TIMESTAMP:
        return _timestamp_in_schema(column, default)
    if column.type == T.YEAR:
        return b"%d" % two_digit_year(int(default))
    if column.type in INTEGERS | FLOATS | {T.NEW_DECIMAL}:
        return float64(default)
    return _single_value(column, options, default)


def reads_as_zero(column: ColumnInfo) -> bool:
    """Return whether TiCDC new architecture reads 0 from a DEFAULT: from every TIME, and numbers from 2^63.

    Source: ticdc ``getValueFromDefault``.
    """
    if column.default is None:
        return False
    return column.type == T.DURATION or (column.type == T.LONGLONG and int(column.default) >= 1 << 63)


def replaces_null_by_expression(column: ColumnInfo) -> bool:
    """Return whether NULL becomes the SQL text of the DEFAULT; numbers and dates cannot be read from it."""
    return column.type == T.JSON or (column.type in STRINGS | LOBS and not column.binary)


def _expression_in_schema(column: ColumnInfo) -> bytes | None:
    """Return the DEFAULT that TiDB computes per row; TiCDC uses its SQL text as a value."""
    if column.type == T.TIMESTAMP or (column.type in (T.DATE, T.DATETIME) and not column.nullable):
        return b"0"
    if column.type in CHARSET_BEARING | {T.JSON, T.BIT}:
        return string(column.default_expression)
    return None


def _now_in_schema(column: ColumnInfo) -> bytes | None:
    if column.type == T.DATETIME:
        return b"0"
    return None if column.nullable else EPOCH


def _timestamp_in_schema(column: ColumnInfo, default: bytes) -> bytes | None:
    """Return the DEFAULT of a TIMESTAMP: TiDB stores it in UTC, and TiCDC reads it as UTC here."""
    if default[:19] < FIRST_TIMESTAMP:
        return None if column.nullable else EPOCH
    return timestamp_json(default, UTC) or b"0"
