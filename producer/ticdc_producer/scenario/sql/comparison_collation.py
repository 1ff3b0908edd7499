"""The collation of a comparison of strings.

Rules: tidb ``pkg/expression/collation.go``, in short: an explicit COLLATE, otherwise a column's collation.
"""

from __future__ import annotations

from sqlglot import exp

from ticdc_producer.scenario.sql.scope import Scope

DEFAULT_COLLATION = "utf8mb4_bin"
SUBQUERIES = (exp.Query, exp.Exists, exp.Any, exp.All)
"""Nodes that contain a query, whose columns are not those of the scope around it."""


def collation_of(node: exp.Expr, scope: Scope) -> str:
    """The collation that this operand gives a comparison; empty if it gives none.

    It is an explicit COLLATE, otherwise the collation of a column; literals have none.
    """
    if isinstance(node, exp.Collate):
        return str(node.expression.name).lower()
    if isinstance(node, exp.Column):
        return scope.collation(node.name, node.text("table"), node.text("db"))
    if isinstance(node, SUBQUERIES):
        return scope.required_context(node).collation(node, scope)
    return next((found for child in node.iter_expressions() if (found := collation_of(child, scope))), "")


def shared_collation(node: exp.Expr, scope: Scope) -> str:
    """The collation for comparing the two operands of a node; an explicit COLLATE has precedence."""
    operands = [node.this, node.expression]
    explicit = next((side for side in operands if isinstance(side, exp.Collate)), None)
    if explicit is not None:
        return collation_of(explicit, scope)
    found = (collation_of(side, scope) for side in operands if isinstance(side, exp.Expr))
    return next((name for name in found if name), DEFAULT_COLLATION)
