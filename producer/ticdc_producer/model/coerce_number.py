"""Coerces values of integer, DECIMAL, FLOAT, DOUBLE, BIT and YEAR columns.

Rules: tidb ``pkg/types/convert.go`` and ``datum.go`` (``ConvertTo``).
"""

from __future__ import annotations

import math
from decimal import Decimal

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import MySQLType, integer_range
from ticdc_producer.model.number_text import as_number, narrow, nearest_integer, plain_text, rounded
from ticdc_producer.model.sql_mode import SQLMode, value_error
from ticdc_producer.model.sql_value import BinaryLiteral, DateTimeValue, Duration, SQLValue

T = MySQLType

_MAX_FLOAT = 3.4028234663852886e38


def coerce_integer(column: ColumnInfo, value: SQLValue, mode: SQLMode) -> bytes:
    """TINYINT … BIGINT. Exact halves round away from zero, halves of a float to the even neighbour."""
    number = _complete_number(column, value, mode, "Incorrect integer value")
    low, high = integer_range(column.type, unsigned=column.unsigned)
    return _in_range(column, value, mode, nearest_integer(number), low, high)


def coerce_decimal(column: ColumnInfo, value: SQLValue, mode: SQLMode) -> bytes:
    """DECIMAL(m,d): exactly d fractional digits; halves round away from zero."""
    number = _complete_number(column, value, mode, "Incorrect decimal value")
    scale = max(column.decimal, 0)
    largest = Decimal(10**column.length - 1).scaleb(-scale)
    lowest = Decimal(0).scaleb(-scale) if column.unsigned else largest.copy_negate()
    try:
        exact = rounded(number, scale)
    except ArithmeticError:
        return mode.reject(
            column.name, value, "Out of range value", _plain(largest if number > 0 else lowest)
        )
    if not lowest <= exact <= largest:
        return mode.reject(
            column.name, value, "Out of range value", _plain(largest if exact > largest else lowest)
        )
    return _plain(exact)


def coerce_float(column: ColumnInfo, value: SQLValue, mode: SQLMode) -> bytes:
    """FLOAT and DOUBLE; FLOAT(m,d) and DOUBLE(m,d) are rounded to d fractional digits."""
    number = _complete_number(column, value, mode, "Incorrect double value")
    real = _to_double(number)
    largest = _MAX_FLOAT if column.type == T.FLOAT else math.inf
    if column.decimal >= 0 and math.isfinite(real):
        largest = min(largest, _largest_of_digits(column))
        real = _round_double(real, column.decimal)
    if column.unsigned and real < 0:
        return mode.reject(column.name, value, "Out of range value", b"0")
    if math.isnan(real):
        raise value_error(column.name, value, "Out of range value")
    if abs(real) > largest or math.isinf(real):
        ceiling = min(largest, 1.7976931348623157e308)
        return mode.reject(
            column.name, value, "Out of range value", plain_text(math.copysign(ceiling, real), column.type)
        )
    return plain_text(narrow(real, column.type), column.type)


def coerce_bit(column: ColumnInfo, value: SQLValue, mode: SQLMode) -> bytes:
    """BIT(n): a number, or a string whose bytes are a big-endian number."""
    if isinstance(value, str):
        value = BinaryLiteral(value.encode("utf-8", "surrogateescape"))
    elif isinstance(value, bytes):
        value = BinaryLiteral(value)
    number = nearest_integer(as_number(value)[0])
    high = (1 << max(column.length, 1)) - 1
    if not 0 <= number <= high:
        return mode.reject(column.name, value, "Data too long", str(high).encode())
    return str(number).encode()


def coerce_year(column: ColumnInfo, value: SQLValue, mode: SQLMode) -> bytes:
    """YEAR: 1901 … 2155, 0, or two digits; the text ``'0'`` is 2000 and the number 0 is 0."""
    if isinstance(value, DateTimeValue):
        value = value.year
    is_text = isinstance(value, str | bytes) and not isinstance(value, BinaryLiteral)
    number = nearest_integer(_complete_number(column, value, mode, "Incorrect year value"))
    digits = len(value.strip()) if is_text and isinstance(value, str | bytes) else 0
    if 0 < number < 100 or (number == 0 and is_text and digits < 4):
        number += 2000 if number < 70 else 1900
    if number != 0 and not 1901 <= number <= 2155:
        return mode.reject(column.name, value, "Out of range value", b"0")
    return str(number).encode()


def _complete_number(column: ColumnInfo, value: SQLValue, mode: SQLMode, what: str) -> int | Decimal | float:
    if isinstance(value, Duration) and column.type == T.YEAR:
        raise value_error(column.name, value, what)
    number, complete = as_number(value)
    if not complete:
        mode.reject(column.name, value, what, b"")
    return number


def _in_range(column: ColumnInfo, value: SQLValue, mode: SQLMode, number: int, low: int, high: int) -> bytes:
    if low <= number <= high:
        return str(number).encode()
    nearest = high if number > high else low
    return mode.reject(column.name, value, "Out of range value", str(nearest).encode())


def _plain(number: Decimal) -> bytes:
    text = f"{number:f}"
    return (text.lstrip("-") if number == 0 else text).encode()


def _to_double(number: int | Decimal | float) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _largest_of_digits(column: ColumnInfo) -> float:
    return float(Decimal(10**column.length - 1).scaleb(-column.decimal))


def _round_double(number: float, digits: int) -> float:
    """Scale up, round half to even, scale down. Source: tidb ``types.Round``."""
    scaled = number * 10.0**digits
    return round(scaled) / 10.0**digits if math.isfinite(scaled) else number
