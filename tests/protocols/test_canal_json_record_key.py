"""TiKV's keys of rows with clustered keys of every type, by TiDB's own encoding (``pkg/util/codec``)."""

from __future__ import annotations

import base64
import json

import pytest

from tests.protocols.encoding import framed, row_batch
from ticdc_producer.errors import ChangefeedError
from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.event import Op
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.canal_json.encoder import CanalJSONEncoder
from ticdc_producer.protocols.row_options import CanalJSONOptions

T = MySQLType
HEAD = b"t" + bytes.fromhex("8000000000000072") + b"_r"


def _handle(column: ColumnInfo, value: bytes, *, time_zone: str = "UTC", length: int = -1) -> str:
    """The handle of a row whose clustered key is one column, in hexadecimal."""
    key = IndexInfo(
        id=1, name="PRIMARY", offsets=(0,), lengths=(length,), unique=True, primary=True, clustered=True
    )
    table = TableInfo(schema="s", name="t", table_id=114, columns=(column,), indexes=(key,))
    options = CanalJSONOptions(
        profile="new", enable_tidb_extension=True, output_row_key=True, time_zone=time_zone
    )
    encoder = CanalJSONEncoder(options)
    batch = row_batch(Op.INSERT, (), [(value,)], commit_ts=[1], table_id=114, row_id=-2)
    (message,) = framed(encoder, [encoder.rows(table, batch)])
    record = base64.b64decode(json.loads(message.value or b"")["_tidb"]["rowkey"])
    assert record.startswith(HEAD)
    return record.removeprefix(HEAD).hex()


def _column(code: MySQLType, **rest) -> ColumnInfo:
    return ColumnInfo(name="k", type=code, nullable=False, **rest)


@pytest.mark.parametrize(
    ("column", "value", "handle"),
    [
        (_column(T.LONGLONG, unsigned=True), b"18446744073709551614", "7ffffffffffffffe"),
        (_column(T.YEAR, unsigned=True), b"2020", "03" + "80000000000007e4"),
        (_column(T.BIT, unsigned=True, length=9), b"257", "04" + "0000000000000101"),
        (_column(T.ENUM, elements=("a", "b"), charset="utf8mb4"), b"2", "04" + "0000000000000002"),
        (_column(T.DOUBLE), b"1.5", "05" + "bff8000000000000"),
        (_column(T.DOUBLE), b"-1.5", "05" + "4007ffffffffffff"),
        (_column(T.FLOAT), b"1.1", "05" + "bff19999a0000000"),
        (_column(T.NEW_DECIMAL, length=14, decimal=4), b"1234567890.1234", "060e04" + "810dfb38d204d2"),
        (_column(T.NEW_DECIMAL, length=14, decimal=4), b"-1234567890.1234", "060e04" + "7ef204c72dfb2d"),
        (_column(T.NEW_DECIMAL, length=2, decimal=2), b"0.05", "060202" + "85"),
        (_column(T.DURATION, decimal=3), b"-00:00:01.500", "07" + "7fffffffa697d100"),
        (_column(T.DATE), b"2021-12-20", "04" + "19ab680000000000"),
        (_column(T.DATETIME, decimal=6), b"2021-12-20 10:20:30.000001", "04" + "19ab68a51e000001"),
        (_column(T.VARCHAR, charset="utf8mb4", collation="utf8mb4_bin"), b"x ", "01" + "7800000000000000f8"),
        (_column(T.VARCHAR, length=3), b"x ", "01" + "7820000000000000f9"),
    ],
    ids=lambda value: value.decode() if isinstance(value, bytes) else None,
)
def test_a_clustered_key_is_part_of_the_row_key(column: ColumnInfo, value: bytes, handle: str) -> None:
    assert _handle(column, value) == handle


def test_a_timestamp_is_in_utc() -> None:
    column = _column(T.TIMESTAMP, decimal=0)
    assert _handle(column, b"2021-12-20 18:20:30", time_zone="+08:00") == _handle(
        column, b"2021-12-20 10:20:30"
    )
    assert _handle(column, b"0000-00-00 00:00:00", time_zone="+08:00") == "040000000000000000"


def test_a_prefix_key_contains_the_prefix() -> None:
    column = _column(T.VARCHAR, charset="utf8mb4", collation="utf8mb4_bin")
    assert _handle(column, "é-and-more".encode(), length=1) == _handle(column, "é".encode())


def test_classic_ticdc_has_no_row_keys() -> None:
    with pytest.raises(ChangefeedError) as error:
        CanalJSONOptions(enable_tidb_extension=True, output_row_key=True)
    assert error.value.parameter == "output-row-key"
