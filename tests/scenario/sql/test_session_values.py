"""What a session remembers: user variables, LAST_INSERT_ID(), ROW_COUNT(), savepoints, autocommit."""

from __future__ import annotations

import pytest

from tests.scenario.sql.script_results import history_of, rows_of
from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.scenario.sql.session.session import Session

T = "create table t (id int primary key auto_increment, n varchar(20));"


def _values(script: str) -> list[bytes | None]:
    return [row[1] for row in rows_of(T + script)]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("set @a = 1, @b := 'x'; insert into t (n) values (@a), (@B), (@c)", [b"1", b"x", None]),
        ("set @a = (select count(*) from t) + 1.50; insert into t (n) values (@a)", [b"1.50"]),
        ("set @a = 0; insert into t (n) values ((@a := @a + 1)), ((@a := @a + 1))", [b"1", b"2"]),
        (
            "insert into t (n) values ('x'); select @a := max(n) from t; update t set n = concat(@a, 'y')",
            [b"xy"],
        ),
        ("(select @a := 5) limit 1; insert into t (n) values (@a)", [b"5"]),
        ("with c as (select 5 as x) select @a := x from c; insert into t (n) values (@a)", [b"5"]),
        (
            "insert into t (n) values ('x'), ('y'); insert into t (n) values (last_insert_id())",
            [b"x", b"y", b"1"],
        ),
        ("insert into t values (7, 'x'); insert into t (n) values (last_insert_id())", [b"x", b"0"]),
        ("update t set n = last_insert_id(5); insert into t (n) values (last_insert_id())", [b"0"]),
        (
            (
                "insert into t (n) values ('x'); update t set n = last_insert_id(9);"
                " insert into t (n) values (last_insert_id())"
            ),
            [b"9", b"9"],
        ),
        ("insert into t (n) values ('x'), ('y'); insert into t (n) values (row_count())", [b"x", b"y", b"2"]),
        (
            (
                "insert into t values (1, 'x');"
                " insert into t values (1, 'y') on duplicate key update n = 'z'; update t set n = row_count()"
            ),
            [b"2"],
        ),
        ("insert into t values (1, 'x'); select 1; update t set n = row_count()", [b"-1"]),
    ],
)
def test_values_of_the_session(script: str, expected: list[bytes | None]) -> None:
    assert _values(script) == expected


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (
            "insert into t (n) values ('a'); savepoint s; insert into t (n) values ('b'); rollback to s",
            [b"a"],
        ),
        (
            (
                "savepoint s; insert into t (n) values ('a'); rollback to savepoint S;"
                " insert into t (n) values ('b')"
            ),
            [b"b"],
        ),
        (
            (
                "insert into t (n) values ('a'); savepoint s; savepoint r;"
                " insert into t (n) values ('b'); release savepoint r; rollback work to s"
            ),
            [b"a"],
        ),
        (
            (
                "savepoint s; insert into t (n) values ('a'); savepoint s;"
                " insert into t (n) values ('b'); rollback to s"
            ),
            [b"a"],
        ),
    ],
)
def test_savepoints(script: str, expected: list[bytes]) -> None:
    assert _values(f"begin; {script}; commit") == expected


@pytest.mark.parametrize(
    "script",
    [
        "rollback to s",
        "savepoint s; release savepoint s; rollback to s",
        "savepoint s; savepoint r; rollback to s; rollback to r",
    ],
)
def test_a_savepoint_that_does_not_exist(script: str) -> None:
    with pytest.raises(ScenarioError, match=r"SAVEPOINT \w does not exist"):
        history_of(f"begin; {script}; commit")


def test_a_savepoint_outside_of_a_transaction_is_forgotten_at_once() -> None:
    with pytest.raises(ScenarioError, match="SAVEPOINT s does not exist"):
        history_of("savepoint s; rollback to s")


def test_without_autocommit_statements_wait_for_commit() -> None:
    first, second = "insert into t (n) values ('a')", "insert into t (n) values ('b')"
    history = history_of(
        f"{T} set autocommit = 0; {first}; {second}; commit; {first}; rollback; {first}; set autocommit = 1"
    )
    assert [change.commit_seq for change in history.changes] == [1, 1, 2]
    assert history.commits == 3


def test_without_autocommit_the_end_needs_a_commit() -> None:
    session = Session(file="a.sql")
    with pytest.raises(
        ScenarioError, match="a transaction under autocommit = 0 without COMMIT or ROLLBACK"
    ) as raised:
        session.run(f"{T}\nset autocommit = 0;\ninsert into t (n) values ('a')")
    assert raised.value.line == 3


@pytest.mark.parametrize(
    ("set_", "value"),
    [
        ("@x = @@autocommit", b"1"),
        ("@x = @@session.foreign_key_checks, foreign_key_checks = 0", b"1"),
        ("@x := @@session.auto_increment_increment + 4", b"5"),
        ("@x = @@unique_checks, @x = 'later'", b"later"),
        ("@x = concat(@@sql_mode, '!'), sql_mode = ''", b"STRICT_TRANS_TABLES!"),
        ("@x = @@session.timestamp > 0", b"1"),
    ],
)
def test_user_variables_hold_the_values_of_session_variables(set_: str, value: bytes) -> None:
    script = f"create table t (v varchar(99)); set sql_mode = 'STRICT_TRANS_TABLES'; set {set_};"
    assert rows_of(f"{script} insert into t values (@x)") == [(value,)]


@pytest.mark.parametrize("variable", ["unique_checks", "time_zone", "global.sql_mode"])
def test_a_saved_value_that_is_not_known_is_refused_in_an_expression(variable: str) -> None:
    script = f"create table t (v varchar(99)); set @x = @@{variable};"
    with pytest.raises(UnsupportedSQL, match=f"the variable @x, set to @@{variable.rpartition('.')[2]}"):
        rows_of(f"{script} insert into t values (@x)")
