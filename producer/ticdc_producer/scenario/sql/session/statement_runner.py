"""Runs the statements of a session, each by its kind."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace

from sqlglot import exp

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.catalog import DDLJob
from ticdc_producer.model.values.sql_value import SQLMode
from ticdc_producer.scenario.history import IgnoredStatements
from ticdc_producer.scenario.sql.ddl import is_ddl
from ticdc_producer.scenario.sql.dml.batch import read_batch
from ticdc_producer.scenario.sql.dml.dml import check_dml, run_dml
from ticdc_producer.scenario.sql.dml.load_data import read_load_data
from ticdc_producer.scenario.sql.dml.parsed_statement import ParsedStatement
from ticdc_producer.scenario.sql.dml.statement_cache import StatementCache
from ticdc_producer.scenario.sql.expression.evaluate import check_expression, evaluate
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.query.context import PlanningContext, StatementContext, unknown_rows
from ticdc_producer.scenario.sql.session.other_statements import (
    DML,
    KNOWN_VERBS,
    Administration,
    administration,
    analyzed,
    changes_session,
    first_word,
    is_query,
    no_statement,
    note_program,
    query_of_do,
    reads,
    refuse_into,
    text_from,
)
from ticdc_producer.scenario.sql.session.prepared_statements import PreparedStatements, concerns_prepared
from ticdc_producer.scenario.sql.session.script_files import ScriptFiles
from ticdc_producer.scenario.sql.session.session_settings import SessionSettings, SessionValues, is_readable
from ticdc_producer.scenario.sql.session.session_tables import SessionTables
from ticdc_producer.scenario.sql.store.recorded_history import RecordedHistory
from ticdc_producer.scenario.sql.store.storage import Table
from ticdc_producer.scenario.sql.store.transaction import OpenTransaction, TransactionControl
from ticdc_producer.scenario.sql.text.cursor import Cursor
from ticdc_producer.scenario.sql.text.spelling import Spelling, spelling_of
from ticdc_producer.scenario.sql.text.statements import Statement, split_statements, stored_program


@dataclass
class StatementRunner:
    """A runner of statements against the state of a session.

    :param files: the file that has the statements.
    :param recorded: gets the DDL jobs.
    :param statements: a cache of parsed statements.
    """

    tables: SessionTables
    settings: SessionSettings
    values: SessionValues
    transaction: TransactionControl
    recorded: RecordedHistory
    ignored_statements: IgnoredStatements
    statements: StatementCache
    files: ScriptFiles

    def __post_init__(self) -> None:
        self._prepared = PreparedStatements(self.values, self._check, self.spelling)

    def spelling(self) -> Spelling:
        """Return how the next statement is read."""
        return spelling_of(self._mode.sql_mode)

    @property
    def _mode(self) -> SQLMode:
        return self.settings.mode

    def run_step(self, statement: Statement) -> None:
        """Run a statement of a transaction step.

        :raises ScenarioError: unless it is INSERT, REPLACE, UPDATE or DELETE.
        """
        self.settings.move_clock(self.recorded.commits)
        if statement.verb not in DML:
            what = f"{statement.verb or 'this'} is not allowed in a transaction step"
            raise ScenarioError(what, hint="only INSERT, REPLACE, UPDATE and DELETE are")
        self._dml(statement)

    def run(self, statement: Statement) -> None:
        """Run a statement of a script.

        :raises ScenarioError: for one that TiDB rejects.
        """
        word = statement.verb
        self.settings.move_clock(self.recorded.commits)
        if word in DML:
            self._dml(statement)
        elif program := stored_program(statement):
            note_program(statement, program, self.ignored_statements, self.files.file)
        elif concerns_prepared(statement):
            self._prepared_statement(Cursor(statement))
        elif command := administration(statement):
            self._administration(command)
        elif is_ddl(word):
            self._ddl(statement)
        elif word == "SET":
            self._set(Cursor(statement))
        elif word == "USE":
            self.tables.use(Cursor(statement, 1))
        elif text := analyzed(statement):
            self.run(self._statement(text, statement))
        elif reads(statement):
            self._query(statement)
        elif word == "WITH":
            self._with(statement)
        elif word == "LOAD" and statement.word(1) == "DATA":
            self._load_data(statement)
        elif word == "BATCH":
            self._batch(statement)
        elif word in ("LOCK", "UNLOCK") and statement.word(1) in ("TABLES", "TABLE"):
            self.transaction.commit()
            self.ignored_statements.count(f"{word} TABLES")
        else:
            self._control(statement, word)

    def _administration(self, command: Administration) -> None:
        """Skip a statement about users, rights or the server."""
        if command.commits:
            self.transaction.commit()
        self.ignored_statements.count(command.name)
        self.values.end_statement(0)

    def _set(self, cursor: Cursor) -> None:
        before = self._mode
        self.settings.run_set(cursor, self._set_user_variable)
        if self._mode.autocommit and not before.autocommit:
            self.transaction.commit()
        self.values.end_statement(0)

    def _set_user_variable(self, name: str, value: exp.Expr) -> None:
        if isinstance(value, exp.SessionParameter) and not is_readable(value):
            self.values.save(name, value.name)
            return
        context = self._context(value)
        scope = Scope(replace(self._mode, strict=False), context=context)  # SET only warns
        check_expression(value, scope)
        self.values.assign(name, evaluate(value, scope))

    def _query(self, statement: Statement) -> None:
        """Skip a statement that changes no rows; a query that changes values of the session is run."""
        refuse_into(statement)
        self.ignored_statements.count("SELECT" if statement.verb in ("(", "WITH") else statement.verb)
        verb = statement.verb
        if verb == "DO" and changes_session(statement):
            statement = self._statement(query_of_do(statement), statement)
        if is_query(statement) and changes_session(statement):
            if "PAD_CHAR_TO_FULL_LENGTH" in self._mode.sql_mode:
                what = "a SELECT that assigns under PAD_CHAR_TO_FULL_LENGTH"  # no other statement pads
                raise UnsupportedSQL(f"{what} is not supported")
            tree = self.statements.parsed(statement).tree
            self._context(tree).plan(tree, None).rows(None)
        self.values.end_statement(0 if verb == "DO" else -1)

    def _statement(self, text: str, around: Statement) -> Statement:
        """Return the statement of a part of another one."""
        return next(split_statements(text, around.line, self.spelling))

    def _with(self, statement: Statement) -> None:
        """Run the UPDATE or DELETE after a WITH; a SELECT is skipped."""
        tree = self.statements.parsed(statement).tree
        if isinstance(tree, exp.Update | exp.Delete):
            self._dml(statement)
        elif isinstance(tree, exp.Query):
            self._query(statement)
        else:
            raise ScenarioError("SQL does not parse: WITH belongs to a SELECT, UPDATE or DELETE")

    def _check(self, statement: Statement) -> None:
        """Check a statement that is prepared. What this tool does not support is an error when it is run."""
        parsed = self.statements.parsed(statement)
        if isinstance(parsed.tree, exp.Insert | exp.Update | exp.Delete):
            with suppress(UnsupportedSQL):
                check_dml(parsed, self._context(parsed.tree, PlanningContext))

    def _prepared_statement(self, cursor: Cursor) -> None:
        executed = self._prepared.run(cursor)
        if executed is None:
            self.values.end_statement(0)
        else:
            self.run(executed)

    def _control(self, statement: Statement, word: str) -> None:
        cursor = Cursor(statement)
        if not self.transaction.run(cursor, self.files.line_of(statement)):
            if first_word(statement) == "VALUES":
                raise unknown_rows()
            if word in KNOWN_VERBS:
                raise UnsupportedSQL(f"{word} is not supported")
            raise no_statement(statement)
        self.values.end_statement(0)

    def _ddl(self, statement: Statement) -> None:
        def record(jobs: Iterable[DDLJob]) -> None:
            self.recorded.add_job([self.files.with_line(job) for job in jobs])

        self.tables.run_ddl(statement, self._mode, self.transaction.commit, record)
        self.values.end_statement(0)

    def _dml(self, statement: Statement) -> None:
        self._run_dml(self.statements.parsed(statement), statement)

    def _batch(self, statement: Statement) -> None:
        """Run BATCH: the parts of a DML statement, each in a transaction.

        :raises ScenarioError: in an open transaction, and without autocommit.
        """
        cursor = Cursor(statement)
        batch = read_batch(cursor)
        if self.transaction.open is not None or not self._mode.autocommit:
            raise ScenarioError("non-transactional DML can only run in auto-commit mode")
        if cursor.word() not in DML:
            raise cursor.error("expected INSERT, REPLACE, UPDATE or DELETE")
        parsed = self.statements.parsed(self._statement(text_from(cursor), statement))
        for part in batch.parts(parsed, self._context(parsed.tree)):
            if batch.runs:
                self._run_dml(part, statement)
        self.values.end_statement(-1)

    def _load_data(self, statement: Statement) -> None:
        """Run LOAD DATA. Source of its variables: tidb ``encodeWorker.parserData2TableData``."""
        load = read_load_data(statement)
        table = self.target(*load.table).info
        parsed, variables = load.insert(self.files.loaded(load.file), table, strict=self._mode.strict)
        self._run_dml(parsed, statement, checks_keys=False)
        for name, value in variables.items():
            self.values.assign(name, value)

    def _run_dml(self, parsed: ParsedStatement, statement: Statement, *, checks_keys: bool = True) -> None:
        """Run a parsed statement.

        :param checks_keys: whether it checks foreign keys, if the session does.
        """
        keys = self.tables.foreign_keys
        checked = keys if checks_keys and self._mode.foreign_key_checks else None

        def run(open_: OpenTransaction, before: int) -> None:
            self.values.begin_statement(open_.commit_seq)
            run_dml(parsed, self._context(parsed.tree), open_, checked)
            rows = open_.affected_rows(before, updates_count_twice=bool(parsed.tree.args.get("conflict")))
            if checks_keys:
                keys.enforce(open_, before, self._mode, ignore=bool(parsed.tree.args.get("ignore")))
            self.values.end_statement(rows)

        self.transaction.run_statement(self.files.line_of(statement), run, autocommit=self._mode.autocommit)

    def _context(self, tree: exp.Expr, kind: type[StatementContext] = StatementContext) -> StatementContext:
        ignore = bool(tree.args.get("ignore"))
        inserts = isinstance(tree, exp.Insert)
        mode = replace(self._mode, strict=False, insert_ignore=inserts) if ignore else self._mode
        with_, find_view = tree.args.get("with_"), self.tables.view
        find = self.tables.planned_table if kind is PlanningContext else self.target
        return kind(mode, find, self.values, with_, find_view=find_view)

    def target(self, database: str, name: str) -> Table:
        """Return the table that a DML statement names; ``database`` is empty for the current one."""
        return self.tables.target(database, name, self._mode)
