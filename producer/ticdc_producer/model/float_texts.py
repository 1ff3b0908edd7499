"""Canonical text of FLOAT and DOUBLE columns.

Arrow prints the shortest digits, too, but with an exponent below 1e-6 and from 1e10; those few numbers are
printed one by one by ``model.number_text``.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.number_text import plain_text


def float_texts(numbers: pa.Array) -> pa.Array:
    """Canonical texts of FLOAT (float32) or DOUBLE (float64) values, as binary.

    :raises ValueError: for NaN and infinities, which no MySQL column holds.
    """
    if pc.any(pc.invert(pc.is_finite(numbers))).as_py():
        raise ValueError("NaN and infinities have no text in MySQL")
    texts = numbers.cast(pa.string())
    texts = pc.if_else(pc.equal(numbers, 0), pa.scalar("0"), texts)  # minus zero loses its sign
    exponential = pc.fill_null(pc.match_substring(texts, "e"), False)
    code = MySQLType.FLOAT if pa.types.is_float32(numbers.type) else MySQLType.DOUBLE
    plain = [plain_text(number, code).decode() for number in numbers.filter(exponential).to_pylist()]
    return pc.replace_with_mask(texts, exponential, pa.array(plain, pa.string())).cast(pa.binary())
