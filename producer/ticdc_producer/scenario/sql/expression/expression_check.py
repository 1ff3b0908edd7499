"""Checks expressions before any row is changed: every node has a rule, and every name a meaning."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.values.collation import KNOWN
from ticdc_producer.scenario.sql.expression.call_normalizer import (
    AGGREGATES,
    FunctionCall,
    aggregate_of,
    column_name,
    normalized_call,
)
from ticdc_producer.scenario.sql.expression.cast import target_of
from ticdc_producer.scenario.sql.expression.compare import collation_of
from ticdc_producer.scenario.sql.expression.evaluate import (
    OF_CONTEXT,
    RULES,
    SESSION_FUNCTIONS,
    no_rule_error,
)
from ticdc_producer.scenario.sql.expression.literal import LITERALS, is_typed_literal
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.functions import function_named


def check_expression(node: exp.Expr, scope: Scope) -> None:
    """Check an expression before any row is changed.

    :raises UnsupportedSQL: for a kind of node or function that is not in our tables.
    :raises ScenarioError: for a column or collation that does not exist, or a wrong number of arguments.
    """
    waiting = [node]
    while waiting:
        waiting.extend(_checked_parts(waiting.pop(), scope))


def _checked_parts(node: exp.Expr, scope: Scope) -> Iterable[exp.Expr]:
    """Check one node alone; return its child nodes, which remain to be checked."""
    call = normalized_call(node)
    if call is not None:
        return _checked_arguments(call, node, scope)
    kind = type(node)
    if kind in LITERALS:
        return ()
    if kind not in RULES:
        raise no_rule_error(node)
    if kind in OF_CONTEXT or (kind is exp.In and node.args.get("query") is not None):
        return scope.required_context(node).check(node, scope)
    if isinstance(node, exp.Column):
        name = column_name(node)
        if not scope.knows(*name):
            raise scope.unknown_column(*name)
        return ()
    if isinstance(node, exp.GroupConcat | exp.JSONObjectAgg):
        return _checked_aggregate(node, scope)
    if isinstance(node, exp.Cast):
        if not is_typed_literal(node):
            target_of(node.args["to"])
        return (node.this,)
    if isinstance(node, exp.Collate):
        _known_collation(collation_of(node, scope))
        return (node.this,)
    return node.iter_expressions()


def _checked_arguments(call: FunctionCall, node: exp.Expr, scope: Scope) -> Iterable[exp.Expr]:
    if call.name == "VALUES":
        if len(call.arguments) != 1 or not isinstance(call.arguments[0], exp.Column | exp.Identifier):
            raise ScenarioError("SQL does not parse: VALUES() needs the name of one column")
        return ()
    if call.name == "DEFAULT":
        if len(call.arguments) != 1 or not isinstance(call.arguments[0], exp.Column):
            raise ScenarioError("SQL does not parse: DEFAULT() needs the name of one column")
        return call.arguments
    if call.name in AGGREGATES:
        return _checked_aggregate(node, scope)
    if call.name in SESSION_FUNCTIONS:
        scope.required_context(node)
        if len(call.arguments) > SESSION_FUNCTIONS[call.name]:
            raise ScenarioError(f"Incorrect parameter count in the call to {call.name}()")
        return call.arguments
    function_named(call.name).check(call.name, len(call.arguments))
    return call.arguments


def _checked_aggregate(node: exp.Expr, scope: Scope) -> Iterable[exp.Expr]:
    scope.check_aggregate()
    aggregate = aggregate_of(node)
    if aggregate is None:
        return ()
    if any(aggregate_of(inner) for argument in aggregate.arguments for inner in argument.walk()):
        raise ScenarioError("Invalid use of group function")
    return (*aggregate.arguments, *(ordered.this for ordered in aggregate.order))


def _known_collation(name: str) -> None:
    if name not in KNOWN:
        raise UnsupportedSQL(f"the collation {name} is not supported")
