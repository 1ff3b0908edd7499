"""The SELECT of a view as TiDB stores it, with which TiCDC new architecture replaces the typed one.

TiDB adds the current database to the names of tables, writes the columns for ``*``, and names each column.
TiCDC takes this text if it reads a table of another database than that of the view, or if a column has the
name of a table; it then adds the database to such columns, too. Source: tidb ``pkg/planner/core``
(``unfoldWildStar``, ``addAliasName``); ticdc ``pkg/common/event/ddl_query_normalizer.go``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.restore.names import column_text
from ticdc_producer.scenario.sql.restore.query import read_query
from ticdc_producer.scenario.sql.text.cursor import Cursor, SourceText
from ticdc_producer.scenario.sql.text.spelling import quoted_name
from ticdc_producer.scenario.sql.text.statements import Statement

ColumnsOf: TypeAlias = Callable[[str, str], Sequence[str] | None]
"""Returns the visible columns of a table or view by database and name; None if they are unknown."""


@dataclass(frozen=True, slots=True)
class _Part:
    """Words of a query.

    :param values: names in them, as the production that read them knows them.
    """

    start: int
    end: int
    values: tuple[str, ...]


@dataclass(slots=True)
class _Select:
    """The parts of one SELECT by their kind; those of its subqueries are in their own."""

    parts: dict[str, list[_Part]] = field(default_factory=dict)

    def of(self, kind: str) -> list[_Part]:
        return self.parts.get(kind, [])


class _QueryCursor(Cursor):
    """A cursor that reads a query, and records its parts."""

    def __init__(self, source: SourceText) -> None:
        super().__init__(source.statement, source.start)
        self.selects: list[_Select] = []
        self.common_tables: set[str] = set()
        self._open: list[_Select] = []

    def note(self, kind: str, start: int, *values: str) -> None:
        if kind == "SELECT":
            self.selects.append(_Select())
            self._open.append(self.selects[-1])
        elif kind == "end of SELECT":
            self._open.pop()
        elif kind == "common table":
            self.common_tables.add(values[0].lower())
        elif self._open:
            self._open[-1].parts.setdefault(kind, []).append(_Part(start, self.position, values))


@dataclass(frozen=True, slots=True)
class _Edit:
    """A change of the text: the words from ``start`` on are replaced; none are if ``end`` is ``start``."""

    start: int
    end: int
    text: str


class _Unknown(Exception):
    """The text that TiDB stores is not known."""


def stored_query(source: SourceText, database: str, schema: str, columns_of: ColumnsOf) -> str | None:
    """Return the text with which TiCDC replaces the SELECT of a view; None if it keeps the typed one.

    It also keeps the typed one here if the stored text is not known: with ``*`` over subqueries, NATURAL JOIN
    or USING, with GROUP BY of another name than the column's or of a number, with two equal expressions
    without a name, and if this tool cannot print the query.

    :param source: the SELECT.
    :param database: the current database.
    :param schema: the database of the view.
    """
    cursor = _QueryCursor(source)
    try:
        read_query(cursor)
    except ScenarioError:
        return None
    query = _Query(source.statement, database, schema, columns_of, frozenset(cursor.common_tables))
    try:
        edits = [edit for select in cursor.selects for edit in query.edits(select)]
    except _Unknown:
        return None
    return _edited(source, edits) if query.is_replaced(cursor.selects) else None


@dataclass(frozen=True, slots=True)
class _Query:
    """The names of a query.

    :param common_tables: names of its common table expressions, in lower case.
    """

    statement: Statement
    database: str
    schema: str
    columns_of: ColumnsOf
    common_tables: frozenset[str]

    def is_replaced(self, selects: Sequence[_Select]) -> bool:
        """Return whether TiCDC replaces the query."""
        schemas = {self._schema(table) for select in selects for table in select.of("table")} - {""}
        other = any(schema.lower() != self.schema.lower() for schema in schemas)
        return other or any(True for select in selects for _ in self._qualified_columns(select))

    def edits(self, select: _Select) -> Iterator[_Edit]:
        """Yield the changes of one SELECT.

        :raises _Unknown: if the text that TiDB stores is not known.
        """
        for table in select.of("table"):
            schema = self._schema(table)
            if schema and not table.values[0]:
                yield _Edit(table.start, table.start, f"{quoted_name(schema)}.")
        yield from self._qualified_columns(select)
        yield from self._named_fields(select)

    def _schema(self, table: _Part) -> str:
        """Return the database of a table; empty for a common table expression."""
        schema, name, _ = table.values
        return schema or ("" if name.lower() in self.common_tables else self.database)

    def _qualified_columns(self, select: _Select) -> Iterator[_Edit]:
        aliases = {table.values[2].lower() for table in select.of("table")} | {
            derived.values[0].lower() for derived in select.of("derived table")
        }
        plain = [table for table in select.of("table") if not table.values[2] and self._schema(table)]
        counted = Counter(table.values[1].lower() for table in plain)
        schemas = {table.values[1].lower(): self._schema(table) for table in plain}
        for column in select.of("column"):
            name = column.values[0].lower()
            if len(column.values) == 2 and name not in aliases and counted[name] == 1:
                yield _Edit(column.start, column.start, f"{quoted_name(schemas[name])}.")

    def _named_fields(self, select: _Select) -> Iterator[_Edit]:
        """Yield the names of the fields that have none, and the columns for ``*``."""
        columns = {(part.start, part.end): part.values[-1] for part in select.of("column")}
        expressions = {part.start: part for part in select.of("field expression")}
        stars = {part.start: part.values for part in select.of("star")}
        texts: dict[str, str] = {}
        unnamed: list[tuple[str, _Part]] = []
        for entry in select.of("field"):
            if entry.start in stars:
                names = [*self._star_columns(select, stars[entry.start])]
                texts |= {name[-1].lower(): "" for name in names}
                text = ", ".join(f"{column_text(name)} AS {quoted_name(name[-1])}" for name in names)
                yield _Edit(entry.start, entry.end, text)
                continue
            expression, (alias,) = expressions[entry.start], entry.values
            name = alias or columns.get((expression.start, expression.end), "")
            if not name:
                unnamed.append((self._name(expression), expression))
                continue
            texts[name.lower()] = self._text(expression)
            if not alias:
                yield _Edit(entry.end, entry.end, f" AS {quoted_name(name)}")
        for name, expression in unnamed:
            if name.lower() in texts:  # TiDB changes the name
                raise _Unknown
            texts[name.lower()] = self._text(expression)
            yield _Edit(expression.end, expression.end, f" AS {quoted_name(name)}")
        self._check_grouping(select, texts)

    def _check_grouping(self, select: _Select, texts: Mapping[str, str]) -> None:
        """Check that no item of GROUP BY names another text, which TiDB would store in its place.

        :param texts: texts of the fields by name, in lower case.
        """
        for item in select.of("group"):
            typed = self._text(item)
            if typed.isdecimal() or texts.get(typed.strip("`").lower(), typed) != typed:
                raise _Unknown

    def _star_columns(self, select: _Select, qualifiers: Sequence[str]) -> Iterator[tuple[str, str, str]]:
        if select.of("derived table") or select.of("merged columns"):
            raise _Unknown
        for table in select.of("table"):
            schema, (_, name, alias) = self._schema(table), table.values
            known = (schema, alias or name)[2 - len(qualifiers) :]
            if [*map(str.lower, qualifiers)] != [*map(str.lower, known)]:
                continue
            columns = self.columns_of(schema, name) if schema else None
            if columns is None:
                raise _Unknown
            for column in columns:
                yield schema, alias or name, column

    def _text(self, part: _Part) -> str:
        return SourceText(self.statement, part.start, part.end).text

    def _name(self, expression: _Part) -> str:
        """Return the name of a field that is not a column: its text, or its content if it is a string."""
        source = SourceText(self.statement, expression.start, expression.end)
        return source.cursor.string() if source.cursor.is_string() else source.text


def _edited(source: SourceText, edits: Sequence[_Edit]) -> str:
    statement, text, position = source.statement, "", source.start
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        text += _words(statement, position, edit.start) + edit.text + " " * (not edit.text.endswith("."))
        position = edit.end
    return (text + _words(statement, position, source.end)).rstrip()


def _words(statement: Statement, start: int, end: int) -> str:
    """Return words with a blank after them."""
    if start == end:
        return ""
    tokens = statement.tokens
    return f"{statement.sql[tokens[start].start : tokens[end - 1].end + 1]} "
