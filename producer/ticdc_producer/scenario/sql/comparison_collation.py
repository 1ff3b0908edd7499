"""The collation of a comparison of strings.

Rules: tidb ``pkg/expression/collation.go``, in short: an explicit COLLATE, otherwise a column's collation.
"""

from __future__ import annotations

from functools import reduce

from sqlglot import exp

from ticdc_producer.model.collation import charset_of
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
    found = ""
    for child in node.iter_expressions():
        if isinstance(child, exp.Collate):
            return collation_of(child, scope)
        found = merged_collation(found, collation_of(child, scope))
    return found


def merged_collation(one: str, other: str) -> str:
    """The collation for two operands; of two collations the binary one, as TiDB's ``inferCollation`` has it.

    :param one: empty for an operand that gives none.
    """
    if not one or not other or one == other:
        return one or other
    return next((name for name in (one, other) if name.endswith("_bin")), f"{charset_of(one)}_bin")


def shared_collation(node: exp.Expr, scope: Scope) -> str:
    """The collation for comparing the two operands of a node; an explicit COLLATE has precedence."""
    operands = [node.this, node.expression]
    explicit = next((side for side in operands if isinstance(side, exp.Collate)), None)
    if explicit is not None:
        return collation_of(explicit, scope)
    names = [collation_of(side, scope) for side in operands if isinstance(side, exp.Expr)]
    return reduce(merged_collation, names, "") or DEFAULT_COLLATION
