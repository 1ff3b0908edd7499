"""Text of FLOAT and DOUBLE: shortest digits, in plain form, as TiCDC hashes them.

``strconv.FormatFloat(v, 'f', -1, width)`` of Go: the fewest digits that read back to the same binary
number of that width, never an exponent, no trailing ``.0``. Java 17 does not print shortest digits, so
this is done on Arrow columns and never by a Spark cast.
"""

from __future__ import annotations

import struct
from decimal import Decimal

from producer.model.mysql_type import MySQLType

_FLOAT32 = struct.Struct("<f")


def plain_text(value: float, code: int) -> bytes:
    """Canonical text of one finite number of a FLOAT or DOUBLE column.

    Minus zero becomes ``0``: TiKV's row format does not keep its sign.
    """
    if value == 0:
        return b"0"
    digits = _shortest32(value) if code == MySQLType.FLOAT else repr(float(value))
    text = format(Decimal(digits), "f")
    return (text.rstrip("0").rstrip(".") if "." in text else text).encode()


def _shortest32(value: float) -> str:
    # Only numpy knows the shortest digits of 32 bits; importing it takes longer than a short command.
    from numpy import float32, format_float_scientific

    return format_float_scientific(float32(value), unique=True)


def narrow(value: float, code: int) -> float:
    """The number as the column stores it: rounded to 32 bits for FLOAT.

    :raises OverflowError: if it does not fit.
    """
    return float(_FLOAT32.unpack(_FLOAT32.pack(value))[0]) if code == MySQLType.FLOAT else value
