"""Numbers of a consumer's table as the canonical text of a MySQL column.

Each function raises ``ValueError`` for a value that is not of the type; nothing is rounded or truncated.
"""

from __future__ import annotations

from decimal import Context, Decimal, InvalidOperation
from math import isfinite

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.float_text import narrow, plain_text

_EXACT = Context(prec=200)


def canonical_integer(_: ColumnInfo, value: object) -> bytes:
    """Integers, YEAR: a number of any type, or its text."""
    number = _decimal(value)
    if number != number.to_integral_value(context=_EXACT):
        raise ValueError(value)
    return str(int(number)).encode()


def canonical_bit(column: ColumnInfo, value: object) -> bytes:
    """BIT: a number, its big-endian bytes, or ``0b`` and binary digits."""
    if isinstance(value, str) and value.startswith("0b"):
        return str(int(value, 2)).encode()
    if isinstance(value, bytes):
        return str(int.from_bytes(value, "big")).encode()
    return canonical_integer(column, value)


def canonical_decimal(column: ColumnInfo, value: object) -> bytes:
    """DECIMAL: with the column's number of fraction digits, unless that would lose digits."""
    number = _decimal(value)
    unit = Decimal(1).scaleb(-max(column.decimal, 0))
    scaled = number.quantize(unit, context=_EXACT)
    return (
        f"{abs(scaled) if scaled == 0 else scaled:f}".encode() if scaled == number else f"{number:f}".encode()
    )


def canonical_float(column: ColumnInfo, value: object) -> bytes:
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
            number = _parse(value)
        case bytes():
            number = _parse(value.decode())
        case _:
            raise ValueError(value)
    if not number.is_finite() or number.adjusted() > 400:
        raise ValueError(value)
    return number


def _parse(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError(text) from None
