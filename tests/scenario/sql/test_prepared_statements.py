"""PREPARE, EXECUTE and DEALLOCATE PREPARE."""

from __future__ import annotations

import pytest

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.session.session import Session

T = "create table t (id int primary key, v varchar(20), d double);"


def rows(script: str) -> list[tuple[bytes | None, ...]]:
    session = Session()
    session.run(T + script)
    return list(session.history().state["test", "t"].rows)


def test_a_statement_runs_with_the_values_that_its_variables_have_then() -> None:
    script = """
        prepare p from 'insert into t values (?, ?, ?)';
        set @id = 1, @v = 'it''s \\\\ ? "', @d = 1.5e0; execute p using @id, @v, @d;
        set @id = 2, @v = x'6162', @d = -2.25; execute P using @id, @v, @d;
        set @id = 3; execute p using @id, @never_set, @never_set;
    """
    assert rows(script) == [
        (b"1", b"it's \\ ? \"", b"1.5"),
        (b"2", b"ab", b"-2.25"),
        (b"3", None, None),
    ]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("if(true, ?, 0.5)", "2.5e0"),
        ("? / 4", "1.50"),
        ("- ?", "-3"),
        ("concat(?, 'x')", "9223372036854775808"),
        ("length(?)", "x'c3a4'"),
        ("? + 1", "x'3132'"),
    ],
)
def test_a_parameter_has_the_type_of_its_variable(expression: str, value: str) -> None:
    given = f"insert into t values (1, {expression.replace('?', '@a')}, 0)"
    prepared = f'prepare p from "insert into t values (1, {expression}, 0)"; execute p using @a'
    assert rows(f"set @a = {value}; {prepared}") == rows(f"set @a = {value}; {given}")


def test_limit_and_keys_may_be_parameters() -> None:
    script = """
        insert into t values (1, 'a', 0), (2, 'b', 0), (3, 'c', 0);
        set @text = 'delete from t where id > ? order by id limit ?', @from = 1, @rows = 1;
        prepare p from @text; execute p using @from, @rows
    """
    assert rows(script) == [(b"1", b"a", b"0"), (b"3", b"c", b"0")]


def test_a_question_mark_in_quotes_is_no_parameter() -> None:
    script = "prepare p from 'update t set v = \"?\" where id = 1'; insert into t (id) values (1); execute p"
    assert rows(script) == [(b"1", b"?", None)]


def test_ddl_and_transactions_can_be_prepared() -> None:
    session = Session()
    session.run(
        "prepare p from 'create table t (id int primary key)'; execute p;"
        "prepare b from 'begin'; execute b; insert into t values (1); insert into t values (2); commit"
    )
    history = session.history()
    assert [job.query for job in history.catalog.ddls] == ["create table t (id int primary key)"]
    assert {change.commit_seq for change in history.changes} == {1}


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("execute p", "Prepared statement not found"),
        ("deallocate prepare p", "Prepared statement not found"),
        ("prepare p from 'delete from t'; drop prepare p; execute p", "Prepared statement not found"),
        ("prepare p from 'delete from t'; execute p using @a", "Wrong parameter count"),
        ("prepare p from 'delete from t where id = ?'; execute p", "Wrong parameter count"),
        ("prepare p from 'delete from t; delete from t'", "Can not prepare multiple statements"),
        ("prepare p from ''", "Can not prepare multiple statements"),
        (
            "prepare p from 'create table x (a int default ?)'",
            "Can not prepare DDL statements with parameters",
        ),
        ("prepare p from 'execute p'", "not supported in the prepared statement protocol yet"),
        ("prepare p from 'insert into t values (?'", "SQL does not parse"),
        ("prepare p from delete", "expected a string"),
        ("prepare p from 'delete from x'", "Table 'test.x' doesn't exist"),
        ("prepare p from 'delete from t where w = ?'", "Unknown column 'w'"),
        ("prepare p from 'update t set v = ?, w = ?'", "Unknown column 'w'"),
        ("prepare p from 'insert into t values (?)'", "Column count doesn't match value count"),
        ("prepare p from 'insert into t (id, w) values (?, 1)'", "Unknown column 'w'"),
        ("prepare p from 'insert into t select w from t'", "Unknown column 'w'"),
        (
            "prepare p from 'insert into t (id) values (?) on duplicate key update w = 1'",
            "Unknown column 'w'",
        ),
        ("prepare p from 'update t, t u set t.v = u.w'", "Unknown column 'w'"),
        ("prepare p from 'delete x from t join t u using (id)'", "Unknown table 'x'"),
        ("prepare p from 'with c as (select 1 a) delete from t where id in (select b from c)'", "column 'b'"),
    ],
)
def test_errors_are_those_of_tidb(script: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        Session().run(T + script)


def test_a_failed_prepare_removes_the_statement_of_its_name() -> None:
    session = Session()
    with pytest.raises(ScenarioError, match="parse"):
        session.run(T + "prepare p from 'delete from t'; prepare p from 'insert into t values ('")
    with pytest.raises(ScenarioError, match="not found"):
        session.run("execute p")


@pytest.mark.parametrize("value", ["1.5", "'1'", "-1", "null", "1e0"])
@pytest.mark.parametrize("limit", ["limit ?", "limit 1 offset ?", "limit ?, 1", "limit 1, ?"])
def test_a_parameter_of_limit_is_a_whole_number(limit: str, value: str) -> None:
    script = f"prepare p from 'insert into t select 2, v, d from t {limit}';"
    with pytest.raises(ScenarioError, match="Incorrect arguments to LIMIT"):
        rows(f"{script} set @n = {value}; execute p using @n")


def test_a_statement_that_is_prepared_is_not_run() -> None:
    script = (
        "prepare p from 'insert into t values (?, (select 1 union select 2), compress(?))';"
        "prepare p from 'insert into t select id + 9, v, d from t where id > ? limit ?';"
        "prepare p from 'update t set v = @a := 5'; insert into t (id, v) values (1, @a)"
    )
    assert rows(script) == [(b"1", None, None)]


def test_the_distance_of_a_frame_may_be_a_parameter() -> None:
    script = """
        create table b (id int primary key); insert into b values (1), (2), (3);
        prepare p from 'insert into t (id, d) select id, sum(id) over (
            order by id rows between ? preceding and current row) from b';
        set @n = 1; execute p using @n
    """
    assert [(row[0], row[2]) for row in rows(script)] == [(b"1", b"1"), (b"2", b"3"), (b"3", b"5")]
