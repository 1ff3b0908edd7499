"""The Avro schemas of a table version: of its keys and of its values.

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
    """The flag of the columns that message keys have."""
    return ColumnFlag.HANDLE_KEY if options.profile == "classic" else ColumnFlag.PRIMARY_KEY


def key_places(table: TableInfo, options: AvroOptions) -> tuple[int, ...]:
    """Where in a row image the columns of the message key stand; none where there is no key."""
    wanted = key_flag(options)
    return tuple(place for place, flag in enumerate(table.sent_flags) if flag & wanted)


def key_schema(table: TableInfo, options: AvroOptions) -> str:
    """The schema of keys."""
    columns = [table.sent_columns[place] for place in key_places(table, options)]
    return _record(table, [field(column, options) for column in columns])


def value_schema(table: TableInfo, options: AvroOptions) -> str:
    """The schema of values."""
    fields = [field(column, options) for column in table.sent_columns]
    return _record(table, [*fields, *(_EXTENSION if options.enable_tidb_extension else ())])


def schema_of(part: Part, table: TableInfo, options: AvroOptions) -> str:
    return key_schema(table, options) if part == "key" else value_schema(table, options)


def name_clash(table: TableInfo, options: AvroOptions) -> str:
    """The first field name that several columns of a table have, or that Avro does not take; else empty."""
    names = [sanitized(column.name) for column in table.sent_columns]
    taken = Counter([*names, *((OP, COMMIT_TS, PHYSICAL) if options.enable_tidb_extension else ())])
    return next((name for name in names if taken[name] > 1 or not name.isascii()), "")


def _record(table: TableInfo, fields: Sequence[bytes]) -> str:
    text = b'{"type":"record","name":%b,"namespace":%b,"fields":[%b]}' % (
        STRINGS.literal(sanitized(table.name)),
        STRINGS.literal(namespace(table)),
        b",".join(fields),
    )
    return text.decode()
