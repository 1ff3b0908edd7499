"""Writes rows whose canonical values are given: row changes that an upstream has committed already.

The values are stored as they are. Only virtual columns, which no row image has, are computed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from ticdc_producer.errors import RowConflict, ScenarioError
from ticdc_producer.model.event import Value
from ticdc_producer.scenario.columns.canonical_values import stored_value
from ticdc_producer.scenario.sql.definition.generated import fill_generated
from ticdc_producer.scenario.sql.dml.row_writer import duplicate_row, stored_row
from ticdc_producer.scenario.sql.dml.stored_rows import check_not_null
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.query.context import StatementContext
from ticdc_producer.scenario.sql.store.storage import Row, Table
from ticdc_producer.scenario.sql.store.transaction import OpenTransaction

OffsetImage: TypeAlias = Mapping[int, Value]
"""Canonical values by the offsets of their columns; a TIMESTAMP is in the session's time zone."""


@dataclass(frozen=True, slots=True)
class ImageWriter:
    """A writer of row images in an open transaction.

    TiCDC sends an UPDATE of a key as a delete and an insert, and the row keeps its hidden id. Where the ids
    are not given, the inserts of a table get those of the rows that the transaction deleted before, in order.
    TiCDC sends both in the order of the ids: the deletes of an UPDATE after others, and its inserts before
    others, in the new architecture after others.

    :param inserts: number of inserts of the transaction by the id of their table.
    """

    transaction: OpenTransaction
    context: StatementContext
    inserts: Mapping[int, int]
    _deleted: dict[int, list[Row]] = field(default_factory=lambda: defaultdict(list))
    _inserted: Counter[int] = field(default_factory=Counter)

    def stored(self, table: Table, image: OffsetImage) -> Row | None:
        """Return the row with the handle key of an image; None if it does not exist."""
        return stored_row(table, self._values(table, image))

    def insert(self, table: Table, image: OffsetImage, row_id: int | None = None) -> Row:
        """Insert a row.

        :param row_id: its hidden row id, if the table has them; None: the next one.
        :raises DuplicateRow: for a duplicate key.
        :raises ScenarioError: if the image lacks a column, or for a value that the column cannot hold.
        """
        values = self._values(table, image)
        for offset, column in enumerate(table.info.columns):
            if offset not in values and not column.generated and not column.hidden:
                raise ScenarioError(f"the row has no value of column {column.name!r}", column=column.name)
        completed = self._completed(table, [None] * len(table.info.columns), values)
        check_not_null(table.info, completed)
        row = self._new_row(table, completed, row_id)
        for offset in table.info.auto_increment:
            table.ids.advance(int(row.values[offset] or 0))
        try:
            self.transaction.insert(table, row)
        except RowConflict as error:
            raise duplicate_row(error, table, row.values, None) from None
        return row

    def update(
        self,
        table: Table,
        stored: Row,
        before: OffsetImage,
        after: OffsetImage,
        row_id: int | None = None,
    ) -> Row:
        """Change a stored row.

        :param before: the old image, which counts where it differs from the stored row: an upstream may have
            changed the row unseen, as ADD COLUMN with the time as DEFAULT does.
        :param row_id: see ``insert``; None: that of the stored row.
        :raises DuplicateRow: for a duplicate key.
        """
        old = self._with_image(table, stored, before)
        values = self._completed(table, list(old.values), self._values(table, after))
        new = table.make_row(values, row_id or old.row_id)
        if row_id is None and new.table_id != old.table_id and table.has_hidden_id:
            # Hidden row ids do not move between partitions.
            new = table.make_row(values, table.ids.take_row_id())
        try:
            self.transaction.update(table, old, new)
        except RowConflict as error:
            raise duplicate_row(error, table, values, old.location) from None
        return new

    def delete(self, table: Table, stored: Row, before: OffsetImage) -> None:
        """Delete a stored row.

        :param before: the old image; see ``update``.
        """
        row = self._with_image(table, stored, before)
        self.transaction.delete(table, row)
        if table.has_hidden_id:
            self._deleted[table.info.table_id].append(row)

    def _new_row(self, table: Table, values: list[Value], row_id: int | None) -> Row:
        if not table.has_hidden_id:
            return table.make_row(values)
        if row_id is None:
            row = self._updated_row(table, values)
            return table.make_row(values, table.ids.take_row_id()) if row is None else row
        table.ids.advance_row_id(row_id)
        return table.make_row(values, row_id)

    def _updated_row(self, table: Table, values: list[Value]) -> Row | None:
        """Return the row with the id of the one that it replaces; None if the transaction inserts it."""
        name = table.info.table_id
        deleted, number, inserts = self._deleted[name], self._inserted[name], self.inserts.get(name, 0)
        self._inserted[name] += 1
        updates = min(len(deleted), inserts)
        if table.info.profile == "new":
            number -= inserts - updates
        if not 0 <= number < updates:
            return None
        old = deleted[len(deleted) - updates + number]
        row = table.make_row(values, old.row_id)
        # A row that moves to another partition gets another id, and so does the row of a REPLACE.
        return row if row.table_id == old.table_id and table.changes_key(old, row) else None

    def _with_image(self, table: Table, stored: Row, image: OffsetImage) -> Row:
        """Return a stored row after its values became those of an image."""
        values = self._values(table, image)
        if all(stored.values[offset] == value for offset, value in values.items()):
            return stored
        row = table.make_row(self._completed(table, list(stored.values), values), stored.row_id)
        if (conflict := table.replace(stored, row)) is not None:
            raise table.duplicate_error(conflict[0], row.values)
        return row

    def _completed(self, table: Table, row: list[Value], values: OffsetImage) -> list[Value]:
        """Return a row with some values, and with the generated columns that are not among them."""
        for offset, value in values.items():
            row[offset] = value
        if all(offset in values for offset in table.info.generated):
            return row
        scope = Scope(self.context.mode, table.info, row, context=self.context)
        fill_generated(scope)
        for offset, value in values.items():
            row[offset] = value
        return row

    def _values(self, table: Table, image: OffsetImage) -> dict[int, Value]:
        """Return the values as they are stored.

        :raises ScenarioError: for a value that the column cannot hold.
        """
        columns, mode = table.info.columns, self.context.mode
        return {offset: stored_value(columns[offset], value, mode) for offset, value in image.items()}
