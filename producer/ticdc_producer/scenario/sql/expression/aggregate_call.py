"""Calls of aggregate functions in a syntax tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.functions.aggregate import AGGREGATES, AggregateFunction


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A call of an aggregate function.

    :param arguments: empty for ``COUNT(*)``.
    :param distinct: whether equal arguments count once.
    :param order: ORDER BY of GROUP_CONCAT.
    :param separator: SEPARATOR of GROUP_CONCAT.
    """

    name: str
    arguments: tuple[exp.Expr, ...]
    distinct: bool = False
    order: tuple[exp.Expr, ...] = ()
    separator: str = ","

    @property
    def function(self) -> AggregateFunction:
        return AGGREGATES[self.name]


def aggregate_of(node: exp.Expr) -> Aggregate | None:
    """Return the aggregate call of a group that a node represents; None if it represents none.

    :raises ScenarioError: for a wrong number of arguments, or DISTINCT where TiDB does not accept it.
    """
    return None if isinstance(node.parent, exp.Window) and node.arg_key == "this" else aggregate_call(node)


def aggregate_call(node: exp.Expr) -> Aggregate | None:
    """Return the call of an aggregate function that a node represents, with OVER or without it.

    :raises ScenarioError: for a wrong number of arguments, or DISTINCT where TiDB does not accept it.
    """
    if isinstance(node, exp.GroupConcat):
        return _checked(_group_concat(node))
    if isinstance(node, exp.JSONObjectAgg):
        (pair,) = node.expressions
        return Aggregate("JSON_OBJECTAGG", (pair.this, pair.expression))
    name = str(node.this).upper() if isinstance(node, exp.Anonymous) else ""
    if name not in AGGREGATES:
        return None
    arguments, distinct = _without_distinct(node.expressions)
    if name == "COUNT" and len(arguments) == 1 and isinstance(arguments[0], exp.Star) and not distinct:
        return Aggregate(name, ())
    return _checked(Aggregate(name, arguments, distinct))


def own_nodes(tree: exp.Expr) -> Iterator[exp.Expr]:
    """Iterate over the nodes of an expression, without those inside its subqueries."""
    return tree.walk(prune=lambda node: isinstance(node, exp.Query))


def aggregates_in(tree: exp.Expr) -> Iterator[tuple[exp.Expr, Aggregate]]:
    """Yield the aggregate calls of an expression, without those inside its subqueries."""
    for node in own_nodes(tree):
        call = aggregate_of(node)
        if call is not None:
            yield node, call


def _checked(call: Aggregate) -> Aggregate:
    function, count = call.function, len(call.arguments)
    most = -1 if call.name == "COUNT" and call.distinct else function.max_arguments
    if count < function.min_arguments or 0 <= most < count:
        raise ScenarioError(f"Incorrect parameter count in the call to {call.name}()")
    if call.distinct and not function.takes_distinct:
        raise ScenarioError(f"SQL does not parse: {call.name} does not take DISTINCT")
    return call


def _without_distinct(arguments: list[exp.Expr]) -> tuple[tuple[exp.Expr, ...], bool]:
    if len(arguments) == 1 and isinstance(arguments[0], exp.Distinct):
        return tuple(arguments[0].expressions), True
    return tuple(arguments), False


def _by_position(ordered: exp.Expr, parts: tuple[exp.Expr, ...]) -> exp.Expr:
    """Return a term of ORDER BY of GROUP_CONCAT; a whole number means an argument.

    :raises ScenarioError: if there is no such argument.
    """
    number = ordered.this
    if not isinstance(number, exp.Literal) or number.is_string or not str(number.this).isdecimal():
        return ordered
    if not 0 < int(number.this) <= len(parts):
        raise ScenarioError(f"Unknown column {number.this!r} in 'order clause'", column=str(number.this))
    return exp.Ordered(this=parts[int(number.this) - 1].copy(), desc=ordered.args.get("desc"))


def _group_concat(node: exp.GroupConcat) -> Aggregate:
    inner, separator = node.this, node.args.get("separator")
    order: tuple[exp.Expr, ...] = ()
    if isinstance(inner, exp.Order):
        inner, order = inner.this, tuple(inner.expressions)
    parts, distinct = _without_distinct([inner])
    # sqlglot turns several arguments into a Concat node; the function CONCAT remains a call by name.
    if len(parts) == 1 and isinstance(parts[0], exp.Concat):
        parts = tuple(parts[0].expressions)
    order = tuple(_by_position(ordered, parts) for ordered in order)
    return Aggregate(
        "GROUP_CONCAT", parts, distinct, order, "," if separator is None else str(separator.this)
    )
