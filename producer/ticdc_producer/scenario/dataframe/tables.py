"""Tables for DataFrames, from their CREATE TABLE statements, and the sources of their columns."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql.types import StructField, StructType

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.hints import nearest
from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.coerce import STRICT
from ticdc_producer.scenario.history import History
from ticdc_producer.scenario.sql.dml.assign import default_value
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.session.session import Session
from ticdc_producer.scenario.sql.text.statements import split_statements

_ALLOWED = ("CREATE", "USE", "SET")


class UnknownTable(ScenarioError, KeyError):
    """The error that no table has that name, or several have it."""


class Tables(Mapping[str, TableInfo]):
    """Tables by ``schema.table``, or by ``table`` if only one schema has it; names compare without case.

    :ivar catalog: the tables and the DDL jobs that created them.
    :ivar commits: number of commits of the jobs: the first transaction's number in the whole history.
    :ivar sql: the statements, which a run sends first.
    """

    def __init__(self, history: History, sql: str = "") -> None:
        self.catalog: Catalog = history.catalog
        self.commits: int = history.commits
        self.sql = sql
        last = {name: history.catalog.tables[state.version] for name, state in history.state.items()}
        self._tables = {table.qualified_name: table for table in last.values()}

    def __getitem__(self, name: str) -> TableInfo:
        """Return a table.

        :raises UnknownTable: if no table has that name, or more than one.
        """
        matches = self._matches(name)
        if not matches:
            raise UnknownTable(f"Unknown table {name!r}", value=name, hint=nearest(name, self._tables))
        if len(matches) > 1:
            names = ", ".join(sorted(table.qualified_name for table in matches))
            raise UnknownTable(f"Table name {name!r} is not unique", value=name, hint=f"there are {names}")
        return matches[0]

    def __iter__(self) -> Iterator[str]:
        """Yield the qualified names."""
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def _matches(self, name: str) -> list[TableInfo]:
        lower_name = name.lower()
        exact = [table for key, table in self._tables.items() if key.lower() == lower_name]
        return exact or [table for table in self._tables.values() if table.name.lower() == lower_name]


def tables(sql: str) -> Tables:
    """Run CREATE DATABASE, CREATE TABLE and USE statements.

    :param sql: statements with ``;`` between; the initial database is ``test``.
    :raises ScenarioError: for SQL that fails, and for any other kind of statement.
    """
    for statement in split_statements(sql):
        if statement.word(0) not in _ALLOWED:
            what = f"{statement.word(0) or 'this'} is not allowed among the tables"
            raise UnsupportedSQL(what, line=statement.line, hint="only CREATE, USE and SET are")
    session = Session()
    session.run(sql)
    return Tables(session.history(), sql)


@dataclass(frozen=True, slots=True)
class ValueSources:
    """The source of each value of a row.

    :param fields: fields of the DataFrame, by the column's offset in the table.
    :param defaults: canonical values of the columns that the DataFrame does not have, by offset.
    """

    table: TableInfo
    fields: Mapping[int, StructField]
    defaults: Mapping[int, bytes | None]


def row_sources(table: TableInfo, schema: StructType, others: Collection[str]) -> ValueSources:
    """Return the sources of a row; names are compared without case.

    :param others: columns for another purpose, which need not be columns of the table.
    :raises ScenarioError: for an unknown or duplicate column, and for a missing column without DEFAULT.
    """
    fields = _matched(table, schema, {name.lower() for name in others})
    missing = [offset for offset in table.sent if offset not in fields]
    return ValueSources(table, fields, {offset: _default(table, offset) for offset in missing})


def old_row_sources(table: TableInfo, schema: StructType, row: ValueSources, before: str) -> ValueSources:
    """Return the sources of an old row: the fields of a struct, the same as those of the new row.

    :raises ScenarioError: for an additional or a missing field.
    """
    fields = _matched(table, schema, ())
    different = sorted(fields.keys() ^ row.fields.keys())
    if different:
        name = table.columns[different[0]].name
        where = "the rows have it" if different[0] in row.fields else f"{before!r} has it"
        what = f"{before!r} and the rows must have the same columns: only {where}: {name!r}"
        raise ScenarioError(what, column=name)
    return ValueSources(table, fields, row.defaults)


def _matched(table: TableInfo, schema: StructType, others: Collection[str]) -> dict[int, StructField]:
    offsets = {column.name.lower(): offset for offset, column in enumerate(table.columns)}
    fields: dict[int, StructField] = {}
    for field in schema.fields:
        offset = offsets.get(field.name.lower())
        if offset is None and field.name.lower() in others:
            continue
        if offset is None or offset not in table.sent:
            raise _unknown(table, field.name, table.sent)
        if offset in fields:
            names = f"{fields[offset].name!r} and {field.name!r}"
            raise ScenarioError(f"two columns for one: {names}", column=table.columns[offset].name)
        fields[offset] = field
    return fields


def _unknown(table: TableInfo, name: str, sent: Sequence[int]) -> ScenarioError:
    names = [table.columns[offset].name for offset in sent]
    if any(column.name.lower() == name.lower() for column in table.columns):
        what = f"column {name!r} is virtual and never part of a message"
        return ScenarioError(what, column=name, hint="drop it from the DataFrame")
    what = f"table {table.qualified_name} has no column {name!r}"
    return ScenarioError(what, column=name, hint=nearest(name, names))


def _default(table: TableInfo, offset: int) -> bytes | None:
    column = table.columns[offset]
    if column.auto_increment or column.generated:
        kind = "AUTO_INCREMENT" if column.auto_increment else "generated"
        what = f"column {column.name!r} is {kind} and missing: a DataFrame must supply its values"
        raise ScenarioError(what, column=column.name)
    if not column.nullable and not column.has_default and not column.default_expression:
        raise ScenarioError(f"Field {column.name!r} doesn't have a default value", column=column.name)
    return default_value(column, Scope(STRICT))
