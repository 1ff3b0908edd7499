"""The rows that DML stores: values of INSERT with their ids, new rows, and rows after assignments.

Rules: tidb ``pkg/executor/insert_common.go``, ``update.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

from sqlglot import exp

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.mysql_type import FLOATS
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.coerce import coerce
from ticdc_producer.model.values.sql_value import SQLMode, SQLValue
from ticdc_producer.scenario.sql.definition.generated import fill_generated
from ticdc_producer.scenario.sql.dml.assign import (
    assigned_value,
    default_value,
    is_changed,
    null_error,
    stored_value,
    touch_updated_columns,
    value_before_assignment,
)
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.query.context import StatementContext
from ticdc_producer.scenario.sql.store.allocator import id_reader, ids_exhausted
from ticdc_producer.scenario.sql.store.storage import Row, Table
from ticdc_producer.scenario.sql.store.transaction import OpenTransaction

Cell: TypeAlias = exp.Expr | SQLValue
"""One value of a row of INSERT: an expression, or a value of a literal or a SELECT."""
Skips: TypeAlias = Callable[[Table, set[int], Sequence[Value]], bool]
"""Says whether IGNORE leaves a row as it is, by the offsets that are assigned and the new values."""


@dataclass(frozen=True, slots=True)
class InsertColumns:
    """The columns that a row of an INSERT assigns, and those that it does not.

    :param assigned: offset and column of each value.
    :param defaults: the other columns, but for AUTO_INCREMENT.
    :param ids: the columns with AUTO_INCREMENT or AUTO_RANDOM.
    """

    assigned: list[tuple[int, ColumnInfo]]
    defaults: list[tuple[int, ColumnInfo]]
    ids: list[tuple[int, ColumnInfo]]

    @classmethod
    def of(cls, table: TableInfo, offsets: Sequence[int]) -> InsertColumns:
        """Divide the columns of a table.

        :param offsets: the assigned columns.
        """
        columns = [*enumerate(table.columns)]
        others = [columns[offset] for offset in range(len(columns)) if offset not in set(offsets)]
        return cls(
            [columns[offset] for offset in offsets],
            [(offset, column) for offset, column in others if not column.auto_increment],
            [(offset, column) for offset, column in columns if column.auto_increment or column.auto_random],
        )

    def read_before(self, names: Collection[str]) -> list[tuple[int, ColumnInfo]]:
        """Return the columns with some names in lower case that have no value before they are assigned."""
        assigned = {column.name: (offset, column) for offset, column in self.assigned}
        generated = {column.name: (offset, column) for offset, column in self.defaults if column.generated}
        ids = {column.name: (offset, column) for offset, column in self.ids}
        without_value = {**assigned, **generated, **ids}
        return [column for name, column in without_value.items() if name.lower() in names]


def evaluated_row(
    table: Table,
    columns: InsertColumns,
    cells: Sequence[Cell],
    context: StatementContext,
    lenient: bool,
    read_before: Sequence[tuple[int, ColumnInfo]] = (),
) -> list[Value]:
    """Evaluate the values of one row; expressions see the columns to their left.

    ``fill_auto_increment`` sets ids after that.

    :param columns: the columns that the cells assign.
    :param lenient: whether NULL in a NOT NULL column becomes its zero value.
    :param read_before: the columns that expressions may read before they have a value.
    """
    scope = Scope(context.mode, table.info, [None] * len(table.info.columns), None, lenient, context)
    for offset, column in columns.defaults:
        scope.row[offset] = default_value(column, scope)
    for offset, column in read_before:
        scope.row[offset] = value_before_assignment(column, scope)
    for (offset, column), cell in zip(columns.assigned, cells, strict=True):
        if isinstance(cell, exp.Expr):
            scope.row[offset] = assigned_value(cell, column, scope)
        else:
            scope.row[offset] = stored_value(cell, column, scope)
    fill_generated(scope)
    for offset, column in columns.ids:
        if (offset, column) in read_before and (offset, column) not in columns.assigned:
            scope.row[offset] = None
        if column.auto_random:
            scope.row[offset] = _auto_random(table, column, scope.row[offset], context)
    return scope.row


def _auto_random(table: Table, column: ColumnInfo, value: Value, context: StatementContext) -> Value:
    """Return the value of an AUTO_RANDOM column; the shard is that of the transaction."""
    if value is not None and not _needs_id(value, context.mode):
        table.ids.advance_sharded(int(value))
        return value
    generated_id = table.ids.take_sharded(context.values.shard)
    context.note_generated(generated_id)
    return coerce(column, generated_id, context.mode)


def fill_auto_increment(
    table: Table, rows: Sequence[list[Value]], context: StatementContext, *, limit_ids: bool
) -> None:
    """Set the AUTO_INCREMENT column of rows: to the next id for NULL, and for 0 by default.

    Other values advance the counter. Rows without a value that follow one another take their ids together.
    Source: tidb ``InsertValues.lazyAdjustAutoIncrementDatum``.

    :param limit_ids: whether an id beyond the column's range becomes its largest value. Without strict mode
        TiDB does so for ON DUPLICATE KEY UPDATE alone; elsewhere the id could be that of an unrelated row.
        Source: tidb ``setDatumAutoIDAndCast``.
    :raises ScenarioError: if the counter leaves the column's range.
    """
    if not table.info.auto_increment:
        return
    (offset,), mode = table.info.auto_increment, context.mode
    column, increment = table.info.columns[offset], mode.auto_increment_increment
    read_id = id_reader(column)
    for needs_ids, group in groupby(rows, lambda row: _needs_id(row[offset], mode, read_id)):
        same = [*group]
        if not needs_ids:
            for row in same:
                table.ids.advance(read_id(row[offset] or b"0"))
            continue
        first = table.ids.take(increment, mode.auto_increment_offset, len(same))
        for number, row in enumerate(same):
            row[offset] = _stored_id(column, first + number * increment, context, limit_ids)


def _needs_id(value: Value, mode: SQLMode, read_id: Callable[[bytes], int] = int) -> bool:
    return value is None or (read_id(value) == 0 and mode.auto_value_on_zero)


def _stored_id(column: ColumnInfo, next_id: int, context: StatementContext, limit_ids: bool) -> Value:
    stored = coerce(column, next_id, context.mode)
    if column.type in FLOATS:  # TiDB compares the bits of the number with the id: they are never less
        context.note_generated(next_id)
        return stored
    if not limit_ids and stored is not None and int(stored) < next_id:
        raise ids_exhausted(column)
    context.note_generated(int(stored or 0))
    return stored


def new_row(
    table: Table, values: Sequence[Value], context: StatementContext, row_id: int | None = None
) -> Row:
    """Return a new row.

    :param row_id: its hidden row id, if the table has any; None: the next one.
    :raises ScenarioError: for NULL in a NOT NULL column.
    """
    check_not_null(table.info, values)
    if not table.has_hidden_id:
        return table.make_row(values)
    return table.make_row(values, take_row_ids(table, 1, context) if row_id is None else row_id)


def take_row_ids(table: Table, count: int, context: StatementContext) -> int:
    """Take hidden row ids; return the first."""
    ids = table.ids
    return ids.take_sharded(context.values.shard, count) if ids.shard_bits else ids.take_row_id(count)


def check_not_null(table: TableInfo, values: Sequence[Value]) -> None:
    """Refuse NULL in a NOT NULL column.

    :raises ScenarioError: for the first such column.
    """
    for offset in table.not_null:
        if values[offset] is None:
            raise null_error(table.columns[offset])


def update_row(
    table: Table,
    row: Row,
    scope: Scope,
    assigned: set[int],
    transaction: OpenTransaction,
    skips: Skips | None = None,
) -> Row | None:
    """Store a row after assignments; return it, or None if it did not change and is not written."""
    before = tuple(table.read(row))
    touch_updated_columns(before, scope, assigned)
    fill_generated(scope)
    if not is_changed(before, scope):
        return None
    if skips is not None and skips(table, assigned, scope.row):
        return None
    check_not_null(table.info, scope.row)
    for offset in table.info.auto_increment:
        value = scope.row[offset]
        if value is not None:
            table.ids.advance(id_reader(table.info.columns[offset], inserts=False)(value))
    if transaction.ignores_conflicts and not table.accepts(scope.row):
        return None
    new = table.make_row(scope.row, row.row_id)
    if new.table_id != row.table_id and table.has_hidden_id:
        # Hidden row ids do not move between partitions.
        new = table.make_row(scope.row, table.ids.take_row_id())
    return new if transaction.update(table, row, new) else None
