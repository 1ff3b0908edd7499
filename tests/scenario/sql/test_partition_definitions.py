"""What TiDB accepts as a partition function, as columns of partitions and as tables to exchange."""

from __future__ import annotations

import pytest

from tests.scenario.sql.script_results import history_of, rows_of
from ticdc_producer.errors import ScenarioError

T = "create table t (a timestamp, b datetime, c date, d int, e time, f json, u int unsigned);"
ALLOWED = [
    "unix_timestamp(a)", "year(b)", "to_days(c)", "hour(e)", "microsecond(b)", "d + u", "d div 2",
    "mod(d, 3)",
    "-d", "abs(d)", "floor(d)", "extract(year from b)", "extract(hour from e)", "datediff(b, c)",
    "yearweek(c)",
]  # fmt: skip
REFUSED = [
    "year(a)", "unix_timestamp(b)", "year(d)", "hour(c)", "a + 1", "abs(a)", "d / 2", "d << 2", "d | 2", "~d",
    "case when d then 1 else 2 end", "length(d)", "d + 1.5", "ifnull(d, 1)", "extract(year from e)",
    "extract(week from b)", "datediff(b, a)", "week(b)", "last_day(b)", "round(d)", "ceil(d)", "rand()", "1",
]  # fmt: skip


@pytest.mark.parametrize("function", ALLOWED)
def test_a_partition_function(function: str) -> None:
    history_of(f"{T} alter table t partition by hash ({function}) partitions 2")


@pytest.mark.parametrize("function", REFUSED)
def test_a_function_that_partitions_no_table(function: str) -> None:
    with pytest.raises(ScenarioError, match=r"partition(ing)? function|returns the wrong type"):
        history_of(f"{T} alter table t partition by hash ({function}) partitions 2")


@pytest.mark.parametrize("kind", ["timestamp", "decimal", "float", "enum('1')", "text", "bit", "json"])
def test_columns_of_ranges_and_lists_have_few_types(kind: str) -> None:
    for method in ("range columns (a) (partition p values less than (maxvalue))", "list columns (a) (%s)"):
        with pytest.raises(ScenarioError, match="Field 'a' is of a not allowed type"):
            history_of(
                f"create table t (a {kind}) partition by {method.replace('%s', 'partition p values in (1)')}"
            )


@pytest.mark.parametrize("kind", ["json", "text", "blob", "longtext", "vector"])
def test_a_key_of_partitions_is_no_document(kind: str) -> None:
    with pytest.raises(ScenarioError, match="Field 'a' is of a not allowed type"):
        history_of(f"create table t (a {kind}) partition by key (a) partitions 2")
    history_of("create table t (a tinytext, b enum('x'), c float, d year) partition by key (a, b, c, d)")


@pytest.mark.parametrize(
    "method",
    ["key (d, D) partitions 2", "range columns (d, d) (partition p values less than (1, 2))"],
)
def test_a_column_partitions_once(method: str) -> None:
    with pytest.raises(ScenarioError, match="Duplicate partition field name 'd'"):
        history_of(f"{T} alter table t partition by {method}")


def test_the_bound_of_an_unsigned_column_is_not_negative() -> None:
    with pytest.raises(ScenarioError, match="out of partition function domain"):
        history_of(f"{T} alter table t partition by range (u) (partition p values less than (-5))")
    history_of(f"{T} alter table t partition by range (d) (partition p values less than (-5))")


LISTS = (
    "create table t (d int) partition by list (d)"
    " (partition p values in (1), partition q values in (2), partition r values in (3));"
    "insert into t values (1), (2), (3);"
)


def test_lists_are_reorganized_wherever_they_are() -> None:
    script = f"{LISTS} alter table t reorganize partition p, r into (partition s values in (1, 3, 5));"
    assert sorted(rows_of(f"{script} insert into t values (5)")) == [(b"1",), (b"2",), (b"3",), (b"5",)]
    assert rows_of(f"{script} alter table t truncate partition s") == [(b"2",)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("drop partition p, p", "a name is repeated"),
        ("drop partition p, q, q", "Cannot remove all partitions"),
        ("reorganize partition p, p into (partition s values in (1))", "Duplicate partition name"),
    ],
)
def test_a_partition_is_named_once(change: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        history_of(f"{LISTS} alter table t {change}")


E = (
    "create table p (a int, b varchar(9), c decimal(6, 2), key k (b)) partition by hash (a) partitions 1;"
    "create table n ({}) {}; alter table p exchange partition p0 with table n"
)
SAME = "a int, b varchar(9), c decimal(6, 2), key k (b)"


@pytest.mark.parametrize(
    "columns",
    [
        SAME,
        "a int(3) default 5, b varchar(9) comment 'x', c decimal(6, 2), key K (b)",
        SAME.replace("6,", "8,"),
    ],
)
def test_widths_and_defaults_may_differ_in_an_exchange(columns: str) -> None:
    history_of(E.format(columns, ""))


@pytest.mark.parametrize(
    ("columns", "options"),
    [
        (SAME.replace(", key k (b)", ""), ""),
        (SAME.replace("key k", "key k2"), ""),
        (SAME.replace("key k", "unique k"), ""),
        (SAME.replace("k (b)", "k (b(3))"), ""),
        (SAME.replace("k (b)", "k (b, a)"), ""),
        (SAME.replace("a int", "a int not null"), ""),
        (SAME.replace("a int", "a int unsigned"), ""),
        (SAME.replace("(9)", "(10)"), ""),
        (SAME.replace("2)", "3)"), ""),
        (SAME.replace("(9)", "(9) collate utf8mb4_general_ci"), ""),
        (SAME.replace(", key", ", primary key (a), key"), ""),
        (SAME, "charset latin1"),
        (SAME, "shard_row_id_bits = 3"),
        (SAME, "partition by hash (a) partitions 1"),
    ],
)
def test_another_definition_prevents_an_exchange(columns: str, options: str) -> None:
    with pytest.raises(ScenarioError, match="Tables have different definitions"):
        history_of(E.format(columns, options))


def test_columns_and_indexes_of_an_exchange_have_the_same_ids() -> None:
    ids = "Tables have different definitions: their indexes|a column has another id"
    renewed = (
        "alter table n drop c; alter table n add c decimal(6, 2)",
        "alter table n drop key k; alter table n add key k (b)",
    )
    for changes in renewed:
        with pytest.raises(ScenarioError, match=ids):
            history_of(E.replace("; alter table p", f"; {changes}; alter table p").format(SAME, ""))
    parent = "create table x (a int primary key);"
    with pytest.raises(ScenarioError, match="foreign key references"):
        history_of(parent + E.format(f"{SAME}, foreign key (a) references x (a)", ""))
