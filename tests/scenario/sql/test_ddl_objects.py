"""Names of tables, views, sequences and policies; AUTO_INCREMENT; copies of tables; databases."""

from __future__ import annotations

import pytest

from tests.scenario.sql.script_results import columns_of, history_of, jobs_of, rows_of, table_of
from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.catalog import Action
from ticdc_producer.scenario.sql.session.session import Session

ONE = "insert into t (v) values (1)"
COUNTED = "create table t (id int primary key auto_increment, v int);"


@pytest.mark.parametrize(
    "first", ["create table x (a int)", "create view x as select 1", "create sequence x"]
)
@pytest.mark.parametrize(
    "second",
    [
        "create table x (b int)",
        "create table X like o",
        "create view x as select 2",
        "create sequence X",
        "rename table o to x",
        "alter table o rename to X",
    ],
)
def test_tables_views_and_sequences_share_names(first: str, second: str) -> None:
    with pytest.raises(ScenarioError, match="already exists"):
        history_of(f"create table o (a int); {first}; {second}")


def test_a_view_may_be_replaced_and_a_table_may_not() -> None:
    assert jobs_of("create view w as select 1; create or replace view w as select 2") == ["CREATE_VIEW"] * 2
    with pytest.raises(ScenarioError, match="already exists"):
        history_of("create table w (a int); create or replace view w as select 2")


def test_policies_may_have_the_name_of_a_table() -> None:
    script = "create table x (a int); create placement policy x followers = 2;"
    assert jobs_of(script + "drop placement policy x") == [
        "CREATE_TABLE",
        "CREATE_PLACEMENT_POLICY",
        "DROP_PLACEMENT_POLICY",
    ]
    with pytest.raises(ScenarioError, match="Placement policy 'X' already exists"):
        history_of(script + "create placement policy X followers = 3")


def test_names_are_case_insensitive_and_case_preserving() -> None:
    history = history_of("create table Mixed (Id int primary key); insert into MIXED (iD) values (1)")
    assert list(history.state) == [("test", "Mixed")]
    assert [column.name for column in table_of(history, "Mixed").columns] == ["Id"]


@pytest.mark.parametrize(
    "statement",
    ["rename table t to d.u", "alter table t rename to d.u", "rename table t to x, x to d.u"],
)
def test_a_renamed_table_has_its_rows_in_another_database(statement: str) -> None:
    script = f"create database d; {COUNTED} insert into t (v) values (7); {statement}"
    assert rows_of(script, "u", "d") == [(b"1", b"7")]
    assert list(history_of(script).state) == [("d", "u")]


def test_tables_swap_their_names() -> None:
    script = (
        "create table t (a int primary key); create table u (b int primary key); insert into t values (1);"
        "rename table t to x, u to t, x to u"
    )
    assert (columns_of(script, "t"), columns_of(script, "u")) == (["b"], ["a"])
    assert rows_of(script, "u") == [(b"1",)]
    assert [job.query for job in history_of(script).catalog.ddls][2:] == [
        "RENAME TABLE `test`.`t` TO `test`.`x`",
        "RENAME TABLE `test`.`u` TO `test`.`t`",
        "RENAME TABLE `test`.`x` TO `test`.`u`",
    ]


def test_like_copies_columns_and_keys_without_rows_or_auto_increment() -> None:
    script = (
        "create table t (id int primary key auto_increment, v varchar(5) default 'x' unique,"
        " w char(5) as (upper(v)));"
        "insert into t (v) values ('a'), ('b'); create table u like t; insert into u (v) values (default)"
    )
    history = history_of(script)
    (original, copy) = table_of(history), table_of(history, "u")
    assert copy.columns == original.columns
    assert copy.indexes == original.indexes
    assert copy.table_id > original.table_id
    assert rows_of(script, "u") == [(b"1", b"x")]


def ids(script: str) -> list[int]:
    return [int(row[0] or b"") for row in rows_of(script)]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("insert into t (v) values (1), (1)", [1, 2]),
        ("insert into t values (5, 1); insert into t (v) values (1)", [5, 6]),
        ("insert into t values (5, 1), (null, 1)", [5, 6]),
        ("insert into t values (0, 1), (-3, 1)", [-3, 1]),
        ("insert into t values (5, 1); delete from t; insert into t (v) values (1)", [6]),
        ("begin; insert into t (v) values (1); rollback; insert into t (v) values (1)", [2]),
        ("insert into t (v) values (1); update t set id = 9; insert into t (v) values (1)", [9, 10]),
        ("alter table t auto_increment = 100; insert into t (v) values (1)", [100]),
        (f"{ONE}; alter table t auto_increment = 1; {ONE}", [1, 30001]),
        (f"{ONE}; alter table t auto_id_cache = 7; {ONE}", [1, 30001]),
        (f"alter table t auto_id_cache = 7; {ONE}; alter table t auto_increment = 2; {ONE}", [1, 8]),
        ("insert into t (v) values (1); truncate t; insert into t (v) values (1)", [1]),
        ("insert into t (v) values (1); rename table t to x, x to t; insert into t (v) values (1)", [1, 2]),
    ],
)
def test_auto_increment_after_alter_table(script: str, expected: list[int]) -> None:
    assert ids(f"{COUNTED} {script}") == expected


def test_an_exhausted_auto_increment_is_an_error() -> None:
    small = "create table t (id tinyint primary key auto_increment, v int); insert into t values (126, 1);"
    assert ids(f"{small} insert into t (v) values (1)") == [126, 127]
    with pytest.raises(ScenarioError, match="Out of range value for column 'id': '128'"):
        history_of(f"{small} insert into t (v) values (1), (1)")


def test_auto_random_has_the_shard_of_its_transaction() -> None:
    table = "create table t (id bigint primary key auto_random(4), v int);"
    script = f"{table} insert into t (v) values (1), (2); insert into t values (9, 3), (0, 4)"
    ids = {int(v or 0): int(row_id or 0) for row_id, v in rows_of(script)}
    assert {v: row_id & (1 << 59) - 1 for v, row_id in ids.items()} == {1: 1, 2: 2, 3: 9, 4: 10}
    assert ids[1] >> 59 == ids[2] >> 59 != ids[4] >> 59
    assert max(ids.values()) < 1 << 63


def test_auto_random_of_a_smaller_range() -> None:
    script = "create table t (id bigint unsigned primary key auto_random(3, 40), v int);"
    ids = [int(row_id or 0) for row_id, _ in rows_of(f"{script} insert into t (v) values (1), (2)")]
    assert [row_id & (1 << 37) - 1 for row_id in ids] == [1, 2]
    assert max(ids) < 1 << 40


def test_sharded_row_ids() -> None:
    table = "create table t (v int) shard_row_id_bits = 4 pre_split_regions = 2;"
    script = (
        f"{table} insert into t values (1), (2); alter table t shard_row_id_bits 0; insert into t set v = 3"
    )
    first, second, third = (change.row_id for change in history_of(script).changes)
    assert second == first + 1
    assert first & (1 << 59) - 1 == 1
    assert first >> 59 > 0
    assert third == 3


def test_an_alter_that_fails_does_not_shard_row_ids() -> None:
    session = Session()
    session.run("create table t (v int); insert into t values (1)")
    with pytest.raises(ScenarioError):
        session.run("alter table t shard_row_id_bits = 4, drop column x")
    session.run("insert into t values (2)")
    assert [change.row_id for change in session.history().changes] == [1, 2]


@pytest.mark.parametrize(
    "script",
    [
        "create table t (id bigint primary key) shard_row_id_bits = 4",
        "create table t (id bigint primary key auto_random(5)); alter table t shard_row_id_bits = 9",
    ],
)
def test_shard_row_id_bits_need_hidden_row_ids(script: str) -> None:
    with pytest.raises(ScenarioError, match="Unsupported shard_row_id_bits"):
        Session().run(script)


def test_auto_random_has_the_bits_of_its_column_after_modify() -> None:
    script = (
        "create table t (id bigint primary key auto_random(3), v int);"
        "alter table t modify id bigint auto_random(6); insert into t (v) values (1)"
    )
    ((value, _),) = rows_of(script)
    assert int(value or 0) & (1 << 57) - 1 == 1


def test_each_transaction_of_a_writer_has_its_own_shard() -> None:
    session = Session()
    session.run("create table t (v int) shard_row_id_bits = 15")
    table = session.writable_table("test", "t")
    for number in range(4):
        with session.open_transaction(1) as writer:
            writer.insert(table, {0: number})
    shards = {(change.row_id or 0) >> 48 for change in session.history().changes}
    assert len(shards) == 4


def test_auto_random_accepts_a_value() -> None:
    script = "create table t (id bigint primary key auto_random, v int); insert into t values (9, 1)"
    assert rows_of(script) == [(b"9", b"1")]


def test_dropping_a_database_drops_its_tables() -> None:
    session = Session()
    session.run(
        "create database d; use d; create table t (a int primary key); insert into t values (1); drop "
        "database d"
    )
    history = session.history()
    assert history.state == {}
    assert (session.commits, len(history.changes)) == (4, 1)
    with pytest.raises(ScenarioError, match="No database selected"):
        session.run("create table t (a int)")


def test_tables_inherit_the_charset_of_their_database() -> None:
    script = (
        "create database d charset gbk; create table d.t (a varchar(5)); alter database d charset utf8mb4;"
    )
    history = history_of(script + "create table d.u (a varchar(5), b varchar(5) charset ascii)")
    assert [column.charset for column in table_of(history, "t", "d").columns] == ["gbk"]
    assert [column.charset for column in table_of(history, "u", "d").columns] == ["utf8mb4", "ascii"]


@pytest.mark.parametrize("kind", ["unique key", "unique"])
def test_the_symbol_of_a_constraint_names_its_index(kind: str) -> None:
    history = history_of(f"create table t (id int primary key, v int, constraint c {kind} k (v))")
    info = table_of(history)
    assert [index.name for index in info.indexes] == ["c", "PRIMARY"]


def test_statements_select_from_views() -> None:
    script = (
        "create table t (id int primary key, n int); insert into t values (1, 5), (2, 20);"
        "create view large as select id, n from t where n > 10;"
        "create view shifted (x) as select id + 10 from large;"
        "insert into t (id) select x from shifted; update t set n = 0 where id in (select id from large)"
    )
    assert rows_of(script) == [(b"1", b"5"), (b"2", b"0"), (b"12", None)]


@pytest.mark.parametrize(
    "view",
    [
        "create view v as select * from u",
        "create view v as select u.* from u",
        "create view v as select * from (select * from u) x",
        "create view v as with x as (select * from test.u) select * from x",
        "create view v as select * from u union all select * from u where a > 9",
    ],
)
def test_a_view_has_the_columns_that_its_tables_had(view: str) -> None:
    script = "create table u (a int, b int); insert into u values (1, 2); create table t (x int, y int);"
    script += f"{view};"
    changed = "alter table u add c int first, drop b; alter table u add b int; insert into t select * from v"
    assert rows_of(f"{script} {changed}") == [(b"1", None)]
    gone = "drop table u; create table u (c int, d int); insert into t select * from v"
    with pytest.raises(ScenarioError, match=r"View 'test.v' references invalid"):
        history_of(f"{script} {gone}")


def test_rename_table_renames_a_view_in_its_database() -> None:
    script = (
        "create table u (a int primary key); create table t (x int primary key); insert into u values (7);"
        "create view v as select a from u; create view w as select 1 a; {};"
    )
    renamed = script.format("rename table v to y, w to v")
    assert rows_of(f"{renamed} insert into t select a from y union select a from v") == [(b"1",), (b"7",)]
    job = history_of(script.format("rename table v to V2")).catalog.ddls[-1]
    assert (job.job_type, job.old_table, job.table, job.sent) == (Action.RENAME_TABLE, "v", "V2", True)
    for wrong, message in (
        ("create database d; rename table v to d.v", "Changing schema from 'test' to 'd' is not allowed"),
        ("rename table v to u", "already exists"),
        ("alter table v rename to y", "is not BASE TABLE"),
        ("rename table v to y; insert into t select * from v", "doesn't exist"),
    ):
        with pytest.raises(ScenarioError, match=message):
            history_of(script.format(wrong))


def test_a_sequence_may_have_an_engine() -> None:
    script = "create sequence s start 3 ENGINE=InnoDB; create table t (id int default nextval(s));"
    assert rows_of(f"{script} insert into t values ()") == [(b"3",)]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("select * from (select a, row_number() over () as n from u) s", ["a", "n"]),
        ("select s.*, u.* from (select a + 1 as x from u) s, u", ["x", "a", "b"]),
        ("with s as (select b as c from u) select *, 1 as d from s", ["c", "d"]),
    ],
)
def test_the_columns_of_a_star_over_a_subquery(query: str, names: list[str]) -> None:
    history = history_of(f"create table u (a int, b int); create view v as {query}")
    view = next(table for table in history.catalog.tables if table.is_view)
    assert [column.name for column in view.columns] == names


@pytest.mark.parametrize("variable", ["@a", "@@sql_mode", "@@global.sql_mode", "@a := 1"])
def test_a_view_has_no_variable(variable: str) -> None:
    with pytest.raises(ScenarioError, match="View's SELECT contains a variable or parameter"):
        history_of(f"create view w as select {variable}")


def test_a_view_of_a_column_that_does_not_exist() -> None:
    with pytest.raises(ScenarioError, match="Unknown column 'nope'"):
        history_of("create table t (id int primary key); create view w as select nope from t")
