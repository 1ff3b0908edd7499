"""The schemas of the messages besides those of columns: ``source``, the envelope, and DDLs.

Source: tiflow ``debezium/codec.go`` (writeSourceSchema, EncodeDDLEvent).
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TypeAlias

from ticdc_producer.protocols.row_options import DebeziumOptions

Schema: TypeAlias = dict[str, object]


def compact(schema: Schema) -> bytes:
    """Return the schema as JSON without spaces; its names are ASCII."""
    return json.dumps(schema, separators=(",", ":")).encode()


def fields(listed: str) -> list[Schema]:
    """Return the schemas of scalar fields.

    :param listed: ``name:type`` of each, followed by ``?`` if the field is optional.
    """
    return [
        {"type": kind.removesuffix("?"), "optional": kind.endswith("?"), "field": name}
        for name, kind in (entry.split(":") for entry in listed.split())
    ]


_SNAPSHOT: Schema = {
    "type": "string", "optional": True, "name": "io.debezium.data.Enum", "version": 1,
    "parameters": {"allowed": "true,last,false,incremental"}, "default": "false", "field": "snapshot",
}  # fmt: skip
_SOURCE_FIELDS = [
    *fields("version:string connector:string name:string ts_ms:int64"),
    _SNAPSHOT,
    *fields("db:string sequence:string? table:string? server_id:int64 gtid:string? file:string pos:int64"),
    *fields("row:int32 thread:int64? query:string?"),
]


def source_schema(options: DebeziumOptions, *, of_rows: bool = False) -> Schema:
    """Return the schema of ``source``.

    TiCDC new architecture also lists TiCDC's own fields, if its options enable them.
    """
    extended = options.profile == "new" and options.enable_tidb_extension
    return _source_schema(extended=extended, start_ts=options.debezium_include_start_ts and of_rows)


def _source_schema(*, extended: bool, start_ts: bool) -> Schema:
    listed = [*_SOURCE_FIELDS]
    if extended:
        listed += fields("commit_ts:int64 cluster_id:string")
    if start_ts:
        listed += fields("start_ts:int64")
    name = "io.debezium.connector.mysql.Source"
    return {"type": "struct", "fields": listed, "optional": False, "name": name, "field": "source"}


TRANSACTION_SCHEMA: Schema = {
    "type": "struct", "fields": fields("id:string total_order:int64 data_collection_order:int64"),
    "optional": True, "name": "event.block", "version": 1, "field": "transaction",
}  # fmt: skip

_IMAGES = ("before", "after")


def is_envelope(schema: Schema) -> bool:
    """Return whether a schema has the members of TiCDC's envelopes besides the images, in any order."""
    listed = schema.get("fields")
    if not isinstance(listed, list) or not all(isinstance(entry, dict) for entry in listed):
        return False
    common = [entry for entry in listed if entry.get("field") not in _IMAGES]
    return _known_fields(common, [*fields("op:string ts_ms:int64?"), TRANSACTION_SCHEMA])


def is_envelope_of_ddl(schema: Schema, others: list[Schema]) -> bool:
    """Return whether a schema has the members of a DDL, in any order.

    :param others: the members besides ``source``.
    """
    listed = schema.get("fields")
    return isinstance(listed, list) and _known_fields(listed, others)


def _known_fields(listed: list[Schema], others: list[Schema]) -> bool:
    """Return whether these are ``source``, in one of the forms that the options give it, and others."""
    flags = (False, True)
    forms = (_source_schema(extended=extended, start_ts=start_ts) for extended in flags for start_ts in flags)
    return any(
        len(listed) == len(known) and all(entry in listed for entry in known)
        for known in ([form, *others] for form in forms)
    )


_NAME = "io.debezium.connector.schema."
DDL_NAME = "io.debezium.connector.mysql.SchemaChangeValue"


def _scalars(listed: str) -> list[Schema]:
    """Return ``fields`` with sorted members."""
    return [dict(sorted(schema.items())) for schema in fields(listed)]


def _strings(name: str) -> Schema:
    items = {"type": "string", "optional": False}
    return {"field": name, "optional": True, "type": "array", "items": items}


def _structs(name: str, kind: str, listed: list[Schema]) -> Schema:
    """Return the schema of a field that is an array of objects."""
    items = {"name": _NAME + kind, "optional": False, "type": "struct", "version": 1, "fields": listed}
    return {"field": name, "optional": False, "type": "array", "items": items}


_COLUMN_FIELDS = [
    *_scalars("name:string jdbcType:int32 nativeType:int32? typeName:string typeExpression:string?"),
    *_scalars("charsetName:string? length:int32? scale:int32? position:int32 optional:boolean?"),
    *_scalars("autoIncremented:boolean? generated:boolean? comment:string? defaultValueExpression:string?"),
    _strings("enumValues"),
]
_TABLE_SCHEMA: Schema = {
    "field": "table", "optional": True, "type": "struct", "name": f"{_NAME}Table", "version": 1,
    "fields": [
        *_scalars("defaultCharsetName:string?"), _strings("primaryKeyColumnNames"),
        _structs("columns", "Column", _COLUMN_FIELDS), *_scalars("comment:string?"),
    ],
}  # fmt: skip
DDL_KEY_SCHEMA: Schema = {
    "type": "struct", "name": "io.debezium.connector.mysql.SchemaChangeKey", "optional": False, "version": 1,
    "fields": _scalars("databaseName:string"),
}  # fmt: skip


DDL_FIELDS = [
    *_scalars("ts_ms:int64 databaseName:string? schemaName:string? ddl:string?"),
    _structs("tableChanges", "Change", [*_scalars("type:string id:string"), _TABLE_SCHEMA]),
]


@lru_cache(maxsize=64)
def is_ddl_schema(schema: bytes) -> bool:
    """Return whether this is the schema of the value of a DDL, with its members in any order.

    :param schema: JSON.
    """
    parsed = json.loads(schema)
    named = {"optional": False, "type": "struct", "version": 1, "name": DDL_NAME}
    if not isinstance(parsed, dict) or parsed | named != parsed or parsed.keys() != {*named, "fields"}:
        return False
    return is_envelope_of_ddl(parsed, DDL_FIELDS)


def ddl_value_schema(options: DebeziumOptions) -> Schema:
    """Return the schema of the message value."""
    return {
        "optional": False,
        "type": "struct",
        "version": 1,
        "name": DDL_NAME,
        "fields": [source_schema(options), *DDL_FIELDS],
    }
