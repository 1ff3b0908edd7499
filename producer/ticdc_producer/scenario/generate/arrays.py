"""The types of NumPy columns, and logarithms and exponentials that have the same bits on every machine.

``np.power``, ``np.log`` and ``np.exp`` round differently from CPU to CPU. Here every step is one operation
that IEEE 754 rounds correctly: sums, products, quotients, and scaling by powers of two.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Longs: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]
Hashes: TypeAlias = npt.NDArray[np.uint64]
Reals: TypeAlias = npt.NDArray[np.float64]
Octets: TypeAlias = npt.NDArray[np.uint8]


_LN2_HIGH, _LN2_LOW = float.fromhex("0x1.62e42fee00000p-1"), float.fromhex("0x1.a39ef35793c76p-33")
"""The logarithm of 2 in two parts: products of the first with small integers are exact."""
_ROOT_HALF = float.fromhex("0x1.6a09e667f3bcdp-1")
_LOG_TERMS, _EXP_TERMS = 11, 14
"""Terms of the series, of which the next would be below the last bit of the result."""


def logarithm(numbers: Reals) -> Reals:
    """The natural logarithm of positive numbers."""
    mantissa, exponent = np.frexp(numbers)
    small = mantissa < _ROOT_HALF
    mantissa = np.where(small, mantissa * 2.0, mantissa)
    exponent = exponent - small
    # ln m = 2 artanh f, with |f| < 0.172
    fraction = (mantissa - 1.0) / (mantissa + 1.0)
    square = fraction * fraction
    series = np.full_like(square, 1.0 / (2 * _LOG_TERMS + 1))
    for term in range(_LOG_TERMS - 1, -1, -1):
        series = series * square + 1.0 / (2 * term + 1)
    of_mantissa = 2.0 * fraction * series
    return exponent * _LN2_HIGH + (exponent * _LN2_LOW + of_mantissa)


def exponential(numbers: Reals) -> Reals:
    """The powers of e; at most 1e300."""
    numbers = np.minimum(numbers, 690.0)
    exponent = np.rint(numbers / (_LN2_HIGH + _LN2_LOW))
    rest = numbers - exponent * _LN2_HIGH - exponent * _LN2_LOW
    series = np.ones_like(rest)
    for term in range(_EXP_TERMS, 0, -1):
        series = series * rest / term + 1.0
    found: Reals = np.ldexp(series, exponent.astype(np.int32))
    return found
