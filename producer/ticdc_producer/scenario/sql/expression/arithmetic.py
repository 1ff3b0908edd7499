"""Arithmetic by MySQL's rules: exact if both operands are exact, otherwise DOUBLE.

Rules: tidb ``pkg/expression/builtin_arithmetic.go``; division: ``pkg/types/mydecimal.go`` (``doDivMod``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_DOWN, Context, Decimal

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.number_text import (
    EXACT,
    as_float,
    as_number,
    bigint,
    check_bigint,
    check_number,
)
from ticdc_producer.model.values.sql_value import (
    BinaryLiteral,
    Quotient,
    SQLMode,
    SQLValue,
    Unsigned,
    VectorText,
)
from ticdc_producer.model.values.vector import combine, vector_of

MAX_SCALE = 30
"""The largest number of fractional digits of a DECIMAL."""
DIV_INCREMENT = 4
"""Fractional digits that a division adds: ``div_precision_increment``."""
_MAX_SIGNED = (1 << 63) - 1
_MAX_UNSIGNED = (1 << 64) - 1
_WORD = 9  # decimal digits per word of TiDB's MyDecimal
_DIVISION = Context(prec=300, rounding=ROUND_DOWN, Emax=999_999, Emin=-999_999)

Number = int | Decimal | float


def operand(value: SQLValue, mode: SQLMode) -> Number:
    """Return a value as an operand: text, ENUM and SET become a DOUBLE, BIT and bit literals an integer.

    Source: tidb ``numericContextResultType``.

    :raises ScenarioError: in strict mode, for a text that is not a number.
    """
    check_number(value, mode)
    return number_of(value)


def number_of(value: SQLValue) -> Number:
    """Return a value as an operand, unchecked: text that is not a number gives its numeric prefix."""
    if isinstance(value, BinaryLiteral):
        return Unsigned(value.number)
    if isinstance(value, str | bytes):
        return as_float(value)
    return as_number(value)[0]


def add(left: SQLValue, right: SQLValue, mode: SQLMode) -> SQLValue:
    return _exact_or_double(left, right, mode, "+", lambda a, b: a + b, _sum, lambda a, b: a + b)


def subtract(left: SQLValue, right: SQLValue, mode: SQLMode) -> SQLValue:
    return _exact_or_double(left, right, mode, "-", lambda a, b: a - b, _difference, lambda a, b: a - b)


def multiply(left: SQLValue, right: SQLValue, mode: SQLMode) -> SQLValue:
    return _exact_or_double(left, right, mode, "*", lambda a, b: a * b, _product, lambda a, b: a * b)


def _sum(left: Decimal, right: Decimal) -> Decimal:
    return _of_sum(EXACT.add(left, right), left, right)


def _difference(left: Decimal, right: Decimal) -> Decimal:
    return _of_sum(EXACT.subtract(left, right), left, right)


def _of_sum(number: Decimal, left: Decimal, right: Decimal) -> Decimal:
    """Return a sum or difference that shows the larger scale of its operands."""
    if type(left) is Decimal and type(right) is Decimal and scale_of(number) <= MAX_SCALE:
        return number  # no operand was divided, so it has this scale
    return _with_text_scale(number, max(text_scale_of(left), text_scale_of(right)))


def _product(left: Decimal, right: Decimal) -> Decimal:
    product = EXACT.multiply(left, right)
    if scale_of(product) > MAX_SCALE:
        product = product.quantize(Decimal(1).scaleb(-MAX_SCALE), context=EXACT)
    return _with_text_scale(product, text_scale_of(left) + text_scale_of(right))


def _with_text_scale(number: Decimal, scale: int, *, is_divided: bool = False) -> Decimal:
    """Return a number that shows a scale, at most ``MAX_SCALE``."""
    text_scale = min(scale, MAX_SCALE)
    return number if text_scale == scale_of(number) else Quotient(number, text_scale, is_divided=is_divided)


def text_scale_of(number: Decimal) -> int:
    """Return the number of fractional digits that the text of a number shows."""
    return number.text_scale if isinstance(number, Quotient) else scale_of(number)


def divide(left: SQLValue, right: SQLValue, mode: SQLMode) -> SQLValue:
    """Divide with ``/``; the result is never an integer.

    It has more digits than its text shows: the quotient of two integers shows four.

    >>> quotient = divide(1, 3, SQLMode())
    >>> quotient, multiply(quotient, 3, SQLMode()).rounded()
    (Decimal('0.333333333'), Decimal('1.0000'))
    """
    a, b = operand(left, mode), operand(right, mode)
    if b == 0:
        refuse_zero(mode)
        return None
    if isinstance(a, float) or isinstance(b, float):
        return _finite(float(a) / float(b), "/")
    dividend, divisor = _as_decimal(a), _as_decimal(b)
    quotient = _DIVISION.divide(dividend, divisor)
    scale = _quotient_scale(scale_of(dividend), scale_of(divisor))
    digits = quotient.quantize(Decimal(1).scaleb(-scale), context=_DIVISION)
    return _with_text_scale(digits, text_scale_of(dividend) + DIV_INCREMENT, is_divided=True)


def integer_divide(left: SQLValue, right: SQLValue, mode: SQLMode) -> SQLValue:
    """Divide with ``DIV``: the quotient is cut towards zero."""
    a, b = operand(left, mode), operand(right, mode)
    if b == 0:
        refuse_zero(mode)
        return None
    exact_a, exact_b = _as_decimal(a), _as_decimal(b)
    quotient = int(_DIVISION.divide_int(exact_a, exact_b))
    return _in_64_bits(quotient, isinstance(a, Unsigned) or isinstance(b, Unsigned), "DIV")


def modulo(left: SQLValue, right: SQLValue, mode: SQLMode) -> SQLValue:
    """Return the remainder (``%``); its sign is the dividend's."""
    a, b = operand(left, mode), operand(right, mode)
    if b == 0:
        refuse_zero(mode)
        return None
    if isinstance(a, float) or isinstance(b, float):
        return math.fmod(float(a), float(b))
    if isinstance(a, int) and isinstance(b, int):
        rest = abs(int(a)) % abs(int(b))
        return Unsigned(rest) if isinstance(a, Unsigned) else (-rest if a < 0 else rest)
    dividend, divisor = _as_decimal(a), _as_decimal(b)
    remainder = _DIVISION.remainder(dividend, divisor)
    return _with_text_scale(remainder, max(text_scale_of(dividend), text_scale_of(divisor)))


def negate(value: SQLValue, mode: SQLMode) -> SQLValue:
    number = operand(value, mode)
    if isinstance(number, float):
        return -number
    if isinstance(number, Decimal):
        negative = number.copy_negate() if number else abs(number)  # a DECIMAL has no negative zero
        return _with_text_scale(negative, text_scale_of(number))
    if number > _MAX_SIGNED + 1 or number == -_MAX_SIGNED - 1:
        return Decimal(-int(number))
    return _in_64_bits(-int(number), False, "-")


def refuse_zero(mode: SQLMode) -> None:
    """Check whether a division by zero, which gives NULL, is an error.

    :raises ScenarioError: if sql_mode is strict and has ERROR_FOR_DIVISION_BY_ZERO.
    """
    if mode.strict and mode.division_by_zero_error:
        raise ScenarioError("Division by 0")


def to_bits(value: SQLValue, mode: SQLMode) -> int:
    """Return a value as 64 unsigned bits, for ``& | ^ ~ << >>``.

    :raises ScenarioError: in strict mode, for a value that is not an integer, or out of range.
    """
    check_bigint(value, mode)
    return bits_of(value)


def bits_of(value: SQLValue) -> int:
    """Return a value as 64 unsigned bits, unchecked: text gives its integer prefix."""
    return bigint(value) & _MAX_UNSIGNED


def scale_of(number: Decimal) -> int:
    exponent = number.as_tuple().exponent
    return max(-exponent, 0) if isinstance(exponent, int) else 0


def _exact_or_double(
    left: SQLValue,
    right: SQLValue,
    mode: SQLMode,
    sign: str,
    on_integers: Callable[[int, int], int],
    on_decimals: Callable[[Decimal, Decimal], Decimal],
    on_doubles: Callable[[float, float], float],
) -> SQLValue:
    if isinstance(left, VectorText) or isinstance(right, VectorText):
        return combine(vector_of(left), vector_of(right), on_doubles)
    a, b = operand(left, mode), operand(right, mode)
    if isinstance(a, float) or isinstance(b, float):
        return _finite(on_doubles(float(a), float(b)), sign)
    if isinstance(a, int) and isinstance(b, int):
        unsigned = isinstance(a, Unsigned) or isinstance(b, Unsigned)
        if sign == "-" and not mode.unsigned_subtraction:
            unsigned = False
        return _in_64_bits(on_integers(int(a), int(b)), unsigned, sign)
    result = on_decimals(_as_decimal(a), _as_decimal(b))
    if result != 0 and result.adjusted() > 80:
        raise ScenarioError(f"DECIMAL value is out of range in the result of {sign}", value=str(result)[:80])
    return result


def _as_decimal(number: Number) -> Decimal:
    if isinstance(number, Decimal):
        return number
    return Decimal(repr(number)) if isinstance(number, float) else Decimal(int(number))


def _in_64_bits(number: int, unsigned: bool, sign: str) -> int:
    low, high = (0, _MAX_UNSIGNED) if unsigned else (-_MAX_SIGNED - 1, _MAX_SIGNED)
    if not low <= number <= high:
        kind = "BIGINT UNSIGNED" if unsigned else "BIGINT"
        raise ScenarioError(f"{kind} value is out of range in the result of {sign}", value=str(number)[:80])
    return Unsigned(number) if unsigned else number


def _finite(number: float, sign: str) -> float:
    if not math.isfinite(number):
        raise ScenarioError(f"DOUBLE value is out of range in the result of {sign}", value=str(number))
    return number


def _quotient_scale(dividend: int, divisor: int) -> int:
    """Return the scale of a quotient, which fills words of nine digits.

    It has the words of both scales, and one more if these have fewer than ``DIV_INCREMENT`` spare digits.

    >>> [_quotient_scale(0, 0), _quotient_scale(1, 0), _quotient_scale(9, 9)]
    [9, 9, 27]
    """

    def in_words(digits: int) -> int:
        return -(-digits // _WORD) * _WORD

    spare = in_words(dividend) - dividend + in_words(divisor) - divisor
    return in_words(in_words(dividend) + in_words(divisor) + max(0, DIV_INCREMENT - spare))
