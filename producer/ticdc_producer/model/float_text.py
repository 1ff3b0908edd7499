"""Text of FLOAT and DOUBLE: shortest digits, in plain form, as TiCDC hashes them.

``strconv.FormatFloat(v, 'f', -1, width)`` of Go: the fewest digits that read back to the same binary
number of that width, never an exponent, no trailing ``.0``. Java 17 does not print shortest digits, so
this is done on Arrow columns and never by a Spark cast.
"""

from __future__ import annotations

import struct
from decimal import Decimal
from math import frexp

import msgspec

from ticdc_producer.model.mysql_type import MySQLType

_FLOAT32 = struct.Struct("<f")
_FLOAT = int(MySQLType.FLOAT)
_digits = msgspec.json.Encoder().encode  # the digits of repr, in an eighth of its time
_LONGEST_CERTAIN = 7  # six digits, which tell numbers of 32 bits apart, and a point


def plain_text(value: float, code: int) -> bytes:
    """Canonical text of one finite number of a FLOAT or DOUBLE column.

    Minus zero becomes ``0``: TiKV's row format does not keep its sign.
    """
    digits = _digits(float(value))
    if code == _FLOAT and (len(digits) > _LONGEST_CERTAIN or b"e" in digits):
        digits = _shortest32(float(value))
    if digits.endswith(b".0"):
        return digits[:-2] if value else b"0"
    if b"e" not in digits:
        return digits
    text = format(Decimal(digits.decode()), "f")
    return (text.rstrip("0").rstrip(".") if "." in text else text).encode()


_CERTAIN_RANGE = (1e-4, 1e9)


def _shortest32(value: float) -> bytes:
    """Shortest digits of 32 bits, with or without an exponent, where those of 64 bits may be more.

    The fewest of 6 … 9 digits that read back to the same number are, but for a power of two, around which
    numbers stand unevenly. Digits are read with 64 bits and then rounded again: that is to read them with
    32 bits as long as they have at most 12 decimals.
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
    # Only numpy knows the shortest digits of any 32 bits; importing it takes longer than a short command.
    from numpy import float32, format_float_scientific

    return format_float_scientific(float32(value), unique=True).encode()


def narrow(value: float, code: int) -> float:
    """The number as the column stores it: rounded to 32 bits for FLOAT.

    :raises OverflowError: if it does not fit.
    """
    return float(_FLOAT32.unpack(_FLOAT32.pack(value))[0]) if code == MySQLType.FLOAT else value
