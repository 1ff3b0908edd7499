"""Constructs that are not printed are rejected by name; invalid DDL is a ScenarioError."""

from __future__ import annotations

import pytest

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.scenario.sql.restore import print_ddl


@pytest.mark.parametrize(("query", "what"), [
    ("create sequence s", "CREATE SEQUENCE"),
    ("create table t as select 1", "CREATE TABLE … AS SELECT"),
    ("create table t (a geometry)", "the column type GEOMETRY"),
    ("create table t (a enum(0xc1))", "a member of ENUM or SET in bytes that are not ASCII"),
    ("create table t (a int invisible)", "the column attribute INVISIBLE"),
    ("create table t (a int) partition by system_time", "partitioning by SYSTEM_TIME"),
    ("alter table t partition p placement policy q", "ALTER TABLE … PARTITION"),
    ("alter database d set tiflash replica 1", "the database option SET"),
    ("create view v as select @a", "a variable"),
    ("create view v as select /*+ hash_join(a) */ * from a", "an optimizer hint"),
    ("create view v as select * from a for update", "SELECT … FOR"),
    ("create view v as select * from a as of timestamp '2020-01-01'", "AS OF TIMESTAMP"),
    ("create view v as select match (a) against ('x')", "MATCH()"),
    ("create view v as select not not exists (select 1)", "NOT NOT EXISTS"),
])  # fmt: skip
def test_a_construct_is_rejected_by_name(query: str, what: str) -> None:
    with pytest.raises(UnsupportedSQL) as caught:
        print_ddl(query)
    assert what in caught.value.what


@pytest.mark.parametrize(("query", "what"), [
    ("", "one statement"),
    ("truncate a; truncate b", "one statement"),
    ("create table t (a int default 1e999)", "too large"),
    ("create table t (a int", "end of the statement"),
    ("create table t (a int))", "expected the end"),
    ("alter table t", "expected an ALTER TABLE action"),
    ("alter table t add a int drop b", "unexpected text near 'drop'"),
    ("create view v as select", "the end of the statement"),
    ("create view v as select a + from t", "expected an expression"),
    ("create view v as select * from a left join b", "expected ON or USING"),
    ("create view v as select " + "(" * 5000 + "1" + ")" * 5000, "nested too deeply"),
    ("create table t (a int default 'x", "does not parse"),
])  # fmt: skip
def test_invalid_ddl_is_a_scenario_error(query: str, what: str) -> None:
    with pytest.raises(ScenarioError) as error:
        print_ddl(query)
    assert what in error.value.what


def test_nested_brackets_parse_in_linear_time() -> None:
    """Each bracket is read once or twice; backtracking would double the time per level."""
    nested = "select 1"
    for _ in range(30):
        nested = f"select (({nested}))"
    assert print_ddl(f"create view v as {nested}").endswith("1" + "))" * 30)


def test_an_error_names_its_line() -> None:
    with pytest.raises(UnsupportedSQL) as caught:
        print_ddl("create table t (\n  a int,\n  b geometry)")
    assert caught.value.line == 3
