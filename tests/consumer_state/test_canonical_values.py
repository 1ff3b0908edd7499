"""Values are compared by their MySQL type, whatever a driver or file returns."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.model.mysql_type import MySQLType as T
from ticdc_producer.protocols import registry
from ticdc_producer.verifier.consumer_state.canonical_value import actual_reader, expected_reader

TOKYO = timezone(timedelta(hours=9))
SOLD_AT = datetime(2021, 12, 20, 13, 30, 49, 120000)


def column(kind: T, **more: Any) -> ColumnInfo:
    text = kind in (T.VARCHAR, T.STRING, T.BLOB)
    return ColumnInfo(name="c", type=kind, **({"charset": "utf8mb4"} if text else {}) | more)


MONEY = column(T.NEW_DECIMAL, length=12, decimal=2)
KIND = column(T.ENUM, elements=("small", "large", "1"), charset="utf8mb4")
MARKS = column(T.SET, elements=("new", "used", "sale"), charset="utf8mb4")
SOLD, CHANGED = column(T.DATETIME, decimal=3), column(T.TIMESTAMP, decimal=0)
LASTS = column(T.DURATION, decimal=0)
BYTES = column(T.VARCHAR, charset="binary")

SAME: list[tuple[ColumnInfo, str | bytes, Any]] = [
    (column(T.LONG), "5", 5), (column(T.LONG), "5", "5"), (column(T.LONG), "5", Decimal("5.0")),
    (column(T.TINY), "1", True),
    (column(T.LONGLONG, unsigned=True), "18446744073709551615", Decimal(2**64 - 1)),
    (column(T.YEAR), "2021", "2021"),
    (MONEY, "1.50", Decimal("1.5")), (MONEY, "1.50", 1.5), (MONEY, "1.50", "1.5000"), (MONEY, "100.00", 100),
    (MONEY, "0.00", Decimal("-0.0")), (MONEY, "70.10", 70.1),
    (column(T.FLOAT), "123.99", 123.98999786376953), (column(T.FLOAT), "123.99", 123.99),
    (column(T.DOUBLE), "0.1", 0.1), (column(T.DOUBLE), "0", -0.0), (column(T.DOUBLE), "0.1", Decimal("0.1")),
    (BYTES, b"\x00\xff", b"\x00\xff"), (BYTES, b"\x00\xff", memoryview(b"\x00\xff")), (BYTES, "ab", "ab"),
    (column(T.BIT, length=5), "21", b"\x15"), (column(T.BIT, length=5), "21", 21),
    (column(T.BIT, length=5), "21", "0b10101"), (column(T.BIT, length=1), "1", True),
    (KIND, "2", "large"), (KIND, "2", 2), (KIND, "3", "1"), (KIND, "0", ""),
    (MARKS, "5", "new,sale"), (MARKS, "5", {"sale", "new"}), (MARKS, "5", ["sale", "new"]), (MARKS, "0", ""),
    (MARKS, "5", 5),
    (column(T.DATE), "2021-12-20", date(2021, 12, 20)), (column(T.DATE), "2021-12-20", "2021-12-20 00:00:00"),
    (column(T.DATE), "0000-00-00", "0000-00-00"),
    (SOLD, "2021-12-20 13:30:49.120", SOLD_AT), (SOLD, "2021-12-20 13:30:49.120", "2021-12-20T13:30:49.12"),
    (SOLD, "2021-12-20 13:30:49.120", SOLD_AT.replace(tzinfo=UTC)),
    (SOLD, "0000-00-00 00:00:00.000", "0000-00-00 00:00:00"),
    (CHANGED, "2021-12-20 22:30:49", datetime(2021, 12, 20, 13, 30, 49, tzinfo=UTC)),
    (CHANGED, "2021-12-20 22:30:49", "2021-12-20 13:30:49+00"),
    (CHANGED, "2021-12-20 22:30:49", "2021-12-20 22:30:49"),
    (LASTS, "-12:00:01", timedelta(hours=-12, seconds=-1)), (LASTS, "838:59:59", "838:59:59.000"),
    (LASTS, "09:05:00", time(9, 5)), (column(T.DURATION, decimal=2), "09:05:00.50", "9:05:00.5"),
    (column(T.JSON), '{"a": 1, "b": [1.5, null]}', '{"b":[1.50,null],"a":1.0}'),
    (column(T.JSON), '{"a": 1}', {"a": 1}), (column(T.JSON), "1e300", 1e300),
    (column(T.JSON), "null", "null"),
    (column(T.VECTOR_FLOAT32), "[0.1,2]", "[0.10000000149011612, 2.0]"),
    (column(T.VARCHAR), "null", "null"), (column(T.VARCHAR), "ä", "ä".encode()),
    (column(T.STRING), "ab", "ab    "),
]  # fmt: skip
OTHER: list[tuple[ColumnInfo, str | bytes | None, Any]] = [
    (column(T.LONG), "5", 6), (column(T.LONG), "5", "five"), (column(T.LONG), "5", 5.5),
    (column(T.LONG), "0", ""),
    (column(T.LONGLONG), "9007199254740993", 9007199254740992.0),
    (MONEY, "1.50", Decimal("1.501")), (MONEY, "1.50", "NaN"), (MONEY, "1.50", Decimal("Infinity")),
    (column(T.FLOAT), "123.99", 123.98), (column(T.DOUBLE), "0.1", 0.10000000000000002),
    (column(T.DOUBLE), "0.1", float("nan")), (column(T.DOUBLE), "123.99", 123.98999786376953),
    (BYTES, b"\x00\xff", b"\x00"), (BYTES, b"\x00\xff", "00ff"), (column(T.BIT, length=5), "21", b"\x16"),
    (KIND, "2", "small"), (KIND, "2", "huge"), (KIND, "1", "1"), (MARKS, "5", "new"),
    (MARKS, "5", "new,huge"),
    (column(T.DATE), "2021-12-20", datetime(2021, 12, 20, 1)), (column(T.DATE), "2021-12-20", "20.12.2021"),
    (SOLD, "2021-12-20 13:30:49.120", SOLD_AT.replace(microsecond=120001)),
    (SOLD, "0000-00-00 00:00:00.000", None), (CHANGED, "2021-12-20 22:30:49", "2021-12-20 13:30:49"),
    (LASTS, "-12:00:01", timedelta(hours=12, seconds=1)), (LASTS, "-00:00:01", "00:00:01"),
    (column(T.JSON), '{"a": 1}', '{"a": "1"}'), (column(T.JSON), '{"a": 1}', '{"a": 1'),
    (column(T.JSON), "null", None),
    (column(T.VECTOR_FLOAT32), "[0.1,2]", "[0.1]"),
    (column(T.VARCHAR), "", None), (column(T.VARCHAR), None, ""), (column(T.VARCHAR), "null", None),
    (column(T.VARCHAR), "ab", "ab "), (column(T.VARCHAR), "1.50", "1.5"),
]  # fmt: skip


def equal(
    kind: ColumnInfo, expected: str | bytes | None, actual: Any, fidelity: Fidelity | None = None
) -> bool:
    fidelity = fidelity or Fidelity()
    canonical = expected.encode() if isinstance(expected, str) else expected
    wanted = expected_reader(kind, fidelity)(canonical)
    return wanted == actual_reader(kind, TOKYO, fidelity)(actual)


@pytest.mark.parametrize(("kind", "expected", "actual"), SAME)
def test_equal_values(kind: ColumnInfo, expected: str | bytes, actual: Any) -> None:
    assert equal(kind, expected, actual)


@pytest.mark.parametrize(("kind", "expected", "actual"), OTHER)
def test_different_values(kind: ColumnInfo, expected: str | bytes | None, actual: Any) -> None:
    assert not equal(kind, expected, actual)


@pytest.mark.parametrize("kind", [kind for kind, _, _ in SAME])
def test_null_equals_only_null(kind: ColumnInfo) -> None:
    assert equal(kind, None, None)
    assert not equal(kind, None, "")


EXACT = "12345678901234567.89"
AS_DOUBLE = "12345678901234568"


def test_digits_that_the_protocol_loses_are_ignored() -> None:
    kind = column(T.NEW_DECIMAL, length=20, decimal=2)
    lossy = registry.encoder("debezium", {}).fidelity
    assert equal(kind, EXACT, float(AS_DOUBLE), lossy)
    assert equal(kind, EXACT, Decimal(EXACT), lossy)
    assert not equal(kind, EXACT, Decimal("12345678901234599.89"), lossy)
    for exact in ("open-protocol", "canal-json", "craft"):
        assert not equal(kind, EXACT, float(AS_DOUBLE), registry.encoder(exact, {}).fidelity)


def test_an_unsigned_number_may_be_stored_as_the_signed_number_that_is_sent() -> None:
    kind, lossy = column(T.LONGLONG, unsigned=True), registry.encoder("debezium", {}).fidelity
    for stored in (2**64 - 1, -1, Decimal(-1)):
        assert equal(kind, "18446744073709551615", stored, lossy)
    assert not equal(kind, "18446744073709551615", -2, lossy)
    assert not equal(kind, "18446744073709551615", -1)


def test_bytes_sent_in_base64_are_compared_as_bytes() -> None:
    lossy = registry.encoder("debezium", {}).fidelity
    assert equal(BYTES, b"\x00\xff", b"\x00\xff", lossy)
    assert equal(BYTES, None, None, lossy)
    assert expected_reader(BYTES, lossy)(b"\x00\xff") == b"\x00\xff"
    assert actual_reader(BYTES, TOKYO, lossy)("AP8=") == b"AP8="
    defaulted = column(T.VARCHAR, charset="binary", default=b"ab")
    assert equal(defaulted, None, b"ab", lossy)
