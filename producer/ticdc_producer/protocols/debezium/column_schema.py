"""Kafka Connect's schema of one column.

Order of members: tidb_type (with the extension), type, optional, name, version, parameters, field,
default. Source: tiflow ``debezium/codec.go`` (writeDebeziumFieldSchema), ``debezium/helper.go``
(getTiDBType).
"""

from __future__ import annotations

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.protocols import allowed_members as members
from ticdc_producer.protocols.debezium import text
from ticdc_producer.protocols.debezium.options import DebeziumOptions
from ticdc_producer.protocols.debezium.values import default_text

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
