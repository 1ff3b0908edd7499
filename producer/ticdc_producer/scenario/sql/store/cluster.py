"""The schema state of the simulated TiDB: databases, tables, and every version that a table ever had."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from sqlglot import exp

from ticdc_producer.errors import ScenarioError
from ticdc_producer.hints import nearest
from ticdc_producer.model.parameter import Profile
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.sql.definition.column_changes import with_column_ids
from ticdc_producer.scenario.sql.store.allocator import ObjectIds
from ticdc_producer.scenario.sql.store.sequence import StoredSequence
from ticdc_producer.scenario.sql.store.storage import Table


@dataclass(slots=True)
class Database:
    """A database; tables by name in lower case, since TiDB compares names without case.

    :param view_queries: the query of each view that this tool can run; its tables have their databases.
    """

    name: str
    charset: str = "utf8mb4"
    collation: str = "utf8mb4_bin"
    tables: dict[str, Table] = field(default_factory=dict)
    views: dict[str, TableInfo] = field(default_factory=dict)
    view_queries: dict[str, exp.Expr] = field(default_factory=dict)
    sequences: dict[str, StoredSequence] = field(default_factory=dict)

    def holds(self, name: str) -> bool:
        """Return whether a table, view or sequence has this name; they share one name space."""
        return any(name.lower() in names for names in (self.tables, self.views, self.sequences))


@dataclass(slots=True)
class TiDBCluster:
    """All databases, and what they share.

    :param versions: every version of every table; the index is ``TableInfo.version``.
    :param ids: the counter of object ids.
    :param policies: names of placement policies.
    :param profile: the TiCDC architecture that replicates the tables.
    """

    databases: dict[str, Database] = field(default_factory=dict)
    versions: list[TableInfo] = field(default_factory=list)
    ids: ObjectIds = field(default_factory=ObjectIds)
    policies: set[str] = field(default_factory=set)
    profile: Profile = "classic"

    def database(self, name: str) -> Database:
        """Return the database of a name.

        :raises ScenarioError: if no database has that name, or the name is empty.
        """
        database = self.databases[name.lower()] if self.has_database(name) else None
        if database is None:
            names = [other.name for other in self.databases.values()]
            hint = nearest(name, names)
            if hint.startswith("allowed"):
                hint += "; CREATE DATABASE makes another"
            raise ScenarioError(f"Unknown database {name!r}", value=name, hint=hint)
        return database

    def has_database(self, name: str) -> bool:
        """Return whether a database exists.

        :raises ScenarioError: if the name is empty, even of a statement with IF EXISTS.
        """
        if not name:
            raise ScenarioError("No database selected", hint="USE one, or write database.table")
        return name.lower() in self.databases

    def find(self, schema: str, name: str) -> Table | None:
        """Return the table, or None; the database must exist."""
        return self.database(schema).tables.get(name.lower())

    def table(self, schema: str, name: str) -> Table:
        """Return the table of a name.

        :raises ScenarioError: if no table has that name.
        """
        table = self.find(schema, name)
        if table is None and self.database(schema).holds(name):
            raise ScenarioError(
                f"'{schema}.{name}' is not BASE TABLE",
                value=f"{schema}.{name}",
                hint="it is a view or a sequence, which hold no rows",
            )
        if table is None:
            names = [other.info.name for other in self.database(schema).tables.values()]
            what = f"Table '{schema}.{name}' doesn't exist"
            raise ScenarioError(what, value=f"{schema}.{name}", hint=nearest(name, names) if names else "")
        return table

    def view(self, schema: str, name: str) -> tuple[TableInfo, exp.Expr] | None:
        """Return a view and its query; None if no view that this tool can run has that name."""
        database = self.database(schema)
        query = database.view_queries.get(name.lower())
        return None if query is None else (database.views[name.lower()], query)

    def sequence(self, schema: str, name: str) -> StoredSequence:
        """Return the sequence of a name.

        :raises ScenarioError: if no sequence has that name.
        """
        database = self.database(schema)
        sequence = database.sequences.get(name.lower())
        if sequence is None:
            kind = f"'{schema}.{name}' is not SEQUENCE" if database.holds(name) else ""
            raise ScenarioError(kind or f"Table '{schema}.{name}' doesn't exist", value=f"{schema}.{name}")
        return sequence

    def tables(self) -> Iterator[Table]:
        """Iterate over all tables of all databases."""
        return (table for database in self.databases.values() for table in database.tables.values())

    def new_version(self, info: TableInfo) -> TableInfo:
        """Add a version of a table to the catalog; return it with its number."""
        versioned = replace(with_column_ids(info), version=len(self.versions), profile=self.profile)
        self.versions.append(versioned)
        return versioned

    def renamed(self, info: TableInfo, target: tuple[str, str]) -> TableInfo:
        """Return a new version of a table or view under another name.

        :param target: the new schema and name.
        :raises ScenarioError: if a table, view or sequence has that name already.
        """
        database = self.database(target[0])
        if database.holds(target[1]):
            raise ScenarioError(f"Table '{target[0]}.{target[1]}' already exists", value=".".join(target))
        return self.new_version(replace(info, schema=database.name, name=target[1]))

    def add(self, table: Table) -> None:
        """Add a table to its database.

        :raises ScenarioError: for a name that ends with a blank. Source: tidb ``isIncorrectName``.
        """
        if table.info.name.endswith(" "):
            raise ScenarioError(f"Incorrect table name {table.info.name!r}", value=table.info.name)
        self.database(table.info.schema).tables[table.info.name.lower()] = table

    def drop(self, table: Table) -> None:
        del self.database(table.info.schema).tables[table.info.name.lower()]
