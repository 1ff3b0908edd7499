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


@pytest.mark.parametrize(("ddl", "op"), [("", Op.DELETE), ("alter table t drop column d", REWRITE)])
def test_a_deleted_row_may_be_stored_with_other_columns(ddl: str, op: int) -> None:
    script = f"create table t (id int primary key, d int); insert into t values (1, 5); {ddl};"
    change = history_of(f"{script} delete from t").changes[-1]
    assert (change.op, change.operation) == (op, Op.DELETE)


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


_KEYED = (
    "create table t (id int primary key, a int, b int, u bigint unsigned, d double unsigned,"
    " n decimal(30, 2) unsigned, e enum('2', '1'), unique key (a, b));"
    " insert into t values (1, 3, 4, 5, 6, 7, '1'), (2, 5, 6, 7, 8, 9, '1');"
)
_WRAPPED = b"18446744073709551615"


@pytest.mark.parametrize(
    "where",
    [
        "id = 1",
        "1 = t.id",
        "id = '1'",
        "id = 1.0",
        "id = 1 limit 1",
        "id in (1)",
        "(id) in ((1), (9))",
        "a = 3 and b = 4",
        "4 = b and a = 3",
        "(a, b) in ((3, 4), (7, 8))",
    ],
)
@pytest.mark.parametrize("mode", ["", "set sql_mode = '';"])
def test_an_update_by_a_unique_key_casts(where: str, mode: str) -> None:
    """The rule is that of pingcap/tidb#63455, which #67212 changes in later versions."""

    def updated(assignment: str) -> tuple[bytes | None, ...]:
        return rows_of(f"{mode} {_KEYED} update t set {assignment} where {where}")[0][3:]

    assert updated("u = -1, d = 1 - 2, n = -1") == (
        _WRAPPED, b"18446744073709552000", _WRAPPED + b".00", b"2",
    )  # fmt: skip
    assert updated("e = 2") == (b"5", b"6", b"7.00", b"1")  # the name, not the number


@pytest.mark.parametrize(
    "rest",
    [
        "",
        " where id < 2",
        " where (id = 1)",
        " where id = 1 and a = 3",
        " where id = 1 order by id",
        " where id in (1) limit 1",
        " where a = 3",
        " where id = 0 + 1",
        " where id = 1 or id = 9",
        " x join t y using (id) set x.u = -1 where x.id = 1",
    ],
)
def test_other_updates_do_not_cast(rest: str) -> None:
    update = f"update t{rest}" if " set " in rest else f"update t set u = -1{rest}"
    with pytest.raises(ScenarioError, match="Out of range value for column 'u'"):
        history_of(f"{_KEYED} {update}")
    assert rows_of(f"set sql_mode = ''; {_KEYED} {update}")[0][3] == b"0"


def test_updates_of_one_shape_cast_by_their_literals() -> None:
    """The plan of a shape is shared; a number that the key cannot hold is no value of the key."""
    table = "create table t (id int primary key, u bigint unsigned); insert into t values (1, 5), (2, 6);"
    script = f"set sql_mode = ''; {table} update t set u = -1 where id in (1.0, 9.0);"
    assert rows_of(f"{script} update t set u = -1 where id in (2.0, 9.5)") == [(b"1", _WRAPPED), (b"2", b"0")]


def test_tables_with_generated_columns_and_subqueries_do_not_cast() -> None:
    for column, value in ((", g int as (id)", "-1"), ("", "(select -1)")):
        table = f"create table t (id int primary key, u bigint unsigned{column});"
        table += " insert into t (id, u) values (1, 5);"
        with pytest.raises(ScenarioError, match="Out of range value for column 'u'"):
            history_of(f"{table} update t set u = {value} where id = 1")
