"""Tables for DataFrames, from their CREATE TABLE statements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.hints import nearest
from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.history import History
from ticdc_producer.scenario.sql.session import Session
from ticdc_producer.scenario.sql.statements import split_statements

_ALLOWED = ("CREATE", "USE", "SET")


class UnknownTable(ScenarioError, KeyError):
    """No table has that name, or several have it."""


class Tables(Mapping[str, TableInfo]):
    """Tables by ``schema.table``, or by ``table`` if only one schema has it; names compare without case.

    :ivar catalog: the tables and the DDL jobs that made them, for a run that sends these DDLs first.
    :ivar commits: number of commits of the jobs: the first transaction's number in the whole history.
    """

    def __init__(self, history: History) -> None:
        self.catalog: Catalog = history.catalog
        self.commits: int = history.commits
        last = {name: history.catalog.tables[state.version] for name, state in history.state.items()}
        self._tables = {table.qualified_name: table for table in last.values()}

    def __getitem__(self, name: str) -> TableInfo:
        """:raises UnknownTable: if no table has that name, or more than one."""
        found = self._matches(name)
        if not found:
            raise UnknownTable(f"Unknown table {name!r}", value=name, hint=nearest(name, self._tables))
        if len(found) > 1:
            names = ", ".join(sorted(table.qualified_name for table in found))
            raise UnknownTable(f"Table name {name!r} is not unique", value=name, hint=f"there are {names}")
        return found[0]

    def __iter__(self) -> Iterator[str]:
        """Qualified names."""
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def _matches(self, name: str) -> list[TableInfo]:
        wanted = name.lower()
        exact = [table for key, table in self._tables.items() if key.lower() == wanted]
        return exact or [table for table in self._tables.values() if table.name.lower() == wanted]


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
    return Tables(session.history())
