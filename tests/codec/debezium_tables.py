"""Tables, rows and messages for the tests of what must hold of any Debezium message."""

from __future__ import annotations

from datetime import date, datetime

from hypothesis import strategies as st

from producer.codec.base import RowBatch
from producer.codec.debezium import DebeziumEncoder, DebeziumOptions
from producer.model.event import DDLEvent, Op
from producer.model.float_text import plain_text
from producer.model.mysql_type import MySQLType
from producer.model.table import ColumnInfo, IndexInfo, TableInfo

T = MySQLType
NOW = "1970-01-01 00:00:00"  # what stands for CURRENT_TIMESTAMP
EXTENDED = DebeziumOptions(enable_tidb_extension=True, output_ddl=True)
ELEMENTS = ("a", "b,c", "it's", 'q"', "é", "%d", "back\\")


def column_of(name: str, code: MySQLType, **rest) -> ColumnInfo:
    return ColumnInfo(name=name, type=code, **rest)


# Every type that arrives as it was sent when its SQL type is named.
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


def _numbers(low: int, high: int) -> st.SearchStrategy[bytes]:
    return st.integers(low, high).map(lambda number: b"%d" % number)


def _floats(code: MySQLType, width: int) -> st.SearchStrategy[bytes]:
    floats = st.floats(width=width, allow_nan=False, allow_infinity=False)
    return floats.map(lambda number: plain_text(number, code))


def _moment(moment: datetime, digits: int) -> bytes:
    """Canonical text without trailing zeros in the fraction, of which Debezium keeps no account."""
    kept = moment.replace(microsecond=moment.microsecond // 10 ** (6 - digits) * 10 ** (6 - digits))
    text = kept.isoformat(" ").encode()
    return text.rstrip(b"0") if kept.microsecond else text


def _span(micros: int) -> bytes:
    seconds, rest = divmod(abs(micros), 1_000_000)
    clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    fraction = f".{rest:06d}".rstrip("0") if rest else ""
    return f"{'-' if micros < 0 else ''}{clock}{fraction}".encode()


_TEXT = st.text(max_size=8).map(str.encode) | st.binary(max_size=8)
_DATETIMES = st.datetimes(min_value=datetime(100, 1, 1))
_TIMESTAMPS = st.datetimes(min_value=datetime(1970, 1, 1, 0, 0, 1), max_value=datetime(2038, 1, 19))
_MAX_SPAN = (838 * 3600 + 59 * 60 + 59) * 1_000_000
_NULLABLE = (
    _TEXT,
    st.binary(max_size=8),
    _TEXT,
    st.binary(max_size=8),
    _floats(T.FLOAT, 32),
    _floats(T.DOUBLE, 64),
    _numbers(0, len(ELEMENTS)),
    _numbers(0, 7),
    _numbers(0, 1),
    _numbers(0, 511),
    st.dates(min_value=date(100, 1, 1)).map(lambda day: day.isoformat().encode()),
    _DATETIMES.map(lambda moment: _moment(moment, 6)),
    _DATETIMES.map(lambda moment: _moment(moment, 0)),
    _TIMESTAMPS.map(lambda moment: moment.isoformat(" ", "milliseconds").encode()),
    st.integers(-_MAX_SPAN, _MAX_SPAN).map(_span),
    _numbers(1901, 2155),
    _TEXT,
    _numbers(-128, 127),
    _numbers(0, 2**24 - 1),
)
IMAGES = st.tuples(_numbers(0, 2**64 - 1), *(st.none() | values for values in _NULLABLE))
ROWS = st.lists(
    st.tuples(st.sampled_from(Op), st.integers(1, 2**62), IMAGES, IMAGES), min_size=1, max_size=12
)


def batch_of_rows(rows, width: int = len(COLUMNS)) -> RowBatch:
    old = [before for op, _, before, _ in rows if op != Op.INSERT]
    new = [after for op, _, _, after in rows if op != Op.DELETE]
    return RowBatch(
        op=[op for op, *_ in rows],
        commit_ts=[ts for _, ts, *_ in rows],
        table_id=[1] * len(rows),
        row_id=[0] * len(rows),
        before=[[image[i] for image in old] for i in range(width)],
        after=[[image[i] for image in new] for i in range(width)],
    )


def sent(table: TableInfo, rows, options: DebeziumOptions):
    encoder = DebeziumEncoder(options)
    return list(encoder.messages(encoder.rows(table, batch_of_rows(rows, len(table.columns)))))


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
