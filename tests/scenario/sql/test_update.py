"""SET lists: TiDB's UPDATE reads the original row, ON DUPLICATE KEY UPDATE what was assigned before."""

from __future__ import annotations

import pytest

from tests.scenario.sql.script_results import history_of, rows_of
from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.event import REWRITE, Op

T = (
    "create table t (id int primary key, a int, b int, g int as (a * 10) stored);"
    " insert into t values (1, 1, 5, default);"
)


@pytest.mark.parametrize(
    ("assignments", "at_once", "in_order"),
    [
        ("a = a + 1, b = a", (b"2", b"1", b"20"), (b"2", b"2", b"20")),
        ("b = a, a = b", (b"5", b"1", b"50"), (b"1", b"1", b"10")),
        ("a = 7, a = a + 1", (b"2", b"5", b"20"), (b"8", b"5", b"80")),
        ("a = default, b = a", (None, b"1", None), (None, None, None)),
        ("a = a + 1, b = g", (b"2", b"10", b"20"), (b"2", b"10", b"20")),
    ],
)
def test_values_that_assignments_use(
    assignments: str, at_once: tuple[bytes | None, ...], in_order: tuple[bytes | None, ...]
) -> None:
    assert rows_of(f"{T} update t set {assignments}") == [(b"1", *at_once)]
    updated = rows_of(f"{T} insert into t (id) values (1) on duplicate key update {assignments}")
    assert updated == [(b"1", *in_order)]


def test_an_updated_key_does_not_change_what_other_columns_read() -> None:
    script = f"{T} insert into t values (2, 3, 4, default);"
    assert [row[:3] for row in rows_of(f"{script} update t set id = id + 10, b = id")] == [
        (b"11", b"1", b"1"),
        (b"12", b"3", b"2"),
    ]


def test_the_error_value_of_an_enum_is_assigned_to_another_one() -> None:
    """TiDB's ``convertToMysqlEnum`` accepts it; the empty text and an empty SET are no members."""
    script = (
        "create table t (id int primary key, a enum('x'), b enum('y', 'x'), s set('x'));"
        " insert ignore into t values (1, 'none', 'x', '');"
    )
    assert rows_of(f"{script} update t set b = a") == [(b"1", b"0", b"0", b"0")]
    for value in ("''", "s"):
        with pytest.raises(ScenarioError, match="no such ENUM member"):
            rows_of(f"{script} update t set b = {value}")


@pytest.mark.parametrize(
    ("ddl", "update", "op"),
    [
        ("", "update t set n = null", Op.UPDATE),
        ("", "update t set n = n", None),
        ("alter table t add column c int", "update t set n = null", REWRITE),
        ("alter table t add column c int", "update t join t x using (id) set t.n = null", REWRITE),
        ("alter table t drop column d", "update t set n = null", REWRITE),
        ("alter table t add column c int; alter table t drop column c", "update t set n = null", Op.UPDATE),
        ("alter table t add column c int as (n) virtual", "update t set n = null", Op.UPDATE),
        ("alter table t modify d varchar(9)", "update t set n = null", Op.UPDATE),
        ("alter table t add column c int; update t set c = 1", "update t set n = null", Op.UPDATE),
        ("alter table t add column c int", "update t set n = n", None),
    ],
)
def test_null_in_a_not_null_column_is_a_change(ddl: str, update: str, op: int | None) -> None:
    script = "set sql_mode = ''; create table t (id int primary key, n int not null, d int);"
    history = history_of(f"{script} insert into t values (1, 0, 5); {ddl}; {update}")
    last = history.changes[-1]
    assert (last.op if last.before == last.after else None) == op


def test_such_a_change_moves_the_clock_of_the_row() -> None:
    table = "create table t (id int primary key, n int not null, at timestamp default 0 on update now());"
    script = f"set sql_mode = ''; {table} insert into t (id, n) values (1, 0);"
    unchanged = rows_of(f"{script} update t set n = 0")
    assert rows_of(f"{script} update t set n = null") != unchanged


def test_the_error_value_of_an_enum_equals_an_empty_member() -> None:
    table = "create table t (id int primary key, e enum('a', ''), n int);"
    script = f"set sql_mode = ''; {table} insert into t values (1, 'none', 0);"
    assert rows_of(f"{script} update t set e = ''") == [(b"1", b"0", b"0")]
    assert rows_of(f"{script} update t set e = '', n = 1") == [(b"1", b"2", b"1")]
