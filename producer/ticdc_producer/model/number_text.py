"""Converts text and other SQL values to numbers, by MySQL's rules for implicit conversion."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation, Overflow

from ticdc_producer.model.sql_value import BinaryLiteral, DateTimeValue, Duration, JsonText, Member, SQLValue

EXACT = Context(prec=200, rounding=ROUND_HALF_UP, Emax=999_999, Emin=-999_999, traps=[InvalidOperation])
"""Precise enough for sums and products of DECIMAL(65,30)."""

_NUMBER = re.compile(r"[ \t\n\v\f\r]*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)")
_INTEGER = re.compile(r"([+-]?[0-9]+)(.*)", re.DOTALL)
_MAX_NUMBER_LENGTH = 2000


def numeric_prefix(text: str) -> tuple[str, bool]:
    """The number that a text starts with, and whether only spaces follow it.

    A text without a number gives ``"0"``, as in MySQL.
    """
    match = _NUMBER.match(text)
    if match is None or len(match[1]) > _MAX_NUMBER_LENGTH:
        return "0", False
    return match[1], not text[match.end() :].strip(" \t\n\v\f\r")


def integer_prefix(text: str) -> tuple[int, bool]:
    """The integer that a text starts with, 0 if there is none, and whether nothing else follows."""
    match = _INTEGER.match(text.strip(" \t\n\v\f\r"))
    if match is None or len(match[1]) > _MAX_NUMBER_LENGTH:
        return 0, False
    return int(match[1]), not match[2]


def as_number(value: SQLValue) -> tuple[int | Decimal | float, bool]:
    """Convert a value to a number, and say whether the whole value was used.

    Text becomes an exact number: ``'1.5'`` and ``'1e3'`` become a Decimal.

    :param value: anything but NULL.
    """
    if isinstance(value, BinaryLiteral | Member):
        return value.number, True
    if isinstance(value, JsonText):
        return _json_number(value)
    if isinstance(value, bytes):
        return _text_number(value.decode("utf-8", "replace"))
    if isinstance(value, str):
        return _text_number(value)
    if isinstance(value, DateTimeValue | Duration):
        number = value.number()
        return (number, True) if value.fsp > 0 else (int(number), True)
    if isinstance(value, bool):
        return int(value), True
    return 0 if value is None else value, True  # callers handle NULL


def _json_number(value: JsonText) -> tuple[int | Decimal | float, bool]:
    """The number in a JSON value: true is 1, strings are parsed; arrays and objects have no number."""
    if value in ("true", "false"):
        return int(value == "true"), True
    return _text_number(value[1:-1] if value[:1] == '"' else value)


def _text_number(text: str) -> tuple[int | Decimal, bool]:
    digits, complete = numeric_prefix(text)
    number = Decimal(digits)
    if number.is_finite() and number == 0:
        return 0, complete
    plain_integer = digits.lstrip("+-").isdigit()
    return (int(digits), complete) if plain_integer else (number, complete)


def as_float(value: SQLValue) -> float:
    """Convert a value to a DOUBLE; infinite if it is too large."""
    number, _ = as_number(value)
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def rounded(number: int | Decimal | float, scale: int) -> Decimal:
    """Round a number to exactly ``scale`` fractional digits, halves away from zero.

    :raises ArithmeticError: for a number far beyond any DECIMAL, infinity or NaN.
    """
    exact = Decimal(repr(number)) if isinstance(number, float) else Decimal(number)
    if not exact.is_finite() or exact.adjusted() > 100:
        raise Overflow(f"{number} is beyond DECIMAL(65)")
    if exact.adjusted() < -100:
        return Decimal(0).scaleb(-scale)
    return exact.quantize(Decimal(1).scaleb(-scale), context=EXACT)
