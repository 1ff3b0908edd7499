"""Statements that share a plan end as those that are parsed, checked and planned one by one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ticdc_producer.scenario.history import Change, State
from ticdc_producer.scenario.sql.dml.parsed_statement import ParsedStatement
from ticdc_producer.scenario.sql.dml.statement_cache import StatementCache, shared_statements
from ticdc_producer.scenario.sql.session.refusals import Refusals
from ticdc_producer.scenario.sql.session.session import Session
from ticdc_producer.scenario.sql.text.clause import parse_modified_dml
from ticdc_producer.scenario.sql.text.statements import Statement

SETUP = """
    CREATE DATABASE other;
    CREATE TABLE other.t (b VARCHAR(3) PRIMARY KEY, a DECIMAL(4,1), d DATETIME);
    CREATE TABLE t (a INT PRIMARY KEY, b VARCHAR(3) UNIQUE, c DECIMAL(4,1) NOT NULL DEFAULT 7, d DATETIME(1),
      e INT AS (a + 1), f TIMESTAMP NULL ON UPDATE CURRENT_TIMESTAMP);
    CREATE TABLE p (a INT AUTO_INCREMENT, b CHAR(3), c INT UNSIGNED, PRIMARY KEY (a, b))
      PARTITION BY HASH (a) PARTITIONS 3;
    INSERT INTO t (a, b, c) VALUES (1, 'a', 1), (2, 'b', 2), (3, NULL, 3);
    INSERT INTO p VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 3);
"""
NUMBERS = st.integers(-2, 9).map(str)
LITERALS = st.one_of(
    NUMBERS,
    NUMBERS,
    st.sampled_from(["1.5", "99999.99", "1e2", "18446744073709551620", "NULL", "TRUE", "x'41'", "b'11'"]),
    st.sampled_from(
        ["'a'", "'b '", "'it''s'", "'3'", "'3x'", "'日本語x'", "'2021-02-03 04:05:06.78'", "DEFAULT"]
    ),
)
SHAPES = (
    "INSERT INTO t (a, b, c) VALUES ({}, {}, {})",
    "INSERT INTO t (a, d, e) VALUES ({}, {}, {})",
    "INSERT IGNORE INTO t (b, a) VALUES ({}, {}), ({}, {})",
    "INSERT INTO t (a, b) VALUES ({}, CONCAT({}, 'x')) ON DUPLICATE KEY UPDATE c = c + {}, b = VALUES(b)",
    "INSERT INTO p (b, c) VALUES ({}, {}), ({}, {})",
    "INSERT INTO p VALUES ({}, {}, {} + 1)",
    "REPLACE INTO t (a, b) VALUES ({}, {})",
    "UPDATE t SET b = {}, c = c + {} WHERE a = {}",
    "UPDATE t SET a = {} WHERE a = {} AND c < {}",
    "UPDATE t SET d = {}, g = {} WHERE a IN ({}, {})",
    "UPDATE IGNORE t SET b = {} WHERE b = {} OR a > {}",
    "UPDATE t SET c = IF(a = {}, {}, c / 3) ORDER BY c DESC LIMIT 2",
    "UPDATE p SET c = {}, b = {} WHERE a = {}",
    "UPDATE p SET a = a + {} WHERE a = {}",
    "DELETE FROM t WHERE a = {}",
    "DELETE FROM t WHERE b = {} LIMIT 1",
    "DELETE FROM p WHERE a = {} AND b = {}",
    "DELETE FROM t WHERE a = (SELECT MAX(a) FROM p WHERE c = {})",
)
OTHERS = (
    "ALTER TABLE t ADD COLUMN g CHAR(3) DEFAULT 'z '", "ALTER TABLE t DROP COLUMN c",
    "ALTER TABLE t MODIFY b VARCHAR(1)", "ALTER TABLE t ADD UNIQUE KEY c (c)", "ALTER TABLE t DROP KEY b",
    "ALTER TABLE p TRUNCATE PARTITION p1", "TRUNCATE TABLE t", "SET sql_mode = ''", "SET sql_mode = DEFAULT",
    "SET time_zone = '+09:00'", "SET autocommit = 0", "BEGIN", "COMMIT", "ROLLBACK", "USE other", "USE test",
    "CREATE TEMPORARY TABLE p (a INT PRIMARY KEY, b CHAR(3), c INT)", "DROP TEMPORARY TABLE p",
    "SET @a = 1", "DELETE FROM t WHERE a = @a",
)  # fmt: skip


@st.composite
def scripts(draw: st.DrawFn) -> str:
    """A script with a few shapes, which return with other literals and between DDL and settings."""
    shapes = draw(st.lists(st.sampled_from(SHAPES), min_size=1, max_size=4))
    statements = []
    for _ in range(draw(st.integers(1, 30))):
        if draw(st.integers(0, 5)) == 0:
            statements.append(draw(st.sampled_from(OTHERS)))
        else:
            shape = draw(st.sampled_from(shapes))
            statements.append(shape.format(*(draw(LITERALS) for _ in range(shape.count("{}")))))
    return SETUP + ";\n".join([*statements, "COMMIT"])


class ParserWithoutCache(StatementCache):
    """Parses each statement again, with a plan of its own."""

    def __init__(self) -> None:
        super().__init__(parse_modified_dml)

    def parsed(self, statement: Statement) -> ParsedStatement:
        return ParsedStatement(*parse_modified_dml(statement))


def outcome(text: str, statements: StatementCache) -> tuple[list[Change], State, list[str]]:
    """The row changes and final rows of a script, and the errors of its statements."""
    refusals = Refusals()
    session = Session(statements=statements, refusals=refusals)
    session.run(text)
    history = session.history()
    return history.changes, history.state, [str(error) for error in refusals.problems]


@given(scripts())
def test_shared_plans_change_no_row_and_no_error(text: str) -> None:
    assert outcome(text, shared_statements()) == outcome(text, ParserWithoutCache())


@given(scripts(), scripts())
def test_sessions_can_share_plans(first: str, second: str) -> None:
    shared = shared_statements(max_trees=3)
    for text in (first, second, first):
        assert outcome(text, shared) == outcome(text, ParserWithoutCache())


NO_DEFAULT, OF_GENERATED = "doesn't have a default value", "The value specified for generated column 'e'"


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("insert into g (a, d, e) values (default, 'x', 0)", NO_DEFAULT),
        ("insert into g (e, a) values (0, default)", OF_GENERATED),
        ("insert into g (a, e) values (1 + 1, default), (default, 5)", NO_DEFAULT),
        ("insert into g (a, e) values (1 + 1, 5), (default, 5)", OF_GENERATED),
        ("insert into g (a, e) values (1 + 1, 0)", OF_GENERATED),
        ("insert into g (a, e) values (1, 0)", OF_GENERATED),
        ("insert into g (a, e) values (x, 0)", "Unknown column 'x'"),
        ("insert into g (d, a) values ('no date', default)", NO_DEFAULT),
        ("insert into g (a, e) values (default, 0, 1)", "Column count"),
        ("insert into g (a, e) select a, 0 from g", OF_GENERATED),
    ],
)
def test_the_first_error_of_an_insert_is_the_same_each_time(statement: str, message: str) -> None:
    table = "create table g (a int not null, d datetime, e int as (a + 1));"
    changes, _, errors = outcome(f"{table} {statement}; {statement}; {statement}", shared_statements())
    assert not changes
    assert len(errors) == 3
    assert all(message in error for error in errors)


def test_default_is_checked_under_the_sql_mode_of_each_statement() -> None:
    script = (
        "create table g (a int not null, d datetime); set sql_mode = '';"
        "insert into g (d, a) values ('2023-08-09', default); set sql_mode = default;"
        "insert into g (d, a) values ('no date', default)"
    )
    changes, _, errors = outcome(script, shared_statements())
    assert len(changes) == 1
    assert [NO_DEFAULT in error for error in errors] == [True]
