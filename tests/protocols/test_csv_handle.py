"""The handle of a row in a line of CSV (``output-handle-key``), for clustered keys of every type."""

from __future__ import annotations

import pytest

from tests.protocols.encoding import framed, row_batch
from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.event import Op
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.csv.encoder import CSVEncoder
from ticdc_producer.protocols.csv.options import CSVOptions

T = MySQLType
TEXT = {"charset": "utf8mb4", "collation": "utf8mb4_bin"}


def _line(columns: tuple[ColumnInfo, ...], row: tuple[bytes, ...], lengths=(), **options) -> bytes:
    key = IndexInfo(
        id=1,
        name="PRIMARY",
        offsets=tuple(range(len(columns))),
        lengths=lengths,
        unique=True,
        primary=True,
        clustered=True,
    )
    table = TableInfo(schema="s", name="t", table_id=114, columns=columns, indexes=(key,))
    encoder = CSVEncoder(
        CSVOptions(output_handle_key=True, quote="", delimiter="|", terminator="\n", **options)
    )
    batch = row_batch(Op.INSERT, (), [row], commit_ts=[1], table_id=114, row_id=-2)
    (message,) = framed(encoder, [encoder.rows(table, batch)])
    return (message.value or b"").removesuffix(b"\n")


def _column(code: MySQLType, **rest) -> ColumnInfo:
    return ColumnInfo(name="k", type=code, nullable=False, **rest)


@pytest.mark.parametrize(
    ("column", "value", "handle"),
    [
        (_column(T.LONG), b"-2", "-2"),
        (_column(T.DATE), b"2020-05-05", "{1848246060942622720}"),
        (_column(T.DATE), b"0000-00-00", "{0}"),
        (_column(T.DATE), b"9999-12-31", "{9147934544073064448}"),
        (_column(T.DATETIME, decimal=0), b"2020-05-05 00:00:00", "{1848246060942622720}"),
        (_column(T.DATETIME, decimal=3), b"2020-05-05 01:02:03.004", "{1848246131859918752}"),
        (_column(T.DATETIME, decimal=6), b"2020-05-05 01:02:03.000004", "{1848246131859914756}"),
        (_column(T.TIMESTAMP, decimal=1), b"2020-05-05 01:02:03.1", "{1848246131860014752}"),
        (_column(T.DURATION, decimal=0), b"01:02:03", "{01:02:03.000000}"),
        (_column(T.DURATION, decimal=3), b"-838:59:58.001", "{-838:59:58.001000}"),
        (_column(T.DURATION, decimal=6), b"00:00:00.000001", "{00:00:00.000001}"),
        (_column(T.FLOAT), b"0.0000000001", "{0.0000000001000000013351432}"),
        (_column(T.FLOAT), b"1.5", "{1.5}"),
        (_column(T.FLOAT), b"0.1", "{0.10000000149011612}"),
        (_column(T.DOUBLE), b"0.0000000001", "{0.0000000001}"),
        (_column(T.DOUBLE), b"0.1", "{0.1}"),
        (_column(T.NEW_DECIMAL, length=5, decimal=2), b"-1.50", "{-1.50}"),
        (_column(T.YEAR, unsigned=True), b"2020", "{2020}"),
        (_column(T.BIT, unsigned=True, length=9), b"257", "{257}"),
        (_column(T.ENUM, elements=("a", "b"), charset="utf8mb4"), b"2", "{2}"),
        (_column(T.SET, elements=("a", "b"), charset="utf8mb4"), b"3", "{3}"),
        (_column(T.VARCHAR, length=9, **TEXT), b"a b ", "{a b}"),
        (_column(T.VARCHAR, length=9), b"a b ", "{a b }"),
    ],
)
def test_the_handle_is_what_the_key_holds(column: ColumnInfo, value: bytes, handle: str) -> None:
    assert _line((column,), (value,)).split(b"|")[3] == handle.encode()


def test_the_parts_of_a_key_are_separated_by_commas() -> None:
    columns = (_column(T.LONG), _column(T.DATE), _column(T.VARCHAR, length=9, **TEXT))
    line = _line(columns, (b"7", b"2020-05-05", b"abcdef"), lengths=(-1, -1, 3))
    assert line.split(b"|")[3] == b"{7, 1848246060942622720, abc}"


def test_a_prefix_of_bytes() -> None:
    assert _line((_column(T.VARCHAR, length=9),), (b"abcdef",), lengths=(2,)).split(b"|")[3] == b"{ab}"


@pytest.mark.parametrize("zone", ["+05:30", "Asia/Kolkata"])
def test_a_timestamp_is_packed_in_utc(zone: str) -> None:
    line = _line((_column(T.TIMESTAMP, decimal=0),), (b"2020-05-05 05:30:00",), time_zone=zone)
    assert line.split(b"|")[3:] == [b"{1848246060942622720}", b"2020-05-05 05:30:00"]


def test_new_architecture_writes_no_handle() -> None:
    assert _line((_column(T.LONG),), (b"5",), profile="new").split(b"|")[3:] == [b"5"]
