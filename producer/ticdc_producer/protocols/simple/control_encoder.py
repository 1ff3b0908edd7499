"""Encodes DDL, WATERMARK and BOOTSTRAP messages as JSON, with the schema of a table version.

Source: tiflow ``pkg/sink/codec/simple/message.go`` (``newTableSchema``, ``newColumnSchema``).

Source: tiflow ``pkg/sink/codec/simple/message.go`` (``newDDLMessage``, ``newResolvedMessage``,
``newBootstrapMessage``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.event import DDLEvent
from ticdc_producer.model.mysql_type import FLOATS, INTEGERS, MySQLType, bare_name
from ticdc_producer.model.profile import Profile
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import physical
from ticdc_producer.protocols.arrow_text import NULL
from ticdc_producer.protocols.go_json import STRINGS
from ticdc_producer.protocols.member_text import stored_default
from ticdc_producer.protocols.simple.envelope import BOOTSTRAP, EXCHANGE_PARTITION, WATERMARK, ddl_type_name
from ticdc_producer.protocols.simple.options import SimpleOptions

T = MySQLType


def table_schema(table: TableInfo, profile: Profile) -> bytes:
    """The JSON object of a table version."""
    return b'{"schema":%b,"table":%b,"tableID":%d,"version":%d,"columns":%b,"indexes":%b}' % (
        STRINGS.literal(table.schema),
        STRINGS.literal(table.name),
        table.table_id,
        table.update_ts,
        _array(map(_column, listed_columns(table, profile))),
        _array(_index(table, *listed) for listed in listed_indexes(table)),
    )


def listed_columns(table: TableInfo, profile: Profile) -> Sequence[ColumnInfo]:
    """The columns of ``tableSchema``: sorted by column id in classic TiCDC (tiflow), else in table order."""
    return table.columns if profile == "new" else sorted(table.columns, key=lambda column: column.id)


def _array(items: Iterable[bytes]) -> bytes:
    return b"[%b]" % b",".join(items)


def _column(column: ColumnInfo) -> bytes:
    return b'{"name":%b,"dataType":{%b},"nullable":%b,"default":%b}' % (
        STRINGS.literal(column.name),
        b",".join(_data_type(column)),
        _boolean(column.nullable),
        _default(column),
    )


def _boolean(value: bool) -> bytes:
    return b"true" if value else b"false"


def _data_type(column: ColumnInfo) -> Iterator[bytes]:
    """The members of ``dataType``; Go omits zero values."""
    if column.type == T.UNSPECIFIED:  # columns of a view
        yield b'"mysqlType":"unspecified","charset":"","collate":""'
        return
    yield b'"mysqlType":%b' % STRINGS.literal(bare_name(column.type, binary=column.binary, unsigned=False))
    yield b'"charset":%b,"collate":%b' % (STRINGS.literal(column.charset), STRINGS.literal(column.collation))
    if column.length:
        yield b'"length":%d' % column.length
    if column.decimal and column.type not in FLOATS:
        yield b'"decimal":%d' % column.decimal
    if column.elements:
        yield b'"elements":' + _array(map(STRINGS.literal, column.elements))
    if column.unsigned:
        yield b'"unsigned":true'
    if column.zerofill:
        yield b'"zerofill":true'


def _default(column: ColumnInfo) -> bytes:
    """The DEFAULT as text, or as number for BIT; null if there is none."""
    if column.type == T.BIT and column.default is not None and not column.default_expression:
        return column.default
    text = stored_default(column)
    return NULL if text is None else STRINGS.literal(text)


def listed_indexes(table: TableInfo) -> Iterator[tuple[IndexInfo, str, bool]]:
    """The indexes of ``tableSchema``: each with its name and whether it is primary.

    These are the indexes that TiDB stores. If none of them is the primary key, TiCDC adds an index
    ``primary``: the primary key if it is the integer handle of the rows, which TiDB does not store as an
    index, else the first unique index without NULLs, which may not be the handle key.
    """
    stored = [index for index in table.indexes if not _is_handle(table, index)]
    for index in stored:
        yield index, index.name, index.primary
    if not any(index.primary for index in stored):
        key = table.primary_key or next((index for index in stored if _never_null(table, index)), None)
        if key is not None:
            yield key, "primary", True


def _never_null(table: TableInfo, index: IndexInfo) -> bool:
    return index.unique and not any(table.columns[offset].nullable for offset in index.offsets)


def _is_handle(table: TableInfo, index: IndexInfo) -> bool:
    return index.clustered and len(index.offsets) == 1 and table.columns[index.offsets[0]].type in INTEGERS


def _index(table: TableInfo, index: IndexInfo, name: str, primary: bool) -> bytes:
    columns = [table.columns[offset] for offset in index.offsets]
    return b'{"name":%b,"unique":%b,"primary":%b,"nullable":%b,"columns":%b}' % (
        STRINGS.literal(name),
        _boolean(index.unique),
        _boolean(primary),
        _boolean(any(column.nullable for column in columns)),
        _array(STRINGS.literal(column.name) for column in columns),
    )


_DROP_TABLE, _DROP_VIEW = 4, 24


def build_ts(ts: int, options: SimpleOptions) -> int:
    """``buildTs`` of the message of an event, in Unix milliseconds."""
    return physical(ts) if options.build_ts_ms is None else options.build_ts_ms


def watermark(ts: int, options: SimpleOptions) -> bytes:
    """The value of a WATERMARK message: all events up to ``ts`` were sent."""
    return b'{"version":1,"type":"%b","commitTs":%d,"buildTs":%d}' % (
        WATERMARK.encode(),
        ts,
        build_ts(ts, options),
    )


def bootstrap(table: TableInfo, ts: int, options: SimpleOptions) -> bytes:
    """The value of a BOOTSTRAP message, which carries the schema of a table.

    :param ts: commit-ts of the row before which it is sent; it sets ``buildTs`` only.
    """
    return b'{"version":1,"type":"%b","commitTs":0,"buildTs":%d,"tableSchema":%b}' % (
        BOOTSTRAP.encode(),
        build_ts(ts, options),
        table_schema(table, options.profile),
    )


def ddl(event: DDLEvent, table: TableInfo | None, before: TableInfo | None, options: SimpleOptions) -> bytes:
    """The value of a DDL event.

    TiCDC new architecture sends ``preTableSchema`` only for EXCHANGE PARTITION.

    :param table: the table after the DDL.
    :param before: the table before the DDL.
    """
    schemas = []
    described = ddl_schema_table(event, table, before)
    if described is not None:
        schemas.append(b',"tableSchema":' + table_schema(described, options.profile))
    if before is not None and (options.profile == "classic" or event.ddl_type == EXCHANGE_PARTITION):
        schemas.append(b',"preTableSchema":' + table_schema(before, options.profile))
    return b'{"version":1,"type":"%b","sql":%b,"commitTs":%d,"buildTs":%d%b}' % (
        ddl_type_name(event.ddl_type, options.profile).encode(),
        STRINGS.literal(event.query),
        event.commit_ts,
        build_ts(event.commit_ts, options),
        b"".join(schemas),
    )


def ddl_schema_table(event: DDLEvent, table: TableInfo | None, before: TableInfo | None) -> TableInfo | None:
    """The table in ``tableSchema``: the table after the DDL, or before it for DROP TABLE and DROP VIEW."""
    return before if table is None and event.ddl_type in (_DROP_TABLE, _DROP_VIEW) else table
