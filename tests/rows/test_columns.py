"""Conversions of canonical values, also of those that no encoder wrote."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

from ticdc_producer.rows.columns import conversion, converted

HOSTILE = {
    "too many digits": b"9" * 39,
    "a multiple of two to the power of 128": str(2**136).encode(),
    "an exponent": b"1e5",
    "an exponent that ends the process in Arrow": b"1e-2000000000",
    "no number": b"-",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("kind", [pa.decimal128(12, 2), pa.decimal128(38, 30), pa.decimal256(38, 0)], ids=str)
def test_a_decimal_that_its_type_does_not_have_is_rejected(text: bytes, kind: pa.DataType) -> None:
    values = converted(pa.array([b"1", text, None]), conversion("price", kind, "UTC"))
    assert values.rejected == (1,)
    assert values.values.to_pylist() == [Decimal(1), None, None]


def test_a_decimal_may_have_more_or_fewer_zeros_than_its_type() -> None:
    values = converted(pa.array([b"0001.5", b"-1.50000"]), conversion("price", pa.decimal128(5, 2), "UTC"))
    assert (values.rejected, values.values.to_pylist()) == ((), [Decimal("1.50"), Decimal("-1.50")])
