"""Writes single rows of given values into tables: row changes that are not SQL statements.

Values are converted, defaults, generated columns and ids assigned, and keys checked as for a statement that
changes the one row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ticdc_producer.errors import RowConflict, ScenarioError
from ticdc_producer.model.event import Value
from ticdc_producer.model.row_key import columns_key, index_key
from ticdc_producer.model.values.coerce import coerce
from ticdc_producer.model.values.sql_value import SQLValue, display_value
from ticdc_producer.scenario.sql.dml.assign import stored_value
from ticdc_producer.scenario.sql.dml.stored_rows import (
    InsertColumns,
    evaluated_row,
    fill_auto_increment,
    new_row,
    update_row,
)
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.query.context import StatementContext
from ticdc_producer.scenario.sql.store.storage import Row, RowLocation, Table
from ticdc_producer.scenario.sql.store.transaction import OpenTransaction

Given: TypeAlias = Mapping[int, SQLValue]
"""The given values of a row, by the offsets of their columns."""


class DuplicateRow(RowConflict):
    """A row with the key of another row.

    :ivar other: the other row.
    """

    other: Row


@dataclass(frozen=True, slots=True)
class RowWriter:
    """A writer of rows in an open transaction."""

    transaction: OpenTransaction
    context: StatementContext

    def insert(self, table: Table, given: Given) -> Row:
        """Insert a row; columns without a value get their DEFAULT.

        :raises DuplicateRow: for a duplicate key.
        :raises ScenarioError: for values that do not fit.
        """
        assigned = _without_generated(table, given)
        columns, cells = InsertColumns.of(table.info, [*assigned]), [*assigned.values()]
        values = evaluated_row(table, columns, cells, self.context, lenient=False)
        fill_auto_increment(table, [values], self.context, limit_ids=False)
        self._check_generated(table, given, values)
        row = new_row(table, values, self.context)
        try:
            self.transaction.insert(table, row)
        except RowConflict as error:
            raise duplicate_row(error, table, values, None) from None
        return row

    def update(self, table: Table, row: Row, given: Given) -> Row | None:
        """Assign values to a stored row; columns without a value keep theirs.

        :return: the row; None if it does not change and is not written.
        :raises DuplicateRow: for a duplicate key.
        :raises ScenarioError: for values that do not fit.
        """
        scope = Scope(self.context.mode, table.info, table.read(row), context=self.context)
        assigned = _without_generated(table, given)
        for offset, value in assigned.items():
            scope.row[offset] = stored_value(value, table.info.columns[offset], scope)
        try:
            new = update_row(table, row, scope, set(assigned), self.transaction)
        except RowConflict as error:
            raise duplicate_row(error, table, scope.row, row.location) from None
        self._check_generated(table, given, scope.row)
        return new

    def delete(self, table: Table, row: Row) -> None:
        """Delete a stored row."""
        self.transaction.delete(table, row)

    def stored(self, table: Table, given: Given) -> Row | None:
        """Return the row with the given values of its primary or handle key; None if it does not exist.

        A table without such a key is searched for a row with all given values.

        :raises ScenarioError: if a value of the key is missing.
        """
        return stored_row(table, self.canonical(table, given))

    def canonical(self, table: Table, given: Given) -> dict[int, Value]:
        """Return the canonical values of given values, by offset."""
        columns, mode = table.info.columns, self.context.mode
        return {offset: coerce(columns[offset], value, mode) for offset, value in given.items()}

    def _check_generated(self, table: Table, given: Given, row: Sequence[Value]) -> None:
        generated = {offset: given[offset] for offset in table.info.generated if offset in given}
        for offset, value in self.canonical(table, generated).items():
            if value != row[offset]:
                name = table.info.columns[offset].name
                what = f"the generated column {name!r} has the value {_text(row[offset])}, not {_text(value)}"
                raise ScenarioError(what, column=name)


def stored_row(table: Table, values: Mapping[int, Value]) -> Row | None:
    """Return the row with some canonical values; see ``RowWriter.stored``."""
    row: list[Value] = [values.get(offset) for offset in range(len(table.info.columns))]
    index = table.info.handle_index
    if index is None:
        return _first_equal(table, values, row)
    for offset in index.offsets:
        if offset not in values:
            name = table.info.columns[offset].name
            raise ScenarioError(f"column {name!r} of the row's key has no value", column=name)
    table.load_conflicting([row])
    key = index_key(table.info.columns, index, row)
    location = None if key is None else table.entries.get(index.name, {}).get(key)
    return None if location is None else table.rows[location]


def _text(value: Value) -> str:
    return "NULL" if value is None else repr(display_value(value.decode(errors="replace")))


def duplicate_row(
    error: RowConflict, table: Table, values: Sequence[Value], ignoring: RowLocation | None
) -> RowConflict:
    """Return the error of a duplicate key with the row that has the key."""
    conflict = table.conflict(values, ignoring)
    if conflict is None:
        return error
    duplicate = DuplicateRow(error.what, column=error.column, value=error.value)
    duplicate.other = conflict[1]
    return duplicate


def _without_generated(table: Table, given: Given) -> Given:
    return {offset: value for offset, value in given.items() if not table.info.columns[offset].generated}


def _first_equal(table: Table, values: Mapping[int, Value], row: Sequence[Value]) -> Row | None:
    """Return the first row with some values, in the order of the rows' locations."""
    offsets = tuple(offset for offset, value in values.items() if value is not None)
    key = columns_key(table.info.columns, offsets, row) if offsets else None
    candidates = table.scan() if key is None else table.rows_holding(offsets, key)
    equal = (each for each in candidates if has_values(table, each, values))
    return next(equal, None)


def has_values(table: Table, row: Row, values: Mapping[int, Value]) -> bool:
    """Return whether a stored row has some canonical values."""
    stored = table.read(row)
    return all(stored[offset] == value for offset, value in values.items())
