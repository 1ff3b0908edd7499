"""Scalar subqueries whose HAVING leaves no row, and that are computed of no rows then.

TiDB groups the rows of such a subquery by the columns of its WHERE that equal columns around it, and joins
the groups. HAVING is a condition of that join, and the SELECT list is computed after it: without a group
COUNT is 0 instead of NULL. Source: tidb ``DecorrelateSolver.Optimize``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlglot import exp

from ticdc_producer.scenario.sql.expression.aggregate_call import aggregates_in
from ticdc_producer.scenario.sql.expression.collation import collation_of
from ticdc_producer.scenario.sql.expression.evaluate import type_of
from ticdc_producer.scenario.sql.expression.function_call import column_name
from ticdc_producer.scenario.sql.query.scope import QueryScope
from ticdc_producer.scenario.sql.store.lookup import joined_by_and


def joins_groups(
    tree: exp.Expr,
    conditions: Iterable[exp.Expr],
    items: Iterable[exp.Expr],
    having: exp.Expr,
    aliases: Mapping[str, exp.Expr],
    scope: QueryScope,
) -> bool:
    """Return whether TiDB joins the groups of a query without GROUP BY with the rows around it.

    :param conditions: those of the joins of FROM.
    :param aliases: what names mean in HAVING, in lower case.
    """
    where = tree.args.get("where")
    if where is None or tree.args.get("distinct") or tree.args.get("limit"):
        return False
    items = [*items]
    parts = [*joined_by_and(where.this)]
    keys = [part for part in parts if _is_key(part, scope)]
    others = [*conditions, *items, *(part for part in parts if part not in keys)]
    return (
        bool(keys)
        and all(any(True for _ in aggregates_in(item)) for item in items)
        and not any(_is_around(node, {}, scope) for other in others for node in other.walk())
        and not any(_is_around(node, aliases, scope) for node in having.walk())
    )


def _is_key(condition: exp.Expr, scope: QueryScope) -> bool:
    """Return whether a condition is that a column equals a column around the query, both of one type."""
    if type(condition) is not exp.EQ:
        return False
    left, right = condition.this, condition.expression
    if not isinstance(left, exp.Column) or not isinstance(right, exp.Column):
        return False
    if scope.names.position(left) is None:
        left, right = right, left
    is_correlated = scope.names.position(left) is not None and _is_of_next(right, scope)
    same_type = type_of(left, scope).kind is type_of(right, scope).kind
    return is_correlated and same_type and collation_of(left, scope) == collation_of(right, scope)


def _is_of_next(column: exp.Column, scope: QueryScope) -> bool:
    """Return whether a column is one of the next scope around a query."""
    if scope.names.position(column) is not None or scope.outer is None:
        return False
    if isinstance(scope.outer, QueryScope):
        return scope.outer.names.position(column) is not None
    return scope.outer.has_column(*column_name(column))


def _is_around(node: exp.Expr, aliases: Mapping[str, exp.Expr], scope: QueryScope) -> bool:
    """Return whether a node is a column around the query, or a subquery, which may have one."""
    if isinstance(node, exp.Query):
        return True
    is_alias = isinstance(node, exp.Column) and not node.text("table") and node.name.lower() in aliases
    return isinstance(node, exp.Column) and not is_alias and scope.names.position(node) is None
