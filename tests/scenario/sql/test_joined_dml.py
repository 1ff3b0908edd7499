"""UPDATE and DELETE of joined tables: which rows they change, and what TiDB rejects."""

from __future__ import annotations

import pytest

from tests.scenario.sql.script_results import history_of, rows_of
from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.event import Op

TWO = (
    "create table t (id int primary key, v varchar(9), n int); insert into t values (1, 'a', 1), (2, 'b', 5),"
    " (3, 'c', null); create table u (id int primary key, v varchar(9), n int);"
    " insert into u values (1, 'x', 10), (2, 'y', 20), (9, 'z', 90);"
)


def _column(script: str, offset: int, table: str = "t") -> dict[bytes | None, bytes | None]:
    """A column of the rows by their ids."""
    return {row[0]: row[offset] for row in rows_of(TWO + script, table)}


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("update t as x set x.v = 'q' where x.id = 1", {b"1": b"q", b"2": b"b", b"3": b"c"}),
        ("update t join u on t.id = u.id set t.v = u.v", {b"1": b"x", b"2": b"y", b"3": b"c"}),
        ("update t, u set t.v = u.v where t.id = u.id and u.n > 10", {b"1": b"a", b"2": b"y", b"3": b"c"}),
        ("update t left join u using (id) set t.v = u.v", {b"1": b"x", b"2": b"y", b"3": None}),
        ("update u right join t using (id) set t.v = u.n", {b"1": b"10", b"2": b"20", b"3": None}),
        ("update t natural join u set u.n = 0", {b"1": b"a", b"2": b"b", b"3": b"c"}),
        (
            "update t join (select max(n) m from u) d set t.v = d.m where t.id = 3",
            {b"1": b"a", b"2": b"b", b"3": b"90"},
        ),
        ("update t a join t b on b.id = a.id + 1 set a.v = b.v", {b"1": b"b", b"2": b"c", b"3": b"c"}),
        ("update t set v = (select u.v from u where u.id = t.id)", {b"1": b"x", b"2": b"y", b"3": None}),
        (
            "update t set v = (select count(*) from t x where x.v >= t.v)",
            {b"1": b"3", b"2": b"2", b"3": b"1"},
        ),
    ],
)
def test_rows_of_an_update(statement: str, expected: dict[bytes, bytes | None]) -> None:
    assert _column(statement, 1) == expected


@pytest.mark.parametrize(
    ("statement", "left", "other"),
    [
        ("delete t from t join u using (id)", {b"3"}, {b"1", b"2", b"9"}),
        ("delete t, u from t join u using (id) where u.n > 10", {b"1", b"3"}, {b"1", b"9"}),
        (
            "delete from x using t as x left join u on x.id = u.id where u.id is null",
            {b"1", b"2"},
            {b"1", b"2", b"9"},
        ),
        (
            "delete from `test`.`t`.*, u . * using t join u using (id) where u.n > 10",
            {b"1", b"3"},
            {b"1", b"9"},
        ),
        ("delete x.* from t x join u on u.id = x.id where u.n * 2 > 20", {b"1", b"3"}, {b"1", b"2", b"9"}),
        ("delete a, b from t a join t b on b.id = a.id + 1", set(), {b"1", b"2", b"9"}),
        ("delete from t as x where x.id in (select id from u)", {b"3"}, {b"1", b"2", b"9"}),
        (
            "delete from t where not exists (select 1 from u where u.id = t.id)",
            {b"1", b"2"},
            {b"1", b"2", b"9"},
        ),
        (
            "delete from t where id > all (select id from t x where x.id < 3)",
            {b"1", b"2"},
            {b"1", b"2", b"9"},
        ),
        (
            "delete from t where (id, v) in (select id, 'a' from u) or (id, n) = (2, 5)",
            {b"3"},
            {b"1", b"2", b"9"},
        ),
        (
            "with c (k) as (select id from u) delete from t where id in (select k from c)",
            {b"3"},
            {b"1", b"2", b"9"},
        ),
    ],
)
def test_rows_that_a_delete_leaves(statement: str, left: set[bytes], other: set[bytes]) -> None:
    assert _column(statement, 0).keys() == left
    assert _column(statement, 0, "u").keys() == other


def test_a_row_with_several_matches_is_changed_once() -> None:
    history = history_of(TWO + "update t join u set t.n = u.n, u.v = 'w' where t.id < 3")
    changes = [change for change in history.changes if change.op == Op.UPDATE]
    assert len(changes) == 5
    assert len({(change.table_id, change.row_key) for change in changes}) == 5
    assert [row[2] for row in history.state["test", "t"].rows] == [b"10", b"10", None]


def test_the_first_match_that_changes_a_row_counts() -> None:
    assert _column("update t join u set t.n = u.n where t.id = 1 and u.n in (1, 10, 20)", 2)[b"1"] == b"10"
    assert _column("update t join u set t.v = if(u.id = 1, t.v, u.v) where t.id = 1", 1)[b"1"] == b"y"


def test_a_table_with_two_names_gets_the_assignments_of_both() -> None:
    assert rows_of(TWO + "update t a join t b using (id) set a.v = 'p', b.n = 7 where a.id = 1")[0] == (
        b"1", b"p", b"7",
    )  # fmt: skip


def test_foreign_keys_follow_a_delete_of_several_tables() -> None:
    script = (
        "create table p (id int primary key); create table c (id int primary key, p int,"
        " foreign key (p) references p (id) on delete cascade); insert into p values (1), (2);"
        " insert into c values (10, 1), (20, 2); delete p from p join c on c.p = p.id where c.id = 20"
    )
    assert rows_of(script, "c") == [(b"10", b"1")]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("update t join u set v = 'q'", "Column 'v' is ambiguous"),
        ("update t join u on t.id = u.id set t.v = 'q' limit 1", "Incorrect usage of UPDATE and LIMIT"),
        ("delete t from t join u order by t.id", "Incorrect usage of DELETE and ORDER BY"),
        ("update t join t set n = 1", "Not unique table/alias: 't'"),
        ("update t, (select 1 as a) d set d.a = 2", "The target table d of the UPDATE is not updatable"),
        ("delete d from t, (select 1 as a) d", "The target table d of the DELETE is not updatable"),
        ("delete w from t join u", "Unknown table 'w' in MULTI DELETE"),
        ("update t a join t b set a.id = 7, b.n = 1", "Primary key/partition key update is not allowed"),
        ("update t x set t.v = 'q'", "Unknown table 't' in t.v"),
        ("update t left join u set t.v = 1", "LEFT JOIN needs ON or USING"),
        ("update t full join u on 1 set t.v = 1", "FULL JOIN is not supported"),
        ("delete from t where id = (select id from u)", "Subquery returns more than 1 row"),
        ("delete from t where id in (select id, v from u)", "Operand should contain 1 column(s)"),
        ("delete from t where id = (select w from u)", "Unknown column 'w' in u"),
        ("delete from t where count(*) > 1", "Invalid use of group function"),
        ("with c as (select 1) insert into t (id) select 7", "WITH belongs to a SELECT, UPDATE or DELETE"),
    ],
)
def test_what_tidb_rejects(statement: str, message: str) -> None:
    with pytest.raises(ScenarioError) as raised:
        history_of(f"{TWO}\n{statement}")
    assert message in raised.value.what
    assert raised.value.line == 2
