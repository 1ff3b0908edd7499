"""All errors of a script are collected, without those that follow from an earlier one."""

from __future__ import annotations

import pytest

from ticdc_producer.scenario.sql.session.refusals import Refusals
from ticdc_producer.scenario.sql.session.session import Session

T = "create table t (id int primary key, v varchar(3));\n"


def refused(script: str) -> tuple[list[tuple[int, str]], int, int]:
    """Line and text of each error, number of unchecked statements, number of commits."""
    refusals = Refusals()
    session = Session(file="s.sql", refusals=refusals)
    try:
        session.run(script)
    except Exception as error:  # reported by the assertion
        pytest.fail(f"the session raised {error}")
    return (
        [(problem.line, problem.what) for problem in refusals.problems],
        refusals.unchecked,
        session.commits,
    )


def test_each_error_has_its_line_and_the_rest_runs() -> None:
    script = T + (
        "insert into t values (1, 'long text');\n"
        "call p();\n"
        "insert into t values (2, 'b');\n"
        "insert into t values (2, 'c');\n"
        "update t set w = 1;\n"
    )
    problems, unchecked, commits = refused(script)
    assert [line for line, _ in problems] == [2, 3, 6]
    assert (unchecked, commits) == (1, 2)  # the duplicate key: its table has other rows than the script meant


def test_statements_on_a_table_whose_create_was_refused_are_not_errors() -> None:
    script = (
        "create table g (id int primary key, p geometry);\ninsert into g values (1, 2);\n"
        "alter table g add column c int;\n" + T + "insert into t values (1, user());\n"
        "insert into g values (3, uuid(;\n"
    )
    problems, unchecked, commits = refused(script)
    assert [(line, what[:15]) for line, what in problems] == [
        (1, "the column type"), (5, "the function US"), (6, "SQL does not pa"),
    ]  # fmt: skip
    assert (unchecked, commits) == (2, 1)


def test_a_refused_database_exists_for_the_statements_behind_it() -> None:
    problems, unchecked, commits = refused(
        "create database d charset utf16;\nuse d;\n" + T + "insert into t values (1, 'a');"
    )
    assert ([line for line, _ in problems], unchecked, commits) == ([1], 0, 2)


def test_a_child_without_its_refused_parent_is_not_an_error() -> None:
    script = (
        "create table p (id int primary key);\n"
        "create table c (id int primary key, p int, foreign key (p) references p (id));\n"
        "insert into p values ('x');\ninsert into c values (1, 1);\n"
    )
    problems, unchecked, _ = refused(script)
    assert ([line for line, _ in problems], unchecked) == ([3], 1)


def test_an_error_has_the_words_found_and_a_hint() -> None:
    refusals = Refusals()
    Session(file="s.sql", refusals=refusals).run("\n  xa   start 'a';")
    [problem] = refusals.problems
    assert (problem.file, problem.line, problem.excerpt) == ("s.sql", 2, "xa start 'a'")
    assert problem.hint == "write BEGIN … COMMIT: TiDB has no XA transactions"


def test_a_refused_statement_of_a_transaction_leaves_the_others() -> None:
    script = (
        T + "begin;\ninsert into t values (1, 'a');\nxa start 'a';\ninsert into t values (2, 'b');\ncommit x;"
    )
    problems, _, commits = refused(script)
    assert [line for line, _ in problems] == [4, 6]
    assert commits == 2


def test_the_body_of_a_refused_program_is_not_run() -> None:
    script = T + (
        "create trigger g before insert on t for each row begin delete from t;\nset new.v = 1;\nend;\n"
        "insert into t values (1, 'long text');"
    )
    problems, _, commits = refused(script)
    assert ([line for line, _ in problems], commits) == ([2, 5], 1)
