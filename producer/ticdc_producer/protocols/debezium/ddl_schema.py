"""Schemas of the DDL message, the same for every table.

Scalars are written in the order field, optional, type. Source: tiflow ``debezium/codec.go`` (EncodeDDLEvent).
"""

from __future__ import annotations

from ticdc_producer.protocols.debezium.envelope import Schema, source_schema
from ticdc_producer.protocols.debezium.options import DebeziumOptions


def _field(name: str, kind: str, *, optional: bool = False) -> Schema:
    return {"field": name, "optional": optional, "type": kind}


def _strings(name: str) -> Schema:
    return {**_field(name, "array", optional=True), "items": {"type": "string", "optional": False}}


def _structs(name: str, items: str, fields: list[Schema]) -> Schema:
    """A field that is an array of objects."""
    struct: Schema = {"name": f"io.debezium.connector.schema.{items}", "optional": False, "type": "struct"}
    return {**_field(name, "array"), "items": {**struct, "version": 1, "fields": fields}}


_COLUMN_FIELDS = [
    _field("name", "string"),
    _field("jdbcType", "int32"),
    _field("nativeType", "int32", optional=True),
    _field("typeName", "string"),
    _field("typeExpression", "string", optional=True),
    _field("charsetName", "string", optional=True),
    _field("length", "int32", optional=True),
    _field("scale", "int32", optional=True),
    _field("position", "int32"),
    _field("optional", "boolean", optional=True),
    _field("autoIncremented", "boolean", optional=True),
    _field("generated", "boolean", optional=True),
    _field("comment", "string", optional=True),
    _field("defaultValueExpression", "string", optional=True),
    _strings("enumValues"),
]
_TABLE_SCHEMA: Schema = {
    **_field("table", "struct", optional=True),
    "name": "io.debezium.connector.schema.Table",
    "version": 1,
    "fields": [
        _field("defaultCharsetName", "string", optional=True),
        _strings("primaryKeyColumnNames"),
        _structs("columns", "Column", _COLUMN_FIELDS),
        _field("comment", "string", optional=True),
    ],
}

KEY_SCHEMA: Schema = {
    "type": "struct",
    "name": "io.debezium.connector.mysql.SchemaChangeKey",
    "optional": False,
    "version": 1,
    "fields": [_field("databaseName", "string")],
}

_CHANGE_FIELDS = [_field("type", "string"), _field("id", "string"), _TABLE_SCHEMA]


def value_schema(options: DebeziumOptions) -> Schema:
    """The schema of the message value."""
    return {
        "optional": False,
        "type": "struct",
        "version": 1,
        "name": "io.debezium.connector.mysql.SchemaChangeValue",
        "fields": [
            source_schema(options),
            _field("ts_ms", "int64"),
            _field("databaseName", "string", optional=True),
            _field("schemaName", "string", optional=True),
            _field("ddl", "string", optional=True),
            _structs("tableChanges", "Change", _CHANGE_FIELDS),
        ],
    }
