"""INTERVAL of RANGE partitions, and FIRST and LAST PARTITION: the partitions and the text that TiDB makes."""

from __future__ import annotations

import pytest

from tests.scenario.sql.script_results import history_of, jobs_of, table_of
from ticdc_producer.errors import ScenarioError

INT = "create table t (a int) partition by range (a) interval"
TENS = f"{INT} (10) first partition less than (10) last partition less than (30);"
UNEVEN = (
    "create table t (a int) partition by range (a) (partition p values less than (1), "
    "partition q values less than (2), partition r values less than (9));"
)


def names_of(script: str) -> list[str]:
    return [part.name for part in table_of(history_of(script)).partitions]


def text_of(script: str) -> str:
    """The text of the last DDL, in one line."""
    return " ".join(history_of(script).catalog.ddls[-1].query.split())


def columns(type_: str, clauses: str) -> str:
    return f"create table t (a {type_}) partition by range columns (a) interval {clauses}"


def test_the_partitions_are_in_the_text_that_is_sent() -> None:
    script = f"{INT} (5) first partition less than (5) last partition less than (15) comment 'c'"
    assert text_of(script) == (
        "create table t (a int) partition by range (a) (PARTITION `P_LT_5` VALUES LESS THAN (5), "
        "PARTITION `P_LT_10` VALUES LESS THAN (10), PARTITION `P_LT_15` VALUES LESS THAN (15)) comment 'c'"
    )


def test_a_changed_partitioning_has_them_too() -> None:
    script = f"create table t (a int); alter table t {INT[INT.index('partition') :]} (1) "
    script += "first partition less than (1) last partition less than (2)"
    assert text_of(script) == (
        "alter table t partition by range (a) "
        "(PARTITION `P_LT_1` VALUES LESS THAN (1), PARTITION `P_LT_2` VALUES LESS THAN (2))"
    )
    assert jobs_of(script)[-1] == "ALTER_TABLE_PARTITIONING"


@pytest.mark.parametrize(
    ("script", "names"),
    [
        (f"{INT} (1) first partition less than (-1) last partition less than (1)", ["-1", "0", "1"]),
        (
            columns("date", "(1 month) first partition less than ('2024-01-31') last partition less than")
            + " ('2024-04-30')",
            ["2024-01-31", "2024-02-29", "2024-03-31", "2024-04-30"],
        ),
        (
            columns("datetime", "(12 hour) first partition less than ('2024-01-01') last partition less than")
            + " ('2024-01-02')",
            ["2024-01-01 00:00:00", "2024-01-01 12:00:00", "2024-01-02 00:00:00"],
        ),
        (
            columns("tinyint", "(100) first partition less than (0) last partition less than (100)"),
            ["0", "100"],
        ),
        (f"{INT} (02) first partition less than (0) last partition less than (2)", ["0", "2"]),
    ],
)
def test_bounds_and_names(script: str, names: list[str]) -> None:
    assert names_of(script) == [f"P_LT_{name}" for name in names]


@pytest.mark.parametrize(
    ("script", "lowest"),
    [
        (f"{INT} (1) first partition less than (1) last partition less than (1)", "-9223372036854775808"),
        (columns("tinyint", "(1) first partition less than (1) last partition less than (1)"), "-128"),
        (columns("int unsigned", "(1) first partition less than (1) last partition less than (1)"), "0"),
        (
            columns("date", "(1 day) first partition less than ('2024-01-01') last partition less than")
            + " ('2024-01-01')",
            "'0000-01-01'",
        ),
    ],
)
def test_partitions_for_null_and_for_large_values(script: str, lowest: str) -> None:
    query = text_of(f"{script} null partition maxvalue partition")
    assert f"(PARTITION `P_NULL` VALUES LESS THAN ({lowest}), PARTITION `P_LT_" in query
    assert query.endswith(", PARTITION `P_MAXVALUE` VALUES LESS THAN (MAXVALUE))")


@pytest.mark.parametrize(
    ("script", "what"),
    [
        (f"{INT} (5) first partition less than (5) last partition less than (12)", r"expr \(12\) not match"),
        (f"{INT} (5) first partition less than (5) last partition less than (4)", r"expr \(4\) not matching"),
        (f"{INT} (0) first partition less than (5) last partition less than (9)", "should be a positive"),
        (f"{INT} (-1) first partition less than (5) last partition less than (9)", "should be a positive"),
        (f"{INT} (1) first partition less than (1) last partition less than (9999)", "Too many partitions"),
        (f"{INT} (1) last partition less than (9999)", "requires FIRST and LAST"),
        (columns("varchar(9)", "(1) first partition less than ('a') last partition less than ('b')"), "INT"),
        (columns("date", "(1 microsecond) first partition less than ('2024-01-01') last partition less than "
                 "('2024-01-02')"), "as time unit"),
        (columns("tinyint", "(100) first partition less than (0) last partition less than (300)"), "ange"),
    ],
)  # fmt: skip
def test_what_tidb_refuses(script: str, what: str) -> None:
    with pytest.raises(ScenarioError, match=what):
        history_of(script)


def test_last_partition_adds_and_first_partition_drops() -> None:
    script = f"{TENS} insert into t values (1), (11), (21); alter table t last partition less than (50);"
    assert names_of(script)[2:] == ["P_LT_30", "P_LT_40", "P_LT_50"]
    assert text_of(script) == (
        "alter table t ADD PARTITION (PARTITION `P_LT_40` VALUES LESS THAN (40), "
        "PARTITION `P_LT_50` VALUES LESS THAN (50))"
    )
    script += "alter table t first partition less than (30)"
    assert names_of(script) == ["P_LT_30", "P_LT_40", "P_LT_50"]
    assert text_of(script) == "alter table t DROP PARTITION `P_LT_10`, `P_LT_20`"
    assert [row[0] for row in history_of(script).state["test", "t"].rows] == [b"21"]
    assert jobs_of(script)[-2:] == ["ADD_TABLE_PARTITION", "DROP_TABLE_PARTITION"]


def test_the_interval_is_that_of_the_bounds() -> None:
    """TiDB stores no interval: partitions that were written one by one have one, too."""
    script = (
        "create table t (a date) partition by range columns (a) ("
        "partition n values less than ('0000-01-01'), partition x values less than ('2024-01-01'), "
        "partition y values less than ('2024-02-01'), "
        "partition z values less than ('2024-03-01')); alter table t last partition less than ('2024-05-01');"
    )
    assert names_of(script) == ["n", "x", "y", "z", "P_LT_2024-04-01", "P_LT_2024-05-01"]
    dropped = names_of(f"{script} alter table t first partition less than ('2024-03-01')")
    assert dropped == ["n", "z", "P_LT_2024-04-01", "P_LT_2024-05-01"]


@pytest.mark.parametrize(
    ("script", "what"),
    [
        (f"{TENS} alter table t first partition less than (15)", "not matching FIRST"),
        (f"{TENS} alter table t first partition less than (10)", "list of partition names to be dropped"),
        (f"{TENS} alter table t last partition less than (30)", "does not generate"),
        (
            "create table t (a int) partition by hash (a); alter table t last partition less than (3)",
            "seem like",
        ),
        (
            f"{UNEVEN} alter table t last partition less than (20)",
            "does not seem like an INTERVAL partitioned table",
        ),
        ("create table t (a int); alter table t last partition less than (3)", "not partitioned"),
    ],
)
def test_changes_that_fit_no_interval(script: str, what: str) -> None:
    with pytest.raises(ScenarioError, match=what):
        history_of(script)
