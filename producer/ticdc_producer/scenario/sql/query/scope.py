"""The scope of an expression in a query: the names of all tables in FROM, and the current row of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

from sqlglot import exp

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.hints import nearest
from ticdc_producer.model.values.sql_value import SQLValue
from ticdc_producer.scenario.sql.expression.collation import collation_of
from ticdc_producer.scenario.sql.expression.eval_type import ExpressionType
from ticdc_producer.scenario.sql.expression.evaluate import evaluate, type_of
from ticdc_producer.scenario.sql.expression.function_call import column_name
from ticdc_producer.scenario.sql.expression.scope import ROW_ID, Scope, default_of
from ticdc_producer.scenario.sql.query.source import Field, Source, SourceRow, TableSource

Combination: TypeAlias = tuple[SourceRow | None, ...]
"""One row of each source; None for a source that is not joined yet, or that an outer join fills with NULL."""
Position: TypeAlias = tuple[int, int]
"""Number of a source, and the offset of one of its fields."""


@dataclass(frozen=True, slots=True)
class Names:
    """The names that a FROM clause, or one side of a join, defines.

    :param sources: all sources of the clause.
    :param numbers: the sources that are visible here.
    :param columns: the columns of ``*``; a column of USING or NATURAL appears once.
    """

    sources: Sequence[Source] = ()
    numbers: tuple[int, ...] = ()
    columns: tuple[Position, ...] = ()
    _positions: dict[tuple[str, str, str], Position | None] = field(default_factory=dict, compare=False)

    def field(self, position: Position) -> Field:
        source, offset = position
        return self.sources[source].fields[offset]

    def expression(self, position: Position) -> exp.Column:
        """Return a column as an expression, with the name of its source."""
        source = self.sources[position[0]]
        return exp.column(
            exp.to_identifier(self.field(position).name, quoted=True),
            exp.to_identifier(source.name, quoted=True),
            exp.to_identifier(source.schema, quoted=True) if source.schema else None,
        )

    def find(self, name: str, table: str = "", database: str = "") -> Position | None:
        """Return the column with a name; None if there is none.

        :raises ScenarioError: if several columns have the name.
        """
        key = name, table, database
        if key not in self._positions:
            lower = name.lower()
            visible = self.columns if not table else self.columns_of(table, database)
            positions = [position for position in visible if self.field(position).name.lower() == lower]
            if len(positions) > 1:
                raise ScenarioError(f"Column {name!r} is ambiguous", column=name, hint="write table.column")
            self._positions[key] = positions[0] if positions else None
        return self._positions[key]

    def position(self, node: exp.Expr) -> Position | None:
        """Return the column that a node names; None for any other expression, and for an unknown name."""
        if not isinstance(node, exp.Column):
            return None
        return self.find(*column_name(node))

    def columns_of(self, table: str, database: str = "") -> tuple[Position, ...]:
        """Return the columns of the source with a name; empty if there is no such source."""
        return tuple(
            (number, offset)
            for number in self.numbers
            if self.sources[number].name.lower() == table.lower()
            and (not database or self.sources[number].schema.lower() == database.lower())
            for offset in range(len(self.sources[number].fields))
        )

    def unknown(self, name: str, table: str, database: str) -> ScenarioError:
        """Return the error for a name that no source has."""
        if table and not self.columns_of(table, database):
            qualifier = f"{database}.{table}" if database else table
            names = [self.sources[number].name for number in self.numbers]
            what = f"Unknown table {qualifier!r} in {qualifier}.{name}"
            return ScenarioError(what, column=name, hint=nearest(table, names) if names else "")
        visible = self.columns_of(table, database) if table else self.columns
        if not visible:
            return ScenarioError(f"Column {name!r} cannot be used here", column=name)
        sources = [self.sources[number] for number, _ in visible]
        tables = [source.table for source in sources if isinstance(source, TableSource)]
        if name.lower() == ROW_ID and any(table.has_hidden_id for table in tables):
            return UnsupportedSQL(f"{ROW_ID} is not supported", column=name)
        hint = nearest(name, [self.field(position).name for position in visible])
        where = table or ", ".join(self.sources[number].name for number in self.numbers)
        return ScenarioError(f"Unknown column {name!r} in {where}", column=name, hint=hint)


@dataclass(slots=True)
class QueryScope(Scope):
    """The scope of a query's expressions.

    :param aliases: the expressions of the SELECT list by their names in lower case.
    :param aliases_first: whether an alias has precedence over a column, as in HAVING and ORDER BY.
    :param groups: whether aggregate functions are possible, as in a SELECT list.
    :param aggregates: their values for the current group, by the identity of their nodes.
    :param windows: in the same way the values of window functions; None where none are possible.
    :param correlated: whether an expression used a column of the scope around it.
    """

    in_query: ClassVar[bool] = True

    names: Names = field(default_factory=Names)
    combination: Combination = ()
    aliases: Mapping[str, exp.Expr] = field(default_factory=dict)
    aliases_first: bool = False
    groups: bool = False
    aggregates: Mapping[int, SQLValue] = field(default_factory=dict)
    windows: Mapping[int, SQLValue] | None = None
    correlated: bool = False

    def value(self, name: str, table: str = "", database: str = "") -> SQLValue:
        alias = self._alias(name, table)
        if alias is not None:
            with self._without_aliases():
                return evaluate(alias, self)
        position = self.names.find(name, table, database)
        if position is not None:
            return self.value_at(position)
        return self._around(name, table, database).value(name, table, database)

    def value_at(self, position: Position) -> SQLValue:
        source, offset = position
        row = self.combination[source]
        return None if row is None else row.values[offset]

    def knows(self, name: str, table: str = "", database: str = "") -> bool:
        if self._alias(name, table) is not None or self.names.find(name, table, database) is not None:
            return True
        if self.outer is None or not self.outer.knows(name, table, database):
            return False
        self.correlated = True
        return True

    def collation(self, name: str, table: str = "", database: str = "") -> str:
        alias = self._alias(name, table)
        if alias is not None:
            with self._without_aliases():
                return collation_of(alias, self)
        position = self.names.find(name, table, database)
        if position is not None:
            return self.names.field(position).collation
        return self._around(name, table, database).collation(name, table, database)

    def type(self, name: str, table: str = "", database: str = "") -> ExpressionType:
        alias = self._alias(name, table)
        if alias is not None:
            with self._without_aliases():
                return type_of(alias, self)
        position = self.names.find(name, table, database)
        if position is not None:
            return self.names.field(position).type
        return self._around(name, table, database).type(name, table, database)

    def default(self, name: str, table: str = "", database: str = "") -> SQLValue:
        position = self.names.find(name, table, database)
        if position is None:
            return self._around(name, table, database).default(name, table, database)
        column = self.names.field(position).column
        if column is None:
            raise UnsupportedSQL(f"DEFAULT({name}) of a column of a query is not supported", column=name)
        return default_of(column, self.mode)

    def check_aggregate(self) -> None:
        if not self.groups:
            raise ScenarioError("Invalid use of group function")

    def aggregate(self, node: exp.Expr) -> SQLValue:
        self.check_aggregate()
        return self.aggregates[id(node)]

    def check_window(self, name: str) -> None:
        if self.windows is None:
            Scope.check_window(self, name)

    def window(self, node: exp.Expr) -> SQLValue:
        if self.windows is None or id(node) not in self.windows:
            raise ScenarioError("You cannot use the alias of a window function in this context.")
        return self.windows[id(node)]

    def unknown_column(self, name: str, table: str, database: str) -> ScenarioError:
        return self.names.unknown(name, table, database)

    def _around(self, name: str, table: str, database: str) -> Scope:
        if self.outer is None:
            raise self.unknown_column(name, table, database)
        self.correlated = True
        return self.outer

    def _alias(self, name: str, table: str) -> exp.Expr | None:
        """Return the expression of the SELECT list that a name means here; None if it means a column."""
        expression = None if table or not self.aliases else self.aliases.get(name.lower())
        if expression is None or self.aliases_first:
            return expression
        return expression if self.names.find(name) is None else None

    @contextmanager
    def clause(
        self, aliases: Mapping[str, exp.Expr], *, aliases_first: bool = False, groups: bool = False
    ) -> Iterator[None]:
        """Enter a context in which the expressions of a clause are evaluated.

        :param aliases: the names of the SELECT list, if the clause sees them.
        """
        before = self.aliases, self.aliases_first, self.groups
        self.aliases, self.aliases_first, self.groups = aliases, aliases_first, groups
        try:
            yield
        finally:
            self.aliases, self.aliases_first, self.groups = before

    def _without_aliases(self) -> AbstractContextManager[None]:
        """Return a context for the expression of an alias, which does not see the aliases itself."""
        return self.clause({}, groups=self.groups)
