"""The values that an expression can use: the current row, the row proposed for insertion, the session."""

from __future__ import annotations

from dataclasses import dataclass, field

from ticdc_producer.errors import ScenarioError, nearest
from ticdc_producer.model.coerce import read
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.sql_mode import SQLMode
from ticdc_producer.model.sql_value import SQLValue
from ticdc_producer.model.table import TableInfo


@dataclass(slots=True)
class Scope:
    """The scope of an expression.

    :param table: the table of the statement; None for a constant.
    :param row: current values, one per column; assignments change the list.
    :param proposed: the row that ``VALUES(column)`` refers to in ON DUPLICATE KEY UPDATE.
    :param lenient_nulls: whether NULL in a NOT NULL column becomes its zero value instead of an error.
    """

    mode: SQLMode
    table: TableInfo | None = None
    row: list[Value] = field(default_factory=list)
    proposed: list[Value] | None = None
    lenient_nulls: bool = False

    def column(self, name: str, table: str = "", database: str = "") -> ColumnInfo:
        """The column of that name.

        :raises ScenarioError: if the table has no such column.
        """
        return self._table(table, database, name).columns[self.offset(name, table, database)]

    def offset(self, name: str, table: str = "", database: str = "") -> int:
        """Offset of the column in ``row``.

        :raises ScenarioError: if the table has no such column.
        """
        info = self._table(table, database, name)
        for offset, column in enumerate(info.columns):
            if column.name.lower() == name.lower() and not column.hidden:
                return offset
        hint = nearest(name, [column.name for column in info.columns])
        raise ScenarioError(f"Unknown column {name!r} in table {info.name!r}", column=name, hint=hint)

    def value(self, name: str, table: str = "", database: str = "") -> SQLValue:
        """The current value of a column."""
        offset = self.offset(name, table, database)
        return read(self.column(name, table, database), self.row[offset], self.mode)

    def proposed_value(self, name: str) -> SQLValue:
        """``VALUES(column)``; NULL outside of ON DUPLICATE KEY UPDATE."""
        offset = self.offset(name)
        return None if self.proposed is None else read(self.column(name), self.proposed[offset], self.mode)

    def _table(self, table: str, database: str, column: str) -> TableInfo:
        info = self.table
        if info is None:
            raise ScenarioError(f"Column {column!r} cannot be used here", column=column)
        if (table and table.lower() != info.name.lower()) or (
            database and database.lower() != info.schema.lower()
        ):
            qualifier = f"{database}.{table}" if database else table
            raise ScenarioError(f"Unknown table {qualifier!r} in {qualifier}.{column}", column=column)
        return info
