"""Coercion of values to a column; the column's own values stay unchanged."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.values.coerce import coerce, read
from ticdc_producer.model.values.sql_value import BinaryLiteral, SQLMode

T = MySQLType


def column(code: MySQLType, length: int = -1, decimal: int = -1, **more: Any) -> ColumnInfo:
    return ColumnInfo(name="c", type=code, length=length, decimal=decimal, **more)


def text_column(code: MySQLType, length: int, **more: Any) -> ColumnInfo:
    return column(code, length, 0, **({"charset": "utf8mb4", "collation": "utf8mb4_bin"} | more))


TINY = column(T.TINY, 4, 0)
BIGINT = column(T.LONGLONG, 20, 0)
DEC = column(T.NEW_DECIMAL, 10, 2)
WIDE_DEC = column(T.NEW_DECIMAL, 40, 1)
FLOAT = column(T.FLOAT, 12)
DOUBLE = column(T.DOUBLE, 22)
YEAR = column(T.YEAR, 4, 0, unsigned=True)
BIT = column(T.BIT, 12, 0, unsigned=True)
CHAR = text_column(T.STRING, 5)
VARCHAR = text_column(T.VARCHAR, 5)
BINARY = column(T.STRING, 4, 0)
DATE = column(T.DATE, 10, 0)
DATETIME = column(T.DATETIME, 23, 3)
TIMESTAMP = column(T.TIMESTAMP, 26, 6)
TIME = column(T.DURATION, 13, 2)
ENUM = text_column(T.ENUM, 2, elements=("a", "bb", "3"))
SET = text_column(T.SET, 8, elements=("x", "y", "z"))
JSON = column(T.JSON)


@pytest.mark.parametrize(
    ("target", "value", "stored"),
    [
        (TINY, "12", b"12"),
        (TINY, " 1.5 ", b"2"),
        (TINY, Decimal("-2.5"), b"-3"),
        (TINY, 2.5, b"2"),
        (TINY, "1e2", b"100"),
        (TINY, True, b"1"),
        (BIGINT, BinaryLiteral(b"\x01\x00"), b"256"),
        (DEC, "1.005", b"1.01"),
        (DEC, Decimal("-1.005"), b"-1.01"),
        (DEC, "-0.001", b"0.00"),
        (DEC, 5, b"5.00"),
        (DEC, 0.1, b"0.10"),
        (FLOAT, 0.1, b"0.1"),
        (FLOAT, "16777217", b"16777216"),
        (DOUBLE, -0.0, b"0"),
        (DOUBLE, 1e21, b"1000000000000000000000"),
        (YEAR, 0, b"0"),
        (YEAR, "0", b"2000"),
        (YEAR, "0000", b"0"),
        (YEAR, 69, b"2069"),
        (YEAR, "70", b"1970"),
        (YEAR, 2155, b"2155"),
        (BIT, 4095, b"4095"),
        (BIT, "A", b"65"),
        (CHAR, "a  ", b"a"),
        (VARCHAR, "a  ", b"a  "),
        (VARCHAR, "äöüßé", "äöüßé".encode()),
        (VARCHAR, 1.5, b"1.5"),
        (VARCHAR, Decimal("1.50"), b"1.50"),
        (BINARY, b"ab", b"ab\0\0"),
        (DATE, "2020-1-2", b"2020-01-02"),
        (DATE, "20200102", b"2020-01-02"),
        (DATE, "200102", b"2020-01-02"),
        (DATE, 700102, b"1970-01-02"),
        (DATE, "2020.01.02 03:04:05", b"2020-01-02"),
        (DATE, date(2020, 1, 2), b"2020-01-02"),
        (DATETIME, "2020-12-31 23:59:59.9996", b"2021-01-01 00:00:00.000"),
        (DATETIME, "0000-12-31 23:59:59.9996", b"0001-01-01 00:00:00.000"),
        (DATE, "0000-02-29", b"0000-02-29"),
        (DATETIME, "2020-01-02T03:04", b"2020-01-02 03:04:00.000"),
        (DATETIME, 20200102030405, b"2020-01-02 03:04:05.000"),
        (DATETIME, datetime(2020, 1, 2, 3, 4, 5, 6000), b"2020-01-02 03:04:05.006"),
        (TIMESTAMP, datetime(2020, 1, 2, tzinfo=UTC), b"2020-01-02 00:00:00.000000"),
        (TIME, "1 02:03:04", b"26:03:04.00"),
        (TIME, "12:00", b"12:00:00.00"),
        (TIME, "11", b"00:00:11.00"),
        (TIME, -112233, b"-11:22:33.00"),
        (TIME, "-0:0:0", b"00:00:00.00"),
        (TIME, time(1, 2, 3), b"01:02:03.00"),
        (TIME, timedelta(hours=-1, microseconds=-5000), b"-01:00:00.00"),  # up: TiDB's Duration.RoundFrac
        (ENUM, "bb ", b"2"),
        (ENUM, 1, b"1"),
        (ENUM, "2", b"2"),
        (ENUM, "3", b"3"),
        (SET, "z,x", b"5"),
        (SET, "", b"0"),
        (SET, 3, b"3"),
        (JSON, '{"b":1,"a":[1.0,"<\\u00e9>",null],"a":true}', b'{"a": true, "b": 1}'),
        (JSON, "[1.0, 1e100, -0.0, 18446744073709551616]", b"[1.0, 1e100, -0.0, 1.8446744073709552e19]"),
        (JSON, '"\\u2028<>&"', b'"\\u2028<>&"'),
    ],
)
def test_stored(target: ColumnInfo, value: Any, stored: bytes) -> None:
    assert coerce(target, value) == stored


def test_null_stays_null() -> None:
    assert coerce(TINY, None) is None
    assert read(TINY, None) is None


@pytest.mark.parametrize(
    ("target", "value"), [(TINY, 128), (VARCHAR, "123456"), (DATE, "2021-02-29"), (DATE, "0000-04-31")]
)
def test_a_value_that_does_not_fit_is_an_error_with_column_and_value(target: ColumnInfo, value: Any) -> None:
    with pytest.raises(ScenarioError) as caught:
        coerce(target, value)
    assert (caught.value.column, caught.value.value) == ("c", str(value))


LAX = SQLMode(strict=False, zero_dates=True, zero_in_date=True)


@pytest.mark.parametrize(
    ("target", "value", "stored"),
    [
        (TINY, 1000, b"127"),
        (TINY, "7up", b"7"),
        (WIDE_DEC, Decimal("1" + "0" * 39), b"9" * 39 + b".9"),
        (DEC, "1e20", b"99999999.99"),
        (VARCHAR, "123456", b"12345"),
        (BINARY, b"12345", b"1234"),
        (DATE, "2021-02-29", b"0000-00-00"),
        (DATE, "2021-00-00", b"2021-00-00"),
        (TIME, "999:00:00", b"838:59:59.00"),
        (ENUM, "nope", b"0"),
        (SET, "x,nope", b"0"),
        (SET, 15, b"0"),
    ],
)
def test_without_strict_mode_the_nearest_value_is_stored(
    target: ColumnInfo, value: Any, stored: bytes
) -> None:
    assert coerce(target, value, LAX) == stored


def test_timestamps_are_read_in_the_zone_they_are_written_in() -> None:
    tokyo = SQLMode(zone=timezone(timedelta(hours=9)))
    stored = coerce(TIMESTAMP, "2020-01-01 09:00:00", tokyo)
    assert stored == b"2020-01-01 00:00:00.000000"
    assert coerce(TIMESTAMP, read(TIMESTAMP, stored, tokyo), tokyo) == stored


def test_a_time_that_daylight_saving_skips_is_refused_as_timestamp() -> None:
    berlin = SQLMode(zone=ZoneInfo("Europe/Berlin"))
    assert coerce(TIMESTAMP, "2021-03-28 03:00:00", berlin) == b"2021-03-28 01:00:00.000000"
    with pytest.raises(ScenarioError, match="Incorrect timestamp value"):
        coerce(TIMESTAMP, "2021-03-28 02:30:00", berlin)


@pytest.mark.parametrize("target", [TINY, DEC, DOUBLE, DATE, TIME])
@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_nan_and_infinity_are_refused(target: ColumnInfo, number: float) -> None:
    with pytest.raises(ScenarioError):
        coerce(target, number)


def assert_fixed(target: ColumnInfo, stored: Value) -> None:
    assert coerce(target, read(target, stored)) == stored


@given(st.integers(-(1 << 63), (1 << 63) - 1))
def test_integers_round_trip(number: int) -> None:
    assert_fixed(BIGINT, coerce(BIGINT, number))
    assert coerce(BIGINT, str(number)) == coerce(BIGINT, number)


@given(st.decimals(-99999999, 99999999, allow_nan=False, places=5))
def test_decimals_round_trip(number: Decimal) -> None:
    stored = coerce(DEC, number)
    assert_fixed(DEC, stored)
    assert stored is not None
    assert coerce(DEC, stored.decode()) == stored


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_doubles_round_trip(number: float) -> None:
    stored = coerce(DOUBLE, number)
    assert_fixed(DOUBLE, stored)
    assert stored is not None
    assert coerce(DOUBLE, stored.decode()) == stored


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_floats_round_trip(number: float) -> None:
    assert_fixed(FLOAT, coerce(FLOAT, number))


@given(st.text(max_size=5))
def test_text_round_trips(text: str) -> None:
    for target in (CHAR, VARCHAR):
        assert_fixed(target, coerce(target, text))


@given(st.datetimes(datetime(1000, 1, 1), datetime(9999, 12, 31)))
def test_datetimes_round_trip(value: datetime) -> None:
    for target in (DATE, DATETIME):
        stored = coerce(target, value)
        assert_fixed(target, stored)
        assert stored is not None
        assert coerce(target, stored.decode()) == stored


@given(st.timedeltas(timedelta(hours=-838), timedelta(hours=838)))
def test_times_round_trip(value: timedelta) -> None:
    stored = coerce(TIME, value)
    assert_fixed(TIME, stored)
    assert stored is not None
    assert coerce(TIME, stored.decode()) == stored


@given(st.integers(0, 7))
def test_numbered_types_round_trip(number: int) -> None:
    assert_fixed(SET, str(number).encode())
    assert_fixed(BIT, str(number).encode())
    assert_fixed(ENUM, str(number % 3 + 1).encode())


_JSON_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(1 << 63), (1 << 64) - 1)
    | st.floats(allow_nan=False)
    | st.text()
)
_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 63), (1 << 64) - 1)
    | st.floats(allow_nan=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(_JSON)
def test_json_text_is_a_fixed_point(document: Any) -> None:
    try:
        stored = coerce(JSON, json.dumps(document, allow_nan=False))
    except ValueError:
        return
    assert stored is not None
    assert coerce(JSON, stored.decode()) == stored
    assert_fixed(JSON, stored)
