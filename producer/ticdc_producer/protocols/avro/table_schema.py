"""The Avro schemas of a table version: one for keys, one for values.

Source: tiflow ``pkg/sink/codec/avro/avro.go`` (``getKeySchemaCodec``, ``getValueSchemaCodec``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ticdc_producer.model.flags import ColumnFlag
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.avro.column_schema import field
from ticdc_producer.protocols.avro.layout import COMMIT_TS, OP, PHYSICAL
from ticdc_producer.protocols.avro.names import Part, namespace, sanitized
from ticdc_producer.protocols.avro.options import AvroOptions
from ticdc_producer.protocols.go_json import STRINGS

_EXTENSION = (
    b'{"default":"","name":"%b","type":"string"}' % OP.encode(),
    b'{"default":0,"name":"%b","type":"long"}' % COMMIT_TS.encode(),
    b'{"default":0,"name":"%b","type":"long"}' % PHYSICAL.encode(),
)


def key_flag(options: AvroOptions) -> ColumnFlag:
    """The flag of the columns in message keys."""
    return ColumnFlag.HANDLE_KEY if options.profile == "classic" else ColumnFlag.PRIMARY_KEY


def key_indexes(table: TableInfo, options: AvroOptions) -> tuple[int, ...]:
    """Indexes of the key columns in a row image; empty if messages have no key."""
    wanted = key_flag(options)
    return tuple(index for index, flag in enumerate(table.sent_flags) if flag & wanted)


def key_schema(table: TableInfo, options: AvroOptions) -> str:
    """The schema of message keys."""
    columns = [table.sent_columns[index] for index in key_indexes(table, options)]
    return _record(table, [field(column, options) for column in columns])


def value_schema(table: TableInfo, options: AvroOptions) -> str:
    """The schema of message values."""
    fields = [field(column, options) for column in table.sent_columns]
    return _record(table, [*fields, *(_EXTENSION if options.enable_tidb_extension else ())])


def schema_of(part: Part, table: TableInfo, options: AvroOptions) -> str:
    return key_schema(table, options) if part == "key" else value_schema(table, options)


def name_clash(part: Part, table: TableInfo, options: AvroOptions) -> str:
    """The first field name of a schema that is duplicate or not allowed by Avro; empty if there is none."""
    columns = table.sent_columns
    if part == "key":
        columns = tuple(columns[index] for index in key_indexes(table, options))
    names = [sanitized(column.name) for column in columns]
    extended = part == "value" and options.enable_tidb_extension
    counts = Counter([*names, *((OP, COMMIT_TS, PHYSICAL) if extended else ())])
    return next((name for name in names if counts[name] > 1 or not name.isascii()), "")


def _record(table: TableInfo, fields: Sequence[bytes]) -> str:
    text = b'{"type":"record","name":%b,"namespace":%b,"fields":[%b]}' % (
        STRINGS.literal(sanitized(table.name)),
        STRINGS.literal(namespace(table)),
        b",".join(fields),
    )
    return text.decode()
