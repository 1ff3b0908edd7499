"""Numbers of a consumer's table as the canonical text of a MySQL column.

Each function raises ``ValueError`` for what is no value of the type: nothing is rounded or cut to fit.
"""

from __future__ import annotations

from decimal import Context, Decimal, InvalidOperation
from math import isfinite

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.float_text import narrow, plain_text

_EXACT = Context(prec=200)


def integer_cell(_: ColumnInfo, value: object) -> bytes:
    """Integers, YEAR: of any type of number, or of text that is one."""
    number = _decimal(value)
    if number != number.to_integral_value(context=_EXACT):
        raise ValueError(value)
    return str(int(number)).encode()


def bit_cell(column: ColumnInfo, value: object) -> bytes:
    """BIT: a number, its bytes with the highest first, or ``0b`` and binary digits."""
    if isinstance(value, str) and value.startswith("0b"):
        return str(int(value, 2)).encode()
    if isinstance(value, bytes):
        return str(int.from_bytes(value, "big")).encode()
    return integer_cell(column, value)


def decimal_cell(column: ColumnInfo, value: object) -> bytes:
    """DECIMAL: as many digits behind the point as the column has, where no digit is lost by that."""
    number = _decimal(value)
    unit = Decimal(1).scaleb(-max(column.decimal, 0))
    scaled = number.quantize(unit, context=_EXACT)
    return (
        f"{abs(scaled) if scaled == 0 else scaled:f}".encode() if scaled == number else f"{number:f}".encode()
    )


def float_cell(column: ColumnInfo, value: object) -> bytes:
    """FLOAT and DOUBLE: shortest digits of the column's width."""
    number = narrow(float(_decimal(value)), column.type)
    if not isfinite(number):
        raise ValueError(value)
    return plain_text(number, column.type)


def _decimal(value: object) -> Decimal:
    match value:
        case bool() | int():
            return Decimal(int(value))
        case float():
            number = Decimal(repr(value))
        case Decimal():
            number = value
        case str():
            number = _of_text(value)
        case bytes():
            number = _of_text(value.decode())
        case _:
            raise ValueError(value)
    if not number.is_finite() or number.adjusted() > 400:
        raise ValueError(value)
    return number


def _of_text(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError(text) from None
