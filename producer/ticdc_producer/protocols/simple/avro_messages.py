"""Encodes DDL, WATERMARK and BOOTSTRAP messages in Simple's Avro encoding.

Source: tiflow ``pkg/sink/codec/simple/avro.go`` (``newTableSchemaMap``, ``newDDLMessageMap``,
``newResolvedMessageMap``, ``newBootstrapMessageMap``).
"""

from __future__ import annotations

from collections.abc import Iterable

from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.event import DDLEvent
from ticdc_producer.model.mysql_type import FLOATS, INTEGERS, MySQLType, bare_name
from ticdc_producer.model.profile import Profile
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.craft.varint import varint
from ticdc_producer.protocols.simple import avro_layout as layout
from ticdc_producer.protocols.simple.control_encoder import build_ts, ddl_schema_table
from ticdc_producer.protocols.simple.event_type import EXCHANGE_PARTITION, ddl_type_name
from ticdc_producer.protocols.simple.options import SimpleOptions
from ticdc_producer.protocols.simple.table_schema import listed_columns, listed_indexes
from ticdc_producer.protocols.stored_default import stored_bits, stored_default

T = MySQLType
_VERSION = varint(1)
_NUMERIC = INTEGERS | FLOATS | {T.NEW_DECIMAL, T.BIT, T.YEAR}
"""Types whose schema has the members UNSIGNED and ZEROFILL."""


def head(kind: int) -> bytes:
    """The start of a message, up to and including its version."""
    return layout.MESSAGE + varint(kind) + varint(kind) + _VERSION


def length_prefixed(text: str) -> bytes:
    """A text, preceded by its length in bytes."""
    content = text.encode()
    return varint(len(content)) + content


def watermark(ts: int, options: SimpleOptions) -> bytes:
    """The value of a WATERMARK message: all events up to ``ts`` were sent."""
    return head(layout.WATERMARK) + varint(ts) + varint(build_ts(ts, options))


def bootstrap(table: TableInfo, ts: int, options: SimpleOptions) -> bytes:
    """The value of a BOOTSTRAP message, which carries the schema of a table.

    :param ts: commit-ts of the row before which it is sent; it sets ``buildTs`` only.
    """
    return head(layout.BOOTSTRAP) + varint(build_ts(ts, options)) + _table(table, options.profile)


def ddl(event: DDLEvent, table: TableInfo | None, before: TableInfo | None, options: SimpleOptions) -> bytes:
    """The value of a DDL event.

    :param table: the table after the DDL.
    :param before: the table before the DDL.
    """
    type_name = ddl_type_name(event.ddl_type, options.profile)
    old = before if options.profile == "classic" or event.ddl_type == EXCHANGE_PARTITION else None
    return b"".join((
        head(layout.DDL), varint(layout.DDL_TYPES.index(type_name)), length_prefixed(event.query),
        varint(event.commit_ts), varint(build_ts(event.commit_ts, options)),
        _optional(ddl_schema_table(event, table, before), options.profile), _optional(old, options.profile),
    ))  # fmt: skip


def _optional(table: TableInfo | None, profile: Profile) -> bytes:
    return layout.NULL if table is None else layout.PRESENT + _table(table, profile)


def _table(table: TableInfo, profile: Profile) -> bytes:
    return b"".join(( length_prefixed(table.schema),
length_prefixed(table.name), varint(table.table_id), varint(table.update_ts), _array([_column(column) for
column in listed_columns(table, profile)]), _array([_index(table, *listed) for listed in
listed_indexes(table)]), ))  # fmt: skip


def _array(items: Iterable[bytes]) -> bytes:
    """One block of items, and the empty block that ends an array."""
    listed = list(items)
    return varint(len(listed)) + b"".join(listed) + varint(0) if listed else varint(0)


def _boolean(value: bool) -> bytes:
    return b"\x01" if value else b"\x00"


def _column(column: ColumnInfo) -> bytes:
    default = _default(column)
    optional_default = layout.NULL if default is None else layout.PRESENT + varint(len(default)) + default
    return length_prefixed(column.name) + _data_type(column) + _boolean(column.nullable) + optional_default


def _data_type(column: ColumnInfo) -> bytes:
    if column.type == T.UNSPECIFIED:  # columns of a view
        return length_prefixed("unspecified") + length_prefixed("") * 2 + varint(0) + layout.NULL * 4
    name = bare_name(column.type, binary=column.binary, unsigned=False)
    parts = [
        length_prefixed(name),
        length_prefixed(column.charset),
        length_prefixed(column.collation),
        varint(column.length),
    ]
    decimal = layout.PRESENT + varint(column.decimal) if column.type == T.NEW_DECIMAL else layout.NULL
    elements = (
        layout.PRESENT + _array(map(length_prefixed, column.elements)) if column.elements else layout.NULL
    )
    parts += [decimal, elements]
    for flag in (column.unsigned, column.zerofill):
        parts.append(layout.PRESENT + _boolean(flag) if column.type in _NUMERIC else layout.NULL)
    return b"".join(parts)


def _default(column: ColumnInfo) -> bytes | None:
    """The DEFAULT as TiDB stores it; the DEFAULT of a BIT column as bytes."""
    if column.type == T.BIT and column.default is not None and not column.default_expression:
        return stored_bits(column)
    text = stored_default(column)
    return None if text is None else text.encode()


def _index(table: TableInfo, index: IndexInfo, name: str, primary: bool) -> bytes:
    columns = [table.columns[offset] for offset in index.offsets]
    flags = (index.unique, primary, any(column.nullable for column in columns))
    names = _array([length_prefixed(column.name) for column in columns])
    return length_prefixed(name) + b"".join(map(_boolean, flags)) + names
