"""Tables with soft deletes: their definition, and the names of their hidden columns."""

from __future__ import annotations

import pytest

from tests.scenario.sql.script_results import rows_of
from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.session.session import Session

T = "create table t (id int primary key, v int) softdelete retention 30 day;"


@pytest.mark.parametrize(
    ("ddl", "what"),
    [
        ("create unique index u on t (v)", "unique index"),
        ("alter table t add unique (v)", "unique index"),
        (
            "create table p (id int primary key); alter table t add foreign key (v) references p (id)",
            "foreign keys",
        ),
    ],
)
def test_later_ddl_has_the_rules_of_create_table(ddl: str, what: str) -> None:
    with pytest.raises(ScenarioError, match=f"a table with SOFTDELETE has no {what}"):
        Session().run(T + ddl)


def test_other_ddl_is_run() -> None:
    assert rows_of(f"{T} insert into t values (1, 2); alter table t add column w int default 3, add key (v)")


@pytest.mark.parametrize(
    ("option", "printed"),
    [("softdelete = retention 30 day", "RETENTION 30 DAY"), ("softdelete = 'on'", "'ON'")],
)
def test_the_definition_has_the_option_of_the_statement(option: str, printed: str) -> None:
    session = Session(defined_after=1, snapshots=[1])
    session.run(f"create table t (id int primary key) {option}")
    (definition,) = session.history().definitions
    assert f"SOFTDELETE={printed} " in definition.create


@pytest.mark.parametrize(
    "statement",
    [
        "update t set _tidb_softdelete_time = now() where id = {}",
        "insert into t (id, _tidb_softdelete_time) values ({}, null)",
    ],
)
def test_a_repeated_statement_follows_the_setting(statement: str) -> None:
    first, *repeated = (statement.format(number) for number in range(3, 7))
    session = Session()
    session.run(f"{T} set tidb_translate_softdelete_sql = off; {first}; {repeated[0]}; {repeated[1]}")
    with pytest.raises(ScenarioError, match="_tidb_softdelete_time"):
        session.run(f"set tidb_translate_softdelete_sql = on; {repeated[2]}")


def test_a_hidden_column_is_not_proposed() -> None:
    with pytest.raises(ScenarioError, match="Unknown column '_tidb_softdelete_time'") as error:
        Session().run(f"{T} update t set _tidb_softdelete_time = now()")
    assert error.value.hint == "allowed: id, v"


def test_a_marked_row_has_its_key_and_stays_a_parent() -> None:
    session = Session()
    session.run(
        f"{T} create table c (p int, foreign key (p) references t (id));"
        "insert into t values (1, 1), (2, 2); delete from t where id = 1; insert into c values (1)"
    )
    with pytest.raises(ScenarioError, match="Duplicate entry '1'"):
        session.run("update t set id = 1 where id = 2")
