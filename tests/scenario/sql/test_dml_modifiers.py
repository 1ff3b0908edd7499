"""Clauses that restrict or relax a DML statement: PARTITION, IGNORE, hints."""

from __future__ import annotations

import pytest

from tests.scenario.sql.script_results import rows_of
from ticdc_producer.errors import ScenarioError, UnsupportedSQL

PARTITIONED = (
    "create table p (a int primary key, b int) partition by range (a)"
    " (partition p0 values less than (10), partition p1 values less than (20));"
    "insert into p values (1, 1), (5, 5), (11, 11);"
)
KEYS = (
    "create table a (id int primary key);"
    "create table b (id int primary key, a int, foreign key (a) references a (id));"
    "insert into a values (1), (2); insert into b values (1, 1);"
)


def pairs(statement: str) -> str:
    rows = rows_of(PARTITIONED + statement, "p")
    return " ".join(",".join((value or b"-").decode() for value in row) for row in rows)


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("delete from p partition (p1)", "1,1 5,5"),
        ("delete from p partition (p0) where b > 1", "1,1 11,11"),
        ("update p partition (P0, p1) x set x.b = 0 where x.b > 1", "1,1 5,0 11,0"),
        ("insert into p select a + 1, 0 from p partition (p1)", "1,1 5,5 11,11 12,0"),
        ("insert ignore into p partition (p0) values (12, 1), (30, 1), (3, 3)", "1,1 3,3 5,5 11,11"),
        ("replace into p partition (p1) values (11, 99)", "1,1 5,5 11,99"),
        ("update p x join p partition (p0) y on true set x.b = 9 where x.a = 11", "1,1 5,5 11,9"),
        ("update p join (select a from p partition (p0)) d on true set b = 9 where p.a = 11", "1,1 5,5 11,9"),
        ("delete p from p partition (p0) join (select 1) q", "11,11"),
        ("delete /*+ x() */ low_priority ignore from p where a = 1", "5,5 11,11"),
        ("update /*+ use_index(p, b) */ ignore p set a = 5 where a = 1", "1,1 5,5 11,11"),
        (
            "insert /*+ a(b, c[d]) */ into p select /*+ e() */ straight_join sql_no_cache 8, 8",
            "1,1 5,5 8,8 11,11",
        ),
    ],
)
def test_rows(statement: str, expected: str) -> None:
    assert pairs(statement) == expected


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("update p partition (p0) set a = a + 10 where a = 1", "Found a row not matching"),
        ("insert into p partition (p0) values (3, 3), (12, 1)", "Found a row not matching"),
        (
            "insert into p partition (p1) values (11, 1) on duplicate key update a = 2",
            "Found a row not matching",
        ),
        ("replace into p partition (p1) values (1, 1)", "Found a row not matching"),
        ("update p partition (p0) x join p y using (a) set x.a = x.a + 10", "Found a row not matching"),
        ("update p y join p partition (p0) x using (a) set x.a = x.a + 10", "Found a row not matching"),
        ("delete from p partition (p0, q)", "Unknown partition 'q' in table 'p'"),
        ("create table n (a int); delete from n partition (p0)", "on non partitioned table"),
    ],
)
def test_errors(statement: str, message: str) -> None:
    with pytest.raises(ScenarioError) as error:
        pairs(statement)
    assert message in str(error.value)


@pytest.mark.parametrize(
    "statement", ["delete ignore from a", "delete ignore x from a x join a y using (id)"]
)
def test_delete_ignore_leaves_parents(statement: str) -> None:
    assert rows_of(KEYS + statement, "a") == [(b"1",)]


def test_a_setting_in_a_hint_is_refused() -> None:
    with pytest.raises(UnsupportedSQL) as error:
        pairs("insert /*+ hash_agg() set_var(time_zone = '+08:00') */ into p values (2, 2)")
    assert "SET_VAR(time_zone) in a hint" in str(error.value)
    assert pairs("delete from p where b < 9 and '/*+ set_var(sql_mode=1) */' > ''") == "11,11"
