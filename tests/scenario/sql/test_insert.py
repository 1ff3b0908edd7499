"""INSERT … SELECT, INSERT IGNORE, and NULL in NOT NULL columns."""

from __future__ import annotations

import pytest

from tests.scenario.sql.script_results import history_of, rows_of
from ticdc_producer.errors import ScenarioError

T = "create table t (id int primary key, v varchar(3), n int not null);"
SOURCE = (
    "create table s (id int primary key, v varchar(9)); insert into s values (1, 'a'), (2, 'b'), (3, null);"
)


@pytest.mark.parametrize(
    ("select", "rows"),
    [
        ("select id, v, 0 from s", [(b"1", b"a", b"0"), (b"2", b"b", b"0"), (b"3", None, b"0")]),
        (
            "select id + 10, upper(v), id * 2 from s where v is not null",
            [(b"11", b"A", b"2"), (b"12", b"B", b"4")],
        ),
        ("select id, v, 0 from s order by id desc limit 1", [(b"3", None, b"0")]),
        ("select s.*, 7 from s where s.id = 2", [(b"2", b"b", b"7")]),
        ("select 5, 'x', 6", [(b"5", b"x", b"6")]),
        ("select 5, 'x', 6 from dual where true", [(b"5", b"x", b"6")]),
        (
            "select 5, 'x', 6 union all select id, v, 1 from s where id = 1",
            [(b"1", b"a", b"1"), (b"5", b"x", b"6")],
        ),
        ("(select 5, 'x', 6)", [(b"5", b"x", b"6")]),
        ("select id, v, 0 from s where id > 9", []),
    ],
)
def test_rows_of_a_select(select: str, rows: list[tuple[bytes | None, ...]]) -> None:
    assert rows_of(f"{T} {SOURCE} insert into t {select}") == rows


def test_a_table_may_be_its_own_source() -> None:
    script = f"{T} insert into t values (1, 'a', 1), (2, 'b', 2); insert into t select id + 2, v, n from t"
    assert [row[0] for row in rows_of(script)] == [b"1", b"2", b"3", b"4"]


def test_rows_of_a_select_conflict_with_existing_rows() -> None:
    script = f"{T} {SOURCE} insert into t values (1, 'old', 0);"
    with pytest.raises(ScenarioError, match=r"Duplicate entry '1' for key 't\.PRIMARY'"):
        history_of(f"{script} insert into t select id, v, 1 from s")
    ignored = rows_of(f"{script} insert ignore into t select id, v, 1 from s")
    assert ignored == [(b"1", b"old", b"0"), (b"2", b"b", b"1"), (b"3", None, b"1")]
    replaced = rows_of(f"{script} replace into t select id, v, 1 from s where id = 1")
    assert replaced == [(b"1", b"a", b"1")]
    updated = rows_of(
        f"{script} insert into t select id, v, 5 from s where id = 1 on duplicate key update n = values(n)"
    )
    assert updated == [(b"1", b"old", b"5")]


@pytest.mark.parametrize(
    ("values", "rows"),
    [
        ("(1, 'x', 1)", [(b"1", b"a", b"0")]),
        ("(1, 'x', 1), (2, 'y', 2)", [(b"1", b"a", b"0"), (b"2", b"y", b"2")]),
        ("(2, 'x', 1), (2, 'y', 2)", [(b"1", b"a", b"0"), (b"2", b"x", b"1")]),
        ("(2, 'toolong', 1)", [(b"1", b"a", b"0"), (b"2", b"too", b"1")]),
        ("(2, 'x', null)", [(b"1", b"a", b"0"), (b"2", b"x", b"0")]),
        ("(2, 'x', 99999999999)", [(b"1", b"a", b"0"), (b"2", b"x", b"2147483647")]),
        ("('2x', 'x', 1)", [(b"1", b"a", b"0"), (b"2", b"x", b"1")]),
        ("(1 / 0, 'x', 1)", [(b"0", b"x", b"1"), (b"1", b"a", b"0")]),
    ],
)
def test_insert_ignore_skips_or_truncates(values: str, rows: list[tuple[bytes | None, ...]]) -> None:
    assert rows_of(f"{T} insert into t values (1, 'a', 0); insert ignore into t values {values}") == rows


def test_insert_ignore_stores_null_for_invalid_json() -> None:
    script = "create table t (id int primary key, j json); insert into t values (1, '[]');"
    assert rows_of(f"{script} insert ignore into t values (2, '[')") == [(b"1", b"[]"), (b"2", None)]
    for statement in ("update ignore t set j = '['", "set sql_mode = ''; insert into t values (2, '[')"):
        with pytest.raises(ScenarioError, match="Invalid JSON"):
            rows_of(f"{script} {statement}")


def test_insert_ignore_skips_rows_without_a_partition() -> None:
    script = "create table t (a int) partition by list (a) (partition p values in (1, 2));"
    assert rows_of(f"{script} insert ignore into t values (1), (3), (2)") == [(b"1",), (b"2",)]


def test_without_strict_mode_null_is_an_error_in_one_row_and_zero_in_several() -> None:
    script = f"set sql_mode = ''; {T}"
    with pytest.raises(ScenarioError, match="Column 'n' cannot be null"):
        history_of(f"{script} insert into t values (1, 'a', null)")
    several = rows_of(f"{script} insert into t values (1, 'a', null), (2, 'b', 7)")
    assert several == [(b"1", b"a", b"0"), (b"2", b"b", b"7")]
    updated = rows_of(f"{script} insert into t values (1, 'a', 7); update t set n = null")
    assert updated == [(b"1", b"a", b"0")]
    selected = rows_of(f"{script} insert into t select 1, 'a', null")
    assert selected == [(b"1", b"a", b"0")]


@pytest.mark.parametrize(
    "value",
    [
        "(select not id)",
        "1 + (select max(id) from s where n = v)",
        "(select max(id) from s where exists (select 1 from s x where x.id = s.id))",
        "1 in (select id from s)",
        "1 > any (select id from s)",
        "(with recursive c as (select 1 as i union select i + 1 from c where i < 3) select max(i) from c)",
    ],
)
@pytest.mark.parametrize("insert", ["insert into t values (1, 'a', {})", "insert t set id = 1, n = {}"])
def test_values_need_no_join_with_their_subqueries(insert: str, value: str) -> None:
    with pytest.raises(ScenarioError, match="complex subqueries"):
        history_of(f"{T} {SOURCE} {insert.format(value)}")


def test_values_of_subqueries() -> None:
    values = "exists (select 1 from s)", "2 + (select max(id) from s where id in (select id from s))"
    rows = ", ".join(f"({number}, 'a', {value})" for number, value in enumerate(values))
    assert [row[2] for row in rows_of(f"{T} {SOURCE} insert into t values {rows}")] == [b"1", b"5"]


def test_missing_columns_get_their_zero_value_without_strict_mode() -> None:
    assert rows_of(f"set sql_mode = ''; {T} insert into t (id) values (1)") == [(b"1", None, b"0")]
    with pytest.raises(ScenarioError, match="Field 'n' doesn't have a default value"):
        history_of(f"{T} insert into t (id) values (1)")


EXHAUSTED = [
    ("int unsigned", b"4294967295"),
    ("tinyint", b"127"),
    ("mediumint unsigned", b"16777215"),
    ("smallint", b"32767"),
    ("int", b"2147483647"),
]


@pytest.mark.parametrize(("column", "largest"), EXHAUSTED)
def test_without_strict_mode_an_id_beyond_its_column_becomes_the_largest_that_on_duplicate_key_finds(
    column: str, largest: bytes
) -> None:
    script = (
        f"create table t (id {column} primary key auto_increment, v int);"
        f" insert into t values ({largest.decode()}, 1);"
    )
    insert = "insert into t (v) values (2) on duplicate key update v = 3"
    assert rows_of(f"{script} set sql_mode = ''; {insert}") == [(largest, b"3")]
    assert rows_of(f"{script} {insert.replace('insert', 'insert ignore')}") == [(largest, b"3")]
    with pytest.raises(ScenarioError, match="Out of range value for column 'id'"):
        history_of(f"{script} {insert}")


@pytest.mark.parametrize(("column", "largest"), EXHAUSTED)
@pytest.mark.parametrize("verb", ["insert", "replace"])
def test_an_id_beyond_its_column_never_replaces_an_unrelated_row(
    column: str, largest: bytes, verb: str
) -> None:
    script = (
        f"create table t (id {column} primary key auto_increment, v int); set sql_mode = '';"
        f" insert into t values ({largest.decode()}, 1);"
    )
    with pytest.raises(ScenarioError, match="Failed to read auto-increment value"):
        history_of(f"{script} {verb} into t (v) values (2)")


@pytest.mark.parametrize(("column", "largest"), EXHAUSTED)
def test_insert_ignore_of_rows_without_an_id_inserts_nothing(column: str, largest: bytes) -> None:
    script = (
        f"create table t (id {column} primary key auto_increment, v int);"
        f" insert into t values ({largest.decode()}, 1);"
    )
    assert rows_of(f"{script} insert ignore into t values (7, 7), (0, 2)") == [(largest, b"1")]
    with pytest.raises(ScenarioError, match="Failed to read auto-increment value"):
        history_of(f"{script} insert ignore into t (v) select 2")


def test_without_strict_mode_an_explicit_id_beyond_its_column_becomes_the_largest() -> None:
    script = "create table t (id int unsigned primary key auto_increment, v int); set sql_mode = '';"
    assert rows_of(f"{script} insert into t values (5000000000, 1)") == [(b"4294967295", b"1")]
    updated = rows_of(f"{script} insert into t values (1, 1); update t set id = 5000000000")
    assert updated == [(b"4294967295", b"1")]


@pytest.mark.parametrize(
    ("insert", "ids"),
    [
        ("values (null), (null), (null)", [11, 12, 13]),
        ("values (null), (null)", [9, 10]),
        ("values (null), (4), (null), (null)", [9, 4, 11, 12]),
        ("values (null), (0), (9), (null)", [9, 10, 9, 11]),
        ("select null union all select null union all select null", [9, 10, 11]),
        (f"values {', '.join(['(null)'] * 12)}", [*range(11, 23)]),
    ],
)
def test_ids_of_a_statement_come_from_one_cached_range(insert: str, ids: list[int]) -> None:
    """TiDB leaves out the rest of its cached ids if it is not enough for rows that follow one another."""
    table = "create table t (k int primary key default (nextval(s)), id int auto_increment, key (id))"
    script = f"create sequence s; {table} auto_id_cache = 10; insert into t (id) values (1), (8);"
    script = script.replace("values (1), (8)", "values (null), (8)")
    rows = rows_of(f"{script} insert into t (id) {insert}")
    assert [int(row[1] or 0) for row in rows][2:] == ids


def test_a_cache_of_one_id_has_no_ranges() -> None:
    table = "create table t (id int auto_increment primary key) auto_id_cache = 1;"
    script = f"{table} insert into t values (null), (null), (null); alter table t add column x int;"
    assert [row[0] for row in rows_of(f"{script} insert into t (id) values (null)")] == [
        b"1",
        b"2",
        b"3",
        b"4",
    ]


def test_rows_of_a_table_with_a_cache_of_one_id_take_none_of_its_ids() -> None:
    table = "create table t (a int, id int auto_increment, key (id)) auto_id_cache = 1;"
    script = f"{table} insert into t (a) values (1), (1); insert into t values (1, null), (1, 10);"
    rows = rows_of(f"{script} insert into t (a) values (1), (1); insert into t (a) values (1)")
    assert [row[1] for row in rows] == [b"1", b"2", b"3", b"10", b"11", b"12", b"13"]


def test_ids_before_and_after_the_first_range() -> None:
    table = "create table t (id int auto_increment primary key); insert into t values (29998); delete from t;"
    seven = "insert into t values (null), (null), (null)"
    assert [row[0] for row in rows_of(f"{table} {seven}")] == [b"29999", b"30000", b"30001"]
    first = "create table t (id int auto_increment primary key); insert into t values (null), (29998);"
    ids = [row[0] for row in rows_of(f"{first} {seven}")]
    assert ids == [b"1", b"29998", b"30001", b"30002", b"30003"]


@pytest.mark.parametrize("columns", ["(t.id, t.n)", "(`T`.id, test.t.n)", "(id, test.t.`n`)"])
def test_columns_may_have_the_name_of_their_table(columns: str) -> None:
    assert rows_of(f"{T} insert into t {columns} values (1, 2); replace into t {columns} select 3, 4") == [
        (b"1", None, b"2"),
        (b"3", None, b"4"),
    ]


@pytest.mark.parametrize("column", ["s.n", "other.t.n"])
def test_a_column_with_the_name_of_another_table_is_refused(column: str) -> None:
    with pytest.raises(ScenarioError, match=f"Unknown column '{column}' in 'field list'"):
        history_of(f"{T} insert into t (id, {column}) values (1, 2)")
