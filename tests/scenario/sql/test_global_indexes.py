"""GLOBAL indexes of partitioned tables: unique over all partitions, without the partition columns."""

from __future__ import annotations

import pytest

from tests.scenario.sql.script_results import history_of, rows_of, table_of
from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.session.session import Session

HASH = "partition by hash (a) partitions 3"
T = f"create table t (a int primary key, b int, unique key k (b) global) {HASH};"
U = "create table u (a int primary key, b int, unique key k (b));"


def globals_of(script: str) -> dict[str, bool]:
    return {index.name: index.is_global for index in table_of(history_of(script)).indexes}


@pytest.mark.parametrize(
    "table",
    [
        T,
        f"create table t (a int primary key, b int unique global) {HASH};",
        f"create table t (a int, b int, primary key (b) nonclustered global) {HASH};",
        f"create table t (a int, b int) {HASH}; create unique index k on t (b) global;",
        f"create table t (a int, b int) {HASH}; alter table t add unique (b) global;",
    ],
)
def test_a_key_is_unique_over_all_partitions(table: str) -> None:
    assert rows_of(f"{table} insert into t values (1, 1), (2, 2)") == [
        (b"1", b"1"),
        (b"2", b"2"),
    ]
    with pytest.raises(ScenarioError, match="Duplicate entry '1'"):
        history_of(f"{table} insert into t values (1, 1), (2, 1)")
    replaced = rows_of(f"{table} replace into t values (1, 1), (2, 1)")
    assert replaced == [(b"2", b"1")]


def test_a_plain_index_may_be_global() -> None:
    table = "create table t (a int primary key, b int, key k (b) global) partition by hash (a)"
    assert globals_of(table) == {"PRIMARY": False, "k": True}
    assert globals_of(table.replace("global", "local")) == {"PRIMARY": False, "k": False}


def test_partitioning_changes_its_indexes() -> None:
    assert globals_of(f"{T} alter table t remove partitioning") == {"PRIMARY": False, "k": False}
    local = f"{T} alter table t partition by hash (a) partitions 2"
    assert globals_of(local) == {"PRIMARY": False, "k": True}
    table = "create table t (a int primary key, b int, unique key k (b));"
    script = f"{table} alter table t partition by hash (a) partitions 2 update indexes (K global)"
    assert globals_of(script) == {"PRIMARY": False, "k": True}
    with pytest.raises(ScenarioError, match="must include all columns"):
        history_of(f"{T} alter table t partition by hash (a) partitions 2 update indexes (k local)")
    with pytest.raises(ScenarioError, match="Key 'x' doesn't exist"):
        history_of(f"{T} alter table t partition by hash (a) partitions 2 update indexes (x global)")


@pytest.mark.parametrize(
    ("script", "what"),
    [
        ("create table t (a int, key k (a) global)", "Global Index on non-partitioned table"),
        ("create table t (a int); alter table t add unique (a) global", "on non-partitioned table"),
        (
            "create table t (a int primary key global) partition by hash (a)",
            "both a global index and a clustered index",
        ),
        ("create table t (a int, b int unique) partition by hash (a)", "must include all columns"),
        (
            f"{T} {U} alter table t exchange partition p0 with table u",
            "Non matching attribute 'global index'",
        ),
    ],
)
def test_what_tidb_refuses(script: str, what: str) -> None:
    with pytest.raises(ScenarioError, match=what):
        history_of(script)


def test_the_definition_of_the_table_has_it() -> None:
    session = Session(defined_after=1)
    session.run(T)
    ((_, create),) = session.defined_tables()
    assert "UNIQUE KEY `k` (`b`) /*T![global_index] GLOBAL */" in create
    again = Session(defined_after=1)
    again.run(create.replace("`test`.", ""))
    assert again.defined_tables()[0][1] == create
