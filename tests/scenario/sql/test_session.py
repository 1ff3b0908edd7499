"""Transactions, commit numbers, ids and the change log of a session."""

from __future__ import annotations

import pytest

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.event import Op
from ticdc_producer.scenario.history import Change
from ticdc_producer.scenario.sql.session.session import Session

T = "create table t (id int primary key, v int);"


def changes(script: str, **options: bool) -> list[Change]:
    session = Session(**options)  # type: ignore[arg-type]
    session.run(script)
    return session.history().changes


def ops(
    script: str,
) -> list[tuple[int, str, tuple[bytes | None, ...] | None, tuple[bytes | None, ...] | None]]:
    return [(c.commit_seq, c.op.label, c.before, c.after) for c in changes(script)]


def commits(script: str) -> int:
    session = Session()
    session.run(script)
    return session.commits


@pytest.mark.parametrize(
    ("script", "count"),
    [
        ("", 0),
        (T, 1),
        (T + "insert into t values (1,1); insert into t values (2,2)", 3),
        (T + "begin; insert into t values (1,1); insert into t values (2,2); commit", 2),
        (T + "start transaction; commit", 2),
        (T + "begin; insert into t values (1,1); rollback", 1),
        (T + "update t set v = 1", 2),
        (T + "set time_zone = '+01:00'; use test; set names utf8mb4", 1),
        (
            T
            + (
                "create table if not exists t (a int); drop table if exists x; "
                "create database if not exists test"
            ),
            1,
        ),
        (T + "create table u (id int primary key); drop table t, u", 4),
        (T + "begin; insert into t values (1,1); create table u (a int); commit", 3),
        (T + "begin; insert into t values (1,1); begin; insert into t values (2,2); commit", 3),
        ("commit; rollback", 0),
    ],
)
def test_statements_that_take_a_commit_ts(script: str, count: int) -> None:
    assert commits(script) == count


def test_changes_are_numbered_as_executed() -> None:
    script = (
        T + "begin; insert into t values (2,2),(1,1); update t set v = v + 1; "
        "delete from t where id = 2; commit"
    )
    log = changes(script)
    assert [(c.commit_seq, c.row_seq, c.op) for c in log] == [
        (1, 0, Op.INSERT),
        (1, 1, Op.INSERT),
        (1, 2, Op.UPDATE),
        (1, 3, Op.UPDATE),
        (1, 4, Op.DELETE),
    ]
    assert [c.row_id for c in log] == [2, 1, 1, 2, 2]


def test_an_update_of_the_clustered_key_is_one_change_with_two_locations() -> None:
    (_, update) = changes(T + "insert into t values (1, 5); update t set id = 9")
    assert (update.op, update.row_id, update.old_row_id) == (Op.UPDATE, 9, 1)
    assert update.old_row_key is not None
    assert update.old_row_key < update.row_key
    assert update.old_table_id == update.table_id == 114


def test_a_hidden_row_id_stays_with_its_row() -> None:
    log = changes(
        "create table n (a int primary key nonclustered); insert into n values (7); update n set a = 8"
    )
    assert [(c.row_id, c.old_row_id) for c in log] == [(1, None), (1, None)]


def test_rollback_restores_rows_and_keys() -> None:
    script = T + (
        "insert into t values (1,1); begin; delete from t; insert into t values (2,2); update t set id = 3;"
        "rollback; insert into t values (2, 9); update t set v = 7 where id = 1"
    )
    assert ops(script)[1:] == [
        (2, "insert", None, (b"2", b"9")),
        (3, "update", (b"1", b"1"), (b"1", b"7")),
    ]


def test_replace_removes_every_row_in_the_way() -> None:
    script = (
        "create table r (a int primary key, b int unique); "
        "insert into r values (1,1),(2,2); replace into r values (1,2)"
    )
    assert [(op, before, after) for _, op, before, after in ops(script)[2:]] == [
        ("delete", (b"1", b"1"), None),
        ("delete", (b"2", b"2"), None),
        ("insert", None, (b"1", b"2")),
    ]


def test_replace_by_the_same_row_changes_nothing() -> None:
    assert len(ops(T + "insert into t values (1,1); replace into t values (1,1)")) == 1


def test_on_duplicate_key_update_sees_both_rows() -> None:
    script = (
        T + "insert into t values (1,10); "
        "insert into t values (1,5),(2,6) on duplicate key update v = v + values(v)"
    )
    assert ops(script)[1:] == [
        (2, "update", (b"1", b"10"), (b"1", b"15")),
        (2, "insert", None, (b"2", b"6")),
    ]


def test_rows_are_updated_in_order_until_one_collides() -> None:
    assert (
        len(changes(T + "insert into t values (1,1),(2,2); update t set id = id + 1 order by id desc")) == 4
    )
    with pytest.raises(ScenarioError, match="Duplicate entry '2'"):
        changes(T + "insert into t values (1,1),(2,2); update t set id = id + 1")


def test_order_by_and_limit_choose_rows() -> None:
    script = (
        T + "insert into t values (1,3),(2,null),(3,3),(4,1); delete from t order by v desc, id desc limit 2"
    )
    assert [before for _, op, before, _ in ops(script) if op == "delete"] == [(b"3", b"3"), (b"1", b"3")]


def test_nulls_never_collide_and_spaces_do() -> None:
    changes("create table u (a varchar(9) unique, b int); insert into u values (null,1),(null,2),('a',3)")
    with pytest.raises(ScenarioError, match="Duplicate entry"):
        changes("create table u (a varchar(9) unique); insert into u values ('a'),('a  ')")
    with pytest.raises(ScenarioError, match="Duplicate entry"):
        changes("create table u (a varchar(9), unique key (a(2))); insert into u values ('abc'),('abd')")
    with pytest.raises(ScenarioError, match="Duplicate entry"):
        changes(
            "c"
            "reate table u (a varchar(9) collate utf8mb4_general_ci unique); insert into u values ('É'),('e')"
        )


def test_auto_increment_and_hidden_row_ids_share_a_counter() -> None:
    script = (
        "create table c (a int auto_increment, b int, unique key (a)); "
        "insert into c (b) values (1),(2); insert into c (b) values (3)"
    )
    log = changes(script, force_replicate=True)
    assert [(c.after and c.after[0], c.row_id) for c in log] == [(b"1", 3), (b"2", 4), (b"5", 6)]


def test_explicit_auto_increment_values_move_the_counter() -> None:
    script = (
        "create table c (a int primary key auto_increment) auto_increment = 10; "
        "insert into c values (null),(20),(0),(5),(default)"
    )
    assert [c.row_id for c in changes(script)] == [10, 20, 21, 5, 22]


def test_truncate_resets_the_counter() -> None:
    script = (
        "create table c (a int primary key auto_increment); "
        "insert into c values (null); truncate c; insert into c values (null)"
    )
    log = changes(script)
    assert [(c.table_id, c.row_id, c.table_version) for c in log] == [(114, 1, 0), (116, 1, 1)]


def test_database_and_job_take_ids_too() -> None:
    session = Session()
    session.run(
        "create database d; use d; create table t (id int primary key); drop table t; create table t (a int)"
    )
    history = session.history()
    assert [info.table_id for info in history.catalog.tables] == [116, 119]
    assert [job.query for job in history.catalog.ddls] == [
        "create database d",
        "create table t (id int primary key)",
        "DROP TABLE `d`.`t`",
        "create table t (a int)",
    ]
    assert [(job.sent, bool(job.reason)) for job in history.catalog.ddls] == [(True, False)] * 3 + [
        (False, True)
    ]


def test_on_update_current_timestamp_touches_rows_that_change() -> None:
    script = (
        "create table s (id int primary key, v int, "
        "at timestamp(3) default '2020-01-01' on update current_timestamp(3));"
        "insert into s (id, v) values (1, 1), (2, 2); set timestamp = 1600000000.5; update s set v = 2"
    )
    log = changes(script)
    assert [c.after and c.after[2] for c in log] == [
        b"2020-01-01 00:00:00.000",
        b"2020-01-01 00:00:00.000",
        b"2020-09-13 12:26:40.500",
    ]


def test_timestamps_are_stored_in_utc() -> None:
    script = (
        "set time_zone = '+08:00'; create table s (id int primary key, at timestamp, dt datetime);"
        "insert into s values (1, '2020-01-01 08:00:00', now()); "
        "update s set dt = at where at = '2020-01-01 08:00:00'"
    )
    log = changes(script)
    assert log[0].after == (b"1", b"2020-01-01 00:00:00", b"2021-12-20 21:30:49")
    assert log[1].after == (b"1", b"2020-01-01 00:00:00", b"2020-01-01 08:00:00")


def test_without_strict_mode_values_are_cut_to_fit() -> None:
    script = (
        "set sql_mode = ''; "
        "create table s (id int primary key, t tinyint, v varchar(2), d date, e enum('a') not null);"
        "insert into s (id, t, v, d) values (1, 300, 'abc', 'x')"
    )
    (change,) = changes(script)
    assert change.after == (b"1", b"127", b"ab", b"0000-00-00", b"1")


def test_a_transaction_step_is_one_commit() -> None:
    session = Session()
    session.run(T)
    session.transaction("insert into t values (1,1);\ninsert into t values (2,2)", line=7)
    history = session.history()
    assert session.commits == 2
    assert [(c.commit_seq, c.row_seq, c.line) for c in history.changes] == [(1, 0, 7), (1, 1, 8)]
    assert history.state["test", "t"].rows == ((b"1", b"1"), (b"2", b"2"))


@pytest.mark.parametrize("statement", ["create table u (a int)", "begin", "commit", "select 1", "use test"])
def test_a_transaction_step_holds_dml_only(statement: str) -> None:
    session = Session()
    session.run(T)
    with pytest.raises(ScenarioError, match="is not allowed in a transaction step"):
        session.transaction(statement)


def test_two_sessions_of_one_script_agree() -> None:
    script = T + "insert into t values (3,1),(1,2); update t set id = id + 5; delete from t where v = 2"
    first, second = Session(), Session()
    first.run(script)
    second.run(script)
    assert first.history() == second.history()


def test_enum_sorts_by_number_and_bit_compares_as_one() -> None:
    script = (
        "create table b (id int primary key, e enum('z','a'), b bit(9));"
        "insert into b values (1, 'a', 1), (2, 'z', 256);"
        "delete from b order by e limit 1; delete from b where b = b'1'"
    )
    assert [before and before[0] for _, op, before, _ in ops(script) if op == "delete"] == [b"2", b"1"]


def test_definitions_of_a_dump_are_read_under_its_sql_mode() -> None:
    session = Session(force_replicate=True)
    session.run_definitions(
        'SET sql_mode = \'ANSI_QUOTES\';\nCREATE TABLE "a;b" ("id" INT PRIMARY KEY COMMENT \'a"\');\n'
        'INSERT INTO "a;b" VALUES (1);\nSELECT "id" FROM "a;b";\nTRUNCATE "a;b";'
    )
    assert [table.name for table, _ in session.defined_tables()] == ["a;b"]
