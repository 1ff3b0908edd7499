"""Readers of the columns of images, by their Connect schemas; values are canonical texts."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from datetime import tzinfo
from functools import partial
from typing import TypeAlias

from ticdc_producer.model.event import Value
from ticdc_producer.protocols.avro.field_reader import AvroCursor, BadSchema, decimal_reader
from ticdc_producer.protocols.base import BadValue
from ticdc_producer.protocols.debezium.column_reader import column_reader, type_name
from ticdc_producer.protocols.debezium.message_parts import FieldSchema, JSONValue
from ticdc_producer.protocols.debezium_avro.connect import DECIMAL
from ticdc_producer.protocols.value_parsers import parser_for

Reader: TypeAlias = Callable[[AvroCursor], Value]
_BYTES = "varbinary"
"""The SQL type of bytes without ``tidb_type``."""


def untyped_name(kind: str, name: str) -> str:
    """Return the SQL type name for a schema without ``tidb_type``.

    :param kind: Connect's type.
    :param name: of the logical type.
    """
    if kind == "bytes" and name in ("", DECIMAL):
        return "decimal" if name else _BYTES
    return type_name(kind, name)


def scalar_reader(kind: str) -> Callable[[AvroCursor], JSONValue]:
    """Return what reads a value of Connect's JSON.

    :raises BadSchema: for a type that Connect does not have.
    """
    match kind:
        case "boolean":
            return _boolean
        case "string":
            return AvroCursor.text
        case "bytes":
            return _base64
        case "int8" | "int16" | "int32" | "int64":
            return AvroCursor.long
        case "float":
            return AvroCursor.binary32
        case "double":
            return AvroCursor.binary64
    raise BadSchema(f"a type of Connect's, not {kind}")


def _boolean(cursor: AvroCursor) -> bool:
    byte = cursor.take(1)
    if byte > b"\x01":
        raise cursor.error("BOOLEAN", "a boolean")
    return byte == b"\x01"


def _base64(cursor: AvroCursor) -> str:
    return b64encode(cursor.length_prefixed()).decode()


def column(schema: FieldSchema, avro: Mapping[str, object], zone: tzinfo) -> tuple[str, Reader]:
    """Return the SQL type name of a column, and the reader of its values that are not NULL.

    :param avro: the Avro schema of its values.
    :param zone: time zone of the changefeed; TIMESTAMP values are returned in it.
    :raises BadSchema: for a schema that TiCDC does not write.
    """
    name = schema.tidb_type or untyped_name(schema.type, schema.name)
    if schema.name == DECIMAL:
        return name, decimal_reader(avro)
    if schema.type == "bytes" and not schema.name:
        return name, AvroCursor.length_prefixed
    if schema.type == "string" and name in ("decimal", "bigint unsigned"):
        return name, partial(_parsed, parser_for(name), AvroCursor.text)
    try:
        reader = column_reader(schema, zone)
    except BadValue as bad:
        raise BadSchema(bad.expected) from None
    if schema.type == "string" and not schema.name:
        return reader.type, AvroCursor.length_prefixed
    return reader.type, partial(_parsed, reader.read, scalar_reader(schema.type))


def _parsed(
    parse: Callable[..., bytes], read: Callable[[AvroCursor], JSONValue], cursor: AvroCursor
) -> bytes:
    start = cursor.position
    value = read(cursor)
    try:
        return parse(value)
    except BadValue as bad:
        cursor.position = start
        raise cursor.error("VALUE", bad.expected) from None
