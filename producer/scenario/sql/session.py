"""A session: scripts in, the history of their commits out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime

from sqlglot import exp

from producer.errors import ScenarioError, UnsupportedSQL
from producer.model.catalog import Catalog, DDLJob
from producer.model.sql_mode import DEFAULT_NOW, SQLMode
from producer.scenario.history import Change, History, TableState
from producer.scenario.sql.cluster import Cluster, Database
from producer.scenario.sql.cursor import Cursor
from producer.scenario.sql.ddl import DDLContext, is_ddl, run_ddl
from producer.scenario.sql.dialect import parse_dml
from producer.scenario.sql.insert import run_insert
from producer.scenario.sql.statements import Statement, split_statements
from producer.scenario.sql.storage import Table
from producer.scenario.sql.transaction import Transaction
from producer.scenario.sql.update import run_delete, run_update
from producer.scenario.sql.variables import run_set
from producer.scenario.sql.variables import time_zone as zone_of

_DML = ("INSERT", "REPLACE", "UPDATE", "DELETE")
_READING = frozenset({"SELECT", "SHOW", "EXPLAIN", "DESC", "DESCRIBE", "ANALYZE"})
"""Statements that leave no trace in the stream; they are passed over."""
_KNOWN_VERBS = frozenset({
    "WITH", "TABLE", "VALUES", "CALL",
    "DO", "LOAD", "IMPORT", "LOCK", "UNLOCK", "XA", "SAVEPOINT", "RELEASE", "PREPARE", "EXECUTE",
    "DEALLOCATE", "GRANT", "REVOKE", "KILL", "FLUSH", "ADMIN", "SPLIT", "BATCH", "HANDLER", "CHECK",
    "OPTIMIZE", "REPAIR", "RESET", "PURGE", "INSTALL", "UNINSTALL", "BACKUP", "RESTORE", "START",
    "STOP", "TRACE", "BINLOG", "HELP", "CANCEL",
})  # fmt: skip
"""Statements that exist and that a scenario cannot hold."""
_FIRST_DATABASE = "test"


class Session:
    """Runs SQL against an embedded store that keeps TiDB's rules.

    :param file: the scenario file, for messages.
    :param database: the current database; it and ``test`` exist and are empty.
    :param now: what ``NOW()`` is; it does not move.
    :param force_replicate: whether TiCDC replicates tables without a handle key.
    """

    def __init__(
        self,
        *,
        file: str = "",
        database: str = _FIRST_DATABASE,
        time_zone: str = "+00:00",
        now: datetime = DEFAULT_NOW,
        force_replicate: bool = False,
    ) -> None:
        self._file = file
        self._database = database
        self._force_replicate = force_replicate
        self._cluster = Cluster({name.lower(): Database(name) for name in (_FIRST_DATABASE, database)})
        self._mode = self._initial = SQLMode(zone=zone_of(time_zone), now=now)
        self._commits = 0
        self._changes: list[Change] = []
        self._ddls: list[DDLJob] = []
        self._open: Transaction | None = None
        self._begun_at = 0

    @property
    def commits(self) -> int:
        """How many commits so far: transactions and DDL jobs."""
        return self._commits

    def run(self, text: str, *, line: int = 1) -> None:
        """Run a script. BEGIN … COMMIT is one transaction, every other statement its own.

        :param text: statements with ``;`` between.
        :param line: line of the file at which ``text`` starts.
        :raises ScenarioError: at the first statement that fails, with its place.
        """
        with self._placed(line):
            for statement in split_statements(text, line):
                with self._placed(statement.line):
                    self._statement(statement)
            if self._open is not None:
                raise ScenarioError("BEGIN without COMMIT or ROLLBACK", line=self._begun_at)

    def transaction(self, text: str, *, line: int = 1) -> None:
        """Run DML statements as one transaction.

        :param text: statements with ``;`` between; no DDL, BEGIN or COMMIT.
        :param line: line of the file at which ``text`` starts.
        :raises ScenarioError: at the first statement that fails, with its place.
        """
        with self._placed(line):
            self._begin(line)
            try:
                for statement in split_statements(text, line):
                    with self._placed(statement.line):
                        self._step(statement)
            except ScenarioError:
                self._roll_back()
                raise
            self._commit()

    def history(self) -> History:
        """What was committed so far."""
        state = {
            (table.info.schema, table.info.name): TableState(
                version=table.info.version, rows=tuple(table.image(row.values) for row in table.scan())
            )
            for database in self._cluster.databases.values()
            for table in database.tables.values()
        }
        catalog = Catalog(tuple(self._cluster.versions), tuple(self._ddls))
        return History(catalog=catalog, changes=list(self._changes), commits=self._commits, state=state)

    def _step(self, statement: Statement) -> None:
        if statement.word(0) not in _DML:
            what = f"{statement.word(0) or 'this'} cannot stand in a transaction step"
            raise ScenarioError(what, hint="only INSERT, REPLACE, UPDATE and DELETE can")
        self._dml(statement)

    def _statement(self, statement: Statement) -> None:
        word = statement.word(0)
        if word in _DML:
            self._dml(statement)
        elif is_ddl(word):
            self._ddl(statement)
        elif word == "SET":
            self._mode = run_set(Cursor(statement), self._mode, self._initial)
        elif word == "USE":
            self._use(Cursor(statement, 1))
        elif word in _READING:
            pass
        else:
            self._control(statement, word)

    def _control(self, statement: Statement, word: str) -> None:
        cursor = Cursor(statement)
        if cursor.accept("BEGIN") or cursor.accept("START", "TRANSACTION"):
            cursor.accept_any("PESSIMISTIC", "OPTIMISTIC")
            cursor.end()
            self._commit()
            self._begin(statement.line)
        elif cursor.accept("COMMIT"):
            cursor.end()
            self._commit()
        elif cursor.accept("ROLLBACK"):
            cursor.end()
            self._roll_back()
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
        self._database = context.database

    def _record_job(self, events: list[DDLJob]) -> None:
        self._ddls.extend(replace(event, commit_seq=self._commits) for event in events)
        self._commits += 1

    def _dml(self, statement: Statement) -> None:
        verb, tree = parse_dml(statement.sql, statement.line)
        alone = self._open is None
        transaction = self._open or Transaction(self._commits)
        transaction.line = statement.line
        if isinstance(tree, exp.Insert):
            _refuse_other_parts(tree, "this", "expression", "conflict", "ignore")
            target = self._target(tree.this)
            run_insert(tree, verb, target, transaction, self._mode, self._target)
        elif isinstance(tree, exp.Update):
            _refuse_other_parts(tree, "this", "expressions", "where", "order", "limit")
            run_update(tree, self._target(tree.this), transaction, self._mode)
        elif isinstance(tree, exp.Delete):
            _refuse_other_parts(tree, "this", "where", "order", "limit")
            run_delete(tree, self._target(tree.this), transaction, self._mode)
        else:
            raise UnsupportedSQL(f"{verb} in this form is not supported")
        if alone:
            self._open = transaction
            self._commit()

    def _target(self, node: exp.Expr | None) -> Table:
        table = node.this if isinstance(node, exp.Schema) else node
        if not isinstance(table, exp.Table) or set(_parts(table)) - {"this", "db"}:
            raise UnsupportedSQL("DML of anything but one plain table is not supported")
        return self._cluster.table(table.db or self._database, table.name)

    def _begin(self, line: int) -> None:
        self._open, self._begun_at = Transaction(self._commits), line

    def _commit(self) -> None:
        if self._open is not None:
            self._changes.extend(self._open.changes)
            self._commits += 1
            self._open = None

    def _roll_back(self) -> None:
        if self._open is not None:
            self._open.roll_back()
            self._open = None

    @contextmanager
    def _placed(self, line: int) -> Iterator[None]:
        """Errors leave with file and line."""
        try:
            yield
        except ScenarioError as error:
            raise error.at(self._file, line) from error.__cause__
        except RecursionError:
            raise ScenarioError("SQL is nested too deeply", file=self._file, line=line) from None


def _parts(node: exp.Expr) -> list[str]:
    return [name for name, part in node.args.items() if part]


def _refuse_other_parts(tree: exp.Expr, *known: str) -> None:
    others = set(_parts(tree)) - set(known)
    if others:
        raise UnsupportedSQL(f"{tree.key.upper()} with {sorted(others)[0].upper()} is not supported")
