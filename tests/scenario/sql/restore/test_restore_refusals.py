"""What is not re-printed is refused by name; what does not parse is an error of the scenario."""

from __future__ import annotations

import pytest

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.scenario.sql.restore import restored


@pytest.mark.parametrize(("query", "what"), [
    ("create sequence s", "CREATE SEQUENCE"),
    ("create temporary table t (a int)", "CREATE TEMPORARY"),
    ("create table t as select 1", "CREATE TABLE … SELECT"),
    ("create table t (a geometry)", "the column type GEOMETRY"),
    ("create table t (a enum(0x41))", "a member of ENUM or SET that is not a string"),
    ("create table t (a int invisible)", "the column attribute INVISIBLE"),
    ("create table t (a int) partition by system_time", "partitioning by SYSTEM_TIME"),
    ("alter table t partition p placement policy q", "ALTER TABLE … PARTITION"),
    ("alter database d set tiflash replica 1", "the database option SET"),
    ("create view v as select @a", "a variable"),
    ("create view v as select /*+ hash_join(a) */ * from a", "an optimizer hint"),
    ("create view v as select * from a for update", "SELECT … FOR"),
    ("create view v as select * from a as of timestamp '2020-01-01'", "another time"),
    ("create view v as select match (a) against ('x')", "MATCH()"),
    ("create view v as select not not exists (select 1)", "NOT NOT EXISTS"),
])  # fmt: skip
def test_a_construct_is_refused_by_its_name(query: str, what: str) -> None:
    with pytest.raises(UnsupportedSQL) as refusal:
        restored(query)
    assert what in refusal.value.what


@pytest.mark.parametrize(("query", "what"), [
    ("", "one statement"),
    ("truncate a; truncate b", "one statement"),
    ("create table t (a int default 1e999)", "too large"),
    ("create table t (a int", "end of the statement"),
    ("create table t (a int))", "expected the end"),
    ("alter table t", "expected what to alter"),
    ("alter table t add a int drop b", "DROP"),
    ("create view v as select", "the end of the statement"),
    ("create view v as select a + from t", "expected an expression"),
    ("create view v as select * from a left join b", "expected ON or USING"),
    ("create view v as select " + "(" * 5000 + "1" + ")" * 5000, "nested too deeply"),
    ("create table t (a int default 'x", "does not parse"),
])  # fmt: skip
def test_what_does_not_parse_is_an_error_of_the_scenario(query: str, what: str) -> None:
    with pytest.raises(ScenarioError) as error:
        restored(query)
    assert what in error.value.what


def test_brackets_around_brackets_take_no_time() -> None:
    """Each is read once or twice, not twice as often as the one around it."""
    nested = "select 1"
    for _ in range(30):
        nested = f"select (({nested}))"
    assert restored(f"create view v as {nested}").endswith("1" + "))" * 30)


def test_an_error_names_its_line() -> None:
    with pytest.raises(UnsupportedSQL) as refusal:
        restored("create table t (\n  a int,\n  b geometry)")
    assert refusal.value.line == 3
