"""The message of a DDL: its text, and the columns of the table before and after it.

TiCDC's encoder panics on a DDL of a database, which has no table. Source: tiflow ``maxwell_message.go``
(``ddlEventToMaxwellMsg``).
"""

from __future__ import annotations

from collections.abc import Iterator

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import DDLEvent, Kind, Message
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.arrow_text import NULL
from ticdc_producer.protocols.go_json import STRINGS
from ticdc_producer.protocols.maxwell.ddl_types import OF_DATABASES, type_text

T = MySQLType

_COLUMN_TYPES = {
    **dict.fromkeys((T.TINY, T.SHORT, T.LONG, T.INT24), b"int"),
    **dict.fromkeys((T.FLOAT, T.DOUBLE), b"float"),
    **dict.fromkeys((T.TINY_BLOB, T.BLOB, T.MEDIUM_BLOB, T.LONG_BLOB), b"string"),
    **dict.fromkeys((T.STRING, T.VARCHAR, T.VECTOR_FLOAT32), b"string"),
    **dict.fromkeys((T.TIMESTAMP, T.DATETIME), b"datetime"),
    T.LONGLONG: b"bigint", T.NEW_DECIMAL: b"decimal", T.DATE: b"date", T.DURATION: b"time", T.YEAR: b"year",
    T.ENUM: b"enum", T.SET: b"set", T.BIT: b"bit", T.JSON: b"json",
}  # fmt: skip


def ddl_message(event: DDLEvent, table: TableInfo | None, before: TableInfo | None) -> Message | None:
    """Return the message of a DDL; None for one of a database.

    :param table: the table after the DDL.
    :param before: the table before the DDL.
    """
    if event.ddl_type in OF_DATABASES:
        return None
    schema, name = STRINGS.literal(event.schema), STRINGS.literal(event.table)
    after = table or before
    key = b'{"ts":%d,"scm":%b,"tbl":%b,"t":2}' % (event.commit_ts, schema, name)
    value = b'{"type":%b,"database":%b,"table":%b,"old":%b,"def":%b,"ts":%d,"sql":%b}' % (
        STRINGS.literal(type_text(event.ddl_type)),
        schema,
        name,
        _table(*_names(before), [*_columns(before), *_without_type(after)]),
        _table(schema, name, [*_columns(after)]),
        event.commit_ts,
        STRINGS.literal(event.query),
    )
    return Message(key, value, Kind.DDL.label, event.commit_ts)


def _names(table: TableInfo | None) -> tuple[bytes, bytes]:
    if table is None:
        return b'""', b'""'
    return STRINGS.literal(table.schema), STRINGS.literal(table.name)


def _table(schema: bytes, name: bytes, columns: list[bytes]) -> bytes:
    listed = b"[%b]" % b",".join(columns) if columns else NULL
    return b'{"database":%b,"table":%b,"columns":%b,"primary-key":null}' % (schema, name, listed)


def _columns(table: TableInfo | None) -> Iterator[bytes]:
    for column in () if table is None else table.columns:
        yield _column(column, _COLUMN_TYPES.get(column.type, b""))


def _without_type(table: TableInfo | None) -> Iterator[bytes]:
    """Yield the columns whose type has no name; TiCDC adds them to the old ones, with an error as type."""
    for column in () if table is None else table.columns:
        if column.type not in _COLUMN_TYPES:
            yield _column(
                column, b"[CDC:ErrMaxwellInvalidData]unsupported column type - %d" % int(column.type)
            )


def _column(column: ColumnInfo, kind: bytes) -> bytes:
    return b'{"type":"%b","name":%b}' % (kind, STRINGS.literal(column.name))
