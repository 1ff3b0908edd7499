"""The DDL message: Debezium's schema change event, and its schema, which is the same for every table.

Scalars are written in the order field, optional, type. Source: tiflow ``debezium/codec.go`` (EncodeDDLEvent).

Readers recognise it by its lack of an ``op``. Source: tiflow ``debezium/codec.go`` (EncodeDDLEvent).
"""

from __future__ import annotations

from ticdc_producer.model.event import DDLEvent, Kind, Message
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.arrow_text import NULL
from ticdc_producer.protocols.debezium import envelope, text
from ticdc_producer.protocols.debezium.ddl_columns import column_object
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


# TiDB's action codes by Debezium's kind of change. TiCDC sends no message for other codes.
_CREATE = (1, 3, 21, 60)
_ALTER = (
    5, 6, 7, 12, 13, 14, 15, 17, 18, 19, 20, 22, 23, 26, 32, 33, 41, 42, 61, 64, 71, 72,
)  # fmt: skip
_DROP_TABLE, _TRUNCATE_TABLE, _RENAME_TABLE, _DROP_VIEW = 4, 11, 14, 24
_DROP = (2, _DROP_TABLE, 8, _TRUNCATE_TABLE, _DROP_VIEW)
_CHANGES = {
    **dict.fromkeys(_CREATE, b"CREATE"),
    **dict.fromkeys(_ALTER, b"ALTER"),
    **dict.fromkeys(_DROP, b"DROP"),
}


def has_message(action: int) -> bool:
    """Whether TiCDC sends DDLs with this action code in this protocol."""
    return action in _CHANGES


def ddl_message(
    event: DDLEvent, table: TableInfo | None, before: TableInfo | None, options: DebeziumOptions
) -> Message | None:
    """The message of one DDL event; None for a type that has no Debezium change.

    :param table: the table after the DDL.
    :param before: the table before the DDL.
    """
    change = _CHANGES.get(event.ddl_type)
    if change is None:
        return None
    commit_ts, database = event.commit_ts, text.string(event.schema)
    source = envelope.source(options.cluster_id, event.schema, event.table).text(commit_ts)
    key = b'{"payload":{"databaseName":%b}' % database
    value = (
        b'{"payload":{"source":%b,"ts_ms":%d,"databaseName":%b,"schemaName":null,"ddl":%b,"tableChanges":[%b]}'
    ) % (
        source,
        envelope.build_time(commit_ts, options),
        database,
        text.string(event.query),
        _table_change(event, change, table, before, options),
    )
    if not options.debezium_disable_schema:
        key += b',"schema":' + envelope.compact(KEY_SCHEMA)
        value += b',"schema":' + envelope.compact(value_schema(options))
    return Message(key + b"}", value + b"}", Kind.DDL.label, commit_ts)


def _table_change(
    event: DDLEvent,
    change: bytes,
    table: TableInfo | None,
    before: TableInfo | None,
    options: DebeziumOptions,
) -> bytes:
    """The one element of ``tableChanges``; empty for a DDL on a database and for TRUNCATE."""
    if not event.table or event.ddl_type == _TRUNCATE_TABLE:
        return b""
    # The names of event and table differ only after EXCHANGE PARTITION.
    named = table if table is not None and options.profile == "new" else None
    names = _quoted(event.schema, event.table) if named is None else _quoted(named.schema, named.name)
    if event.ddl_type == _RENAME_TABLE and before is not None:
        names = f"{_quoted(before.schema, before.name)},{names}"
    table_json = NULL
    if table is None and event.ddl_type == _DROP_VIEW:
        table = before
    if table is not None and event.ddl_type != _DROP_TABLE:
        table_json = _table(event, table)
    return b'{"type":"%b","id":%b,"table":%b}' % (change, text.string(names), table_json)


def _quoted(schema: str, table: str) -> str:
    return f'"{schema}"."{table}"'


def _table(event: DDLEvent, table: TableInfo) -> bytes:
    key_names = [table.columns[offset].name for offset in _key_offsets(table)]
    defined = {definition.name: definition for definition in event.definitions}
    columns = [
        column_object(column, position, defined.get(column.name))
        for position, column in enumerate(table.columns, 1)
        if not column.hidden
    ]
    return (b'{"defaultCharsetName":%b,"primaryKeyColumnNames":[%b],"columns":[%b],"comment":null}') % (
        text.string(table.charset),
        b",".join(map(text.string, key_names)),
        b",".join(columns),
    )


def _key_offsets(table: TableInfo) -> tuple[int, ...]:
    """Offsets of the primary key or the first unique index without NULLs, which may not be the handle key.

    Source: tidb ``model.TableInfo.GetPrimaryKey``.
    """
    if table.primary_key is not None:
        return table.primary_key.offsets
    for index in table.indexes:
        if index.unique and not any(table.columns[offset].nullable for offset in index.offsets):
            return index.offsets
    return ()
