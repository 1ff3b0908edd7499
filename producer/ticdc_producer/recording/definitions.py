"""The tables that existed before a recording begins, as CREATE TABLE statements.

They come from a dump, or from the descriptions of tables in the messages; ``row_tables.py`` has those that
follow from rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.spec import DescribedTables
from ticdc_producer.recording.selection import Accepts
from ticdc_producer.recording.summary import TableName
from ticdc_producer.replica.stream_ddl import StreamDDL, parsed_ddl
from ticdc_producer.scenario.sourced_files import sql_text
from ticdc_producer.scenario.sql.definition.create_text import create_table_text
from ticdc_producer.scenario.sql.session.session import Session
from ticdc_producer.scenario.sql.syntax.alter import RenameTo
from ticdc_producer.scenario.sql.syntax.statement import (
    DDL,
    AlterTable,
    CreateIndex,
    CreateTable,
    DatabaseStatement,
    DropIndex,
    DropObjects,
    RenameTables,
    TruncateTable,
)

SCHEMA_HINT = "give the CREATE TABLE statements of tables that existed before with `schema`"


@dataclass(frozen=True)
class EarlierTable:
    """A table that existed before the first DDL of the messages.

    :param create: its CREATE TABLE statement.
    :param since: commit-ts of the statement; 0: it is not known.
    """

    schema: str
    table: str
    create: str
    since: int = 0

    @property
    def name(self) -> TableName:
        """Schema and table."""
        return self.schema, self.table


@dataclass(frozen=True)
class CreatedNames:
    """The names of the tables and databases that DDLs of messages create.

    :param tables: the tables whose first DDL creates them, or gives them their name.
    :param databases: the databases with a CREATE DATABASE.
    :param altered: the tables whose first DDL needs that they exist.
    """

    tables: frozenset[TableName]
    databases: frozenset[str]
    altered: frozenset[TableName] = frozenset()

    @classmethod
    def by(cls, ddls: Iterable[StreamDDL]) -> CreatedNames:
        """Return what DDLs create.

        :param ddls: in their order.
        """
        first: dict[TableName, list[DDL]] = {}
        databases = set()
        for ddl in ddls:
            statements = parsed_ddl(ddl.query)
            first.setdefault((ddl.schema, ddl.table), statements)
            for statement in statements:
                if isinstance(statement, DatabaseStatement) and statement.verb == "CREATE":
                    databases.add((statement.name or ddl.schema).lower())
        tables = {name for name, statements in first.items() if any(map(_names_a_table, statements))}
        altered = {name for name, statements in first.items() if any(map(_needs_a_table, statements))}
        return cls(frozenset(tables), frozenset(databases), frozenset(altered - tables))

    def __contains__(self, name: TableName) -> bool:
        return name in self.tables or name[0].lower() in self.databases


def _names_a_table(statement: DDL) -> bool:
    """Return whether a DDL creates a table, or gives it its name."""
    if isinstance(statement, AlterTable):
        return any(isinstance(part, RenameTo) for part in statement.parts)
    return isinstance(statement, CreateTable | RenameTables)


def _needs_a_table(statement: DDL) -> bool:
    """Return whether a DDL fails if its table does not exist."""
    is_drop = isinstance(statement, DropObjects) and statement.kind == "TABLE"
    return is_drop or isinstance(statement, AlterTable | CreateIndex | DropIndex | TruncateTable)


@dataclass(frozen=True)
class DatabaseSchema:
    """The tables of a database.

    :param url: without its password, for errors.
    :param text: their CREATE DATABASE and CREATE TABLE statements.
    """

    url: str
    text: str


def dumped_tables(dump: Path | DatabaseSchema, accepts: Accepts, created: CreatedNames) -> list[EarlierTable]:
    """Return the tables of a dump or a database; the rows of a dump are not read.

    :param created: tables that the messages create.
    :raises ScenarioError: for a file that is not SQL text or defines no table, and for a definition that does
        not run.
    """
    if isinstance(dump, DatabaseSchema):
        text, file = dump.text, dump.url
    else:
        text, file = _dump_text(dump), str(dump)
    session = Session(file=file)
    session.run_definitions(text)
    tables = session.defined_tables()
    if not tables and isinstance(dump, Path):
        what, hint = "the dump defines no table", "give a file of SQL with CREATE TABLE statements"
        raise ScenarioError(what, file=file, hint=hint).about("schema")
    return [
        EarlierTable(info.schema, info.name, create)
        for info, create in tables
        if accepts(info.schema, info.name) and (info.schema, info.name) not in created
    ]


def _dump_text(dump: Path) -> str:
    try:
        return sql_text(dump.read_bytes(), str(dump))
    except OSError as error:
        what = f"cannot read the dump: {error.strerror}"
        raise ScenarioError(what, file=str(dump)).about("schema") from None
    except ScenarioError as error:
        raise error.about("schema") from None


def described_tables(
    describe: Callable[[bytes], DescribedTables],
    descriptions: Iterable[bytes],
    accepts: Accepts,
    created: CreatedNames,
) -> list[EarlierTable]:
    """Return the tables that messages describe, in their oldest version.

    :param descriptions: the values of the messages.
    :param created: tables that the messages create.
    """
    oldest: dict[TableName, TableInfo] = {}
    messages = [*map(describe, descriptions)]
    new = {(table.schema, table.name, table.update_ts) for tables in messages for table in tables.after}
    for table in (table for tables in messages for table in tables.before):
        name = table.schema, table.name
        known = oldest.setdefault(name, table)
        if (*name, table.update_ts) not in new and table.update_ts < known.update_ts:
            oldest[name] = table
    return [
        EarlierTable(*name, create_table_text(table), table.update_ts + 1)
        for name, table in oldest.items()
        if accepts(*name) and name not in created and (*name, table.update_ts) not in new
    ]
