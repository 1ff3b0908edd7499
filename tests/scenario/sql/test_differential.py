"""Random joins, subqueries and statements give the same rows here and in a MariaDB of this machine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

import pymysql
import pytest
from hypothesis import HealthCheck, given, note, seed, settings

from tests.consumer_state.servers import mariadb
from tests.scenario.sql.random_joins import REFUSED_BY_MARIADB, Column, JoinWorld, join_worlds
from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.session import Session

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
_SUPPRESSED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]


class Server:
    """A connection to MariaDB."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._connection: pymysql.Connection[Any] = pymysql.connect(
            host=parts.hostname, port=parts.port or 0, user=parts.username, password=parts.password or "",
            charset="utf8mb4", autocommit=True,
        )  # fmt: skip
        self.run("set names utf8mb4 collate utf8mb4_bin")
        self.run(f"set sql_mode = '{_MODE}', time_zone = '+00:00', @@max_statement_time = 20")

    def run(self, statement: str) -> tuple[tuple[Any, ...], ...]:
        with self._connection.cursor() as cursor:
            cursor.execute(statement)
            return tuple(cursor.fetchall())

    def script(self, text: str) -> None:
        """Run statements with ``;`` between; the first one that fails ends the transaction."""
        try:
            for statement in text.split(_BETWEEN):
                self.run(statement)
        except pymysql.MySQLError:
            self.run("rollback")
            raise

    def renew(self) -> None:
        for statement in (
            "drop database if exists test", "create database test charset utf8mb4 collate utf8mb4_bin",
            "use test", "set @v = null, @w = null",
        ):  # fmt: skip
            self.run(statement)


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


def _theirs(server: Server, table: str, columns: tuple[Column, ...]) -> list[tuple[object, ...]]:
    as_bytes = "cast({} as binary)"
    forms = {"number": "{}", "text": as_bytes, "date": as_bytes}
    items = [
        f"{one.name} + 0" if one.type.startswith("enum") else forms[one.kind].format(one.name)
        for one in columns
    ]
    rows = server.run(f"select {', '.join(items)} from {table} order by id")
    return [tuple(_comparable(value, one) for value, one in zip(row, columns, strict=True)) for row in rows]


def _ours(session: Session, table: str, columns: tuple[Column, ...]) -> list[tuple[object, ...]]:
    rows = session.history().state["test", table].rows
    return [tuple(_comparable(value, one) for value, one in zip(row, columns, strict=True)) for row in rows]


def _comparable(value: object, column: Column) -> object:
    """A value of either side as one of the same type."""
    if value is None:
        return None
    text = value.decode() if isinstance(value, bytes) else str(value)
    if column.type == "double":
        return float(text)
    return Decimal(text) if column.kind == "number" or column.type.startswith("enum") else text


def compare_all(server: Server, world: JoinWorld) -> None:
    server.renew()
    session = Session()
    for statement in world.ddl:
        server.run(statement)
        session.run(statement)
    for statement in world.statements:
        note(statement)
        if not _compare(server, session, statement, world.columns):
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


def _rounds_to_zero(session: Session, columns: dict[str, tuple[Column, ...]], message: str) -> bool:
    """Whether an unsigned column that MariaDB finds out of range has a zero here."""
    found = _OUT_OF_COLUMN.search(message)
    return found is not None and any(
        Decimal(0) in (row[at] for row in _ours(session, table, of_table))
        for table, of_table in columns.items()
        for at, column in enumerate(of_table)
        if column.name == found[1] and column.type == "bigint unsigned"
    )


def _compare(
    server: Server, session: Session, statement: str, columns: dict[str, tuple[Column, ...]]
) -> bool:
    """Whether the next statement can be compared: not if the rows differ by design from here on."""
    theirs = _refusal_of_mariadb(server, statement)
    code = 0 if theirs is None else theirs.args[0]
    if code in REFUSED_BY_MARIADB:
        return True
    ours = _refusal_here(session, statement)
    evaluated_here = code == 0 and ours is not None and "value is out of range" in ours.what
    if evaluated_here and "(select" in statement:
        return False
    if ours is None and theirs is not None and _rounds_to_zero(session, columns, str(theirs.args[1])):
        return False
    without_rows = ours is None and code == _OUT_OF_RANGE
    if without_rows and _BETWEEN in statement:
        return False
    assert without_rows or (ours is None) == (theirs is None), f"here: {ours}, in MariaDB: {theirs}"
    for table, found in columns.items():
        assert _ours(session, table, found) == _theirs(server, table, found)
    return True


def _compare_worlds(server: Server, examples: int, seed_of_run: int) -> None:
    """:param examples: number of databases, with ten statements each."""

    @seed(seed_of_run)
    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=_SUPPRESSED)
    @given(join_worlds(_STATEMENTS))
    def compare(world: JoinWorld) -> None:
        compare_all(server, world)

    compare()


def test_statements_leave_the_rows_of_mariadb(server: Server, seed_of_run: int) -> None:
    _compare_worlds(server, 15, seed_of_run)


@pytest.mark.slow
def test_twenty_thousand_statements_leave_the_rows_of_mariadb(server: Server, seed_of_run: int) -> None:
    _compare_worlds(server, 2000, seed_of_run)
