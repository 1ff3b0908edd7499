"""SELECT as the source of INSERT: one table or none, without joins, groups and subqueries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.sql_mode import SQLMode
from ticdc_producer.model.sql_value import SQLValue
from ticdc_producer.scenario.sql.clause import refuse_other_clauses
from ticdc_producer.scenario.sql.evaluate import check_expression, evaluate
from ticdc_producer.scenario.sql.row_selection import select_rows
from ticdc_producer.scenario.sql.scope import Scope
from ticdc_producer.scenario.sql.storage import Table

_KNOWN = ("expressions", "from_", "where", "order", "limit", "kind")


@dataclass(frozen=True, slots=True)
class SelectedValue:
    """A value from a SELECT, used in place of an expression."""

    value: SQLValue


def rows_of_select(
    tree: exp.Expr, find: Callable[[exp.Expr], Table], mode: SQLMode
) -> list[list[SelectedValue]]:
    """The rows of a SELECT, or of several joined by UNION ALL.

    :param find: finds the table that a node names.
    :raises UnsupportedSQL: for a source other than one plain table.
    """
    if isinstance(tree, exp.Union) and not tree.args.get("distinct"):
        return [*rows_of_select(tree.this, find, mode), *rows_of_select(tree.expression, find, mode)]
    if isinstance(tree, exp.Subquery):
        return rows_of_select(tree.this, find, mode)
    if not isinstance(tree, exp.Select):
        raise UnsupportedSQL(f"INSERT … {tree.key.upper()} is not supported")
    refuse_other_clauses(tree, "INSERT … SELECT", *_KNOWN)
    source = tree.args.get("from_")
    if source is None or _is_dual(source.this):
        _check(tree.expressions, Scope(mode))
        return [_row(tree.expressions, Scope(mode))]
    table = find(source.this)
    _check(tree.expressions, Scope(mode, table.info))
    return [
        _row(tree.expressions, Scope(mode, table.info, table.read(row)))
        for row in select_rows(tree, table, mode)
    ]


def _is_dual(table: exp.Expr) -> bool:
    """``FROM DUAL``: no table."""
    return isinstance(table, exp.Table) and table.name.upper() == "DUAL" and not table.this.args.get("quoted")


def _check(expressions: list[exp.Expr], scope: Scope) -> None:
    """Refuse expressions that cannot be computed, even if the table is empty."""
    for node in expressions:
        if not node.is_star:
            check_expression(node.unalias(), scope)


def _row(expressions: list[exp.Expr], scope: Scope) -> list[SelectedValue]:
    values: list[SelectedValue] = []
    for node in expressions:
        if node.is_star:
            values += _all_columns(scope, node.text("table"))
        else:
            values.append(SelectedValue(evaluate(node.unalias(), scope)))
    return values


def _all_columns(scope: Scope, table: str) -> list[SelectedValue]:
    """``*`` or ``table.*``."""
    if scope.table is None:
        raise ScenarioError("No tables used")
    names = [column.name for column in scope.table.columns if not column.hidden]
    return [SelectedValue(scope.value(name, table)) for name in names]
