"""Runs a parsed DML statement: the clauses that each verb may have; UPDATE and DELETE of one table.

All rows are selected, and all new values computed, before the first row is changed. They are changed in the
order of ORDER BY, otherwise of their keys.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from ticdc_producer.errors import UnsupportedSQL
from ticdc_producer.model.event import Value
from ticdc_producer.model.row_key import encode_part
from ticdc_producer.model.values.sql_value import SQLValue
from ticdc_producer.scenario.sql.assign import assign_at_once, check_assignments
from ticdc_producer.scenario.sql.clause import refuse_other_clauses
from ticdc_producer.scenario.sql.compare import DEFAULT_COLLATION, as_boolean, collation_of
from ticdc_producer.scenario.sql.evaluate import evaluate
from ticdc_producer.scenario.sql.expression_check import check_expression
from ticdc_producer.scenario.sql.insert import run_insert, update_row
from ticdc_producer.scenario.sql.joined_dml import is_joined, run_joined_delete, run_joined_update
from ticdc_producer.scenario.sql.lookup import candidates, split_memberships
from ticdc_producer.scenario.sql.ordering import SortKey, row_count, sort_rows
from ticdc_producer.scenario.sql.query.context import StatementContext
from ticdc_producer.scenario.sql.scope import Scope
from ticdc_producer.scenario.sql.storage import Row, Table
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
    """Return the scope of a statement on one table."""
    alias = node.args.get("alias")
    return Scope(context.mode, table.info, context=context, alias=alias.name if alias is not None else "")


def select_rows(tree: exp.Expr, table: Table, scope: Scope) -> list[Row]:
    """Return the selected rows in the order of ORDER BY, otherwise of their locations.

    :param scope: of the table; this function changes its row.
    """
    where, order, limit = (tree.args.get(part) for part in ("where", "order", "limit"))
    mode = scope.mode
    _check(where, order, scope)
    table.load_selected(None if where is None else where.this)
    if where is None:
        rows = table.scan()
    else:
        memberships, others = split_memberships(where.this, table.info, mode)
        rows = [
            row
            for row in candidates(where.this, table)
            if all(_is_member(table, row, offset, values) for offset, values in memberships)
            and all(_holds(condition, table, row, scope) for condition in others)
        ]
    if order is not None:
        rows = _sorted(rows, order, table, scope)
    return rows if limit is None else rows[: row_count(limit)]


def _check(where: exp.Expr | None, order: exp.Expr | None, scope: Scope) -> None:
    if where is not None:
        check_expression(where.this, scope)
    for ordered in order.expressions if order is not None else ():
        check_expression(ordered.this, scope)


def _holds(condition: exp.Expr, table: Table, row: Row, scope: Scope) -> bool:
    scope.row = table.read(row)
    return as_boolean(evaluate(condition, scope), scope.mode) is True


def _is_member(table: Table, row: Row, offset: int, values: frozenset[bytes]) -> bool:
    value = row.values[offset]
    return value is not None and encode_part(table.info.columns[offset], value) in values


def _sorted(rows: list[Row], order: exp.Expr, table: Table, scope: Scope) -> list[Row]:
    keys: list[SortKey[Row]] = []
    for ordered in order.expressions:
        collation = collation_of(ordered.this, scope) or DEFAULT_COLLATION
        keys.append(SortKey(_value_of(ordered.this, table, scope), collation, bool(ordered.args.get("desc"))))
    return sort_rows(rows, keys, scope.mode)


def _value_of(node: exp.Expr, table: Table, scope: Scope) -> Callable[[Row], SQLValue]:
    def value(row: Row) -> SQLValue:
        scope.row = table.read(row)
        return evaluate(node, scope)

    return value
