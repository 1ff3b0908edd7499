"""The bounds of a Spark SQL expression, computed from its syntax, and a check that sums fit their column."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import ceil, floor

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from ticdc_producer.errors import ScenarioError
from ticdc_producer.hints import nearest
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import INTEGERS, integer_range
from ticdc_producer.scenario.generate.amounts import check_conditions
from ticdc_producer.scenario.generate.domain import DECIMAL_DIGITS
from ticdc_producer.scenario.generate.plan import ColumnPlan, GeneratePlan

_KINDS = {
    exp.DType.TINYINT: 8,
    exp.DType.SMALLINT: 16,
    exp.DType.INT: 32,
    exp.DType.BIGINT: 64,
}
_FINE = 10**6
"""Quotients of decimals have at least six fraction digits."""
_HINT = "limit it with pmod, or with least and greatest"


@dataclass(frozen=True, slots=True)
class Bounds:
    """Smallest and largest number."""

    low: Fraction
    high: Fraction

    def outward(self, steps: int) -> Bounds:
        """Round the bounds outward to multiples of 1/steps."""
        return Bounds(Fraction(floor(self.low * steps), steps), Fraction(ceil(self.high * steps), steps))

    def or_else(self, other: Bounds) -> Bounds:
        return Bounds(min(self.low, other.low), max(self.high, other.high))

    @property
    def size(self) -> Fraction:
        """The largest absolute value."""
        return max(abs(self.low), abs(self.high))


def bounds_of(text: str, names: Mapping[str, Bounds]) -> Bounds:
    """Compute the bounds of an expression.

    :param names: bounds of the names that it may use.
    :raises ScenarioError: for an invalid expression, or if its bounds cannot be determined.
    """
    try:
        tree = parse_one(text, dialect="spark")
    except SqlglotError as error:
        raise ScenarioError(f"{text!r} is not an expression: {str(error).splitlines()[0]}") from None
    except RecursionError:
        raise ScenarioError(f"{text[:40]!r}… is nested too deeply") from None
    return _of(tree, names)


def _of(node: exp.Expr, names: Mapping[str, Bounds]) -> Bounds:
    if isinstance(node, exp.Column):
        return _named(node, names)
    if isinstance(node, exp.Literal) and not node.is_string:
        number = Fraction(str(node.this))
        return Bounds(number, number)
    if isinstance(node, exp.Cast):
        return _cast(node, names)
    if isinstance(node, exp.Case):
        branches = [branch.args["true"] for branch in node.args["ifs"]]
        return _any([*branches, node.args.get("default")], names)
    if isinstance(node, exp.If):
        return _any([node.args["true"], node.args.get("false")], names)
    if isinstance(node, exp.Anonymous):
        return _function(node, names)
    return _computed(node, names)


def _computed(node: exp.Expr, names: Mapping[str, Bounds]) -> Bounds:
    binary = _BINARY.get(type(node))
    if binary is not None:
        return binary(_of(node.this, names), _of(node.args["expression"], names))
    if isinstance(node, exp.Coalesce):
        return _any([node.this, *node.expressions], names)
    if isinstance(node, exp.Least | exp.Greatest):
        parts = [_of(part, names) for part in (node.this, *node.expressions)]
        pick = min if isinstance(node, exp.Least) else max
        return Bounds(pick(part.low for part in parts), pick(part.high for part in parts))
    unary = _UNARY.get(type(node))
    if unary is not None:
        return unary(_of(node.this, names))
    raise _unknown(node)


def _named(node: exp.Column, names: Mapping[str, Bounds]) -> Bounds:
    bounds = names.get(node.name.lower())
    if bounds is None:
        hint = nearest(node.name, names) or f"available: {', '.join(names)}"
        raise ScenarioError(f"the expression uses the unknown name {node.sql('spark')}", hint=hint)
    return bounds


def _any(nodes: Sequence[exp.Expr | None], names: Mapping[str, Bounds]) -> Bounds:
    """Return the bounds of one of several values; an absent branch is NULL and adds nothing."""
    alternatives = [_of(node, names) for node in nodes if node is not None and not isinstance(node, exp.Null)]
    if len(alternatives) < len(nodes):
        alternatives.append(Bounds(Fraction(0), Fraction(0)))
    return reduce(Bounds.or_else, alternatives)


def _cast(node: exp.Cast, names: Mapping[str, Bounds]) -> Bounds:
    kind = node.to
    if kind.this == exp.DType.DECIMAL:
        sizes = [int(str(size.this)) for size in kind.expressions] or [10]
        scale = sizes[1] if len(sizes) > 1 else 0
        if isinstance(node.this, exp.Literal):  # how a decimal literal is parsed
            number = Fraction(str(node.this.this))
            return Bounds(number, number)
        return _of(node.this, names).outward(10**scale)
    if kind.this in _KINDS:
        inner = _of(node.this, names).outward(1)
        half = 1 << (_KINDS[kind.this] - 1)
        return Bounds(max(inner.low, Fraction(-half)), min(inner.high, Fraction(half - 1)))
    raise _unknown(node)


def _function(node: exp.Anonymous, names: Mapping[str, Bounds]) -> Bounds:
    if str(node.this).lower() == "pmod" and len(node.expressions) == 2:
        by = _of(node.expressions[1], names)
        return Bounds(min(Fraction(0), by.low), by.size)
    raise _unknown(node)


def _product(left: Bounds, right: Bounds) -> Bounds:
    products = [
        left_end * right_end for left_end in (left.low, left.high) for right_end in (right.low, right.high)
    ]
    return Bounds(min(products), max(products))


def _quotient(left: Bounds, right: Bounds) -> Bounds:
    if right.low <= 0 <= right.high:
        raise ScenarioError("the expression may divide by 0", hint=_HINT)
    return _product(left, Bounds(1 / right.high, 1 / right.low)).outward(_FINE)


def _remainder(left: Bounds, right: Bounds) -> Bounds:
    low = -right.size if left.low < 0 else Fraction(0)
    return Bounds(low, right.size if left.high > 0 else Fraction(0))


def _size(of: Bounds) -> Bounds:
    nearest_to_0 = Fraction(0) if of.low <= 0 <= of.high else min(abs(of.low), abs(of.high))
    return Bounds(nearest_to_0, of.size)


_BINARY: dict[type[exp.Expr], Callable[[Bounds, Bounds], Bounds]] = {
    exp.Add: lambda left, right: Bounds(left.low + right.low, left.high + right.high),
    exp.Sub: lambda left, right: Bounds(left.low - right.high, left.high - right.low),
    exp.Mul: _product,
    exp.Div: _quotient,
    exp.IntDiv: lambda left, right: _quotient(left, right).outward(1),
    exp.Mod: _remainder,
}
_UNARY: dict[type[exp.Expr], Callable[[Bounds], Bounds]] = {
    exp.Paren: lambda of: of,
    exp.Neg: lambda of: Bounds(-of.high, -of.low),
    exp.Abs: _size,
    exp.Sign: lambda _: Bounds(Fraction(-1), Fraction(1)),
    exp.Floor: lambda of: of.outward(1),
    exp.Ceil: lambda of: of.outward(1),
    exp.Round: lambda of: of.outward(1),
}


def _unknown(node: exp.Expr) -> ScenarioError:
    return ScenarioError(f"the bounds of {node.sql('spark')!r} cannot be determined", hint=_HINT)


_LONG = Bounds(Fraction(-(1 << 63)), Fraction((1 << 63) - 1))


def check_added(plan: GeneratePlan, column: ColumnPlan) -> None:
    """Check the worst case: every update hits the same row and adds the largest amount.

    :raises ScenarioError: without file and line, if a value might leave the column's range.
    """
    each = bounds_of(column.adds, _names(plan))
    check_conditions(column.adds)
    most = _updates(plan, column)
    if column.column.type in INTEGERS:
        each = each.outward(1)
    low, high = most * min(each.low, Fraction(0)), most * max(each.high, Fraction(0))
    unit = Fraction(1, 10 ** min(_scale(column.column), DECIMAL_DIGITS))
    first = Bounds(column.low * unit, column.high * unit)
    room = _room(column.column)
    fits = first.low + low >= room.low and first.high + high <= room.high
    if not fits or low < _LONG.low or high > _LONG.high:
        reached = first.low + low if first.low + low < room.low else first.high + high
        what = (
            f"column {column.column.name!r} may reach {float(reached):.6g}: "
            f"{most} updates of one row, if all hit the same row"
        )
        hint = "set min and max, use a wider type, or fewer transactions"
        raise ScenarioError(what, column=column.column.name, hint=hint)


def _updates(plan: GeneratePlan, column: ColumnPlan) -> int:
    """Return the maximum number of updates of a row."""
    if not plan.each:
        return plan.events - plan.rows
    named = sum(column.offset in step.updates for step in plan.each)
    return min(plan.transactions * named, plan.table_picks)


def _names(plan: GeneratePlan) -> dict[str, Bounds]:
    counted = {
        "row": (0, plan.all_rows - 1),
        "transaction": (plan.step_commit, plan.commits_after - 1),
        "place": (0, plan.rows_per_transaction - 1),
    }
    return {name: Bounds(Fraction(low), Fraction(high)) for name, (low, high) in counted.items()} | {
        "draw": _LONG
    }


def _scale(column: ColumnInfo) -> int:
    return 0 if column.type in INTEGERS else max(column.decimal, 0)


def _room(column: ColumnInfo) -> Bounds:
    if column.type in INTEGERS:
        low, high = integer_range(column.type, unsigned=column.unsigned)
        return Bounds(Fraction(low), Fraction(high))
    most = Fraction(10**column.length - 1, 10 ** _scale(column))
    return Bounds(Fraction(0) if column.unsigned else -most, most)
