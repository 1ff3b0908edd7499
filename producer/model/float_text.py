"""Text of FLOAT and DOUBLE: shortest digits, in plain form, as TiCDC hashes them.

``strconv.FormatFloat(v, 'f', -1, width)`` of Go: the fewest digits that read back to the same binary
number of that width, never an exponent, no trailing ``.0``. Java 17 does not print shortest digits, so
this is done on Arrow columns and never by a Spark cast.
"""

from __future__ import annotations

import struct
from decimal import Decimal
from math import frexp

from producer.model.mysql_type import MySQLType

_FLOAT32 = struct.Struct("<f")


def plain_text(value: float, code: int) -> bytes:
    """Canonical text of one finite number of a FLOAT or DOUBLE column.

    Minus zero becomes ``0``: TiKV's row format does not keep its sign.
    """
    if value == 0:
        return b"0"
    digits = repr(float(value)) if code != MySQLType.FLOAT else _shortest32(float(value))
    if digits.endswith(".0"):
        return digits[:-2].encode()
    if "e" not in digits:
        return digits.encode()
    text = format(Decimal(digits), "f")
    return (text.rstrip("0").rstrip(".") if "." in text else text).encode()


_LONGEST_CERTAIN = 7  # six digits and a point
_CERTAIN_RANGE = (1e-4, 1e9)


def _shortest32(value: float) -> str:
    """Shortest digits of 32 bits, with or without an exponent.

    Six digits tell numbers of 32 bits apart: if those of the 64-bit number are not more, they are it.
    Else the fewest of 6 … 9 digits that read back to the same number are, but for a power of two, around
    which numbers stand unevenly. Digits are read with 64 bits and then rounded again: that is to read them
    with 32 bits as long as they have at most 12 decimals.
    """
    digits = repr(value)
    if len(digits) <= _LONGEST_CERTAIN and "e" not in digits:
        return digits
    if not _CERTAIN_RANGE[0] <= abs(value) < _CERTAIN_RANGE[1]:
        return _printed32(value)
    number = narrow(value, MySQLType.FLOAT)
    if abs(frexp(number)[0]) != 0.5:
        for form in ("%.6g", "%.7g", "%.8g", "%.9g"):
            digits = form % number
            if narrow(float(digits), MySQLType.FLOAT) == number:
                return digits
    return _printed32(value)


def _printed32(value: float) -> str:
    # Only numpy knows the shortest digits of any 32 bits; importing it takes longer than a short command.
    from numpy import float32, format_float_scientific

    return format_float_scientific(float32(value), unique=True)


def narrow(value: float, code: int) -> float:
    """The number as the column stores it: rounded to 32 bits for FLOAT.

    :raises OverflowError: if it does not fit.
    """
    return float(_FLOAT32.unpack(_FLOAT32.pack(value))[0]) if code == MySQLType.FLOAT else value
