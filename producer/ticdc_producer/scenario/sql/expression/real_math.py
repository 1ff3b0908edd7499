"""Functions of a DOUBLE with the last digits of Go's library, which differ from those of C's.

Rules: Go ``math/sin.go``, ``tan.go``, ``atan.go``, ``asin.go``, ``trig_reduce.go``, ``log.go``, ``pow.go``,
``exp_amd64.s``. The coefficients are those of Cephes and of FreeBSD, which Go uses.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

_SIN = (
    1.58962301576546568060e-10, -2.50507477628578072866e-8, 2.75573136213857245213e-6,
    -1.98412698295895385996e-4, 8.33333333332211858878e-3, -1.66666666666666307295e-1,
)  # fmt: skip
_COS = (
    -1.13585365213876817300e-11, 2.08757008419747316778e-9, -2.75573141792967388112e-7,
    2.48015872888517045348e-5, -1.38888888888730564116e-3, 4.16666666666665929218e-2,
)  # fmt: skip
_TAN = (-1.30936939181383734205e4, 1.15351664838587416140e6, -1.79565251976484877988e7)
_TAN_DIVISOR = (1.0, 1.36812963470692954678e4, -1.32089234440210967447e6, 2.50083801823357915839e7,
                -5.38695755929454629881e7)  # fmt: skip
_ATAN = (-8.750608600031904122785e-01, -1.615753718733365076637e01, -7.500855792314704667340e01,
         -1.228866684490136173410e02, -6.485021904942025371773e01)  # fmt: skip
_ATAN_DIVISOR = (1.0, 2.485846490142306297962e01, 1.650270098316988542046e02, 4.328810604912902668951e02,
                 4.853903996359136964868e02, 1.945506571482613964425e02)  # fmt: skip
_QUARTER_PI = (7.85398125648498535156e-1, 3.77489470793079817668e-8, 2.69515142907905952645e-15)
"""A quarter of π in three parts, whose sum is more precise than a DOUBLE."""
_LOG_ODD = (1.479819860511658591e-01, 1.818357216161805012e-01, 2.857142874366239149e-01,
            6.666666666666735130e-01)  # fmt: skip
_LOG_EVEN = (1.531383769920937332e-01, 2.222219843214978396e-01, 3.999999999940941908e-01)
_EXP = tuple(1 / divisor for divisor in (40320.0, 5040.0, 720.0, 120.0, 24.0, 6.0, 2.0, 1.0))
_LN_2, _LN_2_REST = 6.93147180369123816490e-01, 1.90821492927058770002e-10
"""The logarithm of 2 in two parts, for ``log``."""
_EXP_LN_2, _EXP_LN_2_REST = 0.69314718055966295651160180568695068359375, 0.28235290563031577122588448175e-12
"""The logarithm of 2 in two parts, for ``exp``."""
_LARGEST_POWER = 1 << 12
_LARGE = 1 << 29
"""From here on an argument is reduced with more digits of π."""
_PI = Decimal(
    "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798"
    "21480865132823066470938446095505822317253594081284811174502841027019385211055596446229489549303819644288"
    "10975665933446128475648233786783165271201909145648566923460348610454326648213393607260249141273724587006"
    "6063155881748815209209628292540917153643678925903600113305305488204665213841469519415116094330572703657596"
)
_FOUR_BY_PI = 4 / Fraction(_PI)


def sin(number: float) -> float:
    octant, rest = _reduced(abs(number))
    value = _cos_of(rest) if octant % 4 in (1, 2) else _sin_of(rest)
    return -value if (octant > 3) != (number < 0) else value


def cos(number: float) -> float:
    octant, rest = _reduced(abs(number))
    value = _sin_of(rest) if octant % 4 in (1, 2) else _cos_of(rest)
    return -value if (octant > 3) != (octant % 4 > 1) else value


def tan(number: float) -> float:
    octant, rest = _reduced(abs(number))
    square = rest * rest
    value = rest
    if square > 1e-14:
        value = rest + rest * (square * _polynomial(_TAN, square) / _polynomial(_TAN_DIVISOR, square))
    if octant & 2:
        value = -1 / value
    return -value if number < 0 else value


def atan(number: float) -> float:
    if number == 0:
        return number
    return _positive_atan(number) if number > 0 else -_positive_atan(-number)


def atan2(y: float, x: float) -> float:
    """Return the angle of a point; zeros and infinite coordinates as in C."""
    if 0.0 in (x, y) or not (math.isfinite(x) and math.isfinite(y)):
        return math.atan2(y, x)
    angle = atan(y / x)
    if x > 0:
        return angle
    return angle + math.pi if angle <= 0 else angle - math.pi


def asin(number: float) -> float:
    """Return the inverse of a sine.

    :raises ValueError: for a number beyond ±1.
    """
    size = abs(number)
    if number == 0:
        return number
    other = math.sqrt(1 - size * size)
    angle = math.pi / 2 - _positive_atan(other / size) if size > 0.7 else _positive_atan(size / other)
    return -angle if number < 0 else angle


def acos(number: float) -> float:
    return math.pi / 2 - asin(number)


def log(number: float) -> float:
    """Return the natural logarithm.

    :raises ValueError: for a number that is not positive.
    """
    if number <= 0:
        raise ValueError("a logarithm needs a positive number")
    fraction, power = math.frexp(number)
    if fraction < math.sqrt(2) / 2:
        fraction, power = fraction * 2, power - 1
    rest = fraction - 1
    part = rest / (2 + rest)
    square = part * part
    fourth = square * square
    series = square * _polynomial(_LOG_ODD, fourth) + fourth * _polynomial(_LOG_EVEN, fourth)
    half = 0.5 * rest * rest
    return power * _LN_2 - ((half - (part * (half + series) + power * _LN_2_REST)) - rest)


def exp(number: float) -> float:
    """Return e to a power.

    :raises OverflowError: if it is not a DOUBLE.
    """
    if abs(number) > 800:
        return math.exp(number)
    power = round(number * 1.4426950408889634)
    rest = _fused(-power, _EXP_LN_2_REST, _fused(-power, _EXP_LN_2, number)) * 0.0625
    value = _EXP[0]
    for coefficient in _EXP[1:]:
        value = _fused(value, rest, coefficient)
    value *= rest
    for _ in range(3):
        value *= value + 2
    return math.ldexp(_fused(value + 2, value, 1.0), power)


def _fused(factor: float, other: float, addend: float) -> float:
    """Return a sum with a product that is not rounded by itself."""
    return float(Fraction(factor) * Fraction(other) + Fraction(addend))


def power(base: float, exponent: float) -> float:
    """Return a power.

    :raises ValueError: for a fractional power of a negative number.
    :raises OverflowError: if it is not a DOUBLE.
    """
    fraction, whole = math.modf(abs(exponent))
    if base in (0, 1) or exponent in (0, 1, 0.5, -0.5) or whole >= 1 << 63 or (fraction and base < 0):
        return math.pow(base, exponent)
    result, twos, bits = 1.0, 0, int(whole)
    if fraction:
        if fraction > 0.5:
            fraction, bits = fraction - 1, bits + 1
        result = exp(fraction * log(base))
    factor, power_of_factor = math.frexp(base)
    while bits:
        if abs(power_of_factor) > _LARGEST_POWER:
            twos += power_of_factor
            break
        if bits & 1:
            result, twos = result * factor, twos + power_of_factor
        factor, power_of_factor = factor * factor, power_of_factor * 2
        if factor < 0.5:
            factor, power_of_factor = factor * 2, power_of_factor - 1
        bits >>= 1
    return math.ldexp(1 / result, -twos) if exponent < 0 else math.ldexp(result, twos)


def _reduced(number: float) -> tuple[int, float]:
    """Return the octant of the circle, made even, and the distance from it in radians."""
    if number >= _LARGE:
        return _reduced_exactly(number)
    octant = int(number * (4 / math.pi))
    octant += octant & 1
    rest = number
    for part in _QUARTER_PI:
        rest -= octant * part
    return octant & 7, rest


def _reduced_exactly(number: float) -> tuple[int, float]:
    octants = Fraction(number) * _FOUR_BY_PI
    octant, rest = int(octants), octants - int(octants)
    bits = 53 - math.frexp(float(rest))[1]
    part = math.ldexp(int(rest * (1 << bits)), -bits)  # cut, not rounded
    if octant & 1:
        octant, part = octant + 1, part - 1
    return octant & 7, part * (math.pi / 4)


def _sin_of(rest: float) -> float:
    square = rest * rest
    return rest + rest * square * _polynomial(_SIN, square)


def _cos_of(rest: float) -> float:
    square = rest * rest
    return 1.0 - 0.5 * square + square * square * _polynomial(_COS, square)


def _positive_atan(number: float) -> float:
    if number <= 0.66:
        return _small_atan(number)
    if number > 2.41421356237309504880:
        return math.pi / 2 - _small_atan(1 / number) + 6.123233995736765886130e-17
    return math.pi / 4 + _small_atan((number - 1) / (number + 1)) + 0.5 * 6.123233995736765886130e-17


def _small_atan(number: float) -> float:
    square = number * number
    return number + number * (square * _polynomial(_ATAN, square) / _polynomial(_ATAN_DIVISOR, square))


def _polynomial(coefficients: Sequence[float], argument: float) -> float:
    value = coefficients[0]
    for coefficient in coefficients[1:]:
        value = value * argument + coefficient
    return value
