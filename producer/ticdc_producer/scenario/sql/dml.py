"""Runs a parsed DML statement: the clauses that each verb may have; UPDATE and DELETE of one table.

All rows are selected, and all new values computed, before the first row is changed. They are changed in the
order of ORDER BY, otherwise of their keys.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from ticdc_producer.errors import UnsupportedSQL
from ticdc_producer.model.event import Value
from ticdc_producer.scenario.sql.assign import assign_at_once, check_assignments
from ticdc_producer.scenario.sql.clause import refuse_other_clauses
from ticdc_producer.scenario.sql.insert import run_insert, update_row
from ticdc_producer.scenario.sql.joined_dml import is_joined, run_joined_delete, run_joined_update
from ticdc_producer.scenario.sql.query.context import StatementContext
from ticdc_producer.scenario.sql.row_selection import select_rows
from ticdc_producer.scenario.sql.scope import Scope
from ticdc_producer.scenario.sql.storage import Table
from ticdc_producer.scenario.sql.transaction import OpenTransaction


def run_update(tree: exp.Update, table: Table, scope: Scope, transaction: OpenTransaction) -> None:
    """Run an UPDATE.

    :param scope: of the table.
    """
    check_assignments(tree.expressions, scope)
    changes, mode = [], scope.mode
    for row in select_rows(tree, table, scope):
        changed = Scope(mode, table.info, table.read(row), None, not mode.strict, scope.context, scope.alias)
        changes.append((row, changed, assign_at_once(tree.expressions, changed)))
    for row, changed, assigned in changes:
        update_row(table, row, changed, assigned, transaction)


def run_delete(tree: exp.Delete, table: Table, scope: Scope, transaction: OpenTransaction) -> None:
    """Run a DELETE.

    :param scope: of the table.
    """
    for row in select_rows(tree, table, scope):
        transaction.delete(table, row)


def run_dml(
    verb: str,
    tree: exp.Expr,
    context: StatementContext,
    transaction: OpenTransaction,
    has_parents: Callable[[Table, Sequence[Value]], bool],
) -> None:
    """Run a DML statement.

    :param verb: INSERT, REPLACE, UPDATE or DELETE.
    :param has_parents: whether the foreign keys of a new row refer to existing rows, for INSERT IGNORE.
    :raises ScenarioError: for a statement that TiDB rejects, or that is not supported.
    """
    if isinstance(tree, exp.Insert):
        refuse_other_clauses(tree, verb, "this", "expression", "conflict", "ignore")
        run_insert(tree, verb, context.find(tree.this), transaction, context, has_parents)
    elif isinstance(tree, exp.Update):
        _run_update(tree, verb, context, transaction)
    elif isinstance(tree, exp.Delete):
        refuse_other_clauses(tree, verb, "this", "where", "order", "limit", "with_", "tables", "using")
        if is_joined(tree):
            run_joined_delete(tree, context, transaction)
        else:
            table = context.find(tree.this)
            run_delete(tree, table, _scope(tree.this, table, context), transaction)
    else:
        raise UnsupportedSQL(f"{verb} in this form is not supported")


def _run_update(tree: exp.Update, verb: str, context: StatementContext, transaction: OpenTransaction) -> None:
    refuse_other_clauses(tree, verb, "this", "expressions", "where", "order", "limit", "with_", "ignore")
    with transaction.ignoring_conflicts(bool(tree.args.get("ignore"))):
        if is_joined(tree):
            run_joined_update(tree, context, transaction)
        else:
            table = context.find(tree.this)
            run_update(tree, table, _scope(tree.this, table, context), transaction)


def _scope(node: exp.Expr, table: Table, context: StatementContext) -> Scope:
    """The scope of a statement on one table."""
    alias = node.args.get("alias")
    return Scope(context.mode, table.info, context=context, alias=alias.name if alias is not None else "")
