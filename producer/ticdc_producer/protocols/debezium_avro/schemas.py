"""The schemas of rows, DDLs and watermarks as Kafka Connect's, and those to register.

Every column is optional. Source: ticdc ``pkg/sink/codec/debezium/codec.go`` (``writeDebeziumFieldSchema``,
``writeSourceSchema``), ``avro.go`` (``buildDebeziumAvroValueMessage``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from ticdc_producer.model.column import ColumnFlag, ColumnInfo
from ticdc_producer.model.mysql_type import LOBS, STRINGS, MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.avro.names import Part, sanitized
from ticdc_producer.protocols.avro.schemas import is_decimal
from ticdc_producer.protocols.base import Schema
from ticdc_producer.protocols.debezium.plan import connect_type, logical_name, tidb_type
from ticdc_producer.protocols.debezium.schemas import DDL_FIELDS, DDL_KEY_SCHEMA, DDL_NAME, TRANSACTION_SCHEMA
from ticdc_producer.protocols.debezium.schemas import fields as scalars
from ticdc_producer.protocols.debezium_avro.connect import DECIMAL, ConnectSchema, avro_schema
from ticdc_producer.protocols.member_text import allowed
from ticdc_producer.protocols.row_options import DebeziumAvroOptions

T = MySQLType
_WATERMARK = "watermark"


def kind_of(column: ColumnInfo, options: DebeziumAvroOptions) -> str:
    """Return Connect's type of the values of a column."""
    if column.type == T.NEW_DECIMAL:
        return "bytes" if is_decimal(column, options) else "string"
    if column.type in STRINGS | LOBS and column.binary:
        return "bytes"
    if column.type == T.LONGLONG and column.unsigned:
        return "string" if options.avro_bigint_unsigned_handling_mode == "string" else "int64"
    return connect_type(column)


def column_schema(column: ColumnInfo, options: DebeziumAvroOptions) -> ConnectSchema:
    """Return the schema of a column."""
    schema: dict[str, object] = {"type": kind_of(column, options), "optional": True, "field": column.name}
    if options.enable_tidb_extension:
        schema["tidb_type"] = tidb_type(column)
    if is_decimal(column, options):
        digits = {"precision": str(column.length), "scale": str(column.decimal)}
        return schema | {"name": DECIMAL, "parameters": digits}
    if name := logical_name(column):
        schema |= {"name": name} if column.type == T.VECTOR_FLOAT32 else {"name": name, "version": 1}
    if column.type == T.BIT and column.length > 1:
        schema["parameters"] = {"length": str(column.length)}
    elif column.type in (T.ENUM, T.SET):
        schema["parameters"] = {"allowed": allowed(column)}
    return schema


def key_offsets(table: TableInfo) -> tuple[int, ...]:
    """Return the offsets of the columns in message keys, in table order."""
    return tuple(i for i, flag in enumerate(table.flags) if flag & ColumnFlag.HANDLE_KEY)


def key_schema(table: TableInfo, options: DebeziumAvroOptions) -> ConnectSchema:
    """Return the schema of the keys of a table."""
    columns = [column_schema(table.columns[offset], options) for offset in key_offsets(table)]
    name = f"{_namespace(table.schema, options)}.{sanitized(table.name)}Key"
    return {"type": "struct", "optional": False, "name": name, "fields": columns}


def value_schema(table: TableInfo, options: DebeziumAvroOptions) -> ConnectSchema:
    """Return the schema of the values of a table: images, ``source``, ``op`` and ``ts_ms``."""
    name = f"{_namespace(table.schema, options)}.{sanitized(table.name)}"
    columns = [column_schema(column, options) for column in table.sent_columns]
    images: list[ConnectSchema] = [
        {"type": "struct", "optional": True, "name": name, "field": image, "fields": columns}
        for image in ("before", "after")
    ]
    listed = [*images, source_schema(table.schema, options), *scalars("op:string ts_ms:int64")]
    return _versioned(f"{name}Envelope", listed)


def source_schema(schema: str, options: DebeziumAvroOptions) -> ConnectSchema:
    """Return the schema of ``source``.

    :param schema: the database.
    """
    listed = scalars(
        "version:string connector:string name:string ts_ms:int64 snapshot:string? db:string table:string "
        "server_id:int64 gtid:string? file:string pos:int64 row:int32 thread:int64? query:string? "
        "commit_ts:int64 cluster_id:string"
    )
    name = f"{_namespace(schema, options)}.Source"
    return {"type": "struct", "optional": False, "name": name, "field": "source", "fields": listed}


def _namespace(schema: str, options: DebeziumAvroOptions) -> str:
    return f"{sanitized(options.cluster_id)}.{sanitized(schema)}"


def _versioned(name: str, listed: Iterable[ConnectSchema]) -> ConnectSchema:
    return {"type": "struct", "optional": False, "name": name, "version": 1, "fields": [*listed]}


def watermark_key_schema(options: DebeziumAvroOptions) -> ConnectSchema:
    """Return the schema of the keys of watermarks, which have no field."""
    name = f"{sanitized(options.cluster_id)}.{_WATERMARK}.Key"
    return {"type": "struct", "optional": False, "name": name, "fields": []}


def watermark_schema(options: DebeziumAvroOptions) -> ConnectSchema:
    """Return the schema of the values of watermarks."""
    listed = [source_schema(_WATERMARK, options), *scalars("op:string ts_ms:int64?"), TRANSACTION_SCHEMA]
    return _versioned(f"{sanitized(options.cluster_id)}.{_WATERMARK}.Envelope", listed)


def ddl_schema(schema: str, options: DebeziumAvroOptions) -> ConnectSchema:
    """Return the schema of the values of DDLs.

    TiCDC takes that of the first DDL for all.

    :param schema: the database of the first DDL: here that of the first table.
    """
    return _versioned(DDL_NAME, [source_schema(schema, options), *DDL_FIELDS])


def is_ddl_schema(schema: str) -> bool:
    """Return whether an Avro schema is that of the values of DDLs."""
    return schema.startswith(f'{{"connect.name":"{DDL_NAME}"')


def clash(table: TableInfo) -> str:
    """Return the first field name that Avro does not accept, or not twice; empty if there is none.

    TiCDC lists virtual columns twice.
    """
    counts = Counter(sanitized(column.name) for column in table.columns)
    counts.update(sanitized(column.name) for column in table.columns if column.is_virtual)
    return next((name for name, count in counts.items() if count > 1 or not name.isascii() or not name), "")


def schemas(
    tables: Iterable[TableInfo], topic: Callable[[TableInfo], str], options: DebeziumAvroOptions
) -> list[Schema]:
    """Return all schemas of table versions, without duplicates; with watermarks also those of DDLs.

    :param topic: table to the topic of its rows.
    """
    return [*dict.fromkeys(_schemas([*tables], topic, options))]


def _schemas(
    tables: list[TableInfo], topic: Callable[[TableInfo], str], options: DebeziumAvroOptions
) -> Iterator[Schema]:
    for table in tables:
        if not clash(table):
            yield Schema(f"{topic(table)}-key", "key", avro_schema(key_schema(table, options)))
            yield Schema(f"{topic(table)}-value", "value", avro_schema(value_schema(table, options)))
    if options.sends_watermarks:
        yield _named("key", watermark_key_schema(options))
        yield _named("value", watermark_schema(options))
        yield _named("key", DDL_KEY_SCHEMA)
        yield _named("value", ddl_schema(tables[0].schema if tables else "", options))


def _named(part: Part, schema: ConnectSchema) -> Schema:
    return Schema(str(schema["name"]), part, avro_schema(schema))
