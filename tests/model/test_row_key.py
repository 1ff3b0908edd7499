"""Keys compare like the values."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.row_key import encode_part, handle_of, index_key, int_key, memcomparable
from ticdc_producer.model.values.coerce import coerce

T = MySQLType
BIGINT = ColumnInfo(name="b", type=T.LONGLONG, length=20, decimal=0)
UNSIGNED = ColumnInfo(name="u", type=T.LONGLONG, length=20, decimal=0, unsigned=True)
DOUBLE = ColumnInfo(name="d", type=T.DOUBLE, length=22)
DECIMAL = ColumnInfo(name="n", type=T.NEW_DECIMAL, length=65, decimal=30)
TIME = ColumnInfo(name="t", type=T.DURATION, length=17, decimal=6)
TEXT = ColumnInfo(name="v", type=T.VARCHAR, length=50, charset="utf8mb4", collation="utf8mb4_bin")
BYTES = ColumnInfo(name="y", type=T.VARCHAR, length=50)

_MICROSECONDS = 838 * 3600 * 10**6


def key(column: ColumnInfo, value: Any) -> bytes:
    stored = coerce(column, value)
    assert stored is not None
    return encode_part(column, stored)


def order(left: Any, right: Any) -> int:
    return (left > right) - (left < right)


@given(st.integers(-(1 << 63), (1 << 63) - 1), st.integers(-(1 << 63), (1 << 63) - 1))
def test_integers(a: int, b: int) -> None:
    assert order(key(BIGINT, a), key(BIGINT, b)) == order(a, b)
    assert order(int_key(a), int_key(b)) == order(a, b)


@given(st.integers(0, (1 << 64) - 1), st.integers(0, (1 << 64) - 1))
def test_unsigned_integers(a: int, b: int) -> None:
    assert order(key(UNSIGNED, a), key(UNSIGNED, b)) == order(a, b)
    assert order(int_key(a), int_key(b)) == order(handle_of(a), handle_of(b))


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
def test_doubles(a: float, b: float) -> None:
    assert order(key(DOUBLE, a), key(DOUBLE, b)) == order(a, b)


_DECIMALS = st.decimals(Decimal(-(10**34)), Decimal(10**34), places=30)


@given(_DECIMALS, _DECIMALS)
def test_decimals(a: Decimal, b: Decimal) -> None:
    assert order(key(DECIMAL, a), key(DECIMAL, b)) == order(a, b)


@given(st.timedeltas(), st.timedeltas())
def test_times(a: Any, b: Any) -> None:
    a, b = (
        type(a)(microseconds=(each // type(a)(microseconds=1)) % _MICROSECONDS - 10**9) for each in (a, b)
    )
    assert order(key(TIME, a), key(TIME, b)) == order(a, b)


@given(st.text(max_size=20), st.text(max_size=20))
def test_text_compares_without_its_trailing_spaces(a: str, b: str) -> None:
    left, right = (each.rstrip(" ").encode() for each in (a, b))
    assert order(key(TEXT, a), key(TEXT, b)) == order(left, right)


@given(st.binary(max_size=30), st.binary(max_size=30))
def test_bytes(a: bytes, b: bytes) -> None:
    assert order(key(BYTES, a), key(BYTES, b)) == order(a, b)
    assert order(memcomparable(a), memcomparable(b)) == order(a, b)


@given(
    st.tuples(st.binary(max_size=12), st.integers(-9, 9)),
    st.tuples(st.binary(max_size=12), st.integers(-9, 9)),
)
def test_composite_keys(a: tuple[bytes, int], b: tuple[bytes, int]) -> None:
    index = IndexInfo(id=1, name="k", offsets=(0, 1), unique=True)
    keys = [index_key((BYTES, BIGINT), index, (raw, str(number).encode())) for raw, number in (a, b)]
    assert order(keys[0], keys[1]) == order(a, b)


def test_a_null_keeps_a_row_out_of_a_unique_index() -> None:
    index = IndexInfo(id=1, name="k", offsets=(0, 1), unique=True)
    assert index_key((BYTES, BIGINT), index, (b"a", None)) is None


def test_a_prefix_counts_characters_of_text() -> None:
    index = IndexInfo(id=1, name="k", offsets=(0,), lengths=(2,), unique=True)
    keys = {index_key((TEXT,), index, (text.encode(),)) for text in ("éèx", "éèy")}
    assert len(keys) == 1


@pytest.mark.parametrize(
    ("collation", "ascending"),
    [
        ("utf8mb4_bin", ["", "A", "B", "a", "é"]),
        ("utf8mb4_general_ci", ["", "1", "a", "B", "c", "z"]),
        ("utf8mb4_0900_ai_ci", ["", "_", "1", "a", "B", "é", "F"]),
        ("utf8mb4_unicode_ci", ["", "-", "0", "a", "B", "É", "f"]),
    ],
)
def test_order_under_a_collation(collation: str, ascending: list[str]) -> None:
    column = ColumnInfo(name="v", type=T.VARCHAR, length=5, charset="utf8mb4", collation=collation)
    keys = [key(column, text) for text in ascending]
    assert all(low < high for low, high in pairwise(keys))
