"""Numbers and text: MySQL's implicit conversion, and FLOAT and DOUBLE as TiCDC prints them.

Equals Go's ``strconv.FormatFloat(v, 'f', -1, width)``: the fewest digits that parse to the same binary number
of that width, never an exponent, no trailing ``.0``. Java 17 does not print shortest digits, so a Spark cast
cannot be used.
"""

from __future__ import annotations

import re
import struct
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal, InvalidOperation, Overflow
from functools import cache
from math import copysign, frexp, isinf
from typing import TypeGuard

import msgspec

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.values.sql_value import (
    BinaryLiteral,
    DateTimeValue,
    Duration,
    JsonText,
    Member,
    SQLMode,
    SQLValue,
    VectorText,
    display_value,
)
from ticdc_producer.model.values.temporal_text import whole_seconds

EXACT = Context(prec=200, rounding=ROUND_HALF_UP, Emax=999_999, Emin=-999_999, traps=[InvalidOperation])
"""Precise enough for sums and products of DECIMAL(65,30)."""

_NUMBER = re.compile(r"[ \t\n\v\f\r]*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)")
_INTEGER = re.compile(r"([+-]?[0-9]+)(.*)", re.DOTALL)
_MAX_NUMBER_LENGTH = 2000
_LARGEST_DOUBLE = 1.7976931348623157e308


def numeric_prefix(text: str) -> tuple[str, bool]:
    """Return the number that a text starts with, and whether only spaces follow it, or a zero byte.

    A text without a number gives ``"0"``, as in MySQL. A zero byte, with which BINARY is filled up, ends the
    text. Source: tidb ``getValidFloatPrefix``.
    """
    match = _NUMBER.match(text)
    if match is None or len(match[1]) > _MAX_NUMBER_LENGTH:
        return "0", False
    rest = text[match.end() :]
    return match[1], rest[:1] == "\0" or not rest.strip(" \t\n\v\f\r")


def integer_prefix(text: str) -> tuple[int, bool]:
    """Return the integer that a text starts with, 0 if there is none, and whether nothing else follows."""
    match = _INTEGER.match(text.strip(" \t\n\v\f\r"))
    if match is None or len(match[1]) > _MAX_NUMBER_LENGTH:
        return 0, False
    return int(match[1]), not match[2]


def as_number(value: SQLValue) -> tuple[int | Decimal | float, bool]:
    """Convert a value to a number, and say whether the whole value was used.

    Text becomes an exact number: ``'1.5'`` and ``'1e3'`` become a Decimal.

    :param value: anything but NULL.
    :raises ScenarioError: for a vector, which has no number in TiDB.
    """
    if type(value) is int or type(value) is Decimal or type(value) is float:  # the usual ones first
        return value, True
    if isinstance(value, BinaryLiteral | Member):
        return value.number, True
    if isinstance(value, JsonText):
        return _json_number(value)
    if isinstance(value, VectorText):
        raise ScenarioError("cannot cast a vector to a number", value=display_value(value))
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
    """Return the number in a JSON value: true is 1, strings are parsed; other values have no number.

    Those are null, arrays, objects and scalars with a type of their own, such as dates. Source: tidb
    ``ConvertJSONToInt``, ``ConvertJSONToFloat``, ``ConvertJSONToDecimal``.
    """
    if value in ("true", "false"):
        return int(value == "true"), True
    if value[:1] == '"':
        is_plain = value.document is None or type(value.document) is str
        return _text_number(value[1:-1]) if is_plain else (0, False)
    number, complete = _text_number(value)
    return (float(number) if isinstance(number, Decimal) else number), complete


def _text_number(text: str) -> tuple[int | Decimal, bool]:
    digits, complete = numeric_prefix(text)
    number = Decimal(digits)
    if number.is_finite() and number == 0:
        return 0, complete
    plain_integer = digits.lstrip("+-").isdigit()
    return (int(digits), complete) if plain_integer else (number, complete)


def is_text(value: SQLValue) -> TypeGuard[str | bytes]:
    """Return whether a value is text, which is parsed where a number is needed. JSON and ENUM are not."""
    return isinstance(value, str | bytes) and not isinstance(
        value, BinaryLiteral | Member | JsonText | VectorText
    )


def whole_number(value: SQLValue) -> int:
    """Return the integer to which an expression casts a value: of a text, the integer that it starts with.

    Numbers outside of 64 bits stay outside. Source: tidb ``types.StrToInt`` with ``isFuncCast``.

    >>> whole_number("1e2"), whole_number(1e2)
    (1, 100)
    """
    if is_text(value):
        return integer_prefix(value.decode("utf-8", "replace") if isinstance(value, bytes) else value)[0]
    if isinstance(value, DateTimeValue | Duration):
        value = whole_seconds(value)
    return nearest_integer(as_number(value)[0])


def check_number(value: SQLValue, mode: SQLMode) -> None:
    """Check a value that TiDB casts to a DOUBLE or DECIMAL in an expression. An empty text is 0.

    Source: tidb ``types.getValidFloatPrefix``.

    :raises ScenarioError: in strict mode, for a text that is not a number, or beyond all DOUBLEs.
    """
    if not mode.strict or not isinstance(value, str | bytes):
        return
    number, complete = as_number(value)
    if (not complete and value.strip()) or not -_LARGEST_DOUBLE <= number <= _LARGEST_DOUBLE:
        raise _truncated("DOUBLE", value)


def check_integer(value: SQLValue, mode: SQLMode) -> None:
    """Check a value that TiDB casts to an integer in an expression.

    :raises ScenarioError: in strict mode, for a text or JSON value that is not an integer.
    """
    if mode.strict and isinstance(value, JsonText) and not as_number(value)[1]:
        raise _truncated("INTEGER", value)
    if not mode.strict or not is_text(value):
        return
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    if not integer_prefix(text)[1]:
        raise _truncated("INTEGER", value)


def check_bigint(value: SQLValue, mode: SQLMode) -> None:
    """Check an operand that has to be a BIGINT.

    :raises ScenarioError: in strict mode, for a value that is not an integer, or out of range.
    """
    check_integer(value, mode)
    if mode.strict and beyond_bigint(value):
        raise ScenarioError("BIGINT value is out of range", value=display_value(value))


def beyond_bigint(value: SQLValue) -> bool:
    """Return whether a value is out of the range that it has as an operand: see ``bigint``."""
    whole = whole_number(value)
    return whole != bigint(value) and (whole != 1 << 63 or not isinstance(value, float))


def bigint(value: SQLValue) -> int:
    """Return the BIGINT to which TiDB casts an operand: one out of range becomes the nearest of the range.

    Integers and texts may be unsigned, unlike a DOUBLE, DECIMAL or a JSON number. Source: tidb
    ``builtinCastRealAsIntSig``, ``builtinCastDecimalAsIntSig``, ``builtinCastStringAsIntSig``.
    """
    is_signed = value[:1] != '"' if isinstance(value, JsonText) else isinstance(value, float | Decimal)
    return min(max(whole_number(value), -(1 << 63)), (1 << 63 if is_signed else 1 << 64) - 1)


def _truncated(kind: str, value: SQLValue) -> ScenarioError:
    text = display_value(value)
    return ScenarioError(f"Truncated incorrect {kind} value: {text!r}", value=text)


def as_float(value: SQLValue) -> float:
    """Convert a value to a DOUBLE; infinite if it is too large, but the largest one for a text."""
    number, _ = as_number(value)
    try:
        real = float(number)
    except OverflowError:
        real = float("inf") if number > 0 else float("-inf")
    return copysign(_LARGEST_DOUBLE, real) if isinf(real) and is_text(value) else real


def rounded(number: int | Decimal | float, scale: int) -> Decimal:
    """Round a number to exactly ``scale`` fractional digits, halves away from zero.

    :raises ArithmeticError: for a number far beyond any DECIMAL, infinity or NaN.
    """
    exact = Decimal(repr(number)) if isinstance(number, float) else Decimal(number)
    if not exact.is_finite() or exact.adjusted() > 100:
        raise Overflow(f"{number} is beyond DECIMAL(65)")
    if exact.adjusted() < -100:
        return Decimal(0).scaleb(-scale)
    return exact.quantize(_unit(scale), context=EXACT)


@cache
def _unit(scale: int) -> Decimal:
    return Decimal(1).scaleb(-scale)


_FLOAT32 = struct.Struct("<f")
_FLOAT = int(MySQLType.FLOAT)
_digits = msgspec.json.Encoder().encode  # same digits as repr, eight times as fast
_MAX_CERTAIN_LENGTH = 7  # six digits, which identify every 32-bit number, and a point


def nearest_integer(number: int | Decimal | float) -> int:
    """Round to an integer: halves away from zero, those of floats to the even one.

    Numbers far outside of every column range stay outside.
    """
    if isinstance(number, int):
        return int(number)
    exact = Decimal(number)
    if not exact.is_finite() or exact.adjusted() > 60:
        return -(1 << 200) if exact.is_signed() else 1 << 200
    if exact.adjusted() < -1:
        return 0
    halves = ROUND_HALF_EVEN if isinstance(number, float) else ROUND_HALF_UP
    return int(exact.to_integral_value(rounding=halves))


def plain_text(value: float, code: int) -> bytes:
    """Return the canonical text of one finite number of a FLOAT or DOUBLE column.

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
    """Print the shortest digits of a 32-bit number, with or without an exponent.

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
    """Return the number as the column stores it: rounded to 32 bits for FLOAT.

    :raises OverflowError: if it does not fit.
    """
    return float(_FLOAT32.unpack(_FLOAT32.pack(value))[0]) if code == MySQLType.FLOAT else value
