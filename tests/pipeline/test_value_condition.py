"""Value expressions on rows written by hand: numbers of different scale, NULL, LIKE."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ticdc_producer.errors import ChangefeedError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.pipeline.value_condition import value_condition


def column(name: str, kind: MySQLType, collation: str = "binary", **others: int) -> ColumnInfo:
    charset = collation.partition("_")[0]
    return ColumnInfo(name=name, type=kind, charset=charset, collation=collation, **others)


COLUMNS = (
    column("n", MySQLType.LONGLONG),
    column("d", MySQLType.NEW_DECIMAL, length=10, decimal=2),
    column("e", MySQLType.NEW_DECIMAL, length=65, decimal=30),
    column("w", MySQLType.NEW_DECIMAL, length=65, decimal=0),
    column("s", MySQLType.VARCHAR, "utf8mb4_bin", length=20),
    column("s9", MySQLType.VARCHAR, "utf8mb4_0900_bin", length=20),
    column("b", MySQLType.VARCHAR, length=20),
    column("at", MySQLType.DATETIME, decimal=3),
)
TABLE = TableInfo(schema="test", name="t", table_id=1, columns=COLUMNS)


def holding(expression: str, **columns: Sequence[Value]) -> list[bool]:
    """For which rows an expression holds; columns that are not given are NULL."""
    rows = len(next(iter(columns.values())))
    names = [column.name for column in COLUMNS]

    def values(index: int) -> pa.Array:
        return pa.array(columns.get(names[index], [None] * rows), pa.binary())

    flags: list[bool] = value_condition(expression, TABLE)(values, rows).tolist()
    return flags


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("d = n", [True, False, False]),
        ("d > n", [False, True, False]),
        ("d <> n", [False, True, True]),
        ("d = e", [True, False, True]),
        ("d + e = 2 * d", [True, False, True]),
        ("d - n = 0.5", [False, True, False]),
        ("d * d = 2.25", [False, True, True]),
        ("w = 1.0", [True, False, False]),
        ("w >= 12345678901234567890", [False, True, False]),
        ("w + w > w", [True, True, False]),
        ("n BETWEEN -1 AND 1.0", [True, True, True]),
        ("n IN (1.00, -1)", [True, True, True]),
    ],
)
def test_numbers_of_different_scale(expression: str, wanted: list[bool]) -> None:
    flags = holding(
        expression,
        n=[b"1", b"1", b"-1"],
        d=[b"1.00", b"1.50", b"-1.50"],
        e=[b"1." + b"0" * 30, b"1.4" + b"9" * 29, b"-1.5" + b"0" * 29],
        w=[b"1", b"9" * 65, b"-" + b"9" * 65],
    )
    assert flags == wanted


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("n % 3 = 1", [True, False, False]),
        ("n % 3 = -1", [False, True, False]),  # the sign of the dividend
        ("n % -3 = 1", [True, False, False]),
        ("n % 3 + 1 = 2.0", [True, False, False]),
        ("d % 0.4 = 0.3", [True, False, False]),
        ("5 % n = 1", [False, False, False]),
        ("5 % n = 5", [True, True, False]),
        ("7 % 4 = 3", [True, True, True]),
        ("n % 0 IS NULL", [True, True, True]),
        ("n % n IS NULL", [False, False, True]),
        ("n % NULL IS NULL", [True, True, True]),
        ("w % 7 = 2", [False, False, True]),
        ("n % 1000000 % 4 = 3", [True, False, False]),
    ],
)
def test_remainders(expression: str, wanted: list[bool]) -> None:
    flags = holding(
        expression,
        n=[b"7", b"-7", b"0"],
        d=[b"1.50", b"-1.50", None],
        w=[b"10000000000000000000", None, b"9"],
    )
    assert flags == wanted


NUMBERS = st.integers(-1_000_000, 1_000_000).map(lambda number: Decimal(number).scaleb(-2))


@given(NUMBERS, st.integers(-100, 100))
def test_a_remainder_is_that_of_decimals(dividend: Decimal, divisor: int) -> None:
    columns = {"d": [f"{dividend:f}".encode()], "n": [str(divisor).encode()]}
    assert holding("d % n IS NULL", **columns) == [divisor == 0]
    if divisor:
        assert holding(f"d % n = {dividend % divisor:f}", **columns) == [True]


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("n = 1", [True, False, False]),
        ("NOT n = 1", [False, True, False]),
        ("n <> 1", [False, True, False]),
        ("n = NULL", [False, False, False]),
        ("NOT n = NULL", [False, False, False]),
        ("n <=> NULL", [False, False, True]),
        ("NOT n <=> NULL", [True, True, False]),
        ("n <=> 1", [True, False, False]),
        ("NOT n <=> 1", [False, True, True]),
        ("n IS NULL OR n = 1", [True, False, True]),
        ("n = 1 OR s = 'x'", [True, True, True]),
        ("n = 1 AND s = 'x'", [True, False, False]),
        ("NOT (n = 1 AND s = 'x')", [False, True, False]),
        ("NOT (n = 1 AND s = 'y')", [True, True, True]),  # NULL AND FALSE is FALSE
        ("NOT (n = 2 OR s = 'y')", [True, False, False]),
        ("n IN (2, NULL)", [False, True, False]),
        ("n NOT IN (1, NULL)", [False, False, False]),
        ("n BETWEEN NULL AND 1", [False, False, False]),
        ("NOT n BETWEEN NULL AND 1", [False, True, False]),
        ("n + NULL IS NULL", [True, True, True]),
        ("NULL = NULL", [False, False, False]),
        ("NULL <=> NULL", [True, True, True]),
        ("NULL IS NULL AND n = 2", [False, True, False]),
        ("s LIKE '%'", [True, True, True]),
        ("b LIKE '%' OR NOT b LIKE '%'", [False, False, False]),
        ("s <=> NULL", [False, False, False]),
        ("b <=> NULL", [True, True, True]),
    ],
)
def test_null_is_unknown(expression: str, wanted: list[bool]) -> None:
    assert holding(expression, n=[b"1", b"2", None], s=[b"x", b"x", b"x"]) == wanted


TEXTS = ["a_b", "a%b", "a\\b", "a\nb", "aéb", "ab", "axxb", ""]


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [
        ("a_b", ["a_b", "a%b", "a\\b", "a\nb", "aéb"]),
        ("a%b", ["a_b", "a%b", "a\\b", "a\nb", "aéb", "ab", "axxb"]),
        (r"a\_b", ["a_b"]),
        (r"a\\_b", ["a_b"]),
        (r"a\%b", ["a%b"]),
        (r"a\\\\b", ["a\\b"]),
        ("a.b", []),
        ("AB", []),
        ("", [""]),
        ("__", ["ab"]),
    ],
)
@pytest.mark.parametrize("name", ["s", "s9", "b"])
def test_like_patterns(name: str, pattern: str, wanted: list[str]) -> None:
    flags = holding(f"{name} LIKE '{pattern}'", **{name: [text.encode() for text in TEXTS]})
    assert [text for text, holds in zip(TEXTS, flags, strict=True) if holds] == wanted


def test_a_byte_that_is_not_utf8_is_one_character() -> None:
    values = [b"a\xffb", b"\xff\xfe", "aé".encode(), None]
    assert holding("b LIKE 'a_b'", b=values) == [True, False, False, False]
    assert holding("b LIKE '__'", b=values) == [False, True, True, False]
    assert holding("b LIKE '%b'", b=values) == [True, False, False, False]


def test_blanks_at_the_end_count_unless_the_collation_pads() -> None:
    values = [b"x", b"x  ", b" x", b"x\t", b"\xff ", None]
    for name, wanted in {"s": [True, True], "s9": [True, False], "b": [True, False]}.items():
        assert holding(f"{name} = 'x'", **{name: values}) == [*wanted, False, False, False, False]
        assert holding(f"{name} IN ('y', 'x  ')", **{name: values}) == [name == "s", True, *[False] * 4]
    assert holding("s = s9", s=values, s9=values[::-1]) == [False] * 6
    assert holding("s = b", s=[b"\xff "], b=[b"\xff"]) == [True]


def test_times_are_compared_with_all_their_digits() -> None:
    values = [b"2024-01-31 10:00:00.500", b"2024-01-31 10:00:00.000", None]
    assert holding("at = '2024-01-31 10:00:00.5'", at=values) == [True, False, False]
    assert holding("at < '2024-01-31 10:00:00.001'", at=values) == [False, True, False]
    assert holding("'2024-01-31 10:00:00' < at", at=values) == [True, False, False]


@pytest.mark.parametrize("expression", ["n % 3 = 1", "5 % n = 1", "n = NULL", "s LIKE 'a%'", "1 = 1"])
def test_no_rows_are_no_rows(expression: str) -> None:
    assert holding(expression, n=[]) == []


@pytest.mark.parametrize(
    "expression",
    ["w = e", "w + e > 0", "w * w = 4", "w > 0.123456789012345678", "w IN (1, e)", "e BETWEEN 0 AND w"],
)
def test_numbers_of_more_than_76_digits_are_refused(expression: str) -> None:
    with pytest.raises(ChangefeedError, match="may have more than 76 digits"):
        value_condition(expression, TABLE)
