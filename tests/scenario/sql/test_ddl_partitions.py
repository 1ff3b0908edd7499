"""Partitions: the partition of a row, and the effect of partition changes on rows."""

from __future__ import annotations

import zlib

import pytest

from tests.scenario.sql.script_results import history_of, jobs_of, rows_of, table_of
from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.session.session import Session

R = (
    "create table t (id int primary key, v int) partition by range (id) "
    "(partition p0 values less than (10), partition p1 values less than (20), partition p2 values less "
    "than maxvalue);"
    "insert into t values (1, 1), (11, 1), (21, 1);"
)


def partition_of(columns: str, by: str, values: str) -> str:
    """The name of the partition of a row."""
    history = history_of(f"create table t ({columns}) partition by {by}; insert into t values ({values})")
    (change,) = history.changes
    (name,) = [part.name for part in table_of(history).partitions if part.id == change.table_id]
    return name


def rows_by_partition(script: str) -> dict[str, list[bytes | None]]:
    """The first column of the rows by partition, found by emptying each partition."""
    by_partition: dict[str, list[bytes | None]] = {}
    for part in table_of(history_of(script)).partitions:
        remaining = {row[0] for row in rows_of(f"{script}; alter table t truncate partition {part.name}")}
        by_partition[part.name] = [row[0] for row in rows_of(script) if row[0] not in remaining]
    return by_partition


SPLIT = "(partition x values less than (21), partition y values less than maxvalue)"
RANGE = "range (a) (partition p values less than (0), partition q values less than (10))"
COLUMNS = (
    "range columns (a, b) (partition p values less than (5, 'm'), partition q values less than (5, maxvalue),"
    " partition r values less than (maxvalue, maxvalue))"
)
LIST = "list (a) (partition p values in (1, 2), partition q values in (null, 3))"
LIST_COLUMNS = (
    "list columns (a, b) (partition p values in ((1, 'x'), (2, null)), partition q values in (default))"
)
DATES = (
    "range columns (a) (partition p values less than ('2020-01-01'), partition q values less than (maxvalue))"
)


@pytest.mark.parametrize(
    ("columns", "by", "values", "name"),
    [
        ("a int", RANGE, "-1", "p"),
        ("a int", RANGE, "0", "q"),
        ("a int", RANGE, "null", "p"),
        ("a int, b varchar(5)", COLUMNS, "5, 'a'", "p"),
        ("a int, b varchar(5)", COLUMNS, "5, 'm'", "q"),
        ("a int, b varchar(5)", COLUMNS, "5, 'zz'", "q"),
        ("a int, b varchar(5)", COLUMNS, "6, 'a'", "r"),
        ("a int, b varchar(5)", COLUMNS, "4, 'zz'", "p"),
        ("a int, b varchar(5)", COLUMNS, "5, null", "p"),
        ("a date", DATES, "'2019-12-31'", "p"),
        ("a date", DATES, "'2020-01-01'", "q"),
        ("a date", DATES, "null", "p"),
        ("a int", LIST, "2", "p"),
        ("a int", LIST, "null", "q"),
        ("a int, b varchar(5)", LIST_COLUMNS, "1, 'x'", "p"),
        ("a int, b varchar(5)", LIST_COLUMNS, "2, null", "p"),
        ("a int, b varchar(5)", LIST_COLUMNS, "2, 'x'", "q"),
        ("a int, b varchar(5)", LIST_COLUMNS, "null, null", "q"),
        ("a int", "list (a) (partition p values in (1), partition q default)", "7", "q"),
        ("a varchar(5)", "list columns (a) (partition p values in ('x', default))", "'y'", "p"),
        ("a int", "hash (a) partitions 4", "7", "p3"),
        ("a int", "hash (a) partitions 4", "-7", "p3"),
        ("a int", "hash (a) partitions 4", "null", "p0"),
        ("a int", "hash (a) (partition x, partition y)", "3", "y"),
        ("a date", "hash (year(a)) partitions 4", "'2021-05-05'", "p1"),
        ("a int unsigned", "hash (a div 2) partitions 4", "6", "p3"),
        ("a bigint unsigned", "hash (a) partitions 4", "18446744073709551615", "p1"),
        ("a bigint unsigned", "hash (a) partitions 4", "18446744073709551614", "p2"),
        ("a bigint unsigned", "hash (a) partitions 3", "9223372036854775808", "p2"),
        ("a bigint unsigned", "hash (a) partitions 4", "9223372036854775807", "p3"),
        ("a bigint unsigned", "hash (a + 1) partitions 4", "18446744073709551612", "p3"),
        ("a bigint", "hash (a) partitions 3", "-9223372036854775808", "p2"),
        (
            "a bigint unsigned",
            "key (a) partitions 3",
            "18446744073709551615",
            f"p{zlib.crc32(b'18446744073709551615') % 3}",
        ),
        ("a varchar(5)", "key (a) partitions 3", "'abc'", f"p{zlib.crc32(b'abc') % 3}"),
        ("a varchar(5)", "key (a) partitions 3", "null", f"p{zlib.crc32(bytes(1)) % 3}"),
        ("a int, b int", "key (a, b) partitions 5", "12, null", f"p{zlib.crc32(b'12' + bytes(1)) % 5}"),
    ],
)
def test_the_partition_of_a_row(columns: str, by: str, values: str, name: str) -> None:
    assert partition_of(columns, by, values) == name


@pytest.mark.parametrize(
    ("columns", "by", "values", "value"),
    [
        ("a int", RANGE, "10", "10"),
        ("a int", LIST, "9", "9"),
        ("a int", "list (a) (partition p values in (1))", "null", "NULL"),
        ("a date", DATES.replace("maxvalue", "'2021-01-01'"), "'2022-02-02'", "2022-02-02"),
    ],
)
def test_a_row_without_a_partition_is_an_error(columns: str, by: str, values: str, value: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        partition_of(columns, by, values)
    assert caught.value.what == f"Table has no partition for value {value}"


def test_an_update_moves_a_row_to_another_partition() -> None:
    history = history_of(R + "update t set id = 12 where id = 1")
    change = history.changes[-1]
    ids = [part.id for part in table_of(history).partitions]
    assert (change.old_table_id, change.table_id) == (ids[0], ids[1])
    assert (change.old_row_id, change.row_id) == (1, 12)


@pytest.mark.parametrize(
    ("part", "after", "job"),
    [
        ("drop partition p0", {"p1": [b"11"], "p2": [b"21"]}, "DROP_TABLE_PARTITION"),
        ("drop partition p2, p0", {"p1": [b"11"]}, "DROP_TABLE_PARTITION"),
        ("truncate partition p1", {"p0": [b"1"], "p1": [], "p2": [b"21"]}, "TRUNCATE_TABLE_PARTITION"),
        ("truncate partition all", {"p0": [], "p1": [], "p2": []}, "TRUNCATE_TABLE_PARTITION"),
        (
            "reorganize partition p0, p1 into (partition x values less than (20))",
            {"x": [b"1", b"11"], "p2": [b"21"]},
            "REORGANIZE_PARTITION",
        ),
        (
            f"reorganize partition p2 into {SPLIT}",
            {"p0": [b"1"], "p1": [b"11"], "x": [], "y": [b"21"]},
            "REORGANIZE_PARTITION",
        ),
        (
            "partition by hash (id) partitions 2",
            {"p0": [], "p1": [b"1", b"11", b"21"]},
            "ALTER_TABLE_PARTITIONING",
        ),
    ],
)
def test_rows_after_a_change_of_partitions(part: str, after: dict[str, list[bytes | None]], job: str) -> None:
    script = f"{R} alter table t {part}"
    assert rows_by_partition(script) == after
    assert jobs_of(script)[-1] == job


@pytest.mark.parametrize("function", ["hash (id)", "key (id)"])
@pytest.mark.parametrize(
    ("part", "names"),
    [
        ("coalesce partition 1", ["x", "p1", "p2"]),
        ("coalesce partition 3", ["x"]),
        ("add partition partitions 2", ["x", "p1", "p2", "p3", "p4", "p5"]),
        ("add partition (partition y, partition z)", ["x", "p1", "p2", "p3", "y", "z"]),
    ],
)
def test_the_number_of_hash_and_key_partitions_changes(function: str, part: str, names: list[str]) -> None:
    columns = "(id int primary key, v int)"
    parts = "(partition x, partition p1, partition p2, partition p3)"
    script = f"create table t {columns} partition by {function} {parts};"
    rows = "insert into t values (1, 1), (2, 1), (3, 1), (7, 1), (8, 1);"
    resized = history_of(f"{script} {rows} alter table t {part}")
    assert [each.name for each in table_of(resized).partitions] == names
    assert jobs_of(f"{script} alter table t {part}")[-1] == "REORGANIZE_PARTITION"
    old = {each.id for each in table_of(history_of(script)).partitions}
    assert not old & {each.id for each in table_of(resized).partitions}
    assert [change.op.label for change in resized.changes] == ["insert"] * 5
    created = f"create table t {columns} partition by {function} partitions {len(names)}; {rows}"
    located = list(rows_by_partition(f"{script} {rows} alter table t {part}").values())
    assert located == list(rows_by_partition(created).values())


@pytest.mark.parametrize(
    ("by", "part", "message"),
    [
        ("hash (id) partitions 2", "coalesce partition 2", "Cannot remove all partitions"),
        ("hash (id) partitions 2", "coalesce partition 0", "At least one partition must be coalesced"),
        ("list (id) (partition p values in (1))", "coalesce partition 1", "only be used on HASH/KEY"),
        ("key (id) partitions 2", "add partition (partition P1)", "Duplicate partition name"),
        ("hash (id) partitions 2", "add partition partitions 8191", "Too many partitions"),
        (
            "hash (id) partitions 2",
            "add partition (partition x values in (1))",
            "HASH PARTITIONING cannot use VALUES",
        ),
    ],
)
def test_wrong_numbers_of_hash_partitions(by: str, part: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        history_of(f"create table t (id int primary key) partition by {by}; alter table t {part}")


def test_coalesced_tables_must_have_partitions() -> None:
    with pytest.raises(ScenarioError, match="not partitioned"):
        history_of("create table t (id int primary key); alter table t coalesce partition 1")


def test_a_change_of_partitions_makes_no_row_change() -> None:
    original = history_of(R)
    for part in ("drop partition p0", "truncate partition all", "remove partitioning"):
        history = history_of(f"{R} alter table t {part}")
        assert history.changes == original.changes
        assert history.commits == original.commits + 1


def test_truncated_partitions_and_rebuilt_tables_get_new_ids() -> None:
    before = table_of(history_of(R))
    after = table_of(history_of(R + "alter table t truncate partition p1"))
    assert [old.id == new.id for old, new in zip(before.partitions, after.partitions, strict=True)] == [
        True,
        False,
        True,
    ]
    unpartitioned = table_of(history_of(R + "alter table t remove partitioning"))
    assert unpartitioned.partitions == ()
    assert unpartitioned.table_id not in {before.table_id, *(part.id for part in before.partitions)}


def test_partitions_are_added_after_the_last() -> None:
    script = "create table t (id int) partition by range (id) (partition p0 values less than (10));"
    added = (
        f"{script} alter table t add partition"
        " (partition p1 values less than (20), partition p2 values less than maxvalue);"
    )
    assert rows_by_partition(f"{added} insert into t values (10), (99)") == {
        "p0": [],
        "p1": [b"10"],
        "p2": [b"99"],
    }


def test_a_partition_and_a_table_exchange_rows() -> None:
    script = R + "create table x (id int primary key, v int); insert into x values (5, 9);"
    exchanged = script + "alter table t exchange partition p0 with table x"
    assert sorted(rows_of(exchanged)) == [(b"11", b"1"), (b"21", b"1"), (b"5", b"9")]
    assert rows_of(exchanged, "x") == [(b"1", b"1")]
    (p0, *_), other_id = table_of(history_of(script)).partitions, table_of(history_of(script), "x").table_id
    after = history_of(exchanged)
    assert table_of(after).partitions[0].id == other_id
    assert table_of(after, "x").table_id == p0.id


@pytest.mark.parametrize(("partitioned", "other"), [("check (v > 5)", ""), ("", ", check (v > 5)")])
def test_exchange_ignores_check_constraints(partitioned: str, other: str) -> None:
    """TiDB has none by default, so tables with and without CHECK are equal: ``checkTableDefCompatible``."""
    script = (
        f"create table t (id int primary key, v int {partitioned}) partition by range (id)"
        f" (partition p0 values less than (9)); create table x (id int primary key, v int{other});"
        " insert into x values (1, 2); alter table t exchange partition p0 with table x"
    )
    assert rows_of(script) == [(b"1", b"2")]


def test_exchange_validates_the_rows() -> None:
    script = R + "create table x (id int primary key, v int); insert into x values (15, 9);"
    with pytest.raises(ScenarioError, match="Found a row that does not match the partition"):
        history_of(f"{script} alter table t exchange partition p0 with table x")
    unvalidated = f"{script} alter table t exchange partition p0 with table x without validation"
    assert (b"15", b"9") in rows_of(unvalidated)


@pytest.mark.parametrize(
    ("words", "sent"),
    [
        ("", ""),
        (" with validation", ""),
        (" without validation", " WITHOUT VALIDATION"),
        (" WITHOUT  VALIDATION", ""),  # TiCDC searches for the words with one blank
    ],
)
def test_the_rebuilt_text_of_an_exchange(words: str, sent: str) -> None:
    script = (
        f"{R} create table x like t; alter table x remove partitioning;"
        f" alter table t exchange partition P0 with table x{words}"
    )
    text = "ALTER TABLE `test`.`t` EXCHANGE PARTITION `p0` WITH TABLE `test`.`x`"
    assert history_of(script).catalog.ddls[-1].query == text + sent


@pytest.mark.parametrize(("first", "second"), [("x", "t"), ("t", "x")])
def test_rows_after_an_exchange_get_row_ids_that_no_exchanged_row_has(first: str, second: str) -> None:
    """Both tables continue after the larger counter; otherwise a new row would replace an exchanged one."""
    script = (
        "create table t (a int, b int, unique key (a)) partition by hash (a) partitions 1;"
        " create table x (a int, b int, unique key (a));"
        f" insert into {first} values (1, 1); alter table t exchange partition p0 with table x;"
        f" insert into {second} values (2, 1); update {second} set b = 5 where a = 1"
    )
    assert rows_of(script, second) == [(b"1", b"5"), (b"2", b"1")]


def test_rows_of_key_partitions_cannot_be_validated() -> None:
    script = "create table t (a int) partition by key (a) partitions 2; create table x (a int);"
    exchange = "alter table t exchange partition p0 with table x"
    with pytest.raises(ScenarioError, match="Unsupported partition type of table t when exchanging"):
        history_of(f"{script} {exchange}")
    assert jobs_of(f"{script} {exchange} without validation")[-1] == "EXCHANGE_TABLE_PARTITION"


def test_a_bit_column_is_a_partition_function() -> None:
    script = (
        "create table t (a bit(4)) partition by hash (a) partitions 3; insert into t values (4), (2), (1)"
    )
    assert rows_of(script) == [(b"4",), (b"1",), (b"2",)]


@pytest.mark.parametrize("sql_mode", ["", "NO_UNSIGNED_SUBTRACTION"])
def test_a_bound_is_in_the_domain_of_an_unsigned_function(sql_mode: str) -> None:
    with pytest.raises(ScenarioError, match="out of partition function domain"):
        history_of(
            f"set sql_mode = '{sql_mode}'; create table t (a bigint unsigned) partition by range (a - 10)"
            " (partition p0 values less than (-5), partition p1 values less than (5))"
        )


@pytest.mark.parametrize(
    "part",
    [
        "remove partitioning",
        "partition by hash (a) partitions 2",
        "reorganize partition p0, p1 into (partition p values less than (20))",
    ],
)
def test_rows_with_the_same_hidden_id_after_an_exchange_remain(part: str) -> None:
    """The first row of each table has the id 1."""
    script = (
        "create table t (a int) partition by range (a)"
        " (partition p0 values less than (10), partition p1 values less than (20)); create table x (a int);"
        " insert into t values (1), (11); insert into x values (12);"
        f" alter table t exchange partition p1 with table x; alter table t {part}"
    )
    assert sorted(rows_of(script)) == [(b"1",), (b"12",)]


def test_a_partition_cannot_be_added_after_a_default_partition() -> None:
    script = "create table t (a int) partition by list (a) (partition p values in (1), partition q default);"
    with pytest.raises(ScenarioError):
        history_of(f"{script} alter table t add partition (partition r values in (1))")


def test_like_copies_the_partitions() -> None:
    history = history_of(R + "create table x like t; insert into x values (15, 1)")
    (original, copy) = table_of(history), table_of(history, "x")
    assert [part.name for part in copy.partitions] == [part.name for part in original.partitions]
    assert not {part.id for part in copy.partitions} & {part.id for part in original.partitions}
    assert history.changes[-1].table_id == copy.partitions[1].id


def test_hidden_row_ids_change_with_the_partition() -> None:
    session = Session(force_replicate=True)
    session.run(
        "create table t (a int) partition by hash (a) partitions 2; insert into t values (1); update t "
        "set a = 2;"
        "update t set a = 4"
    )
    moved, stayed = session.history().changes[1:]
    assert moved.old_row_id == 1
    assert moved.row_id == 2
    assert (stayed.old_row_id, stayed.row_id) == (None, 2)


def test_key_without_columns_is_that_of_the_primary_key() -> None:
    columns, values = "a int, b int, primary key (b, a)", "7, 8"
    named = partition_of(columns, "key (b, a) partitions 5", values)
    assert partition_of(columns, "key () partitions 5", values) == named
    with pytest.raises(ScenarioError, match="Table partition metadata not correct"):
        history_of("create table t (a int) partition by key () partitions 5")


def test_subpartitions_of_range_and_list_are_ignored() -> None:
    parts = "(partition p values less than (5), partition q values less than (9))"
    by = f"range (a) subpartition by hash (b) subpartitions 2 {parts}"
    assert partition_of("a int, b int", by, "7, 1") == "q"
    by = "list (a) subpartition by key (b) (partition p values in (1) (subpartition x, subpartition y))"
    assert partition_of("a int, b int", by, "1, 1") == "p"
    with pytest.raises(ScenarioError, match="It is only possible to mix RANGE/LIST"):
        history_of("create table t (a int) partition by hash (a) subpartition by hash (a)")
