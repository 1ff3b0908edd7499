"""Foreign keys: checks of parents and children, cascades, and DDL."""

from __future__ import annotations

import pytest

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.event import Op
from ticdc_producer.scenario.sql.session.session import Session

PARENT = "create table p (id int primary key, n int, key (n));"


def child(rules: str = "") -> str:
    key = f"constraint f foreign key (pid) references p (id) {rules}"
    return f"create table c (id int primary key, pid int, {key});"


def after(*statements: str) -> Session:
    session = Session()
    for statement in statements:
        session.run(statement)
    return session


def rows(session: Session, table: str) -> list[tuple[bytes | None, ...]]:
    return list(session.history().state["test", table].rows)


def last_commit(session: Session) -> list[tuple[Op, tuple[bytes | None, ...] | None]]:
    history = session.history()
    last = [change for change in history.changes if change.commit_seq == history.commits - 1]
    return [(change.op, change.after or change.before) for change in last]


def failure(session: Session, statement: str) -> ScenarioError:
    with pytest.raises(ScenarioError) as caught:
        session.run(statement)
    return caught.value


NO_PARENT = (
    "Cannot add or update a child row: a foreign key constraint fails"
    " (`test`.`c`, CONSTRAINT `f` FOREIGN KEY (`pid`) REFERENCES `p` (`id`))"
)


@pytest.mark.parametrize(
    "statement",
    [
        "insert into c values (1, 9)",
        "insert into c values (5, 1), (6, 9)",
        "update c set pid = 9 where id = 2",
        "replace into c values (2, 9)",
        "insert into c values (2, 1) on duplicate key update pid = 9",
    ],
)
def test_a_child_row_needs_its_parent_row(statement: str) -> None:
    session = after(PARENT, child(), "insert into p values (1, 1); insert into c values (2, 1)")
    error = failure(session, statement)
    assert error.what == NO_PARENT
    assert (error.column, error.value) == ("pid", "9")


def test_null_needs_no_parent() -> None:
    session = after(PARENT, child(), "insert into c values (1, null)")
    assert rows(session, "c") == [(b"1", None)]


def test_null_in_one_of_two_columns_needs_no_parent() -> None:
    session = after(
        "create table p (a int, b int, primary key (a, b))",
        "create table c (id int primary key, a int, b int, foreign key (a, b) references p (a, b))",
        "insert into c values (1, null, 5), (2, 5, null)",
    )
    assert "`fk_1`" in failure(session, "insert into c values (3, 5, 5)").what


def test_parent_and_child_may_be_inserted_in_one_transaction() -> None:
    session = after(
        PARENT, child(), "begin; insert into p values (1, 1); insert into c values (1, 1); commit"
    )
    assert rows(session, "c") == [(b"1", b"1")]


@pytest.mark.parametrize("rules", ["", "on delete restrict on update restrict", "on delete no action"])
@pytest.mark.parametrize(
    "statement", ["delete from p where id = 1", "update p set id = 7", "replace into p values (1, 5)"]
)
def test_a_parent_with_children_cannot_change(rules: str, statement: str) -> None:
    session = after(PARENT, child(rules), "insert into p values (1, 1); insert into c values (2, 1)")
    error = failure(session, statement)
    assert error.what.startswith(
        "Cannot delete or update a parent row: a foreign key constraint fails (`test`.`c`, "
    )
    assert (error.column, error.value) == ("id", "1")


def test_unreferenced_columns_and_rows_of_a_parent_may_change() -> None:
    session = after(PARENT, child(), "insert into p values (1, 1), (2, 2); insert into c values (2, 1)")
    session.run("update p set n = 8 where id = 1; delete from p where id = 2")
    assert rows(session, "p") == [(b"1", b"8")]


def test_on_delete_cascade() -> None:
    session = after(PARENT, child("on delete cascade"), "insert into p values (1, 1), (2, 2)")
    session.run("insert into c values (1, 1), (2, 2), (3, 1); delete from p where id = 1")
    assert rows(session, "c") == [(b"2", b"2")]
    assert last_commit(session) == [
        (Op.DELETE, (b"1", b"1")),
        (Op.DELETE, (b"1", b"1")),
        (Op.DELETE, (b"3", b"1")),
    ]


def test_on_update_cascade() -> None:
    session = after(
        PARENT, child("on update cascade"), "insert into p values (1, 1); insert into c values (5, 1)"
    )
    session.run("update p set id = 7 where id = 1")
    assert rows(session, "c") == [(b"5", b"7")]
    assert [op for op, _ in last_commit(session)] == [Op.UPDATE, Op.UPDATE]


@pytest.mark.parametrize("statement", ["delete from p where id = 1", "update p set id = 7 where id = 1"])
def test_on_delete_and_update_set_null(statement: str) -> None:
    session = after(PARENT, child("on delete set null on update set null"), "insert into p values (1, 1)")
    session.run(f"insert into c values (5, 1); {statement}")
    assert rows(session, "c") == [(b"5", None)]


def test_a_cascade_updates_generated_columns_and_update_times() -> None:
    session = after(
        PARENT,
        "create table c (id int primary key, pid int, twice int as (pid * 2), at datetime on update"
        " current_timestamp, foreign key (pid) references p (id) on update cascade)",
        "insert into p values (1, 1); insert into c (id, pid) values (5, 1); update p set id = 7",
        "create table r (twice int); insert into r select twice from c",
    )
    assert rows(session, "c") == [(b"5", b"7", b"2021-12-20 13:30:49")]
    assert rows(session, "r") == [(b"14",)]


def test_cascades_nest() -> None:
    session = after(
        PARENT,
        child("on delete cascade"),
        "create table g (id int primary key, cid int, foreign key (cid) references c (id) on delete cascade)",
        "insert into p values (1, 1); insert into c values (2, 1); insert into g values (3, 2)",
        "delete from p",
    )
    assert rows(session, "c") == rows(session, "g") == []


def test_a_restricting_grandchild_stops_a_cascade() -> None:
    session = after(
        PARENT,
        child("on delete cascade"),
        "create table g (id int primary key, cid int, foreign key (cid) references c (id))",
        "insert into p values (1, 1); insert into c values (2, 1); insert into g values (3, 2)",
    )
    assert "`test`.`g`" in failure(session, "delete from p").what


def chain(length: int) -> Session:
    session = after(
        "create table t (id int primary key, up int, foreign key (up) references t (id) on delete cascade)"
    )
    session.run("insert into t values (0, null)")
    for number in range(length):
        session.run(f"insert into t values ({number + 1}, {number})")
    return session


def test_the_maximum_depth_of_cascades_is_fifteen() -> None:
    session = chain(15)
    session.run("delete from t where id = 0")
    assert rows(session, "t") == []
    assert "exceeds max depth of 15" in failure(chain(16), "delete from t where id = 0").what


def test_a_row_may_refer_to_itself_and_to_its_own_statement() -> None:
    session = after("create table t (id int primary key, up int, foreign key (up) references t (id))")
    session.run("insert into t values (1, 1); insert into t values (2, 3), (3, 2)")
    assert "parent row" in failure(session, "delete from t where id = 2").what
    session.run("delete from t")
    assert rows(session, "t") == []


def test_checks_can_be_disabled() -> None:
    session = after(
        PARENT, child("on delete cascade"), "set foreign_key_checks = 0; insert into c values (1, 9)"
    )
    session.run("insert into p values (9, 9); delete from p; set foreign_key_checks = 1")
    assert rows(session, "c") == [(b"1", b"9")]
    assert "child row" in failure(session, "insert into c values (2, 9)").what


def test_text_keys_compare_by_collation() -> None:
    session = after(
        "create table p (id varchar(9) collate utf8mb4_general_ci primary key)",
        "create table c (id varchar(9) collate utf8mb4_general_ci, foreign key (id) references p (id))",
        "insert into p values ('Abc'); insert into c values ('aBC ')",
    )
    assert failure(session, "insert into c values ('abd')").value == "abd"


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("drop table p", "Cannot drop table 'p' referenced by a foreign key constraint 'f' on table 'c'"),
        ("truncate table p", "Cannot truncate a table referenced in a foreign key constraint (`test`.`c`, "),
        ("alter table c drop column pid", "needed in a foreign key constraint"),
        ("create table d (id int, foreign key (id) references q (id))", "open the referenced table 'q'"),
        ("create table d (id bigint, foreign key (id) references p (id))", "'fk_1' are incompatible."),
        ("create table d (id int unsigned, foreign key (id) references p (id))", "are incompatible."),
        ("create table d (id int, foreign key (id) references p (id, n))", "table reference don't match"),
        ("create table d (id int, foreign key (id) references p)", "table reference don't match"),
        ("create table d (id int, foreign key (id) references p (m))", "Missing index for constraint 'fk_1'"),
        ("alter table c add foreign key (id) references p (id)", "Cannot add or update a child row"),
        (
            "create table d (id int primary key, foreign key (id) references p (id) on delete set null)",
            "Column 'id' cannot be NOT NULL: needed in a foreign key constraint 'fk_1' SET NULL",
        ),
    ],
)
def test_ddl_cannot_break_foreign_keys(statement: str, what: str) -> None:
    session = after(PARENT, child(), "insert into p values (1, 1); insert into c values (7, 1)")
    assert what in failure(session, statement).what


@pytest.mark.parametrize(
    "statement", ["drop table p", "truncate table p", "drop table c, p", "drop table p, c"]
)
def test_parents_may_be_dropped_with_their_children_or_without_checks(statement: str) -> None:
    session = after(PARENT, child())
    if "," not in statement:
        session.run("set foreign_key_checks = 0")
    session.run(statement)
    assert session.history().commits == 3 + statement.count(",")


def test_a_parent_may_be_created_later_without_checks() -> None:
    session = after("set foreign_key_checks = 0", child(), PARENT, "set foreign_key_checks = 1")
    session.run("insert into p values (1, 1); insert into c values (1, 1)")
    assert failure(session, "insert into c values (2, 2)").what == NO_PARENT


def test_a_database_with_referenced_tables_cannot_be_dropped() -> None:
    session = after("create database d", "create table d.p (id int primary key)")
    session.run("create table c (id int, foreign key (id) references d.p (id))")
    assert "REFERENCES `d`.`p`" in failure(session, "insert into c values (1)").what
    assert "on table 'c'" in failure(session, "drop database d").what
    session.run("drop table c; drop database d")


def test_foreign_keys_follow_renames() -> None:
    session = after(
        PARENT, child("on delete cascade"), "insert into p values (1, 1); insert into c values (2, 1)"
    )
    session.run("rename table p to q; alter table q rename column id to number")
    session.run("alter table c rename column pid to q_number; rename table c to d")
    error = failure(session, "insert into d values (3, 3)")
    assert "`test`.`d`, CONSTRAINT `f` FOREIGN KEY (`q_number`) REFERENCES `q` (`number`)" in error.what
    session.run("delete from q")
    assert rows(session, "d") == []


def test_a_table_that_refers_to_itself_may_be_truncated_and_dropped() -> None:
    session = after("create table t (id int primary key, up int, foreign key (up) references t (id))")
    session.run("insert into t values (1, 1); truncate table t; insert into t values (2, 2); drop table t")
    assert ("test", "t") not in session.history().state


def test_a_failed_statement_changes_nothing() -> None:
    session = after(PARENT, child("on delete cascade"), "insert into p values (1, 1), (2, 2)")
    session.run("create table g (id int primary key, pid int, foreign key (pid) references p (id))")
    session.run("insert into c values (1, 1); insert into g values (1, 2)")
    failure(session, "delete from p order by id")
    assert (len(rows(session, "p")), len(rows(session, "c"))) == (2, 1)
    session.run("delete from p where id = 1")
    assert rows(session, "c") == []


@pytest.mark.parametrize(
    ("statement", "stored"),
    [
        ("insert ignore into c values (3, 9)", []),
        ("insert ignore into c values (3, 9), (4, 1), (5, null), (6, 8)", [(b"4", b"1"), (b"5", None)]),
        ("insert ignore into c select id + 10, id from q", [(b"11", b"1")]),
        ("set foreign_key_checks = 0; insert ignore into c values (3, 9)", [(b"3", b"9")]),
    ],
)
def test_insert_ignore_skips_rows_without_their_parent(
    statement: str, stored: list[tuple[bytes | None, ...]]
) -> None:
    session = after(
        PARENT, child(), "insert into p values (1, 1); create table q (id int primary key);",
        "insert into q values (1), (2)", statement,
    )  # fmt: skip
    assert rows(session, "c") == stored


def test_insert_ignore_does_not_see_the_parents_that_it_inserts() -> None:
    nodes = "create table n (id int primary key, up int, foreign key (up) references n (id));"
    session = after(
        nodes, "insert ignore into n values (1, null), (2, 1)", "insert ignore into n values (3, 1)"
    )
    assert rows(session, "n") == [(b"1", None), (b"3", b"1")]


GENERATED = (
    "create table g (a int, v int as (a + 1), s int as (a + 2) stored, b int, key (v), key (s), key (b));"
)
STORED = "create table x (a int, c int as (a) stored, foreign key"
WITHOUT_CHECKS = "set foreign_key_checks = 0;"


@pytest.mark.parametrize(
    ("definition", "message"),
    [
        ("create table x (a int, foreign key f (a) references g (v))", "uses virtual column 'v'"),
        ("create table x (a int, c int as (a) virtual, foreign key f (c) references g (b))", "column 'c'"),
        (f"{STORED} (c) references g (b) on update cascade)", "ON UPDATE CASCADE clause on a generated"),
        (f"{STORED} (c) references g (b) on delete set null)", "ON DELETE SET NULL clause on a generated"),
        (f"{STORED} (a) references g (b) on delete cascade)", "Cannot add foreign key constraint"),
        ("create table x (a int, key (a), foreign key (a) references x (a))", "Cannot add foreign key"),
        (
            "create table x (a int, foreign key (a) references g (b)) partition by hash (a) partitions 2",
            "in conjunction with partitioning",
        ),
        (f"{WITHOUT_CHECKS} create table x (a bigint, foreign key (a) references g (b))", "incompatible"),
        (f"{WITHOUT_CHECKS} create table x (a int, foreign key (a) references g (a))", "Missing index"),
    ],
)
def test_tables_that_tidb_gives_no_foreign_key(definition: str, message: str) -> None:
    assert message in str(failure(after(GENERATED), definition))


def test_rows_follow_a_stored_column_of_their_parent() -> None:
    session = after(
        GENERATED,
        "create table x (a int, foreign key (a) references g (s) on update cascade)",
        "insert into g (a) values (1), (5); insert into x values (3), (7); update g set a = 10 where a = 1",
    )
    assert rows(session, "x") == [(b"12",), (b"7",)]


def test_a_new_parent_fits_the_foreign_keys_to_it() -> None:
    session = after("set foreign_key_checks = 0; create table x (a int, foreign key (a) references p (n))")
    assert "Missing index" in str(failure(session, "create table p (n int)"))
    assert "incompatible" in str(failure(session, "create table p (n bigint, key (n))"))
    session.run("create table p (n int, key (n))")


def test_an_index_of_prefixes_serves_no_foreign_key() -> None:
    session = after("create table p (v varchar(9), key k (v(3)), key whole (v))")
    session.run("create table c (v varchar(9), key k (v(3)), constraint f foreign key (v) references p (v))")
    assert "Cannot drop index 'whole'" in str(failure(session, "alter table p drop index whole"))
    assert "Cannot drop index 'f'" in str(failure(session, "drop index f on c"))
    session.run("alter table p drop index k; drop index k on c")
