"""The databases and tables that the statements of a session name, and the DDL that changes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from sqlglot import exp

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.catalog import DDLJob
from ticdc_producer.model.parameter import Profile
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.sql_value import SQLMode
from ticdc_producer.scenario.sql.ddl import DDLContext, run_ddl
from ticdc_producer.scenario.sql.dml.references import ForeignKeys
from ticdc_producer.scenario.sql.dml.statement_cache import StatementCache
from ticdc_producer.scenario.sql.store.cluster import Database, TiDBCluster
from ticdc_producer.scenario.sql.store.reserved_tables import ReservedTables
from ticdc_producer.scenario.sql.store.storage import Table
from ticdc_producer.scenario.sql.store.temporary_tables import TemporaryTables
from ticdc_producer.scenario.sql.syntax import parse_ddl
from ticdc_producer.scenario.sql.syntax.statement import TruncateTable
from ticdc_producer.scenario.sql.text.cursor import Cursor
from ticdc_producer.scenario.sql.text.lexer import is_utf8
from ticdc_producer.scenario.sql.text.spelling import CONCATENATION
from ticdc_producer.scenario.sql.text.statements import Statement, split_statements

FIRST_DATABASE = "test"


class SessionTables:
    """The tables of a session: those of the cluster, reserved ones, and temporary ones that hide others.

    :param database: the current database; it and ``test`` exist and are empty.
    :param force_replicate: whether TiCDC replicates tables without a handle key.
    :param profile: the TiCDC architecture that replicates.
    :ivar reserved: tables whose rows a step or a large dump supplies.
    :ivar foreign_keys: those between the tables of the cluster.
    """

    def __init__(self, database: str, profile: Profile, *, force_replicate: bool) -> None:
        self.database = database
        databases = {name.lower(): Database(name) for name in (FIRST_DATABASE, database)}
        self.cluster = TiDBCluster(databases, profile=profile)
        self.reserved = ReservedTables()
        self.foreign_keys = ForeignKeys(())
        self._temporary = TemporaryTables()
        self._force_replicate = force_replicate

    def named(self, name: str) -> Table:
        """Return the table of the cluster with a name, which may be qualified by its database."""
        database, _, table = name.rpartition(".")
        return self.of_database(database, table)

    def of_database(self, database: str, name: str) -> Table:
        """Return the table of the cluster with a name in a database, by default the current one."""
        return self.cluster.table(database or self.database, name)

    def target(self, database: str, name: str, mode: SQLMode) -> Table:
        """Return the table that a DML statement names; a reserved table is in use after its step from now on.

        :param database: empty for the current one.
        """
        table = self.planned_table(database, name)
        if table is not self._temporary.find(database or self.database, name):
            self.reserved.use(table, enforced=mode.foreign_key_checks)
        return table

    def planned_table(self, database: str, name: str) -> Table:
        """Return the table that a statement names which is only planned; it uses no reserved table."""
        database = database or self.database
        temporary = self._temporary.find(database, name)
        return self.cluster.table(database, name) if temporary is None else temporary

    def view(self, node: exp.Table) -> tuple[TableInfo, exp.Expr] | None:
        """Return the view that a node names, and its query; None if it names none that this tool can run."""
        name = node.db or self.database, node.name
        return None if self._temporary.find(*name) is not None else self.cluster.view(*name)

    def use(self, cursor: Cursor) -> None:
        """Change the current database (``USE``).

        :raises ScenarioError: for an unknown database.
        """
        name = cursor.identifier("a database name")
        cursor.end()
        self.database = self.cluster.database(name).name

    def adopt_database(self, name: str) -> None:
        """Change the current database to one that exists, or existed before the first statement."""
        self.database = self.cluster.databases.setdefault(name.lower(), Database(name)).name

    def run_ddl(
        self,
        statement: Statement,
        mode: SQLMode,
        commit: Callable[[], None],
        add_job: Callable[[Iterable[DDLJob]], None],
    ) -> None:
        """Run a DDL statement.

        :param commit: commits the open transaction, which most DDL does.
        :param add_job: records the job of a DDL that is replicated.
        """
        if not statement.text.isascii() and not is_utf8(statement.text):
            raise ScenarioError("a DDL has bytes that are not UTF-8")
        if f"/*{CONCATENATION}*/" in statement.sql:
            raise UnsupportedSQL("DDL with || as CONCAT is not supported", hint="write CONCAT")
        node = parse_ddl(Cursor(statement))
        context = DDLContext(
            statement, node, self.cluster, mode, self.database, self._force_replicate, add_job
        )
        rest = self._temporary.run(node, context)
        if rest is not None or isinstance(node, TruncateTable):
            commit()
        if rest is not None:
            run_ddl(rest, context)
            self.reserved.check(self.cluster.tables(), context.action)
            self.foreign_keys = ForeignKeys(self.cluster.tables())
            self.database = context.database

    def announce(self, text: str, cache: StatementCache) -> None:
        """Announce the rows that a script selects to generated tables; errors appear when the script runs."""
        if not self.reserved.has_generated:
            return
        with suppress(ScenarioError, RecursionError):
            selecting = [each for each in split_statements(text) if each.verb in ("UPDATE", "DELETE")]
            for statement in selecting if len(selecting) > 1 else ():
                tree = cache.parsed(statement).tree
                where, target = tree.args.get("where"), tree.this
                if where is not None and isinstance(target, exp.Table):
                    self.reserved.announce(self.of_database(target.db, target.name), where.this)

    def after_refused(self, words: Sequence[str]) -> None:
        """Create the database of a refused CREATE DATABASE, so that statements after it can be checked.

        :param words: the words of the refused statement in lower case.
        """
        if words[:1] == ["create"] and words[1:2] in (["database"], ["schema"]):
            name = next((word.strip("`") for word in words[2:] if word not in ("if", "not", "exists")), "")
            self.cluster.databases.setdefault(name, Database(name))
