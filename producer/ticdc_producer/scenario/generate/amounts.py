"""The values of ``adds``: exact numbers of an SQL expression, computed on columns.

``bounds`` reads the same expressions and rejects all others. Numbers are integers with a decimal scale: 64
bits wide while they fit, else Python's. Quotients have six fraction digits, or those of the dividend if these
are more; they are rounded half away from zero, as casts are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache, reduce
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sqlglot import exp, parse_one

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column_functions import Flags
from ticdc_producer.scenario.generate.arrays import Longs

Units: TypeAlias = npt.NDArray[np.int64]
"""Integers: ``int64``, or Python's if they are larger."""
NAMES = ("row", "transaction", "place", "draw")
"""The names that an expression can use."""
_QUOTIENT_SCALE = 6
_FITS = 1 << 62


@dataclass(frozen=True, slots=True)
class Amounts:
    """Numbers with a decimal scale.

    :param units: the numbers without their decimal point.
    :param null: whether each number is NULL.
    """

    units: Units
    scale: int
    null: Flags

    def at(self, scale: int) -> Amounts:
        """Return the numbers with another scale, rounded half away from zero.

        >>> numbers = Amounts(np.array([125, -125]), 2, np.array([False, False]))
        >>> numbers.at(1).units.tolist()
        [13, -13]
        """
        if scale >= self.scale:
            return Amounts(_times(self.units, 10 ** (scale - self.scale)), scale, self.null)
        return Amounts(_rounded_quotient(self.units, 10 ** (self.scale - scale)), scale, self.null)

    def whole(self) -> Amounts:
        """Return the numbers without their fraction digits."""
        return Amounts(_truncated_quotient(self.units, 10**self.scale), 0, self.null)


Names: TypeAlias = Mapping[str, Longs]
_Condition: TypeAlias = tuple[Flags, Flags]
"""For each row, whether a condition is true, and whether it is NULL."""


@lru_cache
def parsed(text: str) -> exp.Expr:
    """Parse an expression whose bounds are known."""
    return parse_one(text, dialect="spark")


def check_conditions(text: str) -> None:
    """Check that an expression can be evaluated, including its conditions.

    :raises ScenarioError: for a part that cannot be evaluated.
    """
    evaluated(parsed(text), dict.fromkeys(NAMES, np.zeros(1, np.int64)))


def evaluated(tree: exp.Expr, names: Names) -> Amounts:
    """Evaluate an expression in each row.

    >>> evaluated(parsed("greatest(row, 2) / 4"), {"row": np.array([1, 5])}).units.tolist()
    [500000, 1250000]

    :param tree: an expression whose bounds are known.
    :param names: the columns that it may use; at least one.
    :raises ScenarioError: for a condition or function that is not supported.
    """
    if isinstance(tree, exp.Column):
        return _amounts(names[tree.name.lower()])
    if isinstance(tree, exp.Literal):
        return _constant(Decimal(str(tree.this)), names)
    if isinstance(tree, exp.Null):
        nothing = _constant(Decimal(0), names)
        return Amounts(nothing.units, 0, np.ones(len(nothing.null), bool))
    if isinstance(tree, exp.Cast):
        return _cast(tree, names)
    if isinstance(tree, exp.If):
        return _branches([tree], None if tree.args.get("false") is None else tree.args["false"], names)
    if isinstance(tree, exp.Case):
        return _branches(_conditions_of(tree), tree.args.get("default"), names)
    return _computed(tree, names)


def _computed(tree: exp.Expr, names: Names) -> Amounts:
    unary = _UNARY.get(type(tree))
    if unary is not None:
        return unary(evaluated(tree.this, names))
    if isinstance(tree, exp.Round):
        digits = tree.args.get("decimals")
        return evaluated(tree.this, names).at(0 if digits is None else max(int(str(digits)), 0))
    binary = _BINARY.get(type(tree))
    if binary is not None:
        return _applied(binary, evaluated(tree.this, names), evaluated(tree.args["expression"], names))
    if isinstance(tree, exp.Anonymous) and _is_pmod(tree):
        dividend, divisor = (evaluated(part, names) for part in tree.expressions)
        return _applied(_positive_remainder, dividend, divisor)
    combine = _VARIADIC.get(type(tree))
    if combine is None:
        what = f"the expression {tree.sql('spark')!r} is not supported"
        raise ScenarioError(what, hint="use arithmetic, CASE, if, coalesce, least and greatest")
    return reduce(combine, [evaluated(part, names) for part in (tree.this, *tree.expressions)])


def _is_pmod(tree: exp.Anonymous) -> bool:
    """Return whether a function that sqlglot does not know is ``pmod``."""
    return str(tree.this).lower() == "pmod" and len(tree.expressions) == 2


def _amounts(numbers: Longs) -> Amounts:
    return Amounts(numbers, 0, np.zeros(len(numbers), bool))


def _constant(number: Decimal, names: Names) -> Amounts:
    rows = len(next(iter(names.values())))
    scale = max(0, -int(number.as_tuple().exponent))
    units = int(number.scaleb(scale))
    kind: type = np.int64 if abs(units) < _FITS else object
    return Amounts(np.full(rows, units, kind), scale, np.zeros(rows, bool))


def _cast(tree: exp.Cast, names: Names) -> Amounts:
    inner = tree.this
    if isinstance(inner, exp.Literal) and inner.is_string:  # how sqlglot reads a decimal literal
        return _constant(Decimal(str(inner.this)), names)
    amounts = evaluated(inner, names)
    if tree.to.this != exp.DType.DECIMAL:
        return amounts.whole()
    sizes = [int(str(size.this)) for size in tree.to.expressions]
    return amounts.at(sizes[1] if len(sizes) > 1 else 0)


def _conditions_of(tree: exp.Case) -> list[exp.Expr]:
    """Return the branches of CASE, each with a condition."""
    branches: list[exp.Expr] = tree.args["ifs"]
    if tree.this is None:
        return branches
    return [
        exp.If(this=exp.EQ(this=tree.this, expression=branch.this), true=branch.args["true"])
        for branch in branches
    ]


def _branches(branches: Sequence[exp.Expr], default: exp.Expr | None, names: Names) -> Amounts:
    amounts = evaluated(exp.Null() if default is None else default, names)
    for branch in reversed(branches):
        holds, _ = _condition(branch.this, names)
        amounts = _selected(holds, evaluated(branch.args["true"], names), amounts)
    return amounts


def _condition(tree: exp.Expr, names: Names) -> _Condition:
    if isinstance(tree, exp.Paren):
        return _condition(tree.this, names)
    if isinstance(tree, exp.Not):
        holds, null = _condition(tree.this, names)
        return ~holds & ~null, null
    if isinstance(tree, exp.And | exp.Or):
        (left_holds, left_null), (right_holds, right_null) = (
            _condition(part, names) for part in (tree.left, tree.right)
        )
        left_fails, right_fails = ~left_holds & ~left_null, ~right_holds & ~right_null
        if isinstance(tree, exp.And):
            holds, fails = left_holds & right_holds, left_fails | right_fails
        else:
            holds, fails = left_holds | right_holds, left_fails & right_fails
        return holds, ~holds & ~fails
    if isinstance(tree, exp.Between):
        low = exp.GTE(this=tree.this, expression=tree.args["low"])
        return _condition(
            exp.And(this=low, expression=exp.LTE(this=tree.this, expression=tree.args["high"])), names
        )
    if isinstance(tree, exp.In) and tree.expressions:
        equal: list[exp.Expr] = [exp.EQ(this=tree.this, expression=member) for member in tree.expressions]
        return _condition(reduce(lambda left, right: exp.Or(this=left, expression=right), equal), names)
    if isinstance(tree, exp.Is) and isinstance(tree.expression, exp.Null):
        null = evaluated(tree.this, names).null
        return null, np.zeros(len(null), bool)
    compare = _COMPARISONS.get(type(tree))
    if compare is None:
        what = f"the condition {tree.sql('spark')!r} is not supported"
        raise ScenarioError(what, hint="use comparisons, IN, BETWEEN, IS NULL, AND, OR and NOT")
    left_amounts, right_amounts = _aligned(
        evaluated(tree.this, names), evaluated(tree.args["expression"], names)
    )
    null = left_amounts.null | right_amounts.null
    return compare(left_amounts.units, right_amounts.units).astype(bool) & ~null, null


def _selected(condition: Flags, left: Amounts, right: Amounts) -> Amounts:
    """Return ``left`` where the condition is true, otherwise ``right``."""
    left, right = _aligned(left, right)
    null = np.where(condition, left.null, right.null)
    return Amounts(np.where(condition, left.units, right.units), left.scale, null)


def _extreme(function: Callable[[Units, Units], Units], left: Amounts, right: Amounts) -> Amounts:
    """Return the smaller or larger number; NULL is ignored."""
    left, right = _aligned(left, right)
    units = np.where(
        left.null, right.units, np.where(right.null, left.units, function(left.units, right.units))
    )
    return Amounts(units, left.scale, left.null & right.null)


def _aligned(left: Amounts, right: Amounts) -> tuple[Amounts, Amounts]:
    scale = max(left.scale, right.scale)
    return left.at(scale), right.at(scale)


_Binary: TypeAlias = Callable[[Amounts, Amounts], tuple[Units, int]]
"""Returns the units and the scale of a result; NULL is handled by the caller."""


def _applied(function: _Binary, left: Amounts, right: Amounts) -> Amounts:
    units, scale = function(left, right)
    return Amounts(units, scale, left.null | right.null)


def _sum(left: Amounts, right: Amounts) -> tuple[Units, int]:
    left, right = _aligned(left, right)
    return _wide(left.units, 2) + _wide(right.units, 2), left.scale


def _difference(left: Amounts, right: Amounts) -> tuple[Units, int]:
    left, right = _aligned(left, right)
    return _wide(left.units, 2) - _wide(right.units, 2), left.scale


def _product(left: Amounts, right: Amounts) -> tuple[Units, int]:
    return _wide(left.units, _size(right.units)) * right.units, left.scale + right.scale


def _quotient(left: Amounts, right: Amounts) -> tuple[Units, int]:
    scale = max(_QUOTIENT_SCALE, left.scale)
    return _rounded_quotient(left.at(scale + right.scale).units, right.units), scale


def _whole_quotient(left: Amounts, right: Amounts) -> tuple[Units, int]:
    left, right = _aligned(left, right)
    return _truncated_quotient(left.units, right.units), 0


def _remainder(left: Amounts, right: Amounts) -> tuple[Units, int]:
    """Compute the remainder, with the sign of the dividend."""
    left, right = _aligned(left, right)
    return _remainder_of(left.units, right.units), left.scale


def _positive_remainder(left: Amounts, right: Amounts) -> tuple[Units, int]:
    left, right = _aligned(left, right)
    return left.units % np.abs(right.units), left.scale


def _rounded_quotient(dividend: Units, divisor: Units | int) -> Units:
    """Divide, rounding half away from zero.

    >>> _rounded_quotient(np.array([7, -7, 5]), 2).tolist()
    [4, -4, 3]
    """
    size = 2 * np.abs(_wide(np.asarray(divisor), 2))
    dividend = _wide(dividend, 4)
    absolute = (2 * np.abs(dividend) + size // 2) // size
    rounded: Units = np.where((dividend < 0) != (np.asarray(divisor) < 0), -absolute, absolute)
    return rounded


def _truncated_quotient(dividend: Units, divisor: Units | int) -> Units:
    quotient: Units = (dividend - _remainder_of(dividend, divisor)) // divisor
    return quotient


def _remainder_of(dividend: Units, divisor: Units | int) -> Units:
    """Compute the remainder, with the sign of the dividend.

    >>> _remainder_of(np.array([7, -7]), 3).tolist()
    [1, -1]
    """
    if dividend.dtype != object and np.asarray(divisor).dtype != object:
        remainder: Units = np.fmod(dividend, divisor)
        return remainder
    size = np.abs(dividend) % np.abs(np.asarray(divisor))
    signed: Units = np.where(dividend < 0, -size, size)
    return signed


def _times(units: Units, factor: int) -> Units:
    product: Units = units if factor == 1 else _wide(units, factor) * factor
    return product


def _wide(units: Units, factor: int) -> Units:
    """Convert numbers to Python's integers if their products with the factor do not fit 64 bits."""
    fits = units.dtype == object or _size(units) * factor < _FITS
    wide: Units = units if fits else units.astype(object)
    return wide


def _size(units: Units) -> int:
    """Return the largest absolute value."""
    return max(int(units.max(initial=0)), -int(units.min(initial=0)))


_BINARY: dict[type[exp.Expr], _Binary] = {
    exp.Add: _sum,
    exp.Sub: _difference,
    exp.Mul: _product,
    exp.Div: _quotient,
    exp.IntDiv: _whole_quotient,
    exp.Mod: _remainder,
}
_UNARY: dict[type[exp.Expr], Callable[[Amounts], Amounts]] = {
    exp.Paren: lambda of: of,
    exp.Neg: lambda of: Amounts(-_wide(of.units, 2), of.scale, of.null),
    exp.Abs: lambda of: Amounts(np.abs(_wide(of.units, 2)), of.scale, of.null),
    exp.Sign: lambda of: Amounts(np.sign(_wide(of.units, 2)), 0, of.null),
    exp.Floor: lambda of: Amounts(of.units // 10**of.scale, 0, of.null),
    exp.Ceil: lambda of: Amounts(-(-_wide(of.units, 2) // 10**of.scale), 0, of.null),
}
_VARIADIC: dict[type[exp.Expr], Callable[[Amounts, Amounts], Amounts]] = {
    exp.Coalesce: lambda left, right: _selected(~left.null, left, right),
    exp.Least: lambda left, right: _extreme(np.minimum, left, right),
    exp.Greatest: lambda left, right: _extreme(np.maximum, left, right),
}
_COMPARISONS: dict[type[exp.Expr], Callable[[Units, Units], Any]] = {
    exp.EQ: np.equal,
    exp.NEQ: np.not_equal,
    exp.LT: np.less,
    exp.LTE: np.less_equal,
    exp.GT: np.greater,
    exp.GTE: np.greater_equal,
}
