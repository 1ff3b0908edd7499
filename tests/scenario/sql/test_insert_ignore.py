"""INSERT IGNORE … ON DUPLICATE KEY UPDATE, UPDATE IGNORE with foreign keys, LAST_INSERT_ID() of new rows."""

from __future__ import annotations

import pytest

from tests.scenario.sql.script_results import history_of, rows_of
from ticdc_producer.errors import ScenarioError

KEYED = (
    "create table t (id int primary key, u int unique, v int not null);"
    "insert into t values (1, 10, 5), (2, 20, 6);"
)
UNCHANGED = [(b"1", b"10", b"5"), (b"2", b"20", b"6")]


@pytest.mark.parametrize("update", ["id = 2", "u = 20", "id = 3, u = 20", "v = 9, u = 20"])
def test_an_update_to_a_key_that_exists_is_ignored(update: str) -> None:
    insert = f"insert ignore into t values (1, 0, 0) on duplicate key update {update}"
    assert rows_of(f"{KEYED} {insert}") == UNCHANGED
    with pytest.raises(ScenarioError, match="Duplicate entry"):
        history_of(f"{KEYED} {insert.replace(' ignore', '')}")


def test_rows_after_an_ignored_update_are_inserted_and_updated() -> None:
    insert = "insert ignore into t values (1, 0, 0), (3, 30, 7), (3, 0, 0) on duplicate key update u = u + 10"
    assert rows_of(f"{KEYED} {insert}") == [*UNCHANGED, (b"3", b"40", b"7")]


def test_null_for_a_column_that_is_not_null_is_its_zero_value() -> None:
    insert = "insert {} into t values (1, 0, 0){} on duplicate key update v = null"
    assert rows_of(f"{KEYED} {insert.format('ignore', '')}")[0] == (b"1", b"10", b"0")
    several = f"set sql_mode = ''; {KEYED} {insert.format('', ', (3, 0, 0)')}"
    assert rows_of(several) == [(b"1", b"10", b"0"), (b"2", b"20", b"6"), (b"3", b"0", b"0")]
    with pytest.raises(ScenarioError, match="Column 'v' cannot be null"):
        history_of(f"set sql_mode = ''; {KEYED} {insert.format('', '')}")


FAMILY = (
    "create table p (id int primary key, k int, key (k)); insert into p values (1, 10), (2, 20), (3, 30);"
    "create table t (id int primary key, k int, foreign key (k) references p (k));"
    "insert into t values (1, 10), (2, 20);"
)


@pytest.mark.parametrize(
    "statement",
    [
        "update ignore t set k = 99 where id = 1",
        "update ignore t x join p on x.k = p.k set x.k = 99 where x.id = 1",
        "insert ignore into t values (1, 99) on duplicate key update k = 99",
    ],
)
def test_a_row_that_would_lose_its_parent_is_not_changed(statement: str) -> None:
    assert rows_of(f"{FAMILY} {statement}") == [(b"1", b"10"), (b"2", b"20")]
    with pytest.raises(ScenarioError, match="Cannot add or update a child row"):
        history_of(f"{FAMILY} {statement.replace('ignore ', '')}")


@pytest.mark.parametrize(
    "statement",
    [
        "update ignore p set k = 99 where id = 1",
        "insert ignore into p values (1, 0) on duplicate key update k = 99",
    ],
)
def test_a_parent_is_changed_as_in_tidb_which_checks_the_new_key_alone(statement: str) -> None:
    assert rows_of(f"{FAMILY} {statement}", "p") == [(b"1", b"99"), (b"2", b"20"), (b"3", b"30")]
    to_other = statement.replace("= 99", "= 20")
    assert rows_of(f"{FAMILY} {to_other}", "p") == [(b"1", b"10"), (b"2", b"20"), (b"3", b"30")]
    with pytest.raises(ScenarioError, match="Cannot delete or update a parent row"):
        history_of(f"{FAMILY} {statement.replace('ignore ', '')}")


def test_cascades_of_update_ignore_run() -> None:
    script = FAMILY.replace("references p (k)", "references p (k) on update cascade")
    assert rows_of(f"{script} update ignore p set k = 99 where id = 1") == [(b"1", b"99"), (b"2", b"20")]


def test_last_insert_id_is_the_one_of_a_row_that_was_stored() -> None:
    script = (
        "create table t (id int auto_increment primary key, u int unique, seen int);"
        "insert into t (u) values (1); insert {} into t (u) values (1) {};"
        "insert into t values (100, 100, last_insert_id())"
    )
    updated = script.format("", "on duplicate key update seen = 0")
    assert rows_of(updated)[-1] == (b"100", b"100", b"1")
    assert rows_of(script.format("ignore", ""))[-1] == (b"100", b"100", b"1")
    several = script.format("", ", (2), (3) on duplicate key update seen = last_insert_id(50)")
    assert rows_of(several)[-1] == (b"100", b"100", b"2")


def test_of_last_insert_id_and_a_new_row_the_last_one_counts() -> None:
    script = (
        "create table t (id int auto_increment primary key, u int unique, seen int);"
        "insert into t (u) values (1);"
        "insert into t (u) values (2), (1) on duplicate key update seen = last_insert_id(50);"
        "insert into t values (100, 100, last_insert_id())"
    )
    assert rows_of(script)[-1] == (b"100", b"100", b"50")


TWO = (
    "create table t (a int primary key, b int); create table s (a int, b int, c int);"
    "insert into s values (1, 2, 3);"
)


@pytest.mark.parametrize("expression", ["b", "s.a + b", "greatest(c, b)"])
def test_a_column_of_the_table_and_of_the_select_is_ambiguous(expression: str) -> None:
    insert = "insert into t select a, b from s on duplicate key update b = "
    with pytest.raises(ScenarioError, match="in field list is ambiguous"):
        history_of(f"{TWO} {insert}{expression}")
    assert rows_of(f"{TWO} {insert} values(b) + s.b + t.b + c; {insert} values(b) + s.b + t.b + c") == [
        (b"1", b"9")
    ]


@pytest.mark.parametrize("names", ["s.a = 1", "a = 1, s.b = 2", "other.t.a = 1", "a = (1 + 2), test.s.b = 3"])
@pytest.mark.parametrize("verb", ["insert into", "replace"])
def test_set_with_the_name_of_another_table_is_an_error(names: str, verb: str) -> None:
    with pytest.raises(ScenarioError, match=r"Unknown column '.*' in 'field list'"):
        history_of(f"{TWO} {verb} t set {names}")


def test_set_with_the_names_of_the_table() -> None:
    script = (
        f"{TWO} insert into t set t.a = (select max(s.a) from s), test.t.b = 2; replace t set a = 5, t.b = 1"
    )
    assert rows_of(script) == [(b"1", b"2"), (b"5", b"1")]
