"""The tables that messages describe, if CREATE TABLE is known from them.

What a description lacks: comments, expressions of generated columns, the lengths of prefixes in indexes,
AUTO_INCREMENT, and the table's own charset.
"""

from __future__ import annotations

from collections.abc import Iterator

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.mysql_type import INTEGERS, LOBS, TEMPORALS, MySQLType, types_by_name
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.simple.decoder import parsed_message
from ticdc_producer.protocols.simple.envelope import BOOTSTRAP, IndexJSON, SchemaColumnJSON, TableSchema
from ticdc_producer.protocols.spec import DescribedTables

T = MySQLType
_LOB_PREFIX = 191
"""Characters of a TEXT or BLOB in an index, whose number the description lacks."""


def described_tables(value: bytes) -> DescribedTables:
    """Return the tables that a message describes; none if it does not decode."""
    try:
        message = parsed_message(value)
        before, after = message.pre_table_schema, message.table_schema
        if message.type in (BOOTSTRAP, "ERASE"):
            before, after = after, None
        return DescribedTables(*(() if table is None else tuple(_tables(table)) for table in (before, after)))
    except DecodeError:
        return DescribedTables()


def _tables(schema: TableSchema) -> Iterator[TableInfo]:
    """Yield the table; none for a view."""
    columns = [_column(column) for column in schema.columns]
    if not columns or any(column is None for column in columns):
        return
    known = tuple(column for column in columns if column is not None)
    names = {column.name: offset for offset, column in enumerate(known)}
    yield TableInfo(
        schema=schema.schema,
        name=schema.table,
        table_id=0,
        columns=known,
        indexes=tuple(_indexes(schema, known, names)),
        update_ts=schema.version,
    )


def _column(column: SchemaColumnJSON) -> ColumnInfo | None:
    kind = column.data_type
    named = types_by_name().get(kind.mysql_type)
    if named is None:
        return None
    code, default = named[0], column.default
    is_now = code in TEMPORALS and str(default).upper().startswith("CURRENT_TIMESTAMP")
    members = tuple(kind.elements or ())
    return ColumnInfo(
        name=column.name,
        type=code,
        length=kind.length or -1,
        decimal=kind.decimal,
        unsigned=kind.unsigned,
        zerofill=kind.zerofill,
        charset=kind.charset,
        collation=kind.collate,
        elements=members,
        nullable=column.nullable,
        default=None if default is None or is_now else _default(code, members, default),
        has_default=default is not None,
        default_expression="CURRENT_TIMESTAMP" if is_now else "",
    )


def _default(code: MySQLType, members: tuple[str, ...], default: object) -> bytes:
    """Return the canonical value of a DEFAULT; that of a BIT is a number, and bytes in Avro.

    :raises DecodeError: for a DEFAULT of a BIT that is neither.
    """
    if code == T.BIT and isinstance(default, bytes):
        return b"%d" % int.from_bytes(default, "big")
    if code == T.BIT:
        if isinstance(default, bool) or not isinstance(default, int):
            raise DecodeError("SIMPLE-DEFAULT", "a number as the DEFAULT of a BIT", part="value", byte=0)
        return b"%d" % default
    text = default.decode("utf-8", "replace") if isinstance(default, bytes) else str(default)
    if code == T.ENUM:
        return b"%d" % (members.index(text) + 1 if text in members else 0)
    if code == T.SET:
        return b"%d" % sum(1 << members.index(part) for part in text.split(",") if part in members)
    return text.encode()


def _indexes(
    schema: TableSchema, columns: tuple[ColumnInfo, ...], names: dict[str, int]
) -> Iterator[IndexInfo]:
    """Yield the indexes.

    An index called ``primary`` is not one that TiDB stores: it is the key of integers under which the rows
    are stored, or a copy of the first unique index without NULLs.
    """
    others = [index.columns for index in schema.indexes if index.unique and not index.primary]
    for number, index in enumerate(schema.indexes, start=1):
        if not all(name in names for name in index.columns):
            continue  # an index of a hidden column
        if index.primary and index.name == "primary" and index.columns in others:
            continue
        offsets = tuple(names[name] for name in index.columns)
        yield IndexInfo(
            id=number,
            name=index.name,
            offsets=offsets,
            lengths=tuple(_LOB_PREFIX if columns[offset].type in LOBS else -1 for offset in offsets),
            unique=index.unique,
            primary=index.primary,
            clustered=index.primary and _is_clustered(index, columns[offsets[0]]),
        )


def _is_clustered(index: IndexJSON, first: ColumnInfo) -> bool:
    """Return whether rows are stored under a primary key.

    TiDB stores no index of an integer for it, and the name follows; other keys are clustered by default.
    """
    return index.name == "primary" or len(index.columns) > 1 or first.type not in INTEGERS
