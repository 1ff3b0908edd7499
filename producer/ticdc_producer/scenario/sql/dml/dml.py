"""Runs a parsed DML statement: the clauses that each verb may have; UPDATE and DELETE of one table.

All rows are selected, and all new values computed, before the first row is changed. They are changed in the
order of ORDER BY, otherwise of their keys.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from ticdc_producer.errors import UnsupportedSQL
from ticdc_producer.model.event import Value
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.sql.dml.assign import assign_at_once, checked_assignments
from ticdc_producer.scenario.sql.dml.insert import InsertPlan, run_insert, update_row
from ticdc_producer.scenario.sql.dml.joined_dml import is_joined, run_joined_delete, run_joined_update
from ticdc_producer.scenario.sql.dml.parsed_statement import ParsedStatement
from ticdc_producer.scenario.sql.dml.row_selection import RowSelection
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.query.context import StatementContext
from ticdc_producer.scenario.sql.store.storage import Table
from ticdc_producer.scenario.sql.store.transaction import OpenTransaction
from ticdc_producer.scenario.sql.text.clause import refuse_other_clauses


class UpdatePlan:
    """A checked UPDATE of one version of a table.

    :param scope: of the table.
    """

    def __init__(self, tree: exp.Expr, table: TableInfo, scope: Scope) -> None:
        self.assignments = checked_assignments(tree.expressions, scope)
        self.selection = RowSelection(tree, table, scope)


def run_dml(
    statement: ParsedStatement,
    context: StatementContext,
    transaction: OpenTransaction,
    has_parents: Callable[[Table, Sequence[Value]], bool],
) -> None:
    """Run a DML statement.

    :param has_parents: whether the foreign keys of a new row refer to existing rows, for INSERT IGNORE.
    :raises ScenarioError: for a statement that TiDB rejects, or that is not supported.
    """
    tree = statement.tree
    if not statement.is_planned:
        _refuse_other_clauses(tree, statement.verb)
    if isinstance(tree, exp.Insert):
        _run_insert(statement, tree, context, transaction, has_parents)
    elif isinstance(tree, exp.Update):
        run_update = _run_update if statement.is_planned or not is_joined(tree) else _run_joined_update
        if tree.args.get("ignore"):
            with transaction.ignoring_conflicts():
                run_update(statement, context, transaction)
        else:
            run_update(statement, context, transaction)
    elif statement.is_planned or not is_joined(tree):
        _run_delete(statement, context, transaction)
    else:
        run_joined_delete(tree, context, transaction)


_CLAUSES: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.Insert: ("this", "expression", "conflict", "ignore"),
    exp.Update: ("this", "expressions", "where", "order", "limit", "with_", "ignore"),
    exp.Delete: ("this", "where", "order", "limit", "with_", "tables", "using"),
}


def _refuse_other_clauses(tree: exp.Expr, verb: str) -> None:
    known = _CLAUSES.get(type(tree))
    if known is None:
        raise UnsupportedSQL(f"{verb} in this form is not supported")
    refuse_other_clauses(tree, verb, *known)


def _run_insert(
    statement: ParsedStatement,
    tree: exp.Insert,
    context: StatementContext,
    transaction: OpenTransaction,
    has_parents: Callable[[Table, Sequence[Value]], bool],
) -> None:
    verb, table = statement.verb, context.find(*statement.table_name)
    plan = statement.plan(InsertPlan, table.info, lambda: InsertPlan(tree, verb, table.info, context))
    run_insert(plan, tree, verb, table, transaction, context, has_parents)


def _run_joined_update(
    statement: ParsedStatement, context: StatementContext, transaction: OpenTransaction
) -> None:
    run_joined_update(statement.tree, context, transaction)


def _run_update(statement: ParsedStatement, context: StatementContext, transaction: OpenTransaction) -> None:
    """Run an UPDATE of one table."""
    tree, mode = statement.tree, context.mode
    table = context.find(*statement.table_name)
    scope = _scope(tree.this, table, context)
    plan = statement.plan(UpdatePlan, table.info, lambda: UpdatePlan(tree, table.info, scope))
    changes = []
    for row in plan.selection.rows(table, scope):
        changed = Scope(mode, table.info, table.read(row), None, not mode.strict, context, scope.alias)
        changes.append((row, changed, assign_at_once(plan.assignments, changed)))
    for row, changed, assigned in changes:
        update_row(table, row, changed, assigned, transaction)


def _run_delete(statement: ParsedStatement, context: StatementContext, transaction: OpenTransaction) -> None:
    """Run a DELETE from one table."""
    tree = statement.tree
    table = context.find(*statement.table_name)
    scope = _scope(tree.this, table, context)
    selection = statement.plan(RowSelection, table.info, lambda: RowSelection(tree, table.info, scope))
    for row in selection.rows(table, scope):
        transaction.delete(table, row)


def _scope(node: exp.Expr, table: Table, context: StatementContext) -> Scope:
    """Return the scope of a statement on one table."""
    alias = node.args.get("alias")
    return Scope(context.mode, table.info, context=context, alias=alias.name if alias is not None else "")
