"""The shortest digits of 32-bit numbers, found without numpy, equal those of numpy."""

from __future__ import annotations

import struct
from decimal import Decimal

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.values.number_text import plain_text

_ANY = st.integers(0, 0x7F7FFFFF).map(lambda bits: struct.unpack("<f", struct.pack("<I", bits))[0])
_NEAR_POWERS = st.builds(
    lambda exponent, step: struct.unpack("<f", struct.pack("<I", (exponent << 23) + step))[0],
    st.integers(90, 170),
    st.integers(-3, 3),
)
_DECIMALS = st.builds(lambda number, digits: number / 10**digits, st.integers(1, 10**9), st.integers(0, 13))


@given(st.one_of(_ANY, _NEAR_POWERS, _DECIMALS), st.sampled_from((1, -1)))
@example(198.54, 1)
@example(2.0**24, -1)
@example(1e-4, 1)
@example(1e9, 1)
def test_shortest_digits_of_32_bits(number: float, sign: int) -> None:
    printed = np.format_float_scientific(np.float32(sign * number), unique=True)
    text = plain_text(sign * number, MySQLType.FLOAT).decode()
    assert "e" not in text
    assert not ("." in text and text.endswith(("0", ".")))
    assert Decimal(text) == Decimal(printed)
