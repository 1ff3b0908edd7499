"""Canonical texts of ordinals (see ``domain``), as functions on columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.column_functions import float_texts
from ticdc_producer.model.mysql_type import TEMPORALS, MySQLType
from ticdc_producer.scenario.generate.arrays import Hashes, Longs, Reals
from ticdc_producer.scenario.generate.domain import DECIMAL_DIGITS

T = MySQLType

_DATETIME_LENGTH = len("2021-12-20 13:30:49")


def integer_texts(numbers: Longs | Hashes) -> pa.Array:
    """Print decimal numbers, as binary."""
    return pa.array(numbers).cast(pa.string()).cast(pa.binary())


def ordinal_texts(column: ColumnInfo, ordinals: Longs) -> pa.Array:
    """Print the values with the ordinals, for all types except strings, JSON, FLOAT and DOUBLE."""
    fsp = max(column.decimal, 0)
    if column.type == T.NEW_DECIMAL:
        return _decimal_texts(ordinals, fsp)
    if column.type in (T.DATE, T.NEW_DATE):
        return pa.array(ordinals.astype(np.int32)).cast(pa.date32()).cast(pa.string()).cast(pa.binary())
    if column.type == T.DURATION:
        return _duration_texts(ordinals, fsp)
    if column.type in TEMPORALS:
        return _datetime_texts(ordinals, fsp)
    return integer_texts(ordinals)


def real_texts(column: ColumnInfo, numbers: Reals) -> pa.Array:
    """Print FLOAT and DOUBLE values."""
    if column.decimal >= 0:
        # Source: tidb types.Round: scale up, round half to even, scale down.
        numbers = np.rint(numbers * 10.0**column.decimal) / 10.0**column.decimal
    return float_texts(pa.array(numbers.astype(np.float32) if column.type == T.FLOAT else numbers))


def _decimal_texts(units: Longs, scale: int) -> pa.Array:
    """Print numbers with exactly ``scale`` fraction digits, of which the first 18 are drawn.

    >>> _decimal_texts(np.array([125, -7]), 2).to_pylist()
    [b'1.25', b'-0.07']
    """
    digits = min(scale, DECIMAL_DIGITS)
    if not digits:
        return integer_texts(units)
    whole, fraction = np.divmod(np.abs(units), 10**digits)
    zeros = "0" * (scale - digits)
    return _joined(_signs(units), pa.array(whole).cast(pa.string()), ".", _padded(fraction, digits), zeros)


def _datetime_texts(units: Longs, fsp: int) -> pa.Array:
    """Print times since 1970 in units of the last digit.

    >>> _datetime_texts(np.array([10, -5]), 1).to_pylist()
    [b'1970-01-01 00:00:01.0', b'1969-12-31 23:59:59.5']
    """
    digits = 0 if fsp == 0 else 3 if fsp <= 3 else 6
    unit = {0: "s", 3: "ms", 6: "us"}[digits]
    texts = pa.array(units * 10 ** (digits - fsp)).cast(pa.timestamp(unit)).cast(pa.string())
    length = _DATETIME_LENGTH + (1 + fsp if fsp else 0)
    return pc.utf8_slice_codeunits(texts, 0, length).cast(pa.binary())


def _duration_texts(units: Longs, fsp: int) -> pa.Array:
    """Print times since midnight in units of the last digit; hours have at least two digits.

    >>> _duration_texts(np.array([-36610, 3600000]), 1).to_pylist()
    [b'-01:01:01.0', b'100:00:00.0']
    """
    seconds, fraction = np.divmod(np.abs(units), 10**fsp)
    hours = pa.array(seconds // 3600).cast(pa.string())
    hours = pc.if_else(pa.array(seconds < 100 * 3600), _padded(seconds // 3600 % 100, 2), hours)
    parts = [_signs(units), hours, ":", _padded(seconds // 60 % 60, 2), ":", _padded(seconds % 60, 2)]
    return _joined(*parts, *((".", _padded(fraction, fsp)) if fsp else ()))


def _signs(units: Longs) -> pa.Array:
    return pc.if_else(pa.array(units < 0), "-", "")


def _padded(numbers: Longs, digits: int) -> pa.Array:
    """Print numbers with leading zeros."""
    return pc.utf8_slice_codeunits(pa.array(numbers + 10**digits).cast(pa.string()), 1)


def _joined(*parts: pa.Array | str) -> pa.Array:
    return joined_texts(parts).cast(pa.binary())


def joined_texts(parts: Sequence[pa.Array | str]) -> pa.Array:
    """Join texts row by row; at least one of the parts is a column."""
    return pc.binary_join_element_wise(*parts, "")
