"""Text of FLOAT and DOUBLE: shortest digits, in plain form, as TiCDC hashes them.

``strconv.FormatFloat(v, 'f', -1, width)`` of Go: the fewest digits that read back to the same binary
number of that width, never an exponent, no trailing ``.0``. Java 17 does not print shortest digits, so
this is done on Arrow/numpy columns and never by a Spark cast.
"""

from __future__ import annotations

import numpy as np

from producer.model.mysql_type import MySQLType


def plain_text(value: float, code: int) -> bytes:
    """Canonical text of one finite number of a FLOAT or DOUBLE column.

    Minus zero becomes ``0``: TiKV's row format does not keep its sign.
    """
    if value == 0:
        return b"0"
    number = np.float32(value) if code == MySQLType.FLOAT else np.float64(value)
    return np.format_float_positional(number, unique=True, trim="-").encode()


def narrow(value: float, code: int) -> float:
    """The number as the column stores it: rounded to 32 bits for FLOAT."""
    return float(np.float32(value)) if code == MySQLType.FLOAT else value
