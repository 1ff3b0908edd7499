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
    "statement", ["set password = 'x'", "set role none", "do 1", "split table t by (1)", "(select 1) limit 1"]
)
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
