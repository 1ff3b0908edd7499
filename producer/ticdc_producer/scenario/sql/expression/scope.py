"""The values that an expression can use: columns of the current row, and the context of its statement."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Protocol

from sqlglot import exp

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.hints import nearest
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.coerce import read
from ticdc_producer.model.values.sql_value import SQLMode, SQLValue
from ticdc_producer.model.values.temporal_text import datetime_from_python
from ticdc_producer.scenario.sql.expression.eval_type import ExpressionType, type_of_column

if TYPE_CHECKING:
    from ticdc_producer.scenario.sql.functions.session import SessionState


ROW_ID = "_tidb_rowid"
"""The hidden column of a table without a clustered primary key."""


class Context(Protocol):
    """The values outside of the row that expressions can use: other tables and the session's values."""

    def evaluate(self, node: exp.Expr, scope: Scope) -> SQLValue:
        """Return the value of a subquery, of a comparison with rows, or of a user variable."""

    def check(self, node: exp.Expr, scope: Scope) -> Iterable[exp.Expr]:
        """Check such a node; return its child nodes, which remain to be checked."""

    def collation(self, node: exp.Expr, scope: Scope) -> str:
        """Return the collation that a subquery gives a comparison; empty if it gives none."""

    def type(self, node: exp.Expr, scope: Scope) -> ExpressionType:
        """Return the type of a subquery or of a user variable."""

    def needs_join(self, node: exp.Expr) -> bool:
        """Return whether TiDB needs a join for the subqueries of a checked expression."""

    @property
    def session(self) -> SessionState:
        """The state of the session, for its functions."""

    def note_generated(self, number: int) -> None:
        """Note that an INSERT generated the value of an AUTO_INCREMENT column."""


@dataclass(slots=True)
class Scope:
    """The scope of an expression on one table, or on none.

    :param table: the table of the statement; None for a constant.
    :param row: current values, one per column; assignments change the list.
    :param proposed: the row that ``VALUES(column)`` refers to in ON DUPLICATE KEY UPDATE.
    :param lenient_nulls: whether NULL in a NOT NULL column becomes its zero value instead of an error.
    :param filled_null: whether that happened to an assigned value; TiDB writes such a row in any case.
    :param context: None where neither subqueries nor variables are possible, as in a DEFAULT.
    :param alias: the name of the table in the statement; empty if it is the table's own.
    :param outer: the scope of the statement around a subquery.
    :param grouped_by: number of the expressions of GROUP BY that the current group has: less for ROLLUP.
    :param in_storage: whether a storage node computes the current expression, a condition on one table.
    :param types: inferred types by the ids of their nodes; the nodes prevent that an id is used again.
    :param choices: in the same way the types to which IF, CASE, COALESCE and the like cast their values.
    """

    in_query: ClassVar[bool] = False
    """Whether the expression is part of a query, which TiDB computes in vectors."""

    mode: SQLMode
    table: TableInfo | None = None
    row: list[Value] = field(default_factory=list)
    proposed: list[Value] | None = None
    lenient_nulls: bool = False
    filled_null: bool = field(default=False, kw_only=True)
    context: Context | None = None
    alias: str = ""
    outer: Scope | None = None
    grouped_by: int = 0
    in_storage: bool = field(default=False, kw_only=True)
    types: dict[int, tuple[exp.Expr, ExpressionType]] = field(default_factory=dict)
    choices: dict[int, tuple[exp.Expr, ExpressionType]] = field(default_factory=dict)

    def column(self, name: str, table: str = "", database: str = "") -> ColumnInfo:
        """Return the column of that name in the scope's own table.

        :raises ScenarioError: if the table has no such column.
        """
        return self._own_table(name).columns[self.offset(name, table, database)]

    def offset(self, name: str, table: str = "", database: str = "") -> int:
        """Return the offset in ``row`` of a column of the scope's own table.

        :raises ScenarioError: if the table has no such column.
        """
        offset = self._offset(name, table, database)
        if offset < 0:
            raise self.unknown_column(name, table, database)
        return offset

    def value(self, name: str, table: str = "", database: str = "") -> SQLValue:
        """Return the current value of a column."""
        offset = self._offset(name, table, database)
        if offset >= 0 and self.table is not None:
            return read(self.table.columns[offset], self.row[offset], self.mode)
        if self.outer is None:
            raise self.unknown_column(name, table, database)
        return self.outer.value(name, table, database)

    def knows(self, name: str, table: str = "", database: str = "") -> bool:
        """Return whether a column has that name, in this scope or around it."""
        if self._offset(name, table, database) >= 0:
            return True
        return self.outer is not None and self.outer.knows(name, table, database)

    def has_column(self, name: str, table: str = "", database: str = "") -> bool:
        """Return whether the scope's own table has a column of that name."""
        return self._offset(name, table, database) >= 0

    def collation(self, name: str, table: str = "", database: str = "") -> str:
        """Return the collation of a column; empty for numbers, times and binary strings."""
        offset = self._offset(name, table, database)
        if offset < 0 and self.outer is not None:
            return self.outer.collation(name, table, database)
        column = self.column(name, table, database)
        return "" if column.charset == "binary" else column.collation

    def type(self, name: str, table: str = "", database: str = "") -> ExpressionType:
        """Return the type of a column."""
        if self._offset(name, table, database) < 0 and self.outer is not None:
            return self.outer.type(name, table, database)
        return type_of_column(self.column(name, table, database))

    def default(self, name: str, table: str = "", database: str = "") -> SQLValue:
        """Return ``DEFAULT(column)``.

        :raises ScenarioError: for a NOT NULL column without a default.
        :raises UnsupportedSQL: for a default that is computed per row.
        """
        return default_of(self.column(name, table, database), self.mode)

    def proposed_value(self, name: str) -> SQLValue:
        """Return ``VALUES(column)``; NULL outside of ON DUPLICATE KEY UPDATE."""
        if self.proposed is None:
            return None
        return read(self.column(name), self.proposed[self.offset(name)], self.mode)

    def check_aggregate(self) -> None:
        """Check that a function of a group of rows is possible here.

        :raises ScenarioError: if it is not, as in every scope on one table.
        """
        raise ScenarioError("Invalid use of group function")

    def aggregate(self, node: exp.Expr) -> SQLValue:
        """Return the value of an aggregate function for the current group."""
        self.check_aggregate()
        raise KeyError(node)

    def check_window(self, name: str) -> None:
        """Check that a window function is possible here.

        :raises ScenarioError: if it is not, as in every scope on one table.
        """
        raise ScenarioError(
            f"You cannot use the window function {name.lower()!r} in this context.", value=name
        )

    def window(self, node: exp.Expr) -> SQLValue:
        """Return the value of a window function for the current row."""
        self.check_window(node.this.name)
        raise KeyError(node)

    def required_context(self, node: exp.Expr) -> Context:
        """Return the context that evaluates a node.

        :raises UnsupportedSQL: if the scope has none.
        """
        if self.context is None:
            raise UnsupportedSQL(
                f"{node.sql(dialect='mysql')[:80]!r} ({node.key.upper()}) is not supported here"
            )
        return self.context

    def unknown_column(self, name: str, table: str, database: str) -> ScenarioError:
        """Return the error for a column that neither this scope nor one around it has."""
        info = self._own_table(name)
        if not self._is_named(table, database):
            qualifier = f"{database}.{table}" if database else table
            return ScenarioError(f"Unknown table {qualifier!r} in {qualifier}.{name}", column=name)
        if name.lower() == ROW_ID and info.clustered_key is None:
            return UnsupportedSQL(f"{ROW_ID} is not supported", column=name)
        hint = nearest(name, [info.columns[offset].name for offset in info.visible_offsets.values()])
        return ScenarioError(f"Unknown column {name!r} in table {info.name!r}", column=name, hint=hint)

    def _offset(self, name: str, table: str, database: str) -> int:
        """Return the offset of a column of the scope's own table; -1 if it has none of that name."""
        if self.table is None or ((table or database) and not self._is_named(table, database)):
            return -1
        offset = self.table.visible_offsets.get(name.lower(), -1)
        if offset < 0 and not self.mode.soft_deletes:
            return self.table.internal_offsets.get(name.lower(), -1)
        return offset

    def _is_named(self, table: str, database: str) -> bool:
        info = self.table
        if info is None:
            return False
        return (not table or table.lower() == (self.alias or info.name).lower()) and (
            not database or database.lower() == info.schema.lower()
        )

    def _own_table(self, column: str) -> TableInfo:
        if self.table is None:
            raise ScenarioError(f"Column {column!r} cannot be used here", column=column)
        return self.table


def default_of(column: ColumnInfo, mode: SQLMode) -> SQLValue:
    """Return ``DEFAULT(column)``.

    :raises ScenarioError: for a NOT NULL column without a default.
    :raises UnsupportedSQL: for a default that is computed per row.
    """
    if column.default_expression == "CURRENT_TIMESTAMP":
        return datetime_from_python(mode.now.astimezone(mode.zone), max(column.decimal, 0))
    if column.default_expression:
        what = f"DEFAULT({column.name}) of a column with a computed default is not supported"
        raise UnsupportedSQL(what)
    if not column.has_default and not column.nullable and column.default is None:
        raise ScenarioError(f"Field {column.name!r} doesn't have a default value", column=column.name)
    return read(column, column.default, mode)
