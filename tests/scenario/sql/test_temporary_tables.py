"""Local temporary tables: statements use them, a changefeed does not see them."""

from __future__ import annotations

import pytest

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.history import History
from ticdc_producer.scenario.sql.session.session import Session

T = "create table t (id int primary key, v int); insert into t values (1, 1);"


def history(script: str) -> History:
    session = Session()
    session.run(T + script)
    return session.history()


def written(script: str) -> list[tuple[bytes | None, ...] | None]:
    """The rows after the changes of a script, after the first INSERT."""
    return [change.after for change in history(script).changes[1:]]


def test_no_table_and_no_row_reaches_the_history() -> None:
    executed = history(
        "create temporary table x (id int); insert into x values (1); update x set id = 2; drop table x"
    )
    assert len(executed.catalog.tables) == len(executed.catalog.ddls) == len(executed.changes) == 1
    assert list(executed.state) == [("test", "t")]


def test_a_temporary_table_hides_a_table_of_the_same_name() -> None:
    script = """
        create temporary table T (w varchar(5)); insert into t values ('a');
        insert into test.t select concat(w, 'b') from t; drop table t; insert into t values (2, 2)
    """
    assert written(script) == [(b"2", b"2")]


def test_its_rows_can_be_read_into_other_tables() -> None:
    script = """
        create temporary table x like t; insert into x values (5, 50), (6, 60);
        insert into t select * from x where id > 5; delete t from t join x on t.id = x.id
    """
    assert written(script) == [(b"6", b"60"), None]


def test_transactions_and_savepoints_undo_its_rows_and_no_others() -> None:
    script = """
        create temporary table x like t;
        begin; insert into t values (2, 2); insert into x values (8, 8); savepoint s;
        insert into x values (9, 9); insert into t values (3, 3); rollback to s;
        insert into t select id + 10, v from x; commit;
        begin; delete from x; rollback; insert into t select id + 20, v from x
    """
    assert written(script) == [(b"2", b"2"), (b"18", b"8"), (b"28", b"8")]


def test_a_failed_statement_undoes_its_rows() -> None:
    session = Session()
    session.run(T + "create temporary table x like t")
    with pytest.raises(ScenarioError, match="Duplicate entry"):
        session.run("insert into x values (1, 1), (1, 1)")
    session.run("insert into t select id + 10, v from x")
    assert [change.after for change in session.history().changes] == [(b"1", b"1")]


@pytest.mark.parametrize(
    ("statement", "commits"),
    [
        ("create temporary table y (id int)", 0),
        ("drop temporary table x", 0),
        ("drop table x", 0),
        ("drop temporary table if exists x, nothing", 0),
        ("truncate table x", 1),
        ("drop table x, t", 2),
    ],
)
def test_only_truncate_and_ddl_of_other_tables_commit(statement: str, commits: int) -> None:
    session = Session()
    session.run(T + "create temporary table x (id int);")
    before = session.commits
    session.run(f"begin; insert into t values (2, 2); {statement}; rollback")
    assert session.commits - before == commits


def test_truncate_leaves_the_hidden_table_alone() -> None:
    script = (
        "create temporary table t (id int auto_increment primary key); insert into t values (); truncate t;"
    )
    executed = history(
        script + "insert into t values (); create table u (id int primary key); insert into u select * from t"
    )
    assert executed.state["test", "u"].rows == ((b"1",),)
    assert executed.state["test", "t"].rows == ((b"1", b"1"),)


def test_a_foreign_key_of_the_hidden_table_is_not_enforced() -> None:
    script = """
        create table c (id int primary key, foreign key (id) references t (id) on delete cascade);
        create temporary table c (id int); insert into c values (99); insert ignore into c values (98);
        insert into t select id, 0 from c
    """
    assert written(script) == [(b"99", b"0"), (b"98", b"0")]


def test_if_exists_with_an_unknown_table_drops_none() -> None:
    script = (
        "create temporary table x (id int); drop temporary table if exists x, y; insert into x values (2);"
    )
    assert written(script + "insert into t select id, id from x") == [(b"2", b"2")]


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("create temporary table x (id int)", "Table 'test.x' already exists"),
        ("drop temporary table t", "Unknown table 'test.t'"),
        ("drop table x, nothing", "doesn't exist"),
        ("alter table x add column v int", "TiDB doesn't support ALTER TABLE for local temporary table"),
        ("rename table t to u, x to y", "TiDB doesn't support RENAME TABLE for local temporary table"),
        ("create index i on x (id)", "TiDB doesn't support CREATE INDEX for local temporary table"),
        ("drop index i on x", "TiDB doesn't support DROP INDEX for local temporary table"),
        ("create table y like x", "`create table like` is unsupported on temporary tables"),
        ("create temporary table y (like x)", "`create table like` is unsupported on temporary tables"),
        (
            "create temporary table y (id int primary key) partition by hash (id) partitions 2",
            "Cannot create temporary table with partitions",
        ),
        (
            "create temporary table y (id bigint primary key auto_random)",
            "`auto_random` is unsupported on temporary tables",
        ),
        (
            "create temporary table y (id int, foreign key (id) references t (id))",
            "Cannot add foreign key constraint",
        ),
    ],
)
def test_what_tidb_refuses_has_its_error(script: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        history("create temporary table x (id int);" + script)
