"""INSERT, INSERT … ON DUPLICATE KEY UPDATE and REPLACE.

Rules: tidb ``pkg/executor/insert_common.go``, ``insert.go``, ``replace.go``. All rows are evaluated and
get their AUTO_INCREMENT before the first is stored, so hidden row ids come after the AUTO_INCREMENT ids of
the statement.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from sqlglot import exp

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.coerce import coerce
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.sql_mode import SQLMode
from ticdc_producer.scenario.sql.allocator import ids_exhausted
from ticdc_producer.scenario.sql.assign import (
    assign_in_order,
    assigned_value,
    check_assignments,
    default_value,
    generated_error,
    is_default,
    null_error,
    touch_updated_columns,
)
from ticdc_producer.scenario.sql.evaluate import check_expression
from ticdc_producer.scenario.sql.generated import fill_generated
from ticdc_producer.scenario.sql.literal_rows import LiteralRows
from ticdc_producer.scenario.sql.scope import Scope
from ticdc_producer.scenario.sql.select import SelectedValue, rows_of_select
from ticdc_producer.scenario.sql.storage import Row, Table
from ticdc_producer.scenario.sql.transaction import Transaction

Cell: TypeAlias = exp.Expr | SelectedValue
"""One value of a row of INSERT: an expression, or a value from a SELECT."""


def run_insert(
    tree: exp.Insert,
    verb: str,
    table: Table,
    transaction: Transaction,
    mode: SQLMode,
    find: Callable[[exp.Expr], Table],
    has_parents: Callable[[Table, Sequence[Value]], bool],
) -> None:
    """Run an INSERT or REPLACE.

    :param verb: ``INSERT`` or ``REPLACE``.
    :param find: finds the table that a node names, for INSERT … SELECT.
    :param has_parents: whether the rows exist that a new row refers to. INSERT IGNORE skips other rows before
        it stores the first one. Source: tidb ``FKCheckExec.checkRows``.
    :raises ScenarioError: for wrong column counts, values that do not fit, duplicate keys.
    """
    ignore = bool(tree.args.get("ignore"))
    mode = replace(mode, strict=False) if ignore else mode
    offsets, tuples = _rows_of(tree, table, mode, find)
    scope = Scope(mode, table.info)
    for node in (node for row in tuples for node in row if not isinstance(node, SelectedValue)):
        if not is_default(node):
            check_expression(node, scope)
    # Without strict mode NULL becomes a zero value only in an INSERT of several rows.
    # Source: tidb ``ResetContextOfStmt``.
    lenient = ignore or (not mode.strict and len(tuples) > 1)
    updates = _on_duplicate(tree, verb)
    limit_ids = bool(updates) and not mode.strict
    rows = [_evaluated(table, offsets, values, mode, lenient, limit_ids) for values in tuples]
    check_assignments(updates, scope)
    if ignore and not updates:
        rows = [values for values in rows if has_parents(table, values)]
    table.load_conflicting(rows)
    for values in rows:
        if verb == "REPLACE":
            _replace(table, values, transaction)
        elif updates:
            _insert_or_update(table, values, updates, transaction, mode)
        elif not ignore or _fits(table, values):
            transaction.insert(table, _new_row(table, values))


def _fits(table: Table, values: Sequence[Value]) -> bool:
    """Whether INSERT IGNORE stores a row: not if a unique key exists or no partition accepts the row."""
    if table.conflict(values) is not None:
        return False
    return table.partitioning is None or table.partitioning.accepts(table.info, values)


def _rows_of(
    tree: exp.Insert, table: Table, mode: SQLMode, find: Callable[[exp.Expr], Table]
) -> tuple[list[int], list[list[Cell]]]:
    source = tree.expression
    aliased = isinstance(source, exp.Values) and source.args.get("alias")
    if aliased or tree.args.get("alias") or tree.this.args.get("alias"):
        raise UnsupportedSQL("a row alias in INSERT is not supported")
    named = tree.this.expressions if isinstance(tree.this, exp.Schema) else []
    columns = table.info.columns
    scope = Scope(mode, table.info)
    visible = [offset for offset, column in enumerate(columns) if not column.hidden]
    offsets = [scope.offset(name.name) for name in named] or visible
    if len(set(offsets)) < len(offsets):
        twice = next(name.name for name in named if offsets.count(scope.offset(name.name)) > 1)
        raise ScenarioError(f"Column {twice!r} specified twice", column=twice)
    tuples: list[list[Cell]]
    if isinstance(source, exp.Values):
        tuples = [_tuple_items(row) for row in source.expressions]
    elif isinstance(source, LiteralRows):
        tuples = [[SelectedValue(value) for value in row] for row in source.args["rows"]]
    else:
        tuples = [list(row) for row in rows_of_select(source, find, mode)]
    _check_generated(table, offsets, tuples)
    for number, row in enumerate(tuples, start=1):
        if len(row) not in (len(offsets), 0) or (not row and named):
            raise ScenarioError(
                f"Column count doesn't match value count at row {number}:"
                f" columns {len(offsets)}, values {len(row)}"
            )
    return offsets, tuples


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


def _tuple_items(row: exp.Expr) -> list[Cell]:
    if isinstance(row, exp.Tuple):
        return list(row.expressions)
    return [row.this if isinstance(row, exp.Paren) else row]


def _on_duplicate(tree: exp.Insert, verb: str) -> list[exp.Expr]:
    conflict = tree.args.get("conflict")
    if conflict is None:
        return []
    if verb == "REPLACE" or not conflict.args.get("duplicate"):
        raise ScenarioError("SQL does not parse: ON DUPLICATE KEY UPDATE does not belong here")
    return list(conflict.expressions)


def _evaluated(
    table: Table,
    offsets: Sequence[int],
    nodes: list[Cell],
    mode: SQLMode,
    lenient: bool,
    limit_ids: bool,
) -> list[Value]:
    """One row's values; expressions see the columns to their left."""
    columns = table.info.columns
    scope = Scope(mode, table.info, [None] * len(columns), lenient_nulls=lenient)
    given = set(offsets) if nodes else set()
    for offset, column in enumerate(columns):
        if offset not in given and not column.auto_increment:
            scope.row[offset] = default_value(column, mode)
    for offset, node in zip(offsets, nodes, strict=False):
        scope.row[offset] = assigned_value(node, columns[offset], scope)
    fill_generated(scope)
    for offset, column in enumerate(columns):
        if column.auto_increment:
            scope.row[offset] = _auto_increment(table, column, scope.row[offset], mode, limit_ids)
        if column.auto_random and not int(scope.row[offset] or 0):
            raise UnsupportedSQL(f"AUTO_RANDOM depends on TiDB's clock: give {column.name!r} a value")
    return scope.row


def _auto_increment(table: Table, column: ColumnInfo, value: Value, mode: SQLMode, limit_ids: bool) -> Value:
    """The value of an AUTO_INCREMENT column: the next id for NULL, and for 0 by default.

    Other values advance the counter.

    :param limit_ids: whether an id beyond the column's range becomes its largest value. Without strict mode
        TiDB does so for ON DUPLICATE KEY UPDATE alone; elsewhere the id could be that of an unrelated row.
        Source: tidb ``setDatumAutoIDAndCast``.
    :raises ScenarioError: if the counter leaves the column's range.
    """
    if value is not None and (int(value) != 0 or not mode.auto_value_on_zero):
        table.ids.advance(int(value))
        return value
    taken = table.ids.take()
    stored = coerce(column, taken, mode)
    if not limit_ids and stored is not None and int(stored) < taken:
        raise ids_exhausted(column)
    return stored


def _new_row(table: Table, values: Sequence[Value]) -> Row:
    for column, value in zip(table.info.columns, values, strict=True):
        if value is None and not column.nullable:
            raise null_error(column)
    return table.make_row(values, table.ids.take() if table.has_hidden_id else 0)


def _replace(table: Table, values: Sequence[Value], transaction: Transaction) -> None:
    """Delete every conflicting row, then insert; a row that is already identical is left alone."""
    while (conflict := table.conflict(values)) is not None:
        _, row = conflict
        if table.read(row) == list(values):
            return
        transaction.delete(table, row)
    transaction.insert(table, _new_row(table, values))


def _insert_or_update(
    table: Table,
    values: list[Value],
    updates: list[exp.Expr],
    transaction: Transaction,
    mode: SQLMode,
) -> None:
    conflict = table.conflict(values)
    if conflict is None:
        transaction.insert(table, _new_row(table, values))
        return
    _, row = conflict
    scope = Scope(mode, table.info, table.read(row), values)
    assigned = assign_in_order(updates, scope)
    update_row(table, row, scope, assigned, transaction)


def update_row(table: Table, row: Row, scope: Scope, assigned: set[int], transaction: Transaction) -> None:
    """Store a row after assignments; a row that did not change is not written."""
    before = tuple(table.read(row))
    touch_updated_columns(before, scope, assigned)
    fill_generated(scope)
    if tuple(scope.row) == before:
        return
    for column, value in zip(table.info.columns, scope.row, strict=True):
        if value is None and not column.nullable:
            raise null_error(column)
        if column.auto_increment and value is not None:
            table.ids.advance(int(value))
    new = table.make_row(scope.row, row.row_id)
    if new.table_id != row.table_id and table.has_hidden_id:
        new = table.make_row(scope.row, table.ids.take())  # hidden row ids do not move between partitions
    transaction.update(table, row, new)
