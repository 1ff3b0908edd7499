"""A SQL session: runs scripts and returns the history of their commits."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.parameter import Profile
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.sql_value import DEFAULT_NOW, SQLMode
from ticdc_producer.scenario.history import CheckSize, History, HistorySize, IgnoredStatements
from ticdc_producer.scenario.sourced_files import SourcedFiles
from ticdc_producer.scenario.sql.ddl import is_ddl
from ticdc_producer.scenario.sql.dml.row_writer import RowWriter
from ticdc_producer.scenario.sql.dml.statement_cache import StatementCache, statements_of_thread
from ticdc_producer.scenario.sql.query.context import StatementContext
from ticdc_producer.scenario.sql.session.refusals import Refusals, located, located_error
from ticdc_producer.scenario.sql.session.script_files import ScriptFiles
from ticdc_producer.scenario.sql.session.session_settings import SessionSettings, SessionValues
from ticdc_producer.scenario.sql.session.session_tables import FIRST_DATABASE, SessionTables
from ticdc_producer.scenario.sql.session.statement_runner import StatementRunner
from ticdc_producer.scenario.sql.store.followed_tables import FollowedTables, TableCheck, TableName
from ticdc_producer.scenario.sql.store.recorded_history import RecordedHistory
from ticdc_producer.scenario.sql.store.storage import Row, Table
from ticdc_producer.scenario.sql.store.transaction import TransactionControl
from ticdc_producer.scenario.sql.text.statements import SOURCE, Statement, split_statements

_RENAME = "RENAME TABLE "


if TYPE_CHECKING:
    from ticdc_producer.scenario.generate.plan import GeneratePlan
    from ticdc_producer.scenario.sql.definition.partitioning import Partitioning


class Session:
    """A session that runs SQL against an in-memory store with TiDB's rules.

    :param file: the scenario file, for messages.
    :param sourced: the files that ``SOURCE`` commands read.
    :param database: the current database; it and ``test`` exist and are empty.
    :param time_zone: initial value of the session variable.
    :param now: result of ``NOW()``; a function: of the number of the commit that the statement belongs to.
    :param force_replicate: whether TiCDC replicates tables without a handle key.
    :param profile: the TiCDC architecture that replicates.
    :param snapshots: numbers of commits after which the history contains the state of all tables.
    :param defined_after: number of commits after which the history contains the definitions of all tables.
    :param refusals: collects the errors of statements, which are then left out; None: errors are raised.
    :param statements: a cache of parsed statements; None: that of the thread.
    :param check_size: called after each row change.
    :param seed: of ``RAND()``, ``UUID()`` and other random values.
    :ivar ignored_statements: the statements that were not run.
    """

    def __init__(
        self,
        *,
        file: str = "",
        sourced: SourcedFiles | None = None,
        database: str = FIRST_DATABASE,
        time_zone: str = "+00:00",
        now: datetime | Callable[[int], datetime] = DEFAULT_NOW,
        force_replicate: bool = False,
        profile: Profile = "classic",
        snapshots: Collection[int] = (),
        refusals: Refusals | None = None,
        statements: StatementCache | None = None,
        check_size: CheckSize | None = None,
        defined_after: int | None = None,
        seed: int = 0,
    ) -> None:
        self._refusals = refusals
        self._files = ScriptFiles(file, sourced or {})
        self._tables = SessionTables(database, profile, force_replicate=force_replicate)
        self._settings = SessionSettings(time_zone, now)
        self.ignored_statements = IgnoredStatements()
        self._statements = statements_of_thread() if statements is None else statements
        self._values = SessionValues(seed, lambda: self._tables.database, self._tables.cluster.sequence)
        size = HistorySize(check_size)
        self._recorded = RecordedHistory(
            self._tables.cluster, self._tables.reserved, snapshots, size, defined_after
        )
        self._transaction = TransactionControl(self._recorded)
        self._runner = StatementRunner(
            tables=self._tables,
            settings=self._settings,
            values=self._values,
            transaction=self._transaction,
            recorded=self._recorded,
            ignored_statements=self.ignored_statements,
            statements=self._statements,
            files=self._files,
        )

    @property
    def commits(self) -> int:
        """Number of commits so far: transactions and DDL jobs."""
        return self._recorded.commits

    def run(self, text: str, *, line: int = 1) -> None:
        """Run a script. BEGIN … COMMIT is one transaction; any other statement is a transaction of its own.

        :param text: statements with ``;`` between.
        :param line: line of the file at which ``text`` starts.
        :raises ScenarioError: at the first statement that fails, with file and line.
        """
        with self._located(line):
            self._run_script(text, line)
            if self._transaction.open is not None:
                line, autocommit = self._transaction.line, self.mode.autocommit
                self._transaction.rollback()
                what = "BEGIN" if autocommit else "a transaction under autocommit = 0"
                raise ScenarioError(f"{what} without COMMIT or ROLLBACK", line=line)

    def run_definitions(self, text: str) -> None:
        """Run the DDL of a dump, with the settings that decide how it is read; rows and queries are left out.

        :raises ScenarioError: at the first statement that fails, with file and line.
        """
        with self._located(1):
            for statement in split_statements(text, 1, self._runner.spelling):
                if is_ddl(statement.verb) or statement.verb in ("SET", "USE"):
                    self._run_one(statement, self._runner.run)

    def _run_script(self, text: str, line: int) -> None:
        self._tables.announce(text, self._statements)
        for statement in split_statements(text, line, self._runner.spelling):
            if self._refusals is None or not self._refusals.skips(statement):
                self._run_one(statement, self._run_statement)

    def _run_statement(self, statement: Statement) -> None:
        if statement.verb == SOURCE:
            with self._files.opened(statement) as text:
                self._run_script(text, 1)
        else:
            self._runner.run(statement)

    def transaction(self, text: str, *, line: int = 1) -> None:
        """Run DML statements as one transaction.

        :param text: statements with ``;`` between; no DDL, BEGIN or COMMIT.
        :param line: line of the file at which ``text`` starts.
        :raises ScenarioError: at the first statement that fails, with file and line.
        """
        with self.open_transaction(line):
            self.run_in_transaction(text, line=line)

    def run_in_transaction(self, text: str, *, line: int) -> None:
        """Run DML statements in the open transaction; see ``transaction``."""
        self._tables.announce(text, self._statements)
        for statement in split_statements(text, line, self._runner.spelling):
            self._run_one(statement, self._runner.run_step)

    @contextmanager
    def open_transaction(self, line: int) -> Iterator[RowWriter]:
        """Open a transaction that commits at the end of the context, and is undone by an error.

        :return: a writer of row changes that are not SQL; foreign keys are not checked.
        """
        with self._located(line):
            self._settings.move_clock(self._recorded.commits)
            open_ = self._transaction.begin(line)
            open_.line = self._files.scenario_line(line)
            self._values.begin_statement(open_.commit_seq)
            try:
                yield RowWriter(open_, StatementContext(self.mode, self._runner.target, self._values))
            except ScenarioError:
                self._transaction.rollback()
                raise
            self._transaction.commit()

    @contextmanager
    def of_recording(self, file: str, database: str, time_zone: str, *, line: int) -> Iterator[None]:
        """Run a recording in the context, with settings and a current database of its own.

        :param file: the scenario file of the recording, which errors name.
        :param line: that of the step in the scenario.
        """
        before = self.database
        self._tables.adopt_database(database)
        try:
            with self._settings.of_new_session(time_zone), self._files.within(file, line):
                yield
        finally:
            self._tables.database = before

    def table(self, name: str, *, line: int) -> TableInfo:
        """Return the table of a name, which may be qualified by its database.

        :raises ScenarioError: if no table has that name.
        """
        with self._located(line):
            return self._tables.named(name).info

    def partitioning(self, name: str) -> Partitioning | None:
        """Return the partitioning of the table of a name; None if it has no partitions.

        :raises ScenarioError: if no table has that name.
        """
        return self._tables.named(name).partitioning

    def run_sent(self, texts: Sequence[str], database: str, *, line: int) -> None:
        """Run a DDL job that TiCDC has sent.

        :param texts: of its events; those of a RENAME of several tables are one statement.
        :param database: the current one, which exists and is empty if no statement created it; empty: the job
            is one of a database.
        :raises ScenarioError: for several texts of another DDL than RENAME, and if the statement fails.
        """
        if database:
            self._tables.adopt_database(database)
        first, *others = (text.rstrip("; ") for text in texts)
        if not all(text.startswith(_RENAME) for text in (first, *others) if others):
            raise ScenarioError(f"{len(texts)} DDLs have one commit-ts, and only RENAME TABLE can")
        self.run(", ".join([first, *(text.removeprefix(_RENAME) for text in others)]), line=line)
        self._recorded.set_sent_texts(texts)

    def writable_table(self, database: str, name: str) -> Table:
        """Return a table whose rows are changed without SQL.

        :param database: empty for the current one.
        :raises ScenarioError: if the table does not exist, or if the session does not hold its rows.
        """
        table = self._tables.of_database(database, name)
        self._tables.reserved.use(table, enforced=False)
        return table

    def has_enforced_keys(self, table: Table) -> bool:
        """Return whether SQL enforces foreign keys of a table, or of others to it."""
        keys = {key.parent for other in self._tables.cluster.tables() for key in other.foreign_keys}
        related = bool(table.foreign_keys) or (table.info.schema, table.info.name) in keys
        return related and self.mode.foreign_key_checks

    def reserve_table(self, name: str, *, line: int) -> None:
        """Reserve a table for a ``generate`` or ``data`` step, which supplies its rows.

        :raises UnsupportedSQL: if the table has rows or foreign keys.
        """
        with self._located(line):
            self._tables.reserved.add(self._tables.named(name), self._tables.cluster.tables())

    def reserve_dumped(self, database: str, name: str, *, line: int) -> tuple[Table, SQLMode]:
        """Reserve a table whose rows Spark reads from a dump.

        :param database: empty for the current one.
        :return: the table, and the settings of the session.
        :raises UnsupportedSQL: if the table has rows, or foreign keys that are enforced.
        """
        with self._located(line):
            table = self._tables.of_database(database, name)
            self._tables.reserved.add(
                table, self._tables.cluster.tables(), enforced=self.mode.foreign_key_checks
            )
            return table, self.mode

    def adopt(self, table: Table, mode: SQLMode, commits: int) -> None:
        """Run the following SQL as if the session had this table, these settings and commits."""
        self._tables.cluster.add(table)
        self._settings.mode, self._recorded.commits = mode, commits

    def alter_reserved(self, table: TableInfo, ddl: str, name: str, *, line: int) -> TableInfo:
        """Run a DDL on a reserved table, on behalf of its ``generate`` step.

        :param name: name of the table after the DDL, without its database.
        :return: the table after the DDL.
        """

        def altered() -> TableInfo:
            return self._tables.cluster.table(table.schema, name).info

        with self._located(line), self._tables.reserved.alteration_by_step(table, name, altered):
            self.run(ddl, line=line)
        return altered()

    def open_generated(self, plan: GeneratePlan) -> None:
        """Let statements after a ``generate`` step use the rows of one of its tables."""
        from ticdc_producer.scenario.sql.store.generated_table import GeneratedTable

        info = plan.step_table_after(None)
        generated = GeneratedTable(plan, lambda: self._recorded.commits, lambda: self.mode)
        self._tables.reserved.open(self._tables.cluster.table(info.schema, info.name), generated)

    def edited(self, plan: GeneratePlan) -> GeneratePlan:
        """Return the plan with the edits that SQL made to its table so far."""
        info = plan.step_table_after(None)
        generated = self._tables.reserved.generated(info)
        if not generated.is_used:
            return plan
        return replace(plan, edits=generated.edits(self._tables.cluster.table(info.schema, info.name)))

    def follow_tables(
        self, names: Collection[TableName], check: TableCheck
    ) -> tuple[FollowedTables, list[FollowedTables]]:
        """Follow the DDL of tables, whose rows a large DataFrame changes from now on.

        :param names: schema and name in lower case.
        :param check: see ``FollowedTables``.
        :return: also what followed some of them for the DataFrames before.
        :raises UnsupportedSQL: if another step fills one of them.
        """
        followed = FollowedTables(names, lambda: self._recorded.commits, check)
        return followed, self._tables.reserved.follow(followed, self._tables.cluster.tables())

    def take_rows(self, followed: FollowedTables) -> list[tuple[TableInfo, list[Row]]]:
        """Return the rows of followed tables, and remove them: from now on they are the DataFrame's."""
        rows_of_tables = []
        for table in self._tables.cluster.tables():
            if table.rows and followed.fills(table.info):
                rows_of_tables.append((table.info, table.scan()))
                table.clear()
        return rows_of_tables

    def tables_with_enforced_keys(self, followed: FollowedTables) -> list[str]:
        """Return the names of the followed tables whose foreign keys, or those to them, SQL enforces."""
        tables = [*self._tables.cluster.tables()]
        filled = (table for table in tables if followed.fills(table.info))
        return sorted(table.info.qualified_name for table in filled if self.has_enforced_keys(table))

    @property
    def database(self) -> str:
        """The current database."""
        return self._tables.database

    @property
    def mode(self) -> SQLMode:
        """The settings under which the next statement runs."""
        return self._settings.mode

    def skip_commits(self, commits: int) -> None:
        """Count commits of a ``generate`` or ``data`` step, whose changes are not in the session."""
        self._recorded.skip(commits)

    def history(self) -> History:
        """Return the history of all commits so far."""
        return self._recorded.history(self.ignored_statements)

    def defined_tables(self) -> list[tuple[TableInfo, str]]:
        """Return all tables, each with its CREATE TABLE statement."""
        versions = self._tables.cluster.versions
        return [(versions[table.version], table.create) for table in self._recorded.defined_tables()]

    def _run_one(self, statement: Statement, run: Callable[[Statement], None]) -> None:
        """Run a statement; collect its error, if the session collects errors."""
        try:
            run(statement)
        except (ScenarioError, RecursionError) as error:
            located_here = located_error(error, self._files.file, statement.line)
            if self._refusals is None:
                raise located_here from error.__cause__
            self._refusals.add(located_here, statement)
            self._continue_without(statement)

    def _continue_without(self, statement: Statement) -> None:
        """Create the state in which the statements after a refused one can be checked."""
        words = statement.shape.lower().split()
        if words[:1] == ["commit"]:
            self._transaction.commit()
        else:
            self._tables.after_refused(words)

    def _located(self, line: int) -> AbstractContextManager[None]:
        return located(self._files.file, line)
