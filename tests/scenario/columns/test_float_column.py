"""Arrow columns of floats print what ``plain_text`` prints, number by number."""

from __future__ import annotations

import math
import struct

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ticdc_producer.model.column_functions import float_texts
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.values.number_text import plain_text

_SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -1.5,
    0.1,
    1e-7,
    1e-6,
    1e10,
    9999999999.0,
    1e15,
    1e16,
    1e17,
    1e21,
    1e22,
    123456789.125,
]
_DOUBLES = [*_SPECIAL, 5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 2.0**53 + 2]
_SINGLES = [*_SPECIAL, 1e-45, 1.1754944e-38, 3.4028235e38, 16777216.0]


def printed(numbers: object, kind: pa.DataType) -> list[bytes | None]:
    texts = float_texts(pa.array(numbers, kind))
    assert texts.type == pa.binary()
    return texts.to_pylist()  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("numbers", "kind", "code"),
    [(_DOUBLES, pa.float64(), MySQLType.DOUBLE), (_SINGLES, pa.float32(), MySQLType.FLOAT)],
)
def test_chosen_numbers(numbers: list[float], kind: pa.DataType, code: MySQLType) -> None:
    assert printed(numbers, kind) == [plain_text(number, code) for number in numbers]


def test_plain_forms() -> None:
    assert printed([1e21, -0.0, 5e-7], pa.float64()) == [b"1000000000000000000000", b"0", b"0.0000005"]
    assert printed([0.1, 16777216.0], pa.float32()) == [b"0.1", b"16777216"]


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))])
def test_random_bit_patterns(seed: int) -> None:
    random = np.random.default_rng(seed)
    doubles = random.integers(0, 1 << 64, 20_000, dtype=np.uint64).view(np.float64)
    singles = random.integers(0, 1 << 32, 20_000, dtype=np.uint32).view(np.float32)
    moderate = random.standard_normal(20_000) * 10.0 ** random.integers(-9, 20, 20_000)
    doubles = np.concatenate([doubles[np.isfinite(doubles)], moderate])
    singles = np.concatenate([singles[np.isfinite(singles)], moderate.astype(np.float32)])
    assert printed(doubles, pa.float64()) == [plain_text(x, MySQLType.DOUBLE) for x in doubles]
    assert printed(singles, pa.float32()) == [plain_text(x, MySQLType.FLOAT) for x in singles]


@given(st.integers(0, (1 << 52) - 1))
def test_subnormals(mantissa: int) -> None:
    (number,) = struct.unpack(">d", mantissa.to_bytes(8, "big"))
    assert printed([number], pa.float64()) == [plain_text(number, MySQLType.DOUBLE)]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.none()))
def test_texts_parse_to_the_same_number_and_nulls_remain(numbers: list[float | None]) -> None:
    for number, text in zip(numbers, printed(numbers, pa.float64()), strict=True):
        assert (number is None) == (text is None)
        assert text is None or float(text) == number


def test_a_slice_prints_its_own_numbers() -> None:
    numbers = pa.array([1e300, None, 2.5, 1e-300, 4.0])
    assert float_texts(numbers.slice(1, 2)).to_pylist() == [None, b"2.5"]


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_nan_and_infinities_are_refused(number: float) -> None:
    with pytest.raises(ValueError, match="NaN"):
        float_texts(pa.array([1.0, number]))
