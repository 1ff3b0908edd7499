"""INSERT, INSERT … ON DUPLICATE KEY UPDATE and REPLACE.

Rules: tidb ``pkg/executor/insert_common.go``, ``insert.go``, ``replace.go``. All rows are evaluated and
get their AUTO_INCREMENT before the first is stored, so hidden row ids come after the AUTO_INCREMENT ids of
the statement.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sqlglot import exp

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.values.coerce import coerce
from ticdc_producer.scenario.sql.allocator import ids_exhausted
from ticdc_producer.scenario.sql.assign import (
    SelectedValue,
    assign_in_order,
    assigned_value,
    check_assignments,
    default_value,
    generated_error,
    is_default,
    null_error,
    touch_updated_columns,
)
from ticdc_producer.scenario.sql.expression_check import check_expression
from ticdc_producer.scenario.sql.generated import fill_generated
from ticdc_producer.scenario.sql.literal_rows import LiteralRows
from ticdc_producer.scenario.sql.query.context import StatementContext, row_items
from ticdc_producer.scenario.sql.query.scope import Combination, QueryScope
from ticdc_producer.scenario.sql.query.select import SelectPlan
from ticdc_producer.scenario.sql.scope import Scope
from ticdc_producer.scenario.sql.storage import Row, Table
from ticdc_producer.scenario.sql.transaction import OpenTransaction

Cell: TypeAlias = exp.Expr | SelectedValue
"""One value of a row of INSERT: an expression, or a value from a SELECT."""


def run_insert(
    tree: exp.Insert,
    verb: str,
    table: Table,
    transaction: OpenTransaction,
    context: StatementContext,
    has_parents: Callable[[Table, Sequence[Value]], bool],
) -> None:
    """Run an INSERT or REPLACE.

    :param verb: ``INSERT`` or ``REPLACE``.
    :param has_parents: whether the rows exist that a new row refers to. INSERT IGNORE skips other rows before
        it stores the first one. Source: tidb ``FKCheckExec.checkRows``.
    :raises ScenarioError: for wrong column counts, values that do not fit, duplicate keys.
    """
    ignore, mode = bool(tree.args.get("ignore")), context.mode
    source = _source_of(tree, table, context)
    scope = Scope(mode, table.info, context=context, outer=source.scope)
    for node in (node for row in source.tuples for node in row if not isinstance(node, SelectedValue)):
        if not is_default(node):
            check_expression(node, scope)
    # Without strict mode NULL becomes a zero value only in an INSERT of several rows.
    # Source: tidb ``ResetContextOfStmt``.
    lenient = ignore or (not mode.strict and len(source.tuples) > 1)
    updates = _on_duplicate(tree, verb)
    limit_ids = bool(updates) and not mode.strict
    offsets = source.offsets
    rows = transaction.size.weighed(
        (evaluated_row(table, offsets, values, context, lenient, limit_ids) for values in source.tuples),
        transaction.line,
    )
    check_assignments(updates, scope)
    if ignore and not updates:
        rows = [values for values in rows if has_parents(table, values)]
    table.load_conflicting(rows)
    for number, values in enumerate(rows):
        if verb == "REPLACE":
            _replace(table, values, transaction)
        elif updates:
            _insert_or_update(table, values, updates, transaction, source.scope_of(number, scope))
        elif not ignore or _fits(table, values):
            transaction.insert(table, new_row(table, values))


@dataclass(frozen=True, slots=True)
class _Source:
    """The rows of an INSERT.

    :param offsets: the columns that they assign.
    :param scope: the names of a SELECT, which ON DUPLICATE KEY UPDATE can use; None if it has none.
    :param combinations: per row, the rows of the sources that the SELECT computed it from.
    """

    offsets: list[int]
    tuples: list[list[Cell]]
    scope: QueryScope | None = None
    combinations: Sequence[Combination] = ()

    def scope_of(self, number: int, scope: Scope) -> Scope:
        """Return the scope of ON DUPLICATE KEY UPDATE for a row."""
        if self.scope is not None:
            self.scope.combination = self.combinations[number]
        return scope


def _fits(table: Table, values: Sequence[Value]) -> bool:
    """Return whether INSERT IGNORE stores a row: if its unique keys are new and a partition accepts it."""
    if table.conflict(values) is not None:
        return False
    return table.partitioning is None or table.partitioning.accepts(table.info, values)


def _source_of(tree: exp.Insert, table: Table, context: StatementContext) -> _Source:
    rows = tree.expression
    aliased = isinstance(rows, exp.Values) and rows.args.get("alias")
    if aliased or tree.args.get("alias") or tree.this.args.get("alias"):
        hint = "TiDB has none; VALUES(column) is the value of the new row"
        raise UnsupportedSQL("a row alias in INSERT is not supported", hint=hint)
    offsets = _assigned_offsets(tree, table, context)
    if isinstance(rows, exp.Values):
        source = _Source(offsets, [list(row_items(row)) for row in rows.expressions])
    elif isinstance(rows, LiteralRows):
        source = _Source(offsets, [[SelectedValue(value) for value in row] for row in rows.args["rows"]])
    else:
        source = _selected(rows, offsets, context)
    _check_generated(table, offsets, source.tuples)
    for number, row in enumerate(source.tuples, start=1):
        if len(row) not in (len(offsets), 0) or (not row and tree.this.expressions):
            raise _count_error(number, len(offsets), len(row))
    return source


def _assigned_offsets(tree: exp.Insert, table: Table, context: StatementContext) -> list[int]:
    named = tree.this.expressions if isinstance(tree.this, exp.Schema) else []
    scope = Scope(context.mode, table.info)
    visible = [offset for offset, column in enumerate(table.info.columns) if not column.hidden]
    offsets = [scope.offset(name.name) for name in named] or visible
    if len(set(offsets)) < len(offsets):
        twice = next(name.name for name in named if offsets.count(scope.offset(name.name)) > 1)
        raise ScenarioError(f"Column {twice!r} specified twice", column=twice)
    return offsets


def _selected(tree: exp.Expr, offsets: list[int], context: StatementContext) -> _Source:
    plan = context.plan(tree, None)
    if len(plan.fields) != len(offsets):
        raise _count_error(1, len(offsets), len(plan.fields))
    if not isinstance(plan, SelectPlan):
        return _Source(offsets, [[SelectedValue(value) for value in row] for row in plan.rows(None)])
    rows = plan.selected(None)
    tuples: list[list[Cell]] = [[SelectedValue(value) for value in row.values] for row in rows]
    return _Source(offsets, tuples, plan.scope, [row.combination for row in rows])


def _count_error(row: int, columns: int, values: int) -> ScenarioError:
    return ScenarioError(
        f"Column count doesn't match value count at row {row}: columns {columns}, values {values}"
    )


def _check_generated(table: Table, offsets: Sequence[int], tuples: Sequence[Sequence[Cell]]) -> None:
    for position, offset in enumerate(offsets):
        column = table.info.columns[offset]
        if column.generated and any(_gives_value(row, position) for row in tuples):
            raise generated_error(column, table.info)


def _gives_value(row: Sequence[Cell], position: int) -> bool:
    if position >= len(row):
        return False
    cell = row[position]
    return isinstance(cell, SelectedValue) or not is_default(cell)


def _on_duplicate(tree: exp.Insert, verb: str) -> list[exp.Expr]:
    conflict = tree.args.get("conflict")
    if conflict is None:
        return []
    if verb == "REPLACE" or not conflict.args.get("duplicate"):
        raise ScenarioError("SQL does not parse: ON DUPLICATE KEY UPDATE does not belong here")
    return list(conflict.expressions)


def evaluated_row(
    table: Table,
    offsets: Sequence[int],
    nodes: list[Cell],
    context: StatementContext,
    lenient: bool,
    limit_ids: bool,
) -> list[Value]:
    """Evaluate the values of one row; expressions see the columns to their left.

    :param offsets: the columns that the nodes assign.
    :param lenient: whether NULL in a NOT NULL column becomes its zero value.
    :param limit_ids: see ``_auto_increment``.
    """
    columns, mode = table.info.columns, context.mode
    scope = Scope(mode, table.info, [None] * len(columns), None, lenient, context)
    given = set(offsets) if nodes else set()
    for offset, column in enumerate(columns):
        if offset not in given and not column.auto_increment:
            scope.row[offset] = default_value(column, mode)
    for offset, node in zip(offsets, nodes, strict=False):
        scope.row[offset] = assigned_value(node, columns[offset], scope)
    fill_generated(scope)
    for offset, column in enumerate(columns):
        if column.auto_increment:
            scope.row[offset] = _auto_increment(table, column, scope.row[offset], context, limit_ids)
        if column.auto_random and not int(scope.row[offset] or 0):
            raise UnsupportedSQL(f"AUTO_RANDOM depends on TiDB's clock: give {column.name!r} a value")
    return scope.row


def _auto_increment(
    table: Table, column: ColumnInfo, value: Value, context: StatementContext, limit_ids: bool
) -> Value:
    """Return the value of an AUTO_INCREMENT column: the next id for NULL, and for 0 by default.

    Other values advance the counter.

    :param limit_ids: whether an id beyond the column's range becomes its largest value. Without strict mode
        TiDB does so for ON DUPLICATE KEY UPDATE alone; elsewhere the id could be that of an unrelated row.
        Source: tidb ``setDatumAutoIDAndCast``.
    :raises ScenarioError: if the counter leaves the column's range.
    """
    if value is not None and (int(value) != 0 or not context.mode.auto_value_on_zero):
        table.ids.advance(int(value))
        return value
    taken = table.ids.take()
    stored = coerce(column, taken, context.mode)
    if not limit_ids and stored is not None and int(stored) < taken:
        raise ids_exhausted(column)
    context.note_generated(int(stored or 0))
    return stored


def new_row(table: Table, values: Sequence[Value]) -> Row:
    """Return a new row, with the next hidden row id if the table has one.

    :raises ScenarioError: for NULL in a NOT NULL column.
    """
    for column, value in zip(table.info.columns, values, strict=True):
        if value is None and not column.nullable:
            raise null_error(column)
    return table.make_row(values, table.ids.take() if table.has_hidden_id else 0)


def _replace(table: Table, values: Sequence[Value], transaction: OpenTransaction) -> None:
    """Delete every conflicting row, then insert; a row that is already identical remains."""
    while (conflict := table.conflict(values)) is not None:
        _, row = conflict
        if table.read(row) == list(values):
            return
        transaction.delete(table, row)
    transaction.insert(table, new_row(table, values))


def _insert_or_update(
    table: Table,
    values: list[Value],
    updates: list[exp.Expr],
    transaction: OpenTransaction,
    around: Scope,
) -> None:
    conflict = table.conflict(values)
    if conflict is None:
        transaction.insert(table, new_row(table, values))
        return
    _, row = conflict
    scope = Scope(around.mode, table.info, table.read(row), values, False, around.context, "", around.outer)
    assigned = assign_in_order(updates, scope)
    update_row(table, row, scope, assigned, transaction)


def update_row(
    table: Table, row: Row, scope: Scope, assigned: set[int], transaction: OpenTransaction
) -> Row | None:
    """Store a row after assignments; return it, or None if it did not change and is not written."""
    before = tuple(table.read(row))
    touch_updated_columns(before, scope, assigned)
    fill_generated(scope)
    if tuple(scope.row) == before:
        return None
    for column, value in zip(table.info.columns, scope.row, strict=True):
        if value is None and not column.nullable:
            raise null_error(column)
        if column.auto_increment and value is not None:
            table.ids.advance(int(value))
    new = table.make_row(scope.row, row.row_id)
    if new.table_id != row.table_id and table.has_hidden_id:
        new = table.make_row(scope.row, table.ids.take())  # hidden row ids do not move between partitions
    transaction.update(table, row, new)
    return new
