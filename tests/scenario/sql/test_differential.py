"""Random joins, subqueries and statements give the same rows here and in a MariaDB of this machine."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from decimal import Decimal
from enum import Enum
from typing import Any
from urllib.parse import urlsplit

import pymysql
import pytest
from hypothesis import HealthCheck, given, note, seed, settings
from pymysql.constants import CLIENT

from tests.conftest import EXHAUSTIVE
from tests.consumer_state.servers import mariadb
from tests.scenario.sql.random_joins import REFUSED_BY_MARIADB, Column, JoinWorld, join_worlds
from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.session.session import Session

_MODE = (
    "SIMULTANEOUS_ASSIGNMENT,STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,"
    "ONLY_FULL_GROUP_BY"
)
_STATEMENTS = 10
_SEED = 1
_BETWEEN = "; "
"""What is between the statements of a transaction."""
_OUT_OF_RANGE = 1690
"""MariaDB's error for an operand out of range."""
_OUT_OF_COLUMN = re.compile(r"Out of range value for column '(\w+)'")
_WRAPPED = (1 << 64) - 1_000
"""The least number that a small negative one becomes as a BIGINT UNSIGNED."""
_SUPPRESSED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]


class Outcome(Enum):
    """What became of a statement."""

    SAME_ROWS = "run by both, with the same rows"
    NOT_RUN_BY_BOTH = "rejected by both, with the same rows"
    NOT_RUN_BY_MARIADB = "not compared, because MariaDB does not run it"
    DIFFERS_BY_DESIGN = "not compared, because the rows differ by design from here on"


class Server:
    """A connection to MariaDB."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._connection: pymysql.Connection[Any] = pymysql.connect(
            host=parts.hostname, port=parts.port or 0, user=parts.username, password=parts.password or "",
            charset="utf8mb4", autocommit=True, client_flag=CLIENT.MULTI_STATEMENTS,
        )  # fmt: skip
        self.run("set names utf8mb4 collate utf8mb4_bin")
        self.run(f"set sql_mode = '{_MODE}', time_zone = '+00:00', @@max_statement_time = 20")

    def run(self, *statements: str) -> list[tuple[tuple[Any, ...], ...]]:
        """The rows of each statement; all are sent together."""
        with self._connection.cursor() as cursor:
            cursor.execute(_BETWEEN.join(statements))
            rows = [tuple(cursor.fetchall())]
            while cursor.nextset():
                rows.append(tuple(cursor.fetchall()))
            return rows

    def script(self, text: str) -> None:
        """Run statements with ``;`` between; the first one that fails ends the transaction."""
        try:
            self.run(text)
        except pymysql.MySQLError:
            self.run("rollback")
            raise

    def renew(self, ddl: Sequence[str]) -> None:
        self.run(
            "drop database if exists test", "create database test charset utf8mb4 collate utf8mb4_bin",
            "use test", "set @v = null, @w = null", *ddl,
        )  # fmt: skip


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with mariadb() as url:
        yield Server(url)


@pytest.fixture
def seed_of_run(pytestconfig: pytest.Config) -> int:
    """The seed of the statements; ``--hypothesis-seed`` gives another one."""
    number = int(pytestconfig.getoption("--hypothesis-seed") or _SEED)
    print(f"seed {number}")
    return number


def _theirs(server: Server, columns: dict[str, tuple[Column, ...]]) -> dict[str, list[tuple[object, ...]]]:
    """The rows of each table in MariaDB."""
    rows = server.run(*(_query(table, of_table) for table, of_table in columns.items()))
    return {
        table: [_comparable_row(row, of_table) for row in table_rows]
        for (table, of_table), table_rows in zip(columns.items(), rows, strict=True)
    }


def _query(table: str, columns: tuple[Column, ...]) -> str:
    as_bytes = "cast({} as binary)"
    forms = {"number": "{}", "text": as_bytes, "date": as_bytes}
    items = [
        f"{column.name} + 0" if column.type.startswith("enum") else forms[column.kind].format(column.name)
        for column in columns
    ]
    return f"select {', '.join(items)} from {table} order by id"


def _ours(session: Session, table: str, columns: tuple[Column, ...]) -> list[tuple[object, ...]]:
    rows = session.history().state["test", table].rows
    return [_comparable_row(row, columns) for row in rows]


def _comparable_row(row: Sequence[object], columns: tuple[Column, ...]) -> tuple[object, ...]:
    return tuple(_comparable(value, column) for value, column in zip(row, columns, strict=True))


def _comparable(value: object, column: Column) -> object:
    """A value of either side as one of the same type."""
    if value is None:
        return None
    text = value.decode() if isinstance(value, bytes) else str(value)
    if column.type == "double":
        return float(text)
    return Decimal(text) if column.kind == "number" or column.type.startswith("enum") else text


def compare_all(server: Server, world: JoinWorld) -> Iterator[Outcome]:
    """Compare the rows after each statement, up to the first one that differs by design."""
    server.renew(world.ddl)
    session = Session()
    for statement in world.ddl:
        session.run(statement)
    for statement in world.statements:
        note(statement)
        outcome = _compare(server, session, statement, world.columns)
        yield outcome
        if outcome is Outcome.DIFFERS_BY_DESIGN:
            return


def _refusal_of_mariadb(server: Server, statement: str) -> pymysql.MySQLError | None:
    try:
        server.script(statement)
    except pymysql.MySQLError as error:
        return error
    return None


def _refusal_here(session: Session, statement: str) -> ScenarioError | None:
    try:
        session.run(statement)
    except ScenarioError as error:
        with suppress(ScenarioError):
            session.run("rollback")
        return error
    return None


def _fits_here(
    session: Session, columns: dict[str, tuple[Column, ...]], statement: str, message: str
) -> bool:
    """Whether a BIGINT UNSIGNED that MariaDB finds out of range has a zero, or a number that wraps, here.

    After a transaction with an UPDATE it may be gone again.
    """
    match = _OUT_OF_COLUMN.search(message)
    unsigned = [
        (table, of_table, at)
        for table, of_table in columns.items()
        for at, column in enumerate(of_table)
        if match is not None and column.name == match[1] and column.type == "bigint unsigned"
    ]
    if unsigned and _BETWEEN in statement and "update " in statement:
        return True
    values = [row[at] for table, of_table, at in unsigned for row in _ours(session, table, of_table)]
    return any(isinstance(value, Decimal) and (value == 0 or value >= _WRAPPED) for value in values)


def _compare(
    server: Server, session: Session, statement: str, columns: dict[str, tuple[Column, ...]]
) -> Outcome:
    theirs = _refusal_of_mariadb(server, statement)
    code = 0 if theirs is None else theirs.args[0]
    if code in REFUSED_BY_MARIADB:
        return Outcome.NOT_RUN_BY_MARIADB
    ours = _refusal_here(session, statement)
    evaluated_here = code == 0 and ours is not None and "value is out of range" in ours.what
    if evaluated_here and "(select" in statement:
        return Outcome.DIFFERS_BY_DESIGN
    if ours is None and theirs is not None and _fits_here(session, columns, statement, str(theirs.args[1])):
        return Outcome.DIFFERS_BY_DESIGN
    without_rows = ours is None and code == _OUT_OF_RANGE
    if without_rows and _BETWEEN in statement:
        return Outcome.DIFFERS_BY_DESIGN
    assert without_rows or (ours is None) == (theirs is None), f"here: {ours}, in MariaDB: {theirs}"
    rows = {table: _ours(session, table, of_table) for table, of_table in columns.items()}
    assert rows == _theirs(server, columns)
    return Outcome.SAME_ROWS if ours is None else Outcome.NOT_RUN_BY_BOTH


def _compare_worlds(server: Server, examples: int, seed_of_run: int) -> None:
    """:param examples: number of databases, with ten statements each."""
    outcomes = Counter[Outcome]()

    @seed(seed_of_run)
    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=_SUPPRESSED)
    @given(join_worlds(_STATEMENTS))
    def compare(world: JoinWorld) -> None:
        outcomes.update(compare_all(server, world))

    compare()
    for outcome, statements in outcomes.items():
        print(f"{statements:,} statements {outcome.value}")
    assert outcomes[Outcome.SAME_ROWS] > outcomes.total() / 2


def test_statements_leave_the_rows_of_mariadb(server: Server, seed_of_run: int) -> None:
    _compare_worlds(server, 5, seed_of_run)


@pytest.mark.slow
def test_many_statements_leave_the_rows_of_mariadb(server: Server, seed_of_run: int) -> None:
    """Run 4,000 statements; 20,000 with ``TEST_EXHAUSTIVE``."""
    _compare_worlds(server, 2000 if EXHAUSTIVE else 400, seed_of_run)
