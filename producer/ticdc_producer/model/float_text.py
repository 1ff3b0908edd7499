"""Text of FLOAT and DOUBLE: shortest digits, in plain form, as TiCDC hashes them.

Equals Go's ``strconv.FormatFloat(v, 'f', -1, width)``: the fewest digits that parse to the same binary number
of that width, never an exponent, no trailing ``.0``. Java 17 does not print shortest digits, so a Spark cast
cannot be used.
"""

from __future__ import annotations

import struct
from decimal import Decimal
from math import frexp

import msgspec

from ticdc_producer.model.mysql_type import MySQLType

_FLOAT32 = struct.Struct("<f")
_FLOAT = int(MySQLType.FLOAT)
_digits = msgspec.json.Encoder().encode  # same digits as repr, eight times as fast
_MAX_CERTAIN_LENGTH = 7  # six digits, which identify every 32-bit number, and a point


def plain_text(value: float, code: int) -> bytes:
    """Canonical text of one finite number of a FLOAT or DOUBLE column.

    Minus zero becomes ``0``: TiKV's row format does not store its sign.
    """
    digits = _digits(float(value))
    if code == _FLOAT and (len(digits) > _MAX_CERTAIN_LENGTH or b"e" in digits):
        digits = _shortest32(float(value))
    if digits.endswith(b".0"):
        return digits[:-2] if value else b"0"
    if b"e" not in digits:
        return digits
    text = format(Decimal(digits.decode()), "f")
    return (text.rstrip("0").rstrip(".") if "." in text else text).encode()


_CERTAIN_RANGE = (1e-4, 1e9)


def _shortest32(value: float) -> bytes:
    """The shortest digits of a 32-bit number, with or without an exponent.

    These are the fewest of 6 … 9 digits that parse to the same number, except for powers of two, where the
    distances to the two neighbours differ. Parsing with 64 bits and rounding to 32 bits gives the same result
    as parsing with 32 bits, as long as there are at most 12 decimals.
    """
    if not _CERTAIN_RANGE[0] <= abs(value) < _CERTAIN_RANGE[1]:
        return _printed32(value)
    number = narrow(value, MySQLType.FLOAT)
    if abs(frexp(number)[0]) != 0.5:
        for form in (b"%.6g", b"%.7g", b"%.8g", b"%.9g"):
            digits = form % number
            if narrow(float(digits), MySQLType.FLOAT) == number:
                return digits
    return _printed32(value)


def _printed32(value: float) -> bytes:
    # Imported here because importing numpy takes longer than a short command.
    from numpy import float32, format_float_scientific

    return format_float_scientific(float32(value), unique=True).encode()


def narrow(value: float, code: int) -> float:
    """The number as the column stores it: rounded to 32 bits for FLOAT.

    :raises OverflowError: if it does not fit.
    """
    return float(_FLOAT32.unpack(_FLOAT32.pack(value))[0]) if code == MySQLType.FLOAT else value
