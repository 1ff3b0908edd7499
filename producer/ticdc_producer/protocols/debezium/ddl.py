"""The DDL message: Debezium's schema change event.

Scalars of the schema are written in the order field, optional, type. Readers recognise the message by its
lack of an ``op``. Source: tiflow ``debezium/codec.go`` (EncodeDDLEvent),
``debezium/helper.go``; JDBC codes: tiflow ``pkg/sink/codec/internal/java.go`` (MySQLType2JdbcType).
"""

from __future__ import annotations

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import ColumnDefinition, DDLEvent, Kind, Message
from ticdc_producer.model.fidelity import replace_invalid
from ticdc_producer.model.mysql_type import FLOATS, INTEGERS, LOBS, STRINGS, MySQLType, bare_name
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.arrow_text import NULL
from ticdc_producer.protocols.debezium.envelope import source
from ticdc_producer.protocols.debezium.schemas import DDL_KEY_SCHEMA, compact, ddl_value_schema
from ticdc_producer.protocols.debezium.values import default_string, string
from ticdc_producer.protocols.member_text import member_text, stored_bits
from ticdc_producer.protocols.row_options import DebeziumOptions

T = MySQLType

_DROP_TABLE, _TRUNCATE_TABLE, _RENAME_TABLE, _DROP_VIEW = 4, 11, 14, 24
_ALTER = (
    5, 6, 7, 12, 13, 14, 15, 17, 18, 19, 20, 22, 23, 26, 32, 33, 41, 42, 61, 64, 71, 72,
)  # fmt: skip
# Debezium's kind of change by TiDB's action code. TiCDC sends no message for other codes.
_CHANGES = {
    **dict.fromkeys((1, 3, 21, 60), b"CREATE"),
    **dict.fromkeys(_ALTER, b"ALTER"),
    **dict.fromkeys((2, _DROP_TABLE, 8, _TRUNCATE_TABLE, _DROP_VIEW), b"DROP"),
}


def has_message(action: int) -> bool:
    """Return whether TiCDC sends DDLs with this action code in this protocol."""
    return action in _CHANGES


def ddl_message(
    event: DDLEvent, table: TableInfo | None, before: TableInfo | None, options: DebeziumOptions
) -> Message | None:
    """Return the message of one DDL event; None for a type that has no Debezium change.

    :param table: the table after the DDL.
    :param before: the table before the DDL.
    """
    change = _CHANGES.get(event.ddl_type)
    if change is None:
        return None
    commit_ts, database = event.commit_ts, string(event.schema)
    key = b'{"payload":{"databaseName":%b}' % database
    value = (
        b'{"payload":{"source":%b,"ts_ms":%d,"databaseName":%b,"schemaName":null,"ddl":%b,"tableChanges":[%b]}'
    ) % (
        source(options.cluster_id, event.schema, event.table).text(commit_ts),
        options.ts_ms(commit_ts),
        database,
        string(event.query),
        _table_change(event, change, table, before, options),
    )
    if not options.debezium_disable_schema:
        key += b',"schema":' + compact(DDL_KEY_SCHEMA)
        value += b',"schema":' + compact(ddl_value_schema(options))
    return Message(key + b"}", value + b"}", Kind.DDL.label, commit_ts)


def _table_change(
    event: DDLEvent,
    change: bytes,
    table: TableInfo | None,
    before: TableInfo | None,
    options: DebeziumOptions,
) -> bytes:
    """Return the single element of ``tableChanges``; empty for a DDL on a database and for TRUNCATE."""
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
    return b'{"type":"%b","id":%b,"table":%b}' % (change, string(names), table_json)


def _quoted(schema: str, table: str) -> str:
    return f'"{schema}"."{table}"'


def _table(event: DDLEvent, table: TableInfo) -> bytes:
    key_names = [table.columns[offset].name for offset in _key_offsets(table)]
    defined = {definition.name: definition for definition in event.definitions}
    columns = [
        _column_object(column, position, defined.get(column.name))
        for position, column in enumerate(table.columns, 1)
        if not column.hidden
    ]
    return (b'{"defaultCharsetName":%b,"primaryKeyColumnNames":[%b],"columns":[%b],"comment":null}') % (
        string(table.charset),
        b",".join(map(string, key_names)),
        b",".join(columns),
    )


def _key_offsets(table: TableInfo) -> tuple[int, ...]:
    """Return the column offsets of the primary key, or else of the first unique index without NULLs.

    It may not be the handle key. Source: tidb ``model.TableInfo.GetPrimaryKey``.
    """
    nullable = {offset for offset, column in enumerate(table.columns) if column.nullable}
    unique = (index for index in table.indexes if index.unique and nullable.isdisjoint(index.offsets))
    key = table.primary_key or next(unique, None)
    return () if key is None else key.offsets


_JDBC = {
    T.TINY: 5, T.SHORT: 5, T.INT24: 4, T.LONG: 4, T.YEAR: 4, T.LONGLONG: -5, T.FLOAT: 6, T.DOUBLE: 8,
    T.NEW_DECIMAL: 3, T.DATE: 91, T.NEW_DATE: 91, T.DURATION: 92, T.DATETIME: 93, T.TIMESTAMP: 2014,
    T.ENUM: 1, T.SET: 1, T.BIT: -7, T.JSON: 1111,
}  # fmt: skip
_TEXT_AND_BINARY_JDBC = {T.STRING: (1, -2), T.VARCHAR: (12, -3), T.VAR_STRING: (12, -3)}
_LOB_JDBC = (12, 2004)
_OTHER_JDBC = 12

_USUAL_LENGTH = {
    T.TINY: 4, T.SHORT: 6, T.INT24: 9, T.LONG: 11, T.LONGLONG: 20, T.FLOAT: 12, T.DOUBLE: 22, T.BIT: 1,
    T.STRING: 1, T.VARCHAR: 5, T.VAR_STRING: 5, T.VECTOR_FLOAT32: -1,
}  # fmt: skip
_TIMES = frozenset({T.TIMESTAMP, T.DATETIME, T.DURATION})
_WITH_CHARSET = STRINGS - {T.VAR_STRING} | LOBS | {T.ENUM, T.SET}
_BARE = frozenset({T.YEAR, T.BIT, T.VARCHAR, T.STRING, T.NEW_DECIMAL})

_EPOCH = b'"1970-01-01 00:00:00"'
"""Replaces CURRENT_TIMESTAMP, as in Debezium."""


def _column_object(column: ColumnInfo, position: int, defined: ColumnDefinition | None) -> bytes:
    """Return one element of ``columns``.

    :param position: position in the table, from 1; hidden columns count.
    :param defined: the definition of the column in the DDL, if the DDL has one: it takes precedence over
        the table. TiCDC then sends no comment.
    """
    expression, name = _type_texts(column)
    generated = _boolean(column.auto_increment or (column.on_update_now and column.type == T.TIMESTAMP))
    comment = string(column.comment) if column.comment and defined is None else NULL
    parts = (
        (b"name", string(column.name)),
        (b"jdbcType", b"%d" % _jdbc_type(column)),
        (b"nativeType", NULL),
        (b"comment", comment),
        (b"defaultValueExpression", _default(column, defined)),
        (b"enumValues", _enum_values(column)),
        (b"typeName", string(name)),
        (b"typeExpression", string(expression)),
        (b"charsetName", _charset(column)),
        (b"length", _number(_length(column, defined))),
        (b"scale", _number(column.decimal if column.type in FLOATS | {T.NEW_DECIMAL} else -1)),
        (b"position", b"%d" % position),
        (b"optional", _boolean(column.nullable)),
        (b"autoIncremented", generated),
        (b"generated", generated),
    )
    return b"{%b}" % b",".join(b'"%b":%b' % part for part in parts)


def _jdbc_type(column: ColumnInfo) -> int:
    """Return the number of the column's type in ``java.sql.Types``."""
    if column.type in LOBS:
        return _LOB_JDBC[column.binary]
    if column.type in _TEXT_AND_BINARY_JDBC:
        return _TEXT_AND_BINARY_JDBC[column.type][column.binary]
    return _JDBC.get(column.type, _OTHER_JDBC)


def _boolean(value: bool) -> bytes:
    return b"true" if value else b"false"


def _number(value: int) -> bytes:
    return NULL if value == -1 else b"%d" % value


def _enum_values(column: ColumnInfo) -> bytes:
    if not column.elements:
        return NULL
    return b"[%b]" % b",".join(string(f"'{member}'") for member in column.elements)


def _charset(column: ColumnInfo) -> bytes:
    named = column.type in _WITH_CHARSET and not column.binary
    return string(column.charset) if named else NULL


def _type_texts(column: ColumnInfo) -> tuple[str, str]:
    """Return ``typeExpression`` and ``typeName``. For a few types ``typeExpression`` has parameters."""
    bare = bare_name(column.type, binary=column.binary, unsigned=False).upper()
    if column.type == T.UNSPECIFIED:  # columns of a view
        bare = "UNSPECIFIED"
    if column.type in _BARE:
        return bare, bare
    sign = " UNSIGNED ZEROFILL" if column.zerofill else " UNSIGNED" if column.unsigned else ""
    return bare + _parameters(column) + sign, bare + sign


def _parameters(column: ColumnInfo) -> str:
    if column.type == T.DOUBLE and column.decimal > 0:
        length = column.length if column.length != -1 else _USUAL_LENGTH[T.DOUBLE]
        return f"({length},{column.decimal})"
    if column.type == T.VECTOR_FLOAT32 and column.length != -1:
        return f"({column.length})"
    if column.type == T.VAR_STRING and not column.binary and column.length != 1:
        return f"({column.length if column.length != -1 else _USUAL_LENGTH[T.VAR_STRING]})"
    return ""


def _length(column: ColumnInfo, defined: ColumnDefinition | None) -> int:
    """Return ``length``, or -1 for none.

    For times it is the number of fractional digits. For other types it is sent only if it differs from the
    default of the type.
    """
    if column.type in _TIMES | {T.YEAR}:
        if defined is not None and defined.temporal is not None:
            return defined.temporal.length
        return column.length if column.type == T.YEAR else column.decimal
    if column.type == T.NEW_DECIMAL:
        return column.length
    if column.type == T.SET:
        return 2 * len(column.elements) - 1
    if column.type == T.ENUM:
        return 1
    if column.type not in _USUAL_LENGTH:
        return -1
    usual = _USUAL_LENGTH[column.type]
    if column.unsigned and column.type in INTEGERS - {T.LONGLONG}:
        usual -= 1
    if column.zerofill and column.type == T.TINY:
        usual += 1
    return -1 if column.length == usual else column.length


def _default(column: ColumnInfo, defined: ColumnDefinition | None) -> bytes:
    temporal = defined.temporal if defined is not None and column.type in _TIMES | {T.YEAR} else None
    if temporal is not None:
        if temporal.has_default:
            return _expression(temporal.default)
        if column.origin_default is not None and column.type == T.YEAR:
            return _literal(column, column.origin_default)
    if column.default_expression:
        return _expression(column.default_expression)
    return NULL if column.default is None else _literal(column, column.default)


def _expression(sql: str | None) -> bytes:
    if sql is None:
        return NULL
    return _EPOCH if sql.upper() == "CURRENT_TIMESTAMP" else string(sql)


def _literal(column: ColumnInfo, value: bytes) -> bytes:
    if column.type in (T.ENUM, T.SET):
        return string(member_text(column, value))
    if column.type == T.BIT:
        return b'"%b"' % _binary_digits(stored_bits(column), column.length)
    if column.type == T.YEAR and not (value == column.default and column.default_text):
        return b'"%04d"' % int(value)
    return default_string(column.default_text if value == column.default and column.default_text else value)


def _binary_digits(stored: bytes, length: int) -> bytes:
    """Return eight binary digits per byte, but ``length % 8`` digits for the first byte.

    TiDB stores the bytes as a JSON text, so bytes that are not UTF-8 appear as the bytes of U+FFFD.
    """
    first, *rest = replace_invalid(stored)
    return (f"{first:0{length % 8}b}" + "".join(f"{byte:08b}" for byte in rest)).encode()
