"""Arithmetic by MySQL's rules: exact if both operands are exact, otherwise DOUBLE.

Rules: tidb ``pkg/expression/builtin_arithmetic.go``; division: ``pkg/types/mydecimal.go`` (``doDivMod``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_DOWN, Context, Decimal

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.number_text import EXACT, as_number
from ticdc_producer.model.values.sql_value import BinaryLiteral, Member, SQLMode, SQLValue, Unsigned

MAX_SCALE = 30
"""The largest number of fractional digits of a DECIMAL."""
DIV_INCREMENT = 4
"""Fractional digits that a division adds: ``div_precision_increment``."""
_MAX_SIGNED = (1 << 63) - 1
_MAX_UNSIGNED = (1 << 64) - 1
_WORD = 9  # decimal digits per word of TiDB's MyDecimal
_DIVISION = Context(prec=300, rounding=ROUND_DOWN, Emax=999_999, Emin=-999_999)

Number = int | Decimal | float


def operand(value: SQLValue) -> Number:
    """Return a value as an operand: text is converted to DOUBLE."""
    if isinstance(value, str | bytes) and not isinstance(value, Member | BinaryLiteral):
        return float(as_number(value)[0])
    number, _ = as_number(value)
    unsigned = isinstance(value, BinaryLiteral | Member)
    return Unsigned(number) if unsigned and isinstance(number, int) else number


def add(left: SQLValue, right: SQLValue, _: SQLMode) -> SQLValue:
    return _exact_or_double(left, right, "+", lambda a, b: a + b, EXACT.add, lambda a, b: a + b)


def subtract(left: SQLValue, right: SQLValue, _: SQLMode) -> SQLValue:
    return _exact_or_double(left, right, "-", lambda a, b: a - b, EXACT.subtract, lambda a, b: a - b)


def multiply(left: SQLValue, right: SQLValue, _: SQLMode) -> SQLValue:
    product = _exact_or_double(left, right, "*", lambda a, b: a * b, EXACT.multiply, lambda a, b: a * b)
    if isinstance(product, Decimal) and scale_of(product) > MAX_SCALE:
        return product.quantize(Decimal(1).scaleb(-MAX_SCALE), context=EXACT)
    return product


def divide(left: SQLValue, right: SQLValue, mode: SQLMode) -> SQLValue:
    """Divide with ``/``; the result is never an integer.

    >>> from decimal import Decimal
    >>> divide(Decimal("1.5"), 2, SQLMode())
    Decimal('0.750000000')
    """
    a, b = operand(left), operand(right)
    if b == 0:
        refuse_zero(mode)
        return None
    if isinstance(a, float) or isinstance(b, float):
        return _finite(float(a) / float(b), "/")
    dividend, divisor = (
        Decimal(int(a) if isinstance(a, int) else a),
        Decimal(int(b) if isinstance(b, int) else b),
    )
    quotient = _DIVISION.divide(dividend, divisor)
    scale = _quotient_scale(scale_of(dividend), scale_of(divisor))
    return quotient.quantize(Decimal(1).scaleb(-scale), context=_DIVISION)


def integer_divide(left: SQLValue, right: SQLValue, mode: SQLMode) -> SQLValue:
    """Divide with ``DIV``: the quotient is cut towards zero."""
    a, b = operand(left), operand(right)
    if b == 0:
        refuse_zero(mode)
        return None
    exact_a, exact_b = _as_decimal(a), _as_decimal(b)
    quotient = int(_DIVISION.divide_int(exact_a, exact_b))
    return _in_64_bits(quotient, isinstance(a, Unsigned) or isinstance(b, Unsigned), "DIV")


def modulo(left: SQLValue, right: SQLValue, mode: SQLMode) -> SQLValue:
    """Return the remainder (``%``); its sign is the dividend's."""
    a, b = operand(left), operand(right)
    if b == 0:
        refuse_zero(mode)
        return None
    if isinstance(a, float) or isinstance(b, float):
        return math.fmod(float(a), float(b))
    if isinstance(a, int) and isinstance(b, int):
        rest = abs(int(a)) % abs(int(b))
        return Unsigned(rest) if isinstance(a, Unsigned) else (-rest if a < 0 else rest)
    return _DIVISION.remainder(Decimal(a), Decimal(b))


def negate(value: SQLValue, _: SQLMode) -> SQLValue:
    number = operand(value)
    if isinstance(number, float):
        return -number
    if isinstance(number, Decimal):
        return number.copy_negate()
    if number > _MAX_SIGNED + 1:
        return Decimal(-int(number))
    return _in_64_bits(-int(number), False, "-")


def refuse_zero(mode: SQLMode) -> None:
    """Check whether a division by zero, which gives NULL, is an error.

    :raises ScenarioError: if sql_mode is strict and has ERROR_FOR_DIVISION_BY_ZERO.
    """
    if mode.strict and mode.division_by_zero_error:
        raise ScenarioError("Division by 0")


def to_bits(value: SQLValue) -> int:
    """Return a value as 64 unsigned bits, for ``& | ^ ~ << >>``."""
    number = operand(value)
    exact = Decimal(number)
    whole = int(exact.to_integral_value()) if exact.is_finite() and exact.adjusted() < 30 else _MAX_UNSIGNED
    return whole & _MAX_UNSIGNED


def scale_of(number: Decimal) -> int:
    exponent = number.as_tuple().exponent
    return max(-exponent, 0) if isinstance(exponent, int) else 0


def _exact_or_double(
    left: SQLValue,
    right: SQLValue,
    sign: str,
    on_integers: Callable[[int, int], int],
    on_decimals: Callable[[Decimal, Decimal], Decimal],
    on_doubles: Callable[[float, float], float],
) -> SQLValue:
    a, b = operand(left), operand(right)
    if isinstance(a, float) or isinstance(b, float):
        return _finite(on_doubles(float(a), float(b)), sign)
    if isinstance(a, int) and isinstance(b, int):
        unsigned = isinstance(a, Unsigned) or isinstance(b, Unsigned)
        return _in_64_bits(on_integers(int(a), int(b)), unsigned, sign)
    result = on_decimals(_as_decimal(a), _as_decimal(b))
    if result != 0 and result.adjusted() > 80:
        raise ScenarioError(f"DECIMAL value is out of range in the result of {sign}", value=str(result)[:80])
    return result


def _as_decimal(number: Number) -> Decimal:
    return Decimal(repr(number)) if isinstance(number, float) else Decimal(number)


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
