"""INSERT, INSERT … ON DUPLICATE KEY UPDATE and REPLACE.

Rules: tidb ``pkg/executor/insert_common.go``, ``insert.go``, ``replace.go``. All rows are evaluated and
get their AUTO_INCREMENT before the first is stored, so hidden row ids come after the AUTO_INCREMENT ids of
the statement. Those of VALUES get it after all are evaluated, so a statement that fails uses up no id.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext

from sqlglot import exp

from ticdc_producer.model.event import Value
from ticdc_producer.scenario.sql.dml.assign import Assignment, assign_in_order
from ticdc_producer.scenario.sql.dml.insert_plan import InsertPlan, InsertSource
from ticdc_producer.scenario.sql.dml.references import ForeignKeys
from ticdc_producer.scenario.sql.dml.stored_rows import (
    Skips,
    evaluated_row,
    fill_auto_increment,
    new_row,
    take_row_ids,
    update_row,
)
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.query.context import StatementContext
from ticdc_producer.scenario.sql.store.allocator import IdsExhausted
from ticdc_producer.scenario.sql.store.storage import Table
from ticdc_producer.scenario.sql.store.transaction import OpenTransaction


def run_insert(
    plan: InsertPlan,
    tree: exp.Insert,
    verb: str,
    table: Table,
    transaction: OpenTransaction,
    context: StatementContext,
    keys: ForeignKeys | None,
) -> None:
    """Run an INSERT or REPLACE.

    :param verb: ``INSERT`` or ``REPLACE``.
    :param keys: the foreign keys, for IGNORE; None if they are not checked. INSERT IGNORE skips rows without
        the rows that they refer to before it stores the first one. Source: tidb ``FKCheckExec.checkRows``.
    :raises ScenarioError: for wrong column counts, values that do not fit, duplicate keys.
    """
    ignore, mode = bool(tree.args.get("ignore")), context.mode
    source = plan.source(context)
    plan.check(source, context)
    # Without strict mode NULL becomes a zero value, but not in an INSERT with one row of VALUES.
    # Source: tidb ``ResetContextOfStmt``.
    is_single = source.is_values and len(source.tuples) == 1
    lenient = ignore or not (mode.strict or is_single)
    limit_ids = bool(plan.updates) and not mode.strict
    evaluated = _evaluated(plan, source, table, context, lenient=lenient, limit_ids=limit_ids)
    rows = transaction.size.weighed(evaluated, transaction.line)
    if source.is_values:
        try:
            fill_auto_increment(table, rows, context, limit_ids=limit_ids)
        except IdsExhausted:
            if ignore and not plan.updates and verb == "INSERT":
                return  # a warning. Source: tidb ``InsertExec.Next``
            raise
    scope = Scope(mode, table.info, context=context, outer=source.scope) if plan.updates else None
    updates = [] if scope is None else plan.assignments(scope)
    if ignore and not updates and keys is not None:
        rows = [values for values in rows if keys.has_parents(table, values)]
    skips = keys.skips_update if ignore and keys is not None else None
    if transaction.partitions:
        rows = _in_partitions(table, rows, transaction, ignore=ignore)
    table.load_conflicting(rows)
    marked = table.info.soft_delete_offset if mode.soft_deletes else None
    if marked is not None:
        _remove_marked(table, rows, marked, transaction)
    if verb == "INSERT" and not ignore and scope is None:
        _insert_all(table, rows, transaction, context)
        return
    for number, values in enumerate(rows):
        if verb == "REPLACE":
            _replace(table, values, transaction, context)
        elif scope is not None:
            around = source.scope_of(number, scope)
            around.lenient_nulls = lenient
            with transaction.ignoring_conflicts() if ignore else nullcontext():
                _insert_or_update(table, values, updates, transaction, around, context, skips)
        elif _fits(table, values):
            transaction.insert(table, new_row(table, values, context))
            context.note_stored()


def _insert_all(
    table: Table, rows: Sequence[list[Value]], transaction: OpenTransaction, context: StatementContext
) -> None:
    """Store new rows, whose hidden row ids come from one cached range.

    A row that is rejected uses up the ids of all. Source: tidb ``addRecordWithAutoIDHint``.
    """
    first = take_row_ids(table, len(rows), context) if rows and table.has_hidden_id else 0
    for row_id, values in enumerate(rows, first):
        transaction.insert(table, new_row(table, values, context, row_id))
        context.note_stored()


def _evaluated(
    plan: InsertPlan,
    source: InsertSource,
    table: Table,
    context: StatementContext,
    *,
    lenient: bool,
    limit_ids: bool,
) -> Iterator[list[Value]]:
    """Yield the rows of a statement; those that are not of VALUES with their AUTO_INCREMENT."""
    for cells in source.tuples:
        columns = plan.columns if cells else plan.no_columns
        row = evaluated_row(table, columns, cells, context, lenient, plan.read_before)
        if not source.is_values:
            fill_auto_increment(table, [row], context, limit_ids=limit_ids)
        yield row


def _in_partitions(
    table: Table, rows: list[list[Value]], transaction: OpenTransaction, *, ignore: bool
) -> list[list[Value]]:
    """Return the rows in the partitions that the statement names.

    :param ignore: whether it skips the others.
    :raises ScenarioError: for another row, if it does not.
    """
    if ignore:
        return [
            values
            for values in rows
            if table.accepts(values) and transaction.accepts(table, table.home(values))
        ]
    for values in rows:
        transaction.check_partition(table, table.home(values))
    return rows


def _remove_marked(
    table: Table, rows: Sequence[Sequence[Value]], offset: int, transaction: OpenTransaction
) -> None:
    """Delete the rows that are deleted softly and whose keys new rows take: TiDB replaces them.

    :param offset: of the column with the time of the soft delete.
    """
    for values in rows:
        conflict = table.conflict(values)
        if conflict is not None and conflict[1].values[offset] is not None:
            transaction.delete(table, conflict[1])


def _fits(table: Table, values: Sequence[Value]) -> bool:
    """Return whether INSERT IGNORE stores a row: if its unique keys are new and a partition accepts it."""
    return table.conflict(values) is None and table.accepts(values)


def _replace(
    table: Table, values: Sequence[Value], transaction: OpenTransaction, context: StatementContext
) -> None:
    """Delete every conflicting row, then insert; a row that is already identical remains."""
    while (conflict := table.conflict(values)) is not None:
        _, row = conflict
        if table.read(row) == list(values):
            return
        transaction.delete(table, row)
    transaction.insert(table, new_row(table, values, context))
    context.note_stored()


def _insert_or_update(
    table: Table,
    values: list[Value],
    updates: Sequence[Assignment],
    transaction: OpenTransaction,
    around: Scope,
    context: StatementContext,
    skips: Skips | None,
) -> None:
    conflict = table.conflict(values)
    if conflict is None:
        transaction.insert(table, new_row(table, values, context))
        context.note_stored()
        return
    _, row = conflict
    lenient = around.lenient_nulls
    scope = Scope(around.mode, table.info, table.read(row), values, lenient, around.context, "", around.outer)
    assigned = assign_in_order(updates, scope)
    update_row(table, row, scope, assigned, transaction, skips)
