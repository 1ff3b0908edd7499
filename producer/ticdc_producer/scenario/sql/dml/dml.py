"""Runs a parsed DML statement: the clauses that each verb may have; UPDATE and DELETE of one table.

All rows are selected, and all new values computed, before the first row is changed. They are changed in the
order of ORDER BY, otherwise of their keys.
"""

from __future__ import annotations

from sqlglot import exp

from ticdc_producer.errors import UnsupportedSQL
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.sql.definition.partitioning import chosen_partitions
from ticdc_producer.scenario.sql.dml.assign import assign_at_once, checked_assignments, now_value
from ticdc_producer.scenario.sql.dml.insert import run_insert
from ticdc_producer.scenario.sql.dml.insert_plan import InsertPlan
from ticdc_producer.scenario.sql.dml.joined_dml import (
    check_joined,
    is_joined,
    run_joined_delete,
    run_joined_update,
)
from ticdc_producer.scenario.sql.dml.parsed_statement import ParsedStatement
from ticdc_producer.scenario.sql.dml.point_update import key_condition
from ticdc_producer.scenario.sql.dml.references import ForeignKeys
from ticdc_producer.scenario.sql.dml.row_selection import RowSelection
from ticdc_producer.scenario.sql.dml.stored_rows import Skips, update_row
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.query.context import StatementContext
from ticdc_producer.scenario.sql.store.storage import Row, Table
from ticdc_producer.scenario.sql.store.transaction import OpenTransaction
from ticdc_producer.scenario.sql.text.clause import check_index_hints, partition_names, refuse_other_clauses


class UpdatePlan:
    """A checked UPDATE of one version of a table.

    :param scope: of the table.
    """

    def __init__(self, tree: exp.Expr, table: TableInfo, scope: Scope) -> None:
        self.assignments = checked_assignments(tree.expressions, scope)
        self.selection = RowSelection(tree, table, scope)
        self.key = key_condition(tree, table)


def run_dml(
    statement: ParsedStatement,
    context: StatementContext,
    transaction: OpenTransaction,
    keys: ForeignKeys | None,
) -> None:
    """Run a DML statement.

    :param keys: the foreign keys, for statements with IGNORE; None if they are not checked.
    :raises ScenarioError: for a statement that TiDB rejects, or that is not supported.
    """
    tree = statement.tree
    if not statement.is_planned:
        _refuse_other_clauses(tree, statement.verb)
        statement.names_partitions = _names_partitions(tree)
    partitions = _written_partitions(tree, context) if statement.names_partitions else {}
    with transaction.restricted(partitions):
        _run(statement, context, transaction, keys)


def check_dml(statement: ParsedStatement, context: StatementContext) -> None:
    """Check the names of a statement that is prepared. Source: tidb ``GeneratePlanCacheStmtWithAST``.

    :raises ScenarioError: for a table or a column that does not exist, and what else TiDB rejects in a plan.
    """
    tree = statement.tree
    _refuse_other_clauses(tree, statement.verb)
    if not isinstance(tree, exp.Insert) and is_joined(tree):
        check_joined(tree, context)
        return
    table = context.find(*statement.table_name)
    if isinstance(tree, exp.Insert):
        InsertPlan(tree, statement.verb, table.info, context).check_names(context)
    else:
        plan = UpdatePlan if isinstance(tree, exp.Update) else RowSelection
        plan(tree, table.info, _scope(tree.this, table, context))


def _run(
    statement: ParsedStatement,
    context: StatementContext,
    transaction: OpenTransaction,
    keys: ForeignKeys | None,
) -> None:
    tree = statement.tree
    if isinstance(tree, exp.Insert):
        _run_insert(statement, tree, context, transaction, keys)
    elif isinstance(tree, exp.Update):
        run_update = _run_update if statement.is_planned or not is_joined(tree) else _run_joined_update
        if tree.args.get("ignore"):
            skips = None if keys is None else keys.skips_update
            with transaction.ignoring_conflicts():
                run_update(statement, context, transaction, skips)
        else:
            run_update(statement, context, transaction, None)
    elif statement.is_planned or not is_joined(tree):
        _run_delete(statement, context, transaction, keys)
    else:
        run_joined_delete(tree, context, transaction, keys)


_CLAUSES: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.Insert: ("this", "expression", "conflict", "ignore"),
    exp.Update: ("this", "expressions", "where", "order", "limit", "with_", "ignore"),
    exp.Delete: ("this", "where", "order", "limit", "with_", "tables", "using", "ignore"),
}


def _refuse_other_clauses(tree: exp.Expr, verb: str) -> None:
    known = _CLAUSES.get(type(tree))
    if known is None:
        raise UnsupportedSQL(f"{verb} in this form is not supported")
    refuse_other_clauses(tree, verb, *known)


def _target(tree: exp.Expr) -> object:
    return tree.this.this if isinstance(tree.this, exp.Schema) else tree.this


def _names_partitions(tree: exp.Expr) -> bool:
    """Return whether the table of an INSERT, or of an UPDATE without joins, has PARTITION()."""
    target = _target(tree)
    return (
        isinstance(target, exp.Table)
        and bool(target.args.get("partition"))
        and (isinstance(tree, exp.Insert) or not is_joined(tree))
    )


def _written_partitions(tree: exp.Expr, context: StatementContext) -> dict[int, frozenset[int]]:
    """Return, by the id of a table, the partitions into which such a statement may write its rows."""
    target = _target(tree)
    if not isinstance(target, exp.Table):
        return {}
    info = context.find(target.db, target.name).info
    return {info.table_id: chosen_partitions(info, partition_names(target)) or frozenset()}


def _run_insert(
    statement: ParsedStatement,
    tree: exp.Insert,
    context: StatementContext,
    transaction: OpenTransaction,
    keys: ForeignKeys | None,
) -> None:
    verb, table = statement.verb, context.find(*statement.table_name)
    plan = statement.plan(
        InsertPlan, table.info, context.mode, lambda: InsertPlan(tree, verb, table.info, context)
    )
    run_insert(plan, tree, verb, table, transaction, context, keys)


def _run_joined_update(
    statement: ParsedStatement,
    context: StatementContext,
    transaction: OpenTransaction,
    skips: Skips | None,
) -> None:
    run_joined_update(statement.tree, context, transaction, skips)


def _run_update(
    statement: ParsedStatement,
    context: StatementContext,
    transaction: OpenTransaction,
    skips: Skips | None,
) -> None:
    """Run an UPDATE of one table."""
    tree, mode = statement.tree, context.mode
    table = context.find(*statement.table_name)
    scope = _scope(tree.this, table, context)
    plan = statement.plan(UpdatePlan, table.info, mode, lambda: UpdatePlan(tree, table.info, scope))
    casts = plan.key is not None and plan.key.is_exact(table.info, mode)
    changes = []
    for row in plan.selection.rows(table, scope):
        changed = Scope(mode, table.info, table.read(row), None, not mode.strict, context, scope.alias)
        changes.append((row, changed, assign_at_once(plan.assignments, changed, casts=casts)))
    for row, changed, assigned in changes:
        update_row(table, row, changed, assigned, transaction, skips)


def _run_delete(
    statement: ParsedStatement,
    context: StatementContext,
    transaction: OpenTransaction,
    keys: ForeignKeys | None,
) -> None:
    """Run a DELETE from one table."""
    tree = statement.tree
    table = context.find(*statement.table_name)
    scope = _scope(tree.this, table, context)
    selection = statement.plan(
        RowSelection, table.info, context.mode, lambda: RowSelection(tree, table.info, scope)
    )
    rows = selection.rows(table, scope)
    if keys is not None and tree.args.get("ignore"):
        rows = [row for row in rows if not keys.retains(table, row)]
    marked = table.info.soft_delete_offset if context.mode.soft_deletes else None
    for row in rows:
        if marked is None:
            transaction.delete(table, row)
        else:
            _mark_deleted(table, row, marked, context, transaction)


def _mark_deleted(
    table: Table, row: Row, offset: int, context: StatementContext, transaction: OpenTransaction
) -> None:
    """Set the time of a row's soft delete, as the DELETE of such a table does."""
    scope = Scope(context.mode, table.info, table.read(row), context=context)
    scope.row[offset] = now_value(table.info.columns[offset], context.mode)
    update_row(table, row, scope, {offset}, transaction)


def _scope(node: exp.Expr, table: Table, context: StatementContext) -> Scope:
    """Return the scope of a statement on one table."""
    check_index_hints(node, table.info.indexes)
    alias = node.args.get("alias")
    return Scope(context.mode, table.info, context=context, alias=alias.name if alias is not None else "")
