"""The Avro schemas of a table version, one for keys and one for values, and their ids in a schema registry.

Members have the order in which Go prints them: a type in the order of its struct, a field and
``connect.parameters`` by name. Source: tiflow ``pkg/sink/codec/avro/avro.go`` (``columnToAvroSchema``,
``columns2AvroSchema``, ``getKeySchemaCodec``, ``getValueSchemaCodec``).

An encoder takes the option ``schema_ids`` (part and schema to id). A decoder takes ``schemas`` (id to schema)
or ``schema_of`` (a function from id to schema).
"""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias
from uuid import UUID, uuid5

from ticdc_producer.errors import EncodeError
from ticdc_producer.model.column import ColumnFlag, ColumnInfo
from ticdc_producer.model.fidelity import replace_invalid
from ticdc_producer.model.mysql_type import FLOATS, INTEGERS, LOBS, MySQLType
from ticdc_producer.model.mysql_type import STRINGS as STRING_TYPES
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.number_text import plain_text
from ticdc_producer.protocols import go_json
from ticdc_producer.protocols.avro.names import (
    BEFORE,
    BEFORE_SUFFIX,
    CHECKSUM,
    CHECKSUM_VERSION,
    COMMIT_TS,
    CORRUPTED,
    OP,
    PHYSICAL,
    Part,
    namespace,
    sanitized,
    subject,
    tidb_type,
)
from ticdc_producer.protocols.base import Schema, SchemaIDs
from ticdc_producer.protocols.go_json import STRINGS
from ticdc_producer.protocols.member_text import escaped, member_text, stored_bits
from ticdc_producer.protocols.row_options import AvroOptions, DebeziumAvroOptions

T = MySQLType

_AVRO = {T.FLOAT: "float", T.DOUBLE: "double", T.YEAR: "int", T.BIT: "bytes"}


def avro_type(column: ColumnInfo, options: AvroOptions) -> str:
    """Return the primitive Avro type of the values of a column."""
    if column.type == T.LONGLONG:
        text = column.unsigned and options.avro_bigint_unsigned_handling_mode == "string"
        return "string" if text else "long"
    if column.type in INTEGERS:
        return "long" if column.type == T.LONG and column.unsigned else "int"
    if column.type in STRING_TYPES | LOBS:
        return "bytes" if column.binary else "string"
    if is_decimal(column, options):
        return "bytes"
    return _AVRO.get(column.type, "string")


def is_decimal(column: ColumnInfo, options: AvroOptions | DebeziumAvroOptions) -> bool:
    """Return whether the values have Avro's logical type ``decimal``."""
    return column.type == T.NEW_DECIMAL and options.avro_decimal_handling_mode == "precise"


def _field(column: ColumnInfo, options: AvroOptions) -> bytes:
    """Return the field of a record for a column."""
    written, default = _type(column, options), _default(column, options)
    if column.nullable:
        written = b'["null",%b]' % written if default is None else b'[%b,"null"]' % written
    default_member = (
        b'"default":%b,' % (default or b"null") if column.nullable or default is not None else b""
    )
    return b'{%b"name":%b,"type":%b}' % (default_member, STRINGS.literal(sanitized(column.name)), written)


def null_comes_first(column: ColumnInfo, options: AvroOptions) -> bool:
    """Return whether null is the first branch of a nullable column's union.

    It is, unless the column has a DEFAULT.
    """
    return _default(column, options) is None


def _type(column: ColumnInfo, options: AvroOptions) -> bytes:
    parameters = [b'"tidb_type":"%b"' % tidb_type(column).encode()]
    if column.type in (T.ENUM, T.SET):
        allowed = ",".join(map(escaped, column.elements))
        parameters.insert(0, b'"allowed":%b' % STRINGS.literal(allowed))
    if column.type == T.BIT:
        parameters.insert(0, b'"length":"%d"' % column.length)
    logical = b""
    if is_decimal(column, options):
        logical = b',"logicalType":"decimal","precision":%d,"scale":%d' % (column.length, column.decimal)
    return b'{"type":"%b","connect.parameters":{%b}%b}' % (
        avro_type(column, options).encode(),
        b",".join(parameters),
        logical,
    )


def _default(column: ColumnInfo, options: AvroOptions) -> bytes | None:
    """Return the DEFAULT as JSON; None if the schema has none. Logical types never have one."""
    if is_decimal(column, options):
        return None
    if column.default_expression:
        return STRINGS.literal(column.default_expression) if avro_type(column, options) == "string" else None
    if column.default is None:
        return None
    return _default_json(column, column.default, options)


def _default_json(column: ColumnInfo, default: bytes, options: AvroOptions) -> bytes:
    if column.type in (T.ENUM, T.SET):
        return STRINGS.literal(member_text(column, default))
    if column.type in FLOATS:
        # TiCDC parses the DEFAULT of a FLOAT as a 64-bit number, too.
        return go_json.number(plain_text(float(column.default_text or default), T.DOUBLE))
    match avro_type(column, options):
        case "int" | "long":
            number = int(column.metadata_default or default)
            return b"%d" % (number - (1 << 64) if number >> 63 > 0 else number)
        case "bytes":
            return b'"%b"' % b64encode(stored_bits(column) if column.type == T.BIT else default)
    # TiDB stores the text in JSON, which replaces bytes that are not UTF-8 by U+FFFD.
    return STRINGS.literal(replace_invalid(column.metadata_default or default).decode())


_OPERATION = b'{"default":"","name":"%b","type":"string"}' % OP.encode()
_EXTENSION = tuple(
    b'{"default":0,"name":"%b","type":"long"}' % name.encode() for name in (COMMIT_TS, PHYSICAL)
)
_CHECKSUM = (
    b'{"default":"","name":"%b","type":"string"}' % CHECKSUM.encode(),
    b'{"default":false,"name":"%b","type":"boolean"}' % CORRUPTED.encode(),
    b'{"default":0,"name":"%b","type":"int"}' % CHECKSUM_VERSION.encode(),
)


def key_flag(options: AvroOptions) -> ColumnFlag:
    """Return the flag of the columns in message keys."""
    return ColumnFlag.HANDLE_KEY if options.profile == "classic" else ColumnFlag.PRIMARY_KEY


def key_indexes(table: TableInfo, options: AvroOptions) -> tuple[int, ...]:
    """Return the indexes of the key columns in a row image; empty if messages have no key."""
    key = key_flag(options)
    return tuple(index for index, flag in enumerate(table.sent_flags) if flag & key)


def value_indexes(table: TableInfo, options: AvroOptions) -> list[int]:
    """Return the indexes of the columns in a row image, in the order of the value's fields.

    With checksums they are sorted by column id (``value2AvroSchema``).
    """
    columns = table.sent_columns
    if not options.has_checksums:
        return [*range(len(columns))]
    return sorted(range(len(columns)), key=lambda index: columns[index].id)


def schema_of(part: Part, table: TableInfo, options: AvroOptions) -> str:
    """Return the schema of the keys or values of a table's messages."""
    fields = [_field(column, options) for column in table.sent_columns]
    if part == "key":
        return _record(table, [fields[index] for index in key_indexes(table, options)]).decode()
    fields = [fields[index] for index in value_indexes(table, options)]
    before = (_before(table, fields),) if options.avro_include_before_value else ()
    operation = (_OPERATION,) if options.names_operation else ()
    extension = _EXTENSION if options.enable_tidb_extension else ()
    checksum = _CHECKSUM if options.has_checksums else ()
    return _record(table, [*fields, *before, *operation, *extension, *checksum]).decode()


def _before(table: TableInfo, fields: Sequence[bytes]) -> bytes:
    """Return the field of the old image, a record with the same fields."""
    image = _record(table, fields, BEFORE_SUFFIX)
    return b'{"default":null,"name":"%b","type":["null",%b]}' % (BEFORE.encode(), image)


def name_clash(part: Part, table: TableInfo, options: AvroOptions) -> str:
    """Return the first field name that is duplicate or not allowed by Avro; empty if there is none."""
    columns = table.sent_columns
    if part == "key":
        columns = tuple(columns[index] for index in key_indexes(table, options))
    names = [sanitized(column.name) for column in columns]
    own = [BEFORE] if options.avro_include_before_value else []
    own += [OP] if options.names_operation else []
    own += [COMMIT_TS, PHYSICAL] if options.enable_tidb_extension else []
    own += [CHECKSUM, CORRUPTED, CHECKSUM_VERSION] if options.has_checksums else []
    counts = Counter([*names, *(own if part == "value" else ())])
    return next((name for name in names if counts[name] > 1 or not name.isascii()), "")


def _record(table: TableInfo, fields: Sequence[bytes], suffix: str = "") -> bytes:
    return b'{"type":"record","name":%b,"namespace":%b,"fields":[%b]}' % (
        STRINGS.literal(sanitized(table.name) + suffix),
        STRINGS.literal(namespace(table)),
        b",".join(fields),
    )


SchemaID: TypeAlias = Callable[[TableInfo, Part, str], int]
"""Looks up the registry's id of a schema, given the table, key or value, and the schema."""


def schemas(
    tables: Iterable[TableInfo], topic: Callable[[TableInfo], str], options: AvroOptions
) -> list[Schema]:
    """Return all schemas of the table versions, without duplicates, in the order of the tables.

    A schema with column names that Avro does not allow is omitted. Rows that need it are refused.

    :param topic: table to the topic of its rows.
    """
    distinct: dict[Schema, None] = {}
    for table in tables:
        parts: tuple[Part, ...] = ("key", "value") if key_indexes(table, options) else ("value",)
        for part in parts:
            if name_clash(part, table, options):
                continue
            distinct[Schema(subject(topic(table), part), part, schema_of(part, table, options))] = None
    return list(distinct)


def assign_ids(schemas_to_register: Sequence[Schema]) -> SchemaIDs:
    """Assign ids from 1 for a run without registry. Equal schemas have the same id in all subjects."""
    texts = dict.fromkeys(entry.schema for entry in schemas_to_register)
    ids = {text: number for number, text in enumerate(texts, 1)}
    return {(entry.part, entry.schema): ids[entry.schema] for entry in schemas_to_register}


_GLUE_IDS = UUID("5bd1c0a2-6a0d-5f0e-9d5c-2a8f3f1f7a11")


def assign_uuids(schemas_to_register: Sequence[Schema]) -> SchemaIDs:
    """Assign UUIDs to schemas, as AWS Glue does to their versions; they follow from subject and schema."""
    return {
        (entry.part, entry.schema): uuid5(_GLUE_IDS, f"{entry.subject}\n{entry.schema}").int
        for entry in schemas_to_register
    }


def schema_id_lookup(ids: SchemaIDs) -> SchemaID:
    """Return the function by which an encoder looks up schema ids."""

    def number(table: TableInfo, part: Part, schema: str) -> int:
        if (part, schema) not in ids:
            raise EncodeError(
                f"the {part} schema has no id",
                code="CDC:ErrAvroSchemaAPIError",
                table=table.qualified_name,
                hint="the option schema_ids has an id for each schema",
            )
        return ids[part, schema]

    return number
