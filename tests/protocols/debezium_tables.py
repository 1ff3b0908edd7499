"""Tables, rows and messages for the property tests of Debezium."""

from __future__ import annotations

from collections.abc import Iterable

from tests.protocols.encoding import Change, messages_of
from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.event import DDLEvent, Message, Op
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.debezium.encoder import DebeziumEncoder
from ticdc_producer.protocols.row_options import DebeziumOptions

T = MySQLType
NOW = "1970-01-01 00:00:00"  # sent for CURRENT_TIMESTAMP
EXTENDED = DebeziumOptions(enable_tidb_extension=True, output_ddl=True)
ELEMENTS = ("a", "b,c", "it's", 'q"', "é", "%d", "back\\")


def column_of(name: str, code: MySQLType, **rest) -> ColumnInfo:
    return ColumnInfo(name=name, type=code, **rest)


# Every type whose values arrive unchanged if the message has its SQL type.
COLUMNS = (
    column_of("id", T.LONGLONG, unsigned=True, nullable=False),
    column_of("%d é", T.VARCHAR, charset="utf8mb4"),
    column_of('q"\\', T.STRING, length=8),
    column_of("txt", T.BLOB, charset="utf8mb4"),
    column_of("blob", T.LONG_BLOB),
    column_of("f", T.FLOAT),
    column_of("D", T.DOUBLE),
    column_of("e", T.ENUM, charset="utf8mb4", elements=ELEMENTS),
    column_of("s", T.SET, charset="utf8mb4", elements=("x", "y z", "%s")),
    column_of("b1", T.BIT, length=1, unsigned=True),
    column_of("b9", T.BIT, length=9, unsigned=True),
    column_of("d", T.DATE),
    column_of("dt", T.DATETIME, decimal=6),
    column_of("dt0", T.DATETIME, decimal=0),
    column_of("ts", T.TIMESTAMP, decimal=3),
    column_of("t", T.DURATION, decimal=6),
    column_of("y", T.YEAR, unsigned=True),
    column_of("j", T.JSON),
    column_of("n", T.TINY),
    column_of("m", T.INT24, unsigned=True),
)
KEY = IndexInfo(id=0, name="PRIMARY", offsets=(0,), unique=True, primary=True, clustered=True)
TABLE = TableInfo(schema="s-1", name="t<%s>", table_id=1, columns=COLUMNS, indexes=(KEY,))


def sent(table: TableInfo, changes: Iterable[Change], options: DebeziumOptions) -> list[Message]:
    return messages_of(DebeziumEncoder(options), table, changes)


SMALL = TableInfo(
    schema="s",
    name="t",
    table_id=1,
    columns=(
        column_of("id", T.LONG, nullable=False),
        column_of("v", T.VARCHAR, charset="utf8mb4"),
        column_of("e", T.ENUM, charset="utf8mb4", elements=("x", "y")),
        column_of("dt", T.DATETIME, decimal=0),
    ),
    indexes=(KEY,),
)
IMAGE = (b"1", "aé".encode(), b"2", b"2020-01-01 00:00:00")


def samples(options: DebeziumOptions) -> list[tuple[bytes, bytes]]:
    encoder = DebeziumEncoder(options)
    rows = [(Op.INSERT, 5, IMAGE, IMAGE), (Op.UPDATE, 6, IMAGE, IMAGE), (Op.DELETE, 7, IMAGE, IMAGE)]
    ddl = DDLEvent(commit_ts=8, schema="s", table="t", query="CREATE TABLE `t` (`id` INT)", ddl_type=3)
    messages = [*sent(SMALL, rows, options), encoder.ddl(ddl, SMALL), encoder.resolved(9)]
    return [(m.key or b"", m.value or b"") for m in messages if m is not None]
