"""A SQL session: runs scripts and returns the history of their commits."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
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
from ticdc_producer.scenario.passed_over import PassedOver
from ticdc_producer.scenario.sql.advice import with_advice
from ticdc_producer.scenario.sql.clause import refuse_other_clauses
from ticdc_producer.scenario.sql.cluster import Cluster, Database
from ticdc_producer.scenario.sql.cursor import Cursor
from ticdc_producer.scenario.sql.ddl import DDLContext, is_ddl, run_ddl
from ticdc_producer.scenario.sql.dml import run_dml
from ticdc_producer.scenario.sql.evaluate import check_expression, evaluate
from ticdc_producer.scenario.sql.generated_table import GeneratedTable
from ticdc_producer.scenario.sql.lexer import is_utf8
from ticdc_producer.scenario.sql.query.context import StatementContext
from ticdc_producer.scenario.sql.references import References
from ticdc_producer.scenario.sql.refusals import Refusals
from ticdc_producer.scenario.sql.reserved_tables import ReservedTables
from ticdc_producer.scenario.sql.savepoint import run_savepoint
from ticdc_producer.scenario.sql.scope import Scope
from ticdc_producer.scenario.sql.session_values import SessionValues
from ticdc_producer.scenario.sql.statement_cache import StatementCache, shared_statements
from ticdc_producer.scenario.sql.statements import Statement, split_statements, stored_program
from ticdc_producer.scenario.sql.storage import Table
from ticdc_producer.scenario.sql.transaction import Transaction
from ticdc_producer.scenario.sql.transaction_control import read_begin, read_completion
from ticdc_producer.scenario.sql.variables import run_set
from ticdc_producer.scenario.sql.variables import time_zone as zone_of

_DML = ("INSERT", "REPLACE", "UPDATE", "DELETE")
READ_ONLY = frozenset({"SELECT", "SHOW", "EXPLAIN", "DESC", "DESCRIBE", "ANALYZE"})
"""Statements that change nothing in the stream; they are counted and passed over."""
_KNOWN_VERBS = frozenset({
    "CHECKSUM", "DELIMITER", "PLAN", "QUERY", "RECOMMEND", "SOURCE", "TRAFFIC",
    "TABLE", "VALUES", "CALL",
    "DO", "LOAD", "IMPORT", "XA", "PREPARE", "EXECUTE",
    "DEALLOCATE", "GRANT", "REVOKE", "KILL", "FLUSH", "ADMIN", "SPLIT", "BATCH", "HANDLER", "CHECK",
    "OPTIMIZE", "REPAIR", "RESET", "PURGE", "INSTALL", "UNINSTALL", "BACKUP", "RESTORE", "START",
    "STOP", "TRACE", "BINLOG", "HELP", "CANCEL",
})  # fmt: skip
"""Statements that TiDB has and a scenario cannot contain."""
_INTO_VARIABLE = re.compile(r"\bINTO\s+@", re.IGNORECASE)
_FIRST_DATABASE = "test"


class Session:
    """Runs SQL against an in-memory store with TiDB's rules.

    :param file: the scenario file, for messages.
    :param database: the current database; it and ``test`` exist and are empty.
    :param time_zone: initial value of the session variable.
    :param now: result of ``NOW()``; a function: of the number of the commit that the statement belongs to.
    :param force_replicate: whether TiCDC replicates tables without a handle key.
    :param profile: the TiCDC architecture that replicates.
    :param snapshots: numbers of commits after which the history contains the state of all tables.
    :param refusals: collects the errors of statements, which are then left out; None: errors are raised.
    :param statements: a cache of parsed statements that sessions of one thread share; None: one of its own.
    """

    def __init__(
        self,
        *,
        file: str = "",
        database: str = _FIRST_DATABASE,
        time_zone: str = "+00:00",
        now: datetime | Callable[[int], datetime] = DEFAULT_NOW,
        force_replicate: bool = False,
        profile: Profile = "classic",
        snapshots: Collection[int] = (),
        refusals: Refusals | None = None,
        statements: StatementCache | None = None,
    ) -> None:
        self._refusals = refusals
        self._in_refused_body = False
        self._file = file
        self._database = database
        self._force_replicate = force_replicate
        databases = {name.lower(): Database(name) for name in (_FIRST_DATABASE, database)}
        self._cluster = Cluster(databases, profile=profile)
        self._time_of = now if callable(now) else None
        self._timed = -1  # the commit whose time the mode has
        first = now(0) if callable(now) else now
        self._mode = self._initial = SQLMode(zone=zone_of(time_zone), now=first, now_moves=callable(now))
        self._saved: dict[str, SQLMode] = {}
        self._passed_over = PassedOver()
        self._references = References(())
        self._reserved = ReservedTables()
        self._statements = shared_statements() if statements is None else statements
        self._values = SessionValues()
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
                if not self._is_rest_of_body(statement):
                    with self._collected(statement), self._located(statement.line):
                        self._statement(statement)
            if self._open is not None:
                line, autocommit = self._open_line, self._mode.autocommit
                self._rollback()
                what = "BEGIN" if autocommit else "a transaction under autocommit = 0"
                raise ScenarioError(f"{what} without COMMIT or ROLLBACK", line=line)

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
                    with self._collected(statement), self._located(statement.line):
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

    def reserve_dumped(self, database: str, name: str, *, line: int) -> tuple[Table, SQLMode]:
        """Reserve a table whose rows Spark reads from a dump.

        :param database: empty for the current one.
        :return: the table, and the settings of the session.
        :raises UnsupportedSQL: if the table has rows, or foreign keys that are enforced.
        """
        with self._located(line):
            table = self._cluster.table(database or self._database, name)
            self._reserved.add(table, self._cluster.tables(), enforced=self._mode.foreign_key_checks)
            return table, self._mode

    def adopt(self, table: Table, mode: SQLMode, commits: int) -> None:
        """Run the following SQL as if the session had this table, these settings and commits."""
        self._cluster.add(table)
        self._mode, self._commits = mode, commits

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
            passed_over=self._passed_over,
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

    def _move_clock(self) -> None:
        """Set the time of the next statement, which is that of its commit."""
        if self._time_of is not None and self._mode.now_moves and self._timed != self._commits:
            self._mode = replace(self._mode, now=self._time_of(self._commits))
            self._timed = self._commits

    def _step(self, statement: Statement) -> None:
        self._move_clock()
        if statement.verb not in _DML:
            what = f"{statement.verb or 'this'} is not allowed in a transaction step"
            raise ScenarioError(what, hint="only INSERT, REPLACE, UPDATE and DELETE are")
        self._dml(statement)

    def _statement(self, statement: Statement) -> None:
        word = statement.verb
        self._move_clock()
        if word in _DML:
            self._dml(statement)
        elif program := stored_program(statement):
            self._program(statement, program)
        elif is_ddl(word):
            self._ddl(statement)
        elif word == "SET":
            self._set(Cursor(statement))
        elif word == "USE":
            self._use(Cursor(statement, 1))
        elif word in READ_ONLY:
            _refuse_running(statement)
            self._passed_over.count(word)
            self._query(statement)
        elif word == "WITH":
            self._with(statement)
        elif word in ("LOCK", "UNLOCK") and statement.word(1) in ("TABLES", "TABLE"):
            self._commit()
            self._passed_over.count(f"{word} TABLES")
        else:
            self._control(statement, word)

    def _set(self, cursor: Cursor) -> None:
        before = self._mode
        self._mode = run_set(cursor, self._mode, self._initial, self._saved, self._set_user_variable)
        self._timed = -1
        if self._mode.autocommit and not before.autocommit:
            self._commit()
        self._values.end_statement(0)

    def _set_user_variable(self, name: str, value: exp.Expr) -> None:
        context = self._context(value)
        scope = Scope(self._mode, context=context)
        check_expression(value, scope)
        self._values.assign(name, evaluate(value, scope))

    def _query(self, statement: Statement) -> None:
        """Skip a statement that changes no rows; a SELECT that assigns user variables is run."""
        if statement.verb == "SELECT" and ":=" in statement.shape:
            _, tree = self._statements.parsed(statement)
            self._context(tree).plan(tree, None).rows(None)
        self._values.end_statement(-1)

    def _with(self, statement: Statement) -> None:
        """Run the UPDATE or DELETE behind a WITH; a SELECT is skipped."""
        _, tree = self._statements.parsed(statement)
        if isinstance(tree, exp.Update | exp.Delete):
            self._dml(statement)
        elif isinstance(tree, exp.Query):
            self._query(statement)
        else:
            raise ScenarioError("SQL does not parse: WITH belongs to a SELECT, UPDATE or DELETE")

    def _control(self, statement: Statement, word: str) -> None:
        cursor = Cursor(statement)
        if cursor.accept("BEGIN") or cursor.accept("START", "TRANSACTION"):
            read_begin(cursor)
            self._commit()
            self._begin(statement.line)
        elif cursor.accept("COMMIT"):
            chained = read_completion(cursor)
            self._commit()
            self._chain(chained, statement.line)
        elif word in ("SAVEPOINT", "RELEASE") or (
            word == "ROLLBACK" and "TO" in (cursor.word(1), cursor.word(2))
        ):
            run_savepoint(cursor, self._open)
        elif cursor.accept("ROLLBACK"):
            chained = read_completion(cursor)
            self._rollback()
            self._chain(chained, statement.line)
        elif word in _KNOWN_VERBS:
            raise UnsupportedSQL(f"{word} is not supported")
        else:
            raise cursor.error("expected a statement")
        self._values.end_statement(0)

    def _program(self, statement: Statement, kind: str) -> None:
        """Pass over a stored program, which must not have been divided at a ``;`` of its body."""
        last = len(statement.tokens) - 1
        words = [statement.word(index) for index in range(last + 1)]
        if "BEGIN" in words and "END" not in words[-2:]:  # a label may follow END
            raise UnsupportedSQL(
                f"CREATE {kind} with a body that ends at its first ';' is not supported",
                hint="write DELIMITER // in a line before it, // behind it, then DELIMITER ; in a line",
            )
        self._passed_over.note_program(kind, statement.verb, statement.line)

    def _chain(self, chained: bool, line: int) -> None:
        """``AND CHAIN``: begin a transaction behind the one that ended."""
        if chained:
            self._begin(line)

    def _use(self, cursor: Cursor) -> None:
        name = cursor.identifier("a database name")
        cursor.end()
        self._database = self._cluster.database(name).name

    def _ddl(self, statement: Statement) -> None:
        self._commit()
        if not statement.text.isascii() and not is_utf8(statement.text):
            raise ScenarioError("a DDL has bytes that are not UTF-8")
        context = DDLContext(
            self._cluster, self._mode, self._database, self._force_replicate, self._record_job
        )
        run_ddl(Cursor(statement), context)
        self._reserved.check(self._cluster.tables())
        self._references = References(self._cluster.tables())
        self._database = context.database
        self._values.end_statement(0)

    def _record_job(self, events: list[DDLJob]) -> None:
        self._ddls.extend(replace(event, commit_seq=self._commits) for event in events)
        self._count_commit()

    def _dml(self, statement: Statement) -> None:
        verb, tree = self._statements.parsed(statement)
        if self._open is None and not self._mode.autocommit:
            self._begin(statement.line)
        alone = self._open is None
        transaction = self._open or Transaction(self._commits)
        transaction.line, before = statement.line, len(transaction.steps)
        try:
            run_dml(verb, tree, self._context(tree), transaction, self._has_parents)
            rows = transaction.affected_rows(before, updates_count_twice=verb == "INSERT")
            self._references.enforce(transaction, before, self._mode)
        except ScenarioError:
            transaction.rollback(before)
            raise
        self._values.end_statement(rows)
        if alone:
            self._open = transaction
            self._commit()

    def _has_parents(self, child: Table, values: Sequence[Value]) -> bool:
        return not self._mode.foreign_key_checks or self._references.has_parents(child, values)

    def _context(self, tree: exp.Expr) -> StatementContext:
        mode = replace(self._mode, strict=False) if tree.args.get("ignore") else self._mode
        return StatementContext(mode, self._target, self._values, tree.args.get("with_"))

    def _target(self, node: exp.Expr | None) -> Table:
        table = node.this if isinstance(node, exp.Schema) else node
        if not isinstance(table, exp.Table):
            raise UnsupportedSQL("DML of anything but one plain table is not supported")
        refuse_other_clauses(table, "DML", "this", "db", "alias", "joins", "hints")
        found = self._cluster.table(table.db or self._database, table.name)
        self._reserved.use(found, enforced=self._mode.foreign_key_checks)
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
    def _collected(self, statement: Statement) -> Iterator[None]:
        """Context that collects the error of a statement, if the session collects errors."""
        try:
            yield
        except ScenarioError as error:
            if self._refusals is None:
                raise
            self._refusals.add(error, statement)
            self._go_on_without(statement)

    def _is_rest_of_body(self, statement: Statement) -> bool:
        """Whether a statement belongs to the body of a refused stored program, which ends with ``END``."""
        if self._in_refused_body:
            self._in_refused_body = statement.shape[:3].upper() != "END"
            return True
        return False

    def _go_on_without(self, statement: Statement) -> None:
        """Let the statements behind a refused one find the state in which they can be checked."""
        words = statement.shape.lower().split()
        if stored_program(statement):
            self._in_refused_body = True
        elif words[:1] == ["commit"]:
            self._commit()
        elif words[:1] == ["create"] and words[1:2] in (["database"], ["schema"]):
            name = next((word.strip("`") for word in words[2:] if word not in ("if", "not", "exists")), "")
            self._cluster.databases.setdefault(name, Database(name))

    @contextmanager
    def _located(self, line: int) -> Iterator[None]:
        """Context that adds file and line to errors."""
        try:
            yield
        except UnsupportedSQL as error:
            raise with_advice(error.at(self._file, line)) from error.__cause__
        except ScenarioError as error:
            raise error.at(self._file, line) from error.__cause__
        except RecursionError:
            raise ScenarioError("SQL is nested too deeply", file=self._file, line=line) from None


def _refuse_running(statement: Statement) -> None:
    """Refuse EXPLAIN ANALYZE, which runs the statement that it explains, and SELECT … INTO a variable."""
    if statement.word(0) != "ANALYZE" and statement.word(1) == "ANALYZE":
        raise UnsupportedSQL(f"{statement.word(0)} ANALYZE is not supported", line=statement.line)
    if statement.verb == "SELECT" and _INTO_VARIABLE.search(statement.shape):
        raise UnsupportedSQL("SELECT … INTO a variable is not supported", line=statement.line)
