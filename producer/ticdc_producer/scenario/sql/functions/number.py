"""Functions of numbers: exact ones stay exact, DOUBLE as soon as the mathematics needs it.

Rules: tidb ``pkg/expression/builtin_math.go``; rounding of DOUBLEs: ``pkg/types/helper.go``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_UP, Decimal

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.number_text import EXACT, as_float
from ticdc_producer.model.sql_mode import SQLMode
from ticdc_producer.model.sql_value import SQLValue, Unsigned
from ticdc_producer.scenario.sql.arithmetic import modulo, negate, operand, to_bits
from ticdc_producer.scenario.sql.functions.function import Function, of_values, whole

_MAX_SCALE = 30
_PER_LN2 = 1.44269504088896340736  # 1 / ln 2
_LN2_PER_LN10 = 0.30102999566398119521
_64_BITS = range(-(1 << 63), 1 << 63)


def _abs(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    number = operand(arguments[0])
    return negate(number, mode) if number < 0 else number


def _mod(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    return modulo(arguments[0], arguments[1], mode)


def _sign(value: SQLValue) -> SQLValue:
    number = operand(value)
    return int(number > 0) - int(number < 0)


def _ceil(value: SQLValue) -> SQLValue:
    return _to_whole(value, ROUND_CEILING)


def _floor(value: SQLValue) -> SQLValue:
    return _to_whole(value, ROUND_FLOOR)


def _to_whole(value: SQLValue, rounding: str) -> SQLValue:
    """An integer where the number is exact and 64 bits hold it."""
    number = operand(value)
    if isinstance(number, float):
        return float(math.ceil(number) if rounding == ROUND_CEILING else math.floor(number))
    if isinstance(number, int):
        return number
    found = number.quantize(Decimal(1), rounding=rounding, context=EXACT)
    return int(found) if int(found) in _64_BITS else found


def _round(value: SQLValue, digits: SQLValue = 0) -> SQLValue:
    number, places = operand(value), min(max(whole(digits), -100), _MAX_SCALE)
    if isinstance(number, float):
        return _rounded_double(number, places)
    if isinstance(number, int):
        return (
            number if places >= 0 else _like(number, int(_quantized(Decimal(number), places, ROUND_HALF_UP)))
        )
    return _quantized(number, places, ROUND_HALF_UP)


def _truncate(value: SQLValue, digits: SQLValue) -> SQLValue:
    number, places = operand(value), min(max(whole(digits), -100), _MAX_SCALE)
    if isinstance(number, float):
        return _truncated_double(number, places)
    if isinstance(number, int):
        return number if places >= 0 else _like(number, int(_quantized(Decimal(number), places, ROUND_DOWN)))
    return _quantized(number, places, ROUND_DOWN)


def _quantized(number: Decimal, places: int, rounding: str) -> Decimal:
    """At so many digits behind the point; below zero, digits before it become 0."""
    rounded = number.scaleb(min(places, 0), context=EXACT).quantize(
        Decimal(1).scaleb(-max(places, 0)), rounding=rounding, context=EXACT
    )
    return (
        rounded if places >= 0 else rounded.scaleb(-places, context=EXACT).quantize(Decimal(1), context=EXACT)
    )


def _like(model: int, number: int) -> int:
    return Unsigned(number) if isinstance(model, Unsigned) else number


def _rounded_double(number: float, places: int) -> float:
    """Scaled up, to the nearest whole number, the even one of two, and back."""
    scaled = number * math.pow(10, places)
    return round(scaled) / math.pow(10, places) if math.isfinite(scaled) else number


def _truncated_double(number: float, places: int) -> float:
    scaled = number * math.pow(10, places)
    return math.trunc(scaled) / math.pow(10, places) if math.isfinite(scaled) else number


def _real(name: str, formula: Callable[[float], float]) -> Function:
    """A function of one DOUBLE; NULL where it is not defined, an error where it is out of range."""

    def run(value: SQLValue) -> SQLValue:
        try:
            found = formula(as_float(value))
        except (ValueError, ZeroDivisionError):
            return None
        except OverflowError:
            found = math.inf
        return finite(name, found)

    return of_values(run, 1)


def finite(name: str, number: float) -> float:
    """The same number.

    :raises ScenarioError: if it is beyond DOUBLE.
    """
    if not math.isfinite(number):
        raise ScenarioError(f"DOUBLE value is out of range in {name}()")
    return number


def _power(base: SQLValue, exponent: SQLValue) -> SQLValue:
    try:
        return finite("pow", math.pow(as_float(base), as_float(exponent)))
    except (OverflowError, ValueError):
        raise ScenarioError("DOUBLE value is out of range in pow()") from None


def _log(value: SQLValue, other: SQLValue = None) -> SQLValue:
    """``LOG(x)`` and ``LOG(base, x)``."""
    if other is None:
        return math.log(as_float(value)) if as_float(value) > 0 else None
    base, number = as_float(value), as_float(other)
    return None if base <= 0 or base == 1 or number <= 0 else math.log(number) / math.log(base)


def _atan(value: SQLValue, other: SQLValue = None) -> SQLValue:
    return math.atan(as_float(value)) if other is None else math.atan2(as_float(value), as_float(other))


def _log2(number: float) -> float:
    """As Go computes it, so that the last digits are the same."""
    mantissa, exponent = math.frexp(number)
    return exponent - 1 if mantissa == 0.5 else math.log(mantissa) * _PER_LN2 + exponent


def _log10(number: float) -> float:
    return _log2(number) * _LN2_PER_LN10


def _cot(number: float) -> float:
    return 1 / math.tan(number) if math.tan(number) else math.inf


def _bit_count(value: SQLValue) -> SQLValue:
    return to_bits(value).bit_count()


FUNCTIONS = {
    "ABS": Function(_abs, 1, 1),
    "ACOS": _real("acos", math.acos),
    "ASIN": _real("asin", math.asin),
    "ATAN": of_values(_atan, 1, 2),
    "ATAN2": of_values(_atan, 2),
    "BIT_COUNT": of_values(_bit_count, 1),
    "CEIL": of_values(_ceil, 1),
    "COS": _real("cos", math.cos),
    "COT": _real("cot", _cot),
    "DEGREES": _real("degrees", lambda number: number * 180 / math.pi),
    "EXP": _real("exp", math.exp),
    "FLOOR": of_values(_floor, 1),
    "LN": _real("ln", math.log),
    "LOG": of_values(_log, 1, 2),
    "LOG10": _real("log10", _log10),
    "LOG2": _real("log2", _log2),
    "MOD": Function(_mod, 2, 2),
    "PI": of_values(lambda: math.pi, 0),
    "POW": of_values(_power, 2),
    "POWER": of_values(_power, 2),
    "RADIANS": _real("radians", lambda number: number * math.pi / 180),
    "ROUND": of_values(_round, 1, 2),
    "SIGN": of_values(_sign, 1),
    "SIN": _real("sin", math.sin),
    "SQRT": _real("sqrt", math.sqrt),
    "TAN": _real("tan", math.tan),
    "TRUNCATE": of_values(_truncate, 2),
}
