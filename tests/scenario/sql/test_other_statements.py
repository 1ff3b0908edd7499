"""Statements that a changefeed never sees: about users, rights, the server, and settings."""

from __future__ import annotations

import pytest

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.session.session import Session

T = "create table t (id int primary key, v varchar(3), d date);"


@pytest.mark.parametrize(
    "statement", ["create user a", "drop role r", "grant all on *.* to a", "revoke r from a", "flush logs"]
)
def test_statements_about_users_commit_an_open_transaction(statement: str) -> None:
    session = Session()
    session.run(f"{T} begin; insert into t (id) values (1); {statement}; insert into t (id) values (2)")
    assert [change.commit_seq for change in session.history().changes] == [1, 2]


@pytest.mark.parametrize(
    "statement",
    [
        "set password = 'x'", "set role none", "do 1", "split table t by (1)", "(select 1) limit 1",
        "admin check table t", "explain analyze select 1", "set global sql_mode = ''",
    ],
)  # fmt: skip
def test_other_statements_without_effect_do_not(statement: str) -> None:
    session = Session()
    session.run(
        f"{T} begin; insert into t (id) values (1); {statement}; insert into t (id) values (2); commit"
    )
    assert [change.commit_seq for change in session.history().changes] == [1, 1]


@pytest.mark.parametrize("statement", ["(delete from t)", "()", "create users u", "grants x"])
def test_similar_statements_are_errors(statement: str) -> None:
    with pytest.raises(ScenarioError):
        Session().run(f"{T} {statement}")


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("(select max(id) into @n from t)", "INTO a variable"),
        ("with c as (select 1) select max(id) into @n from t", "INTO a variable"),
        ("flush local tables with read lock", "READ LOCK"),
        ("flush table t with read lock", "READ LOCK"),
    ],
)
def test_statements_with_an_effect_are_refused_in_every_form(statement: str, named: str) -> None:
    with pytest.raises(ScenarioError, match=named):
        Session().run(f"{T} {statement}")


def test_traditional_is_strict_without_only_full_group_by() -> None:
    session = Session()
    session.run(f"set sql_mode = 'traditional'; {T} insert into t (id, v) values (1, 'a'), (2, 'a')")
    session.run("insert into t (id, v) select id + 5, v from t group by v")
    with pytest.raises(ScenarioError, match="Data too long"):
        session.run("insert into t (id, v) values (3, 'long')")
    with pytest.raises(ScenarioError, match="Incorrect date value"):
        session.run("insert into t (id, d) values (3, '0000-00-00')")


@pytest.mark.parametrize(
    "change",
    [
        "set session sql_mode = concat('', replace(@@sql_mode, 'STRICT_TRANS_TABLES', ''))",
        "set sql_mode = (select replace(@@session.sql_mode, 'STRICT_TRANS_TABLES', ''))",
        "set @@sql_mode = replace(@@local.sql_mode, 'STRICT_TRANS_TABLES', '')",
    ],
)
def test_sql_mode_is_changed_by_its_own_value(change: str) -> None:
    session = Session()
    session.run(f"{T} {change}; insert into t (id, v) values (1, 'long')")
    assert session.history().state["test", "t"].rows == ((b"1", b"lon", None),)
    session.run("set sql_mode = concat(@@sql_mode, ',STRICT_ALL_TABLES')")
    with pytest.raises(ScenarioError, match="Data too long"):
        session.run("insert into t (id, v) values (2, 'long')")
    session.run("set sql_mode = default; set sql_mode = concat(@@sql_mode, ',ALLOW_INVALID_DATES')")
    session.run("insert into t (id, d) values (3, '2021-02-30')")
    with pytest.raises(ScenarioError, match="Data too long"):
        session.run("insert into t (id, v) values (4, 'long')")


@pytest.mark.parametrize("value", ["@@global.sql_mode", "(select @@sql_mode from t)", "@@version"])
def test_other_variables_are_not_read(value: str) -> None:
    with pytest.raises(ScenarioError, match="is not supported"):
        Session().run(f"{T} set sql_mode = {value}")


def test_explain_analyze_runs_its_statement() -> None:
    session = Session()
    session.run(
        f"{T} explain analyze insert into t (id) values (1); desc analyze format = 'brief' "
        "update t set v = 'a'; explain update t set v = 'b'; explain analyze delete from t where id = 2"
    )
    assert [change.after for change in session.history().changes] == [(b"1", None, None), (b"1", b"a", None)]


@pytest.mark.parametrize(
    "statement",
    [
        "delimiter //",
        "create table u (a int)",
        "set @a = 1",
        "commit",
        "explain analyze select 1",
        "values row(1)",
    ],
)
def test_explain_analyze_runs_nothing_but_dml_and_queries(statement: str) -> None:
    with pytest.raises(ScenarioError, match="expected INSERT, REPLACE, UPDATE, DELETE or a query"):
        Session().run(f"{T} explain analyze {statement}")


@pytest.mark.parametrize("statement", ["values row(1)", "(values row(1))", "((values row(1)))"])
def test_rows_are_no_query_in_any_form(statement: str) -> None:
    with pytest.raises(ScenarioError, match="Unknown table ''"):
        Session().run(statement)


def test_do_assigns_variables_and_takes_numbers_of_sequences() -> None:
    session = Session()
    session.run(
        f"{T} create sequence s; do nextval(s), @n := 5, @m := @n + 1;"
        "insert into t (id, v) values (@m, nextval(s))"
    )
    assert session.history().state["test", "t"].rows == ((b"6", b"2", None),)


def test_global_variables_are_the_defaults_of_the_session() -> None:
    script = (
        f"{T} set global sql_mode = '', @@global.time_zone = '+01:00'; insert into t values (1, 'long', null)"
    )
    with pytest.raises(ScenarioError, match="Data too long"):
        Session().run(script)
    session = Session()
    session.run(
        f"{T} set global sql_mode = ''; set sql_mode = default; insert into t values (1, 'long', null)"
    )
    assert session.history().state["test", "t"].rows == ((b"1", b"lon", None),)
    with pytest.raises(ScenarioError, match="is a SESSION variable"):
        Session().run("set global timestamp = 1")


def test_ids_have_the_distance_of_auto_increment_increment() -> None:
    session = Session()
    session.run(
        "create table t (id int primary key auto_increment, v int);"
        "set auto_increment_increment = 10, auto_increment_offset = 5; insert into t (v) values (1), (2);"
        "insert into t values (22, 3); insert into t (v) values (@@auto_increment_increment);"
        "set auto_increment_offset = 11; insert into t (v) values (5);"  # larger than the increment: 1
        "set auto_increment_increment = default; insert into t (v) values (6)"
    )
    rows = session.history().state["test", "t"].rows
    assert [int(id_ or 0) for id_, _ in rows] == [5, 15, 22, 25, 31, 32]


def test_cached_ids_follow_the_ones_before_and_not_the_first_of_the_series() -> None:
    session = Session()
    session.run(
        "create table t (id int primary key auto_increment, v int) auto_id_cache = 12;"
        "set auto_increment_increment = 10, auto_increment_offset = 5;"
        "insert into t (v) values (1); insert into t (v) values (2);"  # 5 … 16 are cached
        "insert into t (v) values (3);"  # 17 … 28 are cached
        "set auto_increment_increment = 1; alter table t auto_id_cache = 5; insert into t (v) values (4)"
    )
    assert [row[0] for row in session.history().state["test", "t"].rows] == [b"5", b"15", b"25", b"29"]


def test_checks_are_not_enforced_and_have_no_job() -> None:
    session = Session()
    session.run(f"{T} alter table t add constraint c check (id > 0), drop check d, alter check e enforced")
    session.run("alter table t drop constraint nothing; alter table t alter constraint c not enforced")
    assert session.commits == 1


@pytest.mark.parametrize(
    "statement",
    [
        "values row(1, 2)",
        "insert into t (id, v) values row(1, 'a')",
        "insert into t (id, v) select * from (values row(1, 'a')) x",
        "insert into t (id, v) select 1, 'a' union all values row(2, 'b')",
        "with c (i) as (values row(1)) delete t from t join c on t.id = c.i",
    ],
)
def test_values_row_has_the_error_of_tidb(statement: str) -> None:
    with pytest.raises(ScenarioError, match="Unknown table ''"):
        Session().run(f"{T} {statement}")
