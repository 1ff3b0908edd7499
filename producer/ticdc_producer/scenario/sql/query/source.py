"""The tables and queries of a FROM clause: their columns and rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.values.coerce import read
from ticdc_producer.model.values.sql_value import SQLMode, SQLValue
from ticdc_producer.scenario.sql.expression.compare import DEFAULT_COLLATION
from ticdc_producer.scenario.sql.expression.eval_type import ExpressionType, type_of_column
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.query.equality import ValueIndex
from ticdc_producer.scenario.sql.store.lookup import Lookup, rows_equal
from ticdc_producer.scenario.sql.store.storage import Row, RowLocation, Table

MAX_ROWS = 1_000_000
"""Rows of a join or a recursive query. They are in memory, at up to 1 KiB each until they are stored."""
_TEXTS = (MySQLType.VARCHAR, MySQLType.STRING)


@dataclass(frozen=True, slots=True)
class Field:
    """A column of a source.

    :param collation: empty for numbers, times and binary strings.
    :param column: None for a column of a query.
    :param length: the number of characters that its type holds; -1 if it has none, or is not known.
    """

    name: str
    collation: str
    type: ExpressionType
    column: ColumnInfo | None = None
    length: int = -1


@dataclass(frozen=True, slots=True, eq=False)
class SourceRow:
    """A row of a source; ``stored`` is the row of its table, None for a row of a query."""

    values: Sequence[SQLValue]
    stored: Row | None = None


class Source(ABC):
    """A table or a query in FROM.

    :ivar name: its alias, or its own name.
    :ivar schema: its database; empty for a query.
    :ivar has_alias: whether the name is an alias.
    :ivar correlated, reads_iteration: as of the query that it is; a table is and does neither.
    """

    name: str
    schema: str
    fields: tuple[Field, ...]
    correlated = False
    reads_iteration = False
    has_alias = False

    def __init__(self) -> None:
        self._rows: list[SourceRow] | None = None
        self._indexes: dict[tuple[int, str], ValueIndex] = {}

    @abstractmethod
    def _read_all(self) -> list[SourceRow]: ...

    def begin(self, outer: Scope | None) -> None:  # noqa: B027  # a table has nothing to do
        """Begin a run of the query that has this source in FROM.

        :param outer: the scope of the statement around that query.
        """

    def prepare(self, condition: exp.Expr | None) -> None:  # noqa: B027  # a query has nothing to do
        """Load the rows that a condition may select, if they are not stored yet."""

    def rows(self) -> list[SourceRow]:
        """Return all rows; those of a table in the order of their locations."""
        if self._rows is None:
            self._rows = self._read_all()
        return self._rows

    def selected(self, condition: exp.Expr) -> Sequence[SourceRow]:
        """Return the rows that may satisfy a condition on this source alone."""
        del condition  # a query has no index by literals
        return self.rows()

    def matching(self, offset: int, value: SQLValue, collation: str, *, strict: bool) -> Sequence[SourceRow]:
        """Return the rows whose field may equal a value.

        :param strict: whether a row whose text is no number is an error.
        """
        collation = collation or DEFAULT_COLLATION
        index = self._indexes.get((offset, collation))
        if index is None:
            values = [row.values[offset] for row in self.rows()]
            index = self._indexes[offset, collation] = ValueIndex(values, collation)
        rows = self.rows()
        return [rows[position] for position in index.candidates(value, strict=strict)]


class TableSource(Source):
    """A table with the rows that it has when the statement starts.

    :param partitions: the ids of the partitions whose rows it has; None: all.
    """

    def __init__(
        self, table: Table, alias: str, mode: SQLMode, partitions: frozenset[int] | None = None
    ) -> None:
        super().__init__()
        self.partitions = partitions
        self.table, self._mode = table, mode
        self.name, self.schema, self.has_alias = alias or table.info.name, table.info.schema, bool(alias)
        self._offsets = [offset for offset, column in enumerate(table.info.columns) if not column.hidden]
        columns = [table.info.columns[offset] for offset in self._offsets]
        self.fields = tuple(
            Field(
                column.name,
                "" if column.charset == "binary" else column.collation,
                type_of_column(column),
                column,
                column.length if column.type in _TEXTS else -1,
            )
            for column in columns
        )
        self._known: dict[RowLocation, SourceRow] = {}

    def prepare(self, condition: exp.Expr | None) -> None:
        self.table.load_selected(condition)

    def selected(self, condition: exp.Expr) -> Sequence[SourceRow]:
        rows, _ = Lookup(condition, self.table.info).rows(self.table)
        return self._in_partitions(rows)

    def matching(self, offset: int, value: SQLValue, collation: str, *, strict: bool) -> Sequence[SourceRow]:
        rows = rows_equal(self.table, self._offsets[offset], value, collation)
        if rows is None:
            return super().matching(offset, value, collation, strict=strict)
        return self._in_partitions(rows)

    def _read_all(self) -> list[SourceRow]:
        return self._in_partitions(self.table.scan())

    def _in_partitions(self, rows: Iterable[Row]) -> list[SourceRow]:
        partitions, rows = self.partitions, self.table.seen([*rows], self._mode)
        return [self._row(row) for row in rows if partitions is None or row.table_id in partitions]

    def _row(self, row: Row) -> SourceRow:
        known = self._known.get(row.location)
        if known is None:
            values = self.table.read(row)
            columns = self.table.info.columns
            known = self._known[row.location] = SourceRow(
                [read(columns[offset], values[offset], self._mode) for offset in self._offsets], row
            )
        return known


class QuerySource(Source):
    """A query in FROM, or a common table expression.

    :param run: returns its rows; called with the scope of the statement around it.
    :param correlated, reads_iteration: as of a ``QueryPlan``: each run may give other rows.
    """

    def __init__(
        self,
        name: str,
        fields: Sequence[Field],
        run: Callable[[Scope | None], list[list[SQLValue]]],
        *,
        correlated: bool = False,
        reads_iteration: bool = False,
    ) -> None:
        super().__init__()
        self.name, self.schema, self.fields = name, "", tuple(fields)
        self._run, self.correlated, self.reads_iteration = run, correlated, reads_iteration
        self._outer: Scope | None = None

    def begin(self, outer: Scope | None) -> None:
        self._outer = outer
        if self.correlated or self.reads_iteration:
            self._rows = None
            self._indexes.clear()

    def _read_all(self) -> list[SourceRow]:
        return [SourceRow(values) for values in self._run(self._outer)]
