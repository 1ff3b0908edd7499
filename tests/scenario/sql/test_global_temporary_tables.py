"""Global temporary tables: TiCDC sends their DDL, and their rows vanish with each transaction."""

from __future__ import annotations

import pytest

from tests.scenario.sql.script_results import history_of, rows_of, table_of
from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.restore.statement import print_ddl
from ticdc_producer.scenario.sql.session.session import Session

X = "create global temporary table x (id int primary key auto_increment, v int) on commit delete rows;"
T = "create table t (id int primary key, v int);"


def test_its_ddl_is_sent_and_no_row() -> None:
    history = history_of(
        X + "insert into x (v) values (1); begin; insert into x (v) values (2); update x set v = 3; commit;"
        "alter table x add column w int; truncate table x; rename table x to y; drop table y"
    )
    assert [ddl.query for ddl in history.catalog.ddls[1:]] == [
        "alter table x add column w int",
        "truncate table x",
        "rename table x to y",
        "DROP TABLE `test`.`y`",
    ]
    assert not history.changes


@pytest.mark.parametrize(
    ("script", "rows"),
    [
        ("insert into x (v) values (5); insert into t select * from x", []),
        ("begin; insert into x (v) values (5); insert into t select * from x; commit", [(b"1", b"5")]),
        (
            (
                "begin; insert into x (v) values (5); insert into t select * from x; commit;"
                "begin; insert into x (v) values (6); insert into t select id + 1, v from x; commit"
            ),
            [(b"1", b"5"), (b"2", b"6")],  # ids start over
        ),
        ("begin; insert into x (v) values (5); begin; insert into t select * from x; commit", []),
        (
            (
                "begin; insert into x (v) values (5); create table u (id int); "
                "insert into t select * from x; commit"
            ),
            [],
        ),
        (
            (
                "begin; insert into x (v) values (5); savepoint s; insert into x (v) values (6); "
                "rollback to s; insert into t select * from x; commit"
            ),
            [(b"1", b"5")],
        ),
        (
            (
                "set autocommit = 0; insert into x (v) values (5); rollback; insert into x (v) values (6);"
                "insert into t select * from x; commit"
            ),
            [(b"1", b"6")],
        ),
        ("insert into x values (1, 1); insert into x values (1, 2)", []),  # no duplicate
        (
            (
                "create global temporary table y (id int primary key auto_increment) auto_increment = 100 "
                "on commit delete rows; begin; insert into y values (); insert into t select id, 1 from y; "
                "commit; begin; insert into y values (); insert into t select id + 1, 2 from y; commit"
            ),
            [(b"1", b"1"), (b"2", b"2")],
        ),
    ],
)
def test_rows_live_as_long_as_the_transaction(script: str, rows: list[tuple[bytes, ...]]) -> None:
    assert rows_of(X + T + script) == rows


def test_the_definition_is_global_temporary() -> None:
    session = Session(defined_after=1, snapshots=[1])
    session.run(X)
    (definition,) = session.history().definitions
    assert definition.create.startswith("CREATE GLOBAL TEMPORARY TABLE `test`.`x` (")
    assert definition.create.endswith(" ON COMMIT DELETE ROWS")
    again = Session()
    again.run(definition.create)
    assert [column.name for column in table_of(again.history(), "x").columns] == ["id", "v"]


@pytest.mark.parametrize(
    ("query", "printed"),
    [
        (
            "create global temporary table if not exists x (a int) comment 'c' on commit delete rows",
            "CREATE GLOBAL TEMPORARY TABLE IF NOT EXISTS `x` (`a` INT) COMMENT = 'c' ON COMMIT DELETE ROWS",
        ),
        (
            "create global temporary table x like t on commit delete rows",
            "CREATE GLOBAL TEMPORARY TABLE `x` LIKE `t` ON COMMIT DELETE ROWS",
        ),
        ("drop global temporary table if exists x, y", "DROP GLOBAL TEMPORARY TABLE IF EXISTS `x`, `y`"),
    ],
)
def test_printed_as_ticdc_sends_it(query: str, printed: str) -> None:
    assert print_ddl(query) == printed


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("create global temporary table y (a int) on commit preserve rows", "ON COMMIT PRESERVE ROWS"),
        ("create global temporary table y (a int)", "must appear together"),
        ("create temporary table y (a int) on commit delete rows", "must appear together"),
        ("create table y (a int) on commit delete rows", "unexpected text|does not parse"),
        ("create table y like x", "`create table like` is unsupported on temporary tables"),
        ("create temporary table y like x", "`create table like` is unsupported on temporary tables"),
        (
            "create global temporary table y like x on commit delete rows",
            "`create table like` is unsupported on temporary tables",
        ),
        ("create global temporary table t (a int) on commit delete rows", "already exists"),
        ("drop global temporary table t", "can only drop global temporary table"),
        ("drop temporary table x", "Unknown table"),
        ("alter table x shard_row_id_bits = 2", "`shard_row_id_bits` is unsupported on temporary tables"),
        ("alter table x placement policy = p", "`placement` is unsupported on temporary tables"),
        ("alter table x cache", "`alter temporary table cache` is unsupported"),
        ("alter table x set tiflash replica 1", "`set TiFlash replica` is unsupported"),
        ("alter table x partition by hash (id) partitions 2", "temporary table with partitions"),
        ("alter table x add foreign key (v) references t (id)", "Cannot add foreign key constraint"),
        ("create table y (a int, foreign key (a) references x (id))", "Cannot add foreign key constraint"),
        (
            (
                "create table p (id int primary key, v int) partition by range (id) "
                "(partition a values less than (9)); alter table p exchange partition a with table x"
            ),
            "Table to exchange with partition is temporary",
        ),
    ],
)
def test_what_tidb_refuses_has_its_error(script: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        history_of(X + T + script)


@pytest.mark.parametrize(
    ("definition", "message"),
    [
        ("(a bigint auto_random primary key)", "`auto_random` is unsupported"),
        ("(a int) shard_row_id_bits = 2", "`shard_row_id_bits` is unsupported"),
        ("(a int) pre_split_regions = 2", "`pre split regions` is unsupported"),
        ("(a date) ttl = a + interval 1 day", "Set TTL for temporary table is not allowed"),
        ("(a int) partition by hash (a) partitions 2", "Cannot create temporary table with partitions"),
        ("(a int, foreign key (a) references x (id))", "Cannot add foreign key constraint"),
        ("like r", "`auto_random` is unsupported"),
        ("like s", "`shard_row_id_bits` is unsupported"),
    ],
)
def test_definitions_that_tidb_refuses(definition: str, message: str) -> None:
    other = "create table r (a bigint auto_random primary key); create table s (a int) shard_row_id_bits = 3;"
    with pytest.raises(ScenarioError, match=message):
        history_of(f"{X}{other}create global temporary table y {definition} on commit delete rows")
