"""Mathematical functions, exact for exact numbers where TiDB is, else with DOUBLE.

Rules: tidb ``pkg/expression/builtin_math.go``; rounding of DOUBLEs: ``pkg/types/helper.go``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_UP, Decimal
from functools import partial

from sqlglot import exp

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.number_text import EXACT, as_float, beyond_bigint, check_integer
from ticdc_producer.model.values.sql_value import SQLMode, SQLValue, Unsigned
from ticdc_producer.scenario.sql.expression import real_math
from ticdc_producer.scenario.sql.expression.arithmetic import (
    MAX_SCALE,
    bits_of,
    modulo,
    negate,
    number_of,
    subtract,
)
from ticdc_producer.scenario.sql.expression.eval_type import (
    NUMBERS,
    UNKNOWN,
    Digits,
    E,
    ExpressionType,
    arithmetic_kind,
    computed_type,
    merged_digits,
    number_kind,
)
from ticdc_producer.scenario.sql.functions.function import (
    Arguments,
    Function,
    to_integer,
    value_function,
)

_INVERSE_LN2 = 1.44269504088896340736  # 1 / ln 2
_LN2_OVER_LN10 = 0.30102999566398119521
_DIGITS_OF_BIGINT = 18
_BITS = 64
_INT64_RANGE = range(-(1 << 63), 1 << 63)


def _abs(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    number = number_of(arguments[0])
    if isinstance(number, float):
        return abs(float(number))
    if number >= 0:
        return number
    # The absolute value of the smallest BIGINT is an error, its negation a DECIMAL.
    return subtract(0, number, mode) if isinstance(number, int) else negate(number, mode)


def _mod(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    return None if None in arguments else modulo(arguments[0], arguments[1], mode)


def _absolute_type(_: Arguments, types: Sequence[ExpressionType]) -> ExpressionType:
    return computed_type(number_kind(types[0].kind), types[0].digits)


def _modulo_type(_: Arguments, types: Sequence[ExpressionType]) -> ExpressionType:
    return computed_type(arithmetic_kind(each.kind for each in types), merged_digits(types))


def _sign(value: SQLValue) -> SQLValue:
    number = number_of(value)
    return int(number > 0) - int(number < 0)


def _whole_type(_: Arguments, types: Sequence[ExpressionType]) -> ExpressionType:
    """Return the type of CEIL and FLOOR: a BIGINT if all values of a DECIMAL fit it.

    Source: tidb ``getEvalTp4FloorAndCeil``.
    """
    kind, digits = types[0]
    if kind is not E.DECIMAL:
        return ExpressionType(kind) if kind in NUMBERS else UNKNOWN
    if digits is None:
        return UNKNOWN
    return ExpressionType(E.INTEGER if digits.whole <= _DIGITS_OF_BIGINT else kind)


def _to_whole(value: SQLValue, rounding: str) -> SQLValue:
    """Round; an exact number that fits 64 bits becomes an integer."""
    number = number_of(value)
    if isinstance(number, float):
        return float(math.ceil(number) if rounding == ROUND_CEILING else math.floor(number))
    if isinstance(number, int):
        return number
    whole = number.quantize(Decimal(1), rounding=rounding, context=EXACT)
    return int(whole) if int(whole) in _INT64_RANGE else whole


def _round(value: SQLValue, *digits: SQLValue) -> SQLValue:
    """Return ``ROUND``."""
    number, digit_count = number_of(value), to_integer(digits[0]) if digits else 0
    if isinstance(number, float):
        return _rounded_double(number, digit_count)
    scale = min(max(digit_count, -100), MAX_SCALE)
    if isinstance(number, int):
        return _rounded_integer(number, scale) if digits else number
    return _quantized(number, scale, ROUND_HALF_UP)


def _rounded_integer(number: int, scale: int) -> int:
    """Round an integer of 64 bits as a DOUBLE, half to even; one beyond the bits becomes the smallest.

    Source: tidb ``builtinRoundWithFracIntSig.evalInt`` (``pkg/expression/builtin_math.go``), ``types.Round``.
    """
    signed = int(number) if int(number) in _INT64_RANGE else int(number) - (1 << 64)
    rounded = _rounded_double(float(signed), scale)
    whole = int(rounded) if -(2.0**63) <= rounded < 2.0**63 else -(1 << 63)
    return _like(number, whole & 0xFFFFFFFFFFFFFFFF if isinstance(number, Unsigned) else whole)


def _rounded_type(arguments: Arguments, types: Sequence[ExpressionType]) -> ExpressionType:
    """Return the type of ROUND and TRUNCATE. Source: tidb ``calculateDecimal4RoundAndTruncate``."""
    kind, digits = number_kind(types[0].kind), types[0].digits
    if digits is None:
        return ExpressionType(kind)
    return computed_type(kind, Digits(digits.whole + 1, _rounded_decimals(arguments[1:], digits.decimals)))


def _rounded_decimals(arguments: Arguments, decimals: int) -> int:
    """Return the decimals of ROUND and TRUNCATE: a literal number, or those of the first argument."""
    if not arguments or isinstance(arguments[0], exp.Neg):
        return 0
    written = str(arguments[0].this) if isinstance(arguments[0], exp.Literal) else ""
    return min(int(written), MAX_SCALE) if written.isdecimal() else decimals


def _truncate(value: SQLValue, digits: SQLValue) -> SQLValue:
    number, digit_count = number_of(value), to_integer(digits)
    if isinstance(number, float):
        return _truncated_double(number, digit_count)
    scale = min(max(digit_count, -100), MAX_SCALE)
    if isinstance(number, int):
        return number if scale >= 0 else _like(number, int(_quantized(Decimal(number), scale, ROUND_DOWN)))
    return _quantized(number, scale, ROUND_DOWN)


def _quantized(number: Decimal, scale: int, rounding: str) -> Decimal:
    """Round to ``scale`` digits after the point; a negative scale rounds digits before it to 0."""
    rounded = number.scaleb(min(scale, 0), context=EXACT).quantize(
        Decimal(1).scaleb(-max(scale, 0)), rounding=rounding, context=EXACT
    )
    return (
        rounded if scale >= 0 else rounded.scaleb(-scale, context=EXACT).quantize(Decimal(1), context=EXACT)
    )


def _like(model: int, number: int) -> int:
    return Unsigned(number) if isinstance(model, Unsigned) else number


def _rounded_double(number: float, scale: int) -> float:
    """Round half to even, on the number multiplied by a power of ten, as TiDB does."""
    shift = _power_of_ten(scale)
    scaled = number * shift
    if not math.isfinite(scaled):
        return number if math.isinf(scaled) else 0.0
    return round(scaled) / shift if shift else 0.0


def _truncated_double(number: float, scale: int) -> float:
    shift = _power_of_ten(scale)
    scaled = number * shift
    if not math.isfinite(scaled):
        return number if math.isinf(scaled) else math.nan
    return math.trunc(scaled) / shift if shift else 0.0


def _power_of_ten(scale: int) -> float:
    """Return 10 to a power, which is infinite or 0 beyond the DOUBLEs. Source: Go ``math.Pow10``."""
    tens, ones = divmod(min(abs(scale), _BEYOND_DOUBLES), 32)
    if scale < 0:
        return float(f"1e-{32 * tens}") / float(f"1e{ones}")
    return float(f"1e{32 * tens}") * float(f"1e{ones}")


_BEYOND_DOUBLES = 400


def _real(name: str, formula: Callable[[float], float]) -> Function:
    """Make a function of one DOUBLE: NULL where it is undefined, an error if the result is out of range."""

    def run(value: SQLValue) -> SQLValue:
        try:
            result = formula(as_float(value))
        except (ValueError, ZeroDivisionError):
            return None
        except OverflowError:
            result = math.inf
        return finite(name, result)

    return value_function(run, 1, numbers=(0,), type=E.DOUBLE)


def finite(name: str, number: float) -> float:
    """Return the number itself, after a check that it is finite.

    :param name: of the function, for the error.
    :raises ScenarioError: if the number is not finite.
    """
    if not math.isfinite(number):
        raise ScenarioError(f"DOUBLE value is out of range in {name}()")
    return number


def _power(base: SQLValue, exponent: SQLValue) -> SQLValue:
    try:
        return finite("pow", real_math.power(as_float(base), as_float(exponent)))
    except (OverflowError, ValueError):
        raise ScenarioError("DOUBLE value is out of range in pow()") from None


def _log(value: SQLValue, other: SQLValue = None) -> SQLValue:
    """Return ``LOG(x)`` or ``LOG(base, x)``."""
    if other is None:
        return real_math.log(as_float(value)) if as_float(value) > 0 else None
    base, number = as_float(value), as_float(other)
    return None if base <= 0 or base == 1 or number <= 0 else real_math.log(number) / real_math.log(base)


def _atan(value: SQLValue, other: SQLValue = None) -> SQLValue:
    return (
        real_math.atan(as_float(value))
        if other is None
        else real_math.atan2(as_float(value), as_float(other))
    )


def _log2(number: float) -> float:
    """Return the logarithm to base 2 by Go's algorithm, which gives the same last digits as TiDB."""
    mantissa, exponent = math.frexp(number)
    return float(exponent - 1) if mantissa == 0.5 else real_math.log(mantissa) * _INVERSE_LN2 + exponent


def _log10(number: float) -> float:
    return _log2(number) * _LN2_OVER_LN10


def _cot(number: float) -> float:
    return 1 / real_math.tan(number) if number else math.inf


def _bit_count(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    """Return ``BIT_COUNT``: 64 for a number out of range. Source: tidb ``builtinBitCountSig``."""
    (value,) = arguments
    check_integer(value, mode)
    return _BITS if mode.strict and beyond_bigint(value) else bits_of(value).bit_count()


FUNCTIONS = {
    "ABS": Function(_abs, 1, 1, numbers=(0,), type=_absolute_type),
    "ACOS": _real("acos", real_math.acos),
    "ASIN": _real("asin", real_math.asin),
    "ATAN": value_function(_atan, 1, 2, numbers=(0, 1), type=E.DOUBLE),
    "ATAN2": value_function(_atan, 2, numbers=(0, 1), type=E.DOUBLE),
    "BIT_COUNT": Function(_bit_count, 1, 1, type=E.INTEGER),
    "CEIL": value_function(partial(_to_whole, rounding=ROUND_CEILING), 1, numbers=(0,), type=_whole_type),
    "CEILING": value_function(partial(_to_whole, rounding=ROUND_CEILING), 1, numbers=(0,), type=_whole_type),
    "COS": _real("cos", real_math.cos),
    "COT": _real("cot", _cot),
    "DEGREES": _real("degrees", lambda number: number * 180 / math.pi),
    "EXP": _real("exp", real_math.exp),
    "FLOOR": value_function(partial(_to_whole, rounding=ROUND_FLOOR), 1, numbers=(0,), type=_whole_type),
    "LN": _real("ln", real_math.log),
    "LOG": value_function(_log, 1, 2, numbers=(0, 1), type=E.DOUBLE),
    "LOG10": _real("log10", _log10),
    "LOG2": _real("log2", _log2),
    "MOD": Function(_mod, 2, 2, accepts_null=True, numbers=(0, 1), type=_modulo_type),
    "PI": value_function(lambda: math.pi, 0, type=E.DOUBLE),
    "POW": value_function(_power, 2, numbers=(0, 1), type=E.DOUBLE),
    "POWER": value_function(_power, 2, numbers=(0, 1), type=E.DOUBLE),
    "RADIANS": _real("radians", lambda number: number * (math.pi / 180)),
    "ROUND": value_function(_round, 1, 2, numbers=(0,), integers=(1,), type=_rounded_type),
    "SIGN": value_function(_sign, 1, numbers=(0,), type=E.INTEGER),
    "SIN": _real("sin", real_math.sin),
    "SQRT": _real("sqrt", math.sqrt),
    "TAN": _real("tan", real_math.tan),
    "TRUNCATE": value_function(_truncate, 2, numbers=(0,), integers=(1,), type=_rounded_type),
}
