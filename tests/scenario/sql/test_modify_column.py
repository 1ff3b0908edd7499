"""MODIFY and CHANGE: what TiDB refuses, and what the old values become."""

from __future__ import annotations

import pytest

from tests.scenario.sql.script_results import history_of, rows_of
from ticdc_producer.errors import ScenarioError


@pytest.mark.parametrize("change", ["a varchar(9)", "a tinyint", "a int unsigned"])
@pytest.mark.parametrize("user", ["b int as (a + 1)", "b int as (a + 1) stored", "b int, key ((a + 1))"])
def test_the_source_of_a_generated_column_is_not_rewritten(user: str, change: str) -> None:
    with pytest.raises(ScenarioError, match="oldCol is a dependent column 'a'"):
        history_of(f"create table t (a int, {user}); alter table t modify {change}")


@pytest.mark.parametrize("change", ["a bigint", "a int not null", "a int default 5", "a int comment 'c'"])
@pytest.mark.parametrize("user", ["b int as (a + 1)", "b int as (a + 1) stored", "b int, key ((a + 1))"])
def test_the_source_of_a_generated_column_is_not_modified(user: str, change: str) -> None:
    """Source: tidb ``checkModifyColumnWithGeneratedColumnsConstraint``, error 3106."""
    with pytest.raises(ScenarioError, match="Column 'a' has a generated column dependency"):
        history_of(f"create table t (a int, {user}); alter table t modify {change}")


def test_no_values_of_a_partitioned_table_are_rewritten() -> None:
    script = "create table t (k int primary key, a int, b varchar(5)) partition by hash (k) partitions 2;"
    history_of(f"{script} alter table t modify a bigint, modify b varchar(9)")
    for change in ("a int unsigned", "a tinyint", "a varchar(20)", "b varchar(4)", "b char(5)"):
        with pytest.raises(ScenarioError, match="table is partition table"):
            history_of(f"{script} alter table t modify {change}")


def test_auto_increment_is_removed_if_the_session_allows_it() -> None:
    script = "create table t (a int auto_increment primary key, b int); insert into t (b) values (5);"
    allowed = f"set tidb_allow_remove_auto_inc = 1; {script} alter table t modify a int;"
    assert rows_of(f"{allowed} insert into t values (7, 1)") == [(b"1", b"5"), (b"7", b"1")]
    with pytest.raises(ScenarioError, match="doesn't have a default value"):
        history_of(f"{allowed} insert into t (b) values (1)")


@pytest.mark.parametrize("old", ["enum('p', 'q')", "set('p', 'q')"])
def test_members_become_bits_by_their_numbers(old: str) -> None:
    assert rows_of(
        f"create table t (a {old}); insert into t values ('q'); alter table t modify a bit(2)"
    ) == [(b"2",)]


@pytest.mark.parametrize(("new", "value"), [("int", b"12"), ("double", b"12"), ("year", b"2012")])
def test_zero_bytes_end_a_number(new: str, value: bytes) -> None:
    script = "create table t (a binary(8)); insert into t values ('12');"
    assert rows_of(f"{script} alter table t modify a {new}") == [(value,)]
    with pytest.raises(ScenarioError, match="Incorrect decimal value"):
        history_of(f"{script} alter table t modify a decimal(5, 2)")


@pytest.mark.parametrize("sql_mode", ["STRICT_TRANS_TABLES", "STRICT_ALL_TABLES,NO_ZERO_DATE"])
def test_zero_is_no_date_in_strict_mode(sql_mode: str) -> None:
    script = "create table t (a int); insert into t values (0); alter table t modify a date"
    with pytest.raises(ScenarioError, match="Incorrect date value"):
        history_of(f"set sql_mode = '{sql_mode}'; {script}")
    assert rows_of(f"set sql_mode = ''; {script}") == [(b"0000-00-00",)]


def test_a_date_with_a_zero_part_is_converted_only_without_strict_mode() -> None:
    script = (
        "set sql_mode = '{}'; create table t (a varchar(20)); insert into t values ('2020-00-01');"
        "alter table t modify a date"
    )
    assert rows_of(script.format("")) == [(b"2020-00-01",)]
    assert rows_of(script.format("STRICT_TRANS_TABLES,ALLOW_INVALID_DATES")) == [(b"2020-00-01",)]
    with pytest.raises(ScenarioError, match="Incorrect date value"):
        history_of(script.format("STRICT_TRANS_TABLES"))


COLLATED = (
    "create table t (a varchar(5) charset utf8 collate utf8_bin,"
    " b varchar(5) collate utf8mb4_general_ci, {});"
)


@pytest.mark.parametrize(
    "change",
    [
        "modify a varchar(5) charset utf8 collate utf8_general_ci",
        "modify b varchar(9) collate utf8mb4_bin",
        "modify b varchar(5) collate utf8mb4_unicode_ci",
        "convert to charset utf8mb4 collate utf8mb4_bin",
    ],
)
def test_an_index_has_the_order_of_its_collation(change: str) -> None:
    history_of(f"{COLLATED.format('c int')} alter table t {change}")
    with pytest.raises(ScenarioError, match="when index is defined on it"):
        history_of(f"{COLLATED.format('key (a), key (b)')} alter table t {change}")


def test_an_index_allows_a_collation_with_the_same_order() -> None:
    keyed = COLLATED.format("key (a), key (b)")
    history_of(f"{keyed} alter table t modify a varchar(5) charset utf8mb4 collate utf8mb4_bin")
    history_of(f"{keyed} alter table t collate utf8mb4_bin")


@pytest.mark.parametrize(
    ("new", "texts", "values"),
    [
        ("date", ['"2020-01-02"', "20200103"], [b"2020-01-02", b"2020-01-03"]),
        ("datetime(1)", ['"2020-01-02 03:04:05.67"'], [b"2020-01-02 03:04:05.7"]),
        ("time", ['"10:11:12"', "101113"], [b"10:11:12", b"10:11:13"]),
        ("year", ['"2020"', "2021"], [b"2020", b"2021"]),
    ],
)
def test_json_becomes_a_date_or_time(new: str, texts: list[str], values: list[bytes]) -> None:
    script = "".join(f"insert into t values ('{text}');" for text in texts)
    assert rows_of(f"create table t (a json); {script} alter table t modify a {new}") == [
        (v,) for v in values
    ]
    with pytest.raises(ScenarioError, match=r"Incorrect .* value"):
        history_of(f"create table t (a json); insert into t values ('{{}}'); alter table t modify a {new}")


@pytest.mark.parametrize("time", ["00:20:21", "00:00:21", "00:20:20.6"])
def test_a_time_becomes_the_year_of_its_digits(time: str) -> None:
    script = "create table t (a time(1)); insert into t values ('{}'); alter table t modify a year"
    assert rows_of(script.format(time)) == [(b"2021",)]
    with pytest.raises(ScenarioError, match="Out of range value"):
        history_of(script.format("20:20:10"))
