"""A SQL session: runs scripts and returns the history of their commits."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime

from sqlglot import exp

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.catalog import Catalog, DDLJob
from ticdc_producer.model.event import Value
from ticdc_producer.model.profile import Profile
from ticdc_producer.model.sql_mode import DEFAULT_NOW, SQLMode
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.generate.plan import GeneratePlan
from ticdc_producer.scenario.history import Change, History, State, TableState
from ticdc_producer.scenario.sql.clause import refuse_other_clauses
from ticdc_producer.scenario.sql.cluster import Cluster, Database
from ticdc_producer.scenario.sql.cursor import Cursor
from ticdc_producer.scenario.sql.ddl import DDLContext, is_ddl, run_ddl
from ticdc_producer.scenario.sql.dialect import parse_dml
from ticdc_producer.scenario.sql.generated_table import GeneratedTable
from ticdc_producer.scenario.sql.insert import run_insert
from ticdc_producer.scenario.sql.references import References
from ticdc_producer.scenario.sql.reserved_tables import ReservedTables
from ticdc_producer.scenario.sql.statement_cache import MAX_STATEMENTS, StatementCache
from ticdc_producer.scenario.sql.statements import Statement, split_statements
from ticdc_producer.scenario.sql.storage import Table
from ticdc_producer.scenario.sql.transaction import Transaction
from ticdc_producer.scenario.sql.update import run_delete, run_update
from ticdc_producer.scenario.sql.variables import run_set
from ticdc_producer.scenario.sql.variables import time_zone as zone_of

_DML = ("INSERT", "REPLACE", "UPDATE", "DELETE")
READ_ONLY = frozenset({"SELECT", "SHOW", "EXPLAIN", "DESC", "DESCRIBE", "ANALYZE"})
"""Statements that change nothing in the stream; they are skipped."""
_MODIFIERS = ("LOW_PRIORITY", "HIGH_PRIORITY", "DELAYED", "IGNORE")
_KNOWN_VERBS = frozenset({
    "CHECKSUM", "DELIMITER", "PLAN", "QUERY", "RECOMMEND", "SOURCE", "TRAFFIC",
    "WITH", "TABLE", "VALUES", "CALL",
    "DO", "LOAD", "IMPORT", "LOCK", "UNLOCK", "XA", "SAVEPOINT", "RELEASE", "PREPARE", "EXECUTE",
    "DEALLOCATE", "GRANT", "REVOKE", "KILL", "FLUSH", "ADMIN", "SPLIT", "BATCH", "HANDLER", "CHECK",
    "OPTIMIZE", "REPAIR", "RESET", "PURGE", "INSTALL", "UNINSTALL", "BACKUP", "RESTORE", "START",
    "STOP", "TRACE", "BINLOG", "HELP", "CANCEL",
})  # fmt: skip
"""Statements that TiDB has and a scenario cannot contain."""
_FIRST_DATABASE = "test"


class Session:
    """Runs SQL against an in-memory store with TiDB's rules.

    :param file: the scenario file, for messages.
    :param database: the current database; it and ``test`` exist and are empty.
    :param time_zone: initial value of the session variable.
    :param now: constant result of ``NOW()``.
    :param force_replicate: whether TiCDC replicates tables without a handle key.
    :param profile: the TiCDC architecture that replicates.
    :param snapshots: numbers of commits after which the history contains the state of all tables.
    :param statements: a cache of parsed statements that sessions of one thread share; None: one of its own.
    """

    def __init__(
        self,
        *,
        file: str = "",
        database: str = _FIRST_DATABASE,
        time_zone: str = "+00:00",
        now: datetime = DEFAULT_NOW,
        force_replicate: bool = False,
        profile: Profile = "classic",
        snapshots: Collection[int] = (),
        statements: StatementCache | None = None,
    ) -> None:
        self._file = file
        self._database = database
        self._force_replicate = force_replicate
        databases = {name.lower(): Database(name) for name in (_FIRST_DATABASE, database)}
        self._cluster = Cluster(databases, profile=profile)
        self._mode = self._initial = SQLMode(zone=zone_of(time_zone), now=now)
        self._references = References(())
        self._reserved = ReservedTables()
        self._statements = shared_statements() if statements is None else statements
        self._commits = 0
        self._snapshots = frozenset(snapshots)
        self._state_at: dict[int, State] = {0: {}} if 0 in self._snapshots else {}
        self._changes: list[Change] = []
        self._ddls: list[DDLJob] = []
        self._open: Transaction | None = None
        self._open_line = 0

    @property
    def commits(self) -> int:
        """Number of commits so far: transactions and DDL jobs."""
        return self._commits

    def run(self, text: str, *, line: int = 1) -> None:
        """Run a script. BEGIN … COMMIT is one transaction; any other statement is a transaction of its own.

        :param text: statements with ``;`` between.
        :param line: line of the file at which ``text`` starts.
        :raises ScenarioError: at the first statement that fails, with file and line.
        """
        with self._located(line):
            self._announce(text)
            for statement in split_statements(text, line):
                with self._located(statement.line):
                    self._statement(statement)
            if self._open is not None:
                raise ScenarioError("BEGIN without COMMIT or ROLLBACK", line=self._open_line)

    def transaction(self, text: str, *, line: int = 1) -> None:
        """Run DML statements as one transaction.

        :param text: statements with ``;`` between; no DDL, BEGIN or COMMIT.
        :param line: line of the file at which ``text`` starts.
        :raises ScenarioError: at the first statement that fails, with file and line.
        """
        with self._located(line):
            self._begin(line)
            self._announce(text)
            try:
                for statement in split_statements(text, line):
                    with self._located(statement.line):
                        self._step(statement)
            except ScenarioError:
                self._rollback()
                raise
            self._commit()

    def _announce(self, text: str) -> None:
        """Tell generated tables which rows a script selects; whatever is wrong is found when it runs."""
        if not self._reserved.has_generated:
            return
        with suppress(ScenarioError, RecursionError):
            selecting = [one for one in split_statements(text) if one.verb in ("UPDATE", "DELETE")]
            for statement in selecting if len(selecting) > 1 else ():
                _, tree = self._statements.parsed(statement)
                where, target = tree.args.get("where"), tree.this
                if where is not None and isinstance(target, exp.Table):
                    table = self._cluster.table(target.db or self._database, target.name)
                    self._reserved.announce(table, where.this)

    def table(self, name: str, *, line: int) -> TableInfo:
        """The table of a name, which may be qualified by its database.

        :raises ScenarioError: if no table has that name.
        """
        with self._located(line):
            return self._named(name).info

    def reserve_table(self, name: str, *, line: int) -> None:
        """Reserve a table for a ``generate`` or ``data`` step, which supplies its rows.

        :raises UnsupportedSQL: if the table has rows or foreign keys.
        """
        with self._located(line):
            self._reserved.add(self._named(name), self._cluster.tables())

    def alter_reserved(self, table: TableInfo, ddl: str, name: str, *, line: int) -> TableInfo:
        """Run a DDL on a reserved table, on behalf of its ``generate`` step.

        :param name: name of the table after the DDL, without its database.
        :return: the table after the DDL.
        """

        def altered() -> TableInfo:
            return self._cluster.table(table.schema, name).info

        with self._located(line), self._reserved.alteration_by_step(table, name, altered):
            self.run(ddl, line=line)
        return altered()

    def open_generated(self, plan: GeneratePlan) -> None:
        """Let statements behind a ``generate`` step use the rows of one of its tables."""
        info = plan.step_table_after(None)
        generated = GeneratedTable(plan, lambda: self._commits, lambda: self._mode)
        self._reserved.open(self._cluster.table(info.schema, info.name), generated)

    def edited(self, plan: GeneratePlan) -> GeneratePlan:
        """The plan with what SQL did to its table so far."""
        info = plan.step_table_after(None)
        generated = self._reserved.generated(info)
        if not generated.is_used:
            return plan
        return replace(plan, edits=generated.edits(self._cluster.table(info.schema, info.name)))

    def skip_commits(self, commits: int) -> None:
        """Count commits of a ``generate`` or ``data`` step, whose changes are not in the session."""
        crossed = [count for count in self._snapshots if self._commits < count <= self._commits + commits]
        self._take_snapshot(crossed)
        self._commits += commits

    def _named(self, name: str) -> Table:
        database, _, table = name.rpartition(".")
        return self._cluster.table(database or self._database, table)

    def history(self) -> History:
        """The history of all commits so far."""
        return History(
            catalog=Catalog(tuple(self._cluster.versions), tuple(self._ddls)),
            changes=list(self._changes),
            commits=self._commits,
            state=self._state(),
            state_at=dict(self._state_at),
        )

    def _state(self) -> State:
        return {
            (table.info.schema, table.info.name): TableState(
                version=table.info.version, rows=tuple(table.image(table.read(row)) for row in table.scan())
            )
            for database in self._cluster.databases.values()
            for table in database.tables.values()
            if (table.info.schema, table.info.name) not in self._reserved
        }

    def _count_commit(self) -> None:
        self._commits += 1
        if self._commits in self._snapshots:
            self._take_snapshot([self._commits])

    def _take_snapshot(self, counts: Collection[int]) -> None:
        if counts:
            self._state_at.update(dict.fromkeys(counts, self._state()))
            self._reserved.take_snapshot(self._cluster, counts)

    def _step(self, statement: Statement) -> None:
        if statement.verb not in _DML:
            what = f"{statement.verb or 'this'} is not allowed in a transaction step"
            raise ScenarioError(what, hint="only INSERT, REPLACE, UPDATE and DELETE are")
        self._dml(statement)

    def _statement(self, statement: Statement) -> None:
        word = statement.verb
        if word in _DML:
            self._dml(statement)
        elif is_ddl(word):
            self._ddl(statement)
        elif word == "SET":
            self._mode = run_set(Cursor(statement), self._mode, self._initial)
        elif word == "USE":
            self._use(Cursor(statement, 1))
        elif word in READ_ONLY:
            _refuse_running(statement)
        else:
            self._control(statement, word)

    def _control(self, statement: Statement, word: str) -> None:
        cursor = Cursor(statement)
        if cursor.accept("BEGIN") or cursor.accept("START", "TRANSACTION"):
            cursor.accept_any("PESSIMISTIC", "OPTIMISTIC")
            _end(cursor)
            self._commit()
            self._begin(statement.line)
        elif cursor.accept("COMMIT"):
            _end(cursor)
            self._commit()
        elif cursor.accept("ROLLBACK"):
            _end(cursor)
            self._rollback()
        elif word in _KNOWN_VERBS:
            raise UnsupportedSQL(f"{word} is not supported")
        else:
            raise cursor.error("expected a statement")

    def _use(self, cursor: Cursor) -> None:
        name = cursor.identifier("a database name")
        cursor.end()
        self._database = self._cluster.database(name).name

    def _ddl(self, statement: Statement) -> None:
        self._commit()
        context = DDLContext(
            self._cluster, self._mode, self._database, self._force_replicate, self._record_job
        )
        run_ddl(Cursor(statement), context)
        self._reserved.check(self._cluster.tables())
        self._references = References(self._cluster.tables())
        self._database = context.database

    def _record_job(self, events: list[DDLJob]) -> None:
        self._ddls.extend(replace(event, commit_seq=self._commits) for event in events)
        self._count_commit()

    def _dml(self, statement: Statement) -> None:
        verb, tree = self._statements.parsed(statement)
        alone = self._open is None
        transaction = self._open or Transaction(self._commits)
        transaction.line, before = statement.line, len(transaction.steps)
        try:
            self._run_dml(verb, tree, transaction)
            self._references.enforce(transaction, before, self._mode)
        except ScenarioError:
            transaction.rollback(before)
            raise
        if alone:
            self._open = transaction
            self._commit()

    def _has_parents(self, child: Table, values: Sequence[Value]) -> bool:
        return not self._mode.foreign_key_checks or self._references.has_parents(child, values)

    def _run_dml(self, verb: str, tree: exp.Expr, transaction: Transaction) -> None:
        if isinstance(tree, exp.Insert):
            refuse_other_clauses(tree, verb, "this", "expression", "conflict", "ignore")
            target = self._target(tree.this)
            run_insert(tree, verb, target, transaction, self._mode, self._target, self._has_parents)
        elif isinstance(tree, exp.Update):
            refuse_other_clauses(tree, verb, "this", "expressions", "where", "order", "limit")
            run_update(tree, self._target(tree.this), transaction, self._mode)
        elif isinstance(tree, exp.Delete):
            refuse_other_clauses(tree, verb, "this", "where", "order", "limit")
            run_delete(tree, self._target(tree.this), transaction, self._mode)
        else:
            raise UnsupportedSQL(f"{verb} in this form is not supported")

    def _target(self, node: exp.Expr | None) -> Table:
        table = node.this if isinstance(node, exp.Schema) else node
        if not isinstance(table, exp.Table):
            raise UnsupportedSQL("DML of anything but one plain table is not supported")
        refuse_other_clauses(table, "DML", "this", "db")
        found = self._cluster.table(table.db or self._database, table.name)
        self._reserved.use(found)
        return found

    def _begin(self, line: int) -> None:
        self._open, self._open_line = Transaction(self._commits), line

    def _commit(self) -> None:
        if self._open is not None:
            self._changes.extend(self._open.changes)
            self._open = None
            self._count_commit()

    def _rollback(self) -> None:
        if self._open is not None:
            self._open.rollback()
            self._open = None

    @contextmanager
    def _located(self, line: int) -> Iterator[None]:
        """Context that adds file and line to errors."""
        try:
            yield
        except ScenarioError as error:
            raise error.at(self._file, line) from error.__cause__
        except RecursionError:
            raise ScenarioError("SQL is nested too deeply", file=self._file, line=line) from None


def shared_statements(max_trees: int = MAX_STATEMENTS) -> StatementCache:
    """A cache of parsed statements, for sessions of one thread.

    :param max_trees: number of syntax trees in it.
    """
    return StatementCache(_parsed, max_trees)


def _end(cursor: Cursor) -> None:
    """Require the end of BEGIN, COMMIT or ROLLBACK; refuse ``AND CHAIN``, ``TO SAVEPOINT`` and the like."""
    if cursor.word() in ("AND", "NO", "READ", "RELEASE", "TO", "WITH", "WORK"):
        verb = " ".join(cursor.statement.word(index) for index in range(cursor.position))
        raise cursor.unsupported(f"{verb} {cursor.word()} {cursor.word(1)}".rstrip())
    cursor.end()


def _refuse_running(statement: Statement) -> None:
    """Refuse EXPLAIN ANALYZE, which runs the statement that it explains."""
    if statement.word(0) != "ANALYZE" and statement.word(1) == "ANALYZE":
        raise UnsupportedSQL(f"{statement.word(0)} ANALYZE is not supported", line=statement.line)


def _parsed(statement: Statement) -> tuple[str, exp.Expr]:
    _refuse_modifiers(statement)
    return parse_dml(statement.sql, statement.line)


def _refuse_modifiers(statement: Statement) -> None:
    verb, word = statement.word(0), statement.word(1)
    known = verb == "INSERT" and word == "IGNORE"
    quick = verb == "DELETE" and word == "QUICK" and statement.word(2) == "FROM"
    if (word in _MODIFIERS and not known) or quick:
        raise UnsupportedSQL(f"{verb} {word} is not supported", line=statement.line)
