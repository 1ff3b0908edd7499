"""BATCH: a DML statement in parts at the values of a column, each a transaction of its own, as in TiDB."""

from __future__ import annotations

import pytest

from tests.scenario.sql.script_results import history_of, rows_of
from ticdc_producer.errors import ScenarioError

T = (
    "create table t (id int primary key, v int, w varchar(9), key (v), key (w));"
    "insert into t values (1, 1, 'a'), (2, null, 'B'), (3, 1, 'c'), (4, 2, 'd'), (5, null, null);"
)


def parts_of(script: str) -> list[list[bytes | None]]:
    """The keys of the rows that each transaction after the first one changes."""
    history = history_of(f"{T} {script}")
    keys: dict[int, list[bytes | None]] = {}
    for change in history.changes:
        image = change.after or change.before
        assert image is not None
        keys.setdefault(change.commit_seq, []).append(image[0])
    return list(keys.values())[1:]


@pytest.mark.parametrize(
    ("statement", "parts"),
    [
        ("batch limit 2 delete from t", [[b"1", b"2"], [b"3", b"4"], [b"5"]]),
        ("batch on id limit 2 update t set v = 9", [[b"1", b"2"], [b"3", b"4"], [b"5"]]),
        ("batch on test.t.id limit 9 delete from t where id > 3", [[b"4", b"5"]]),
        ("batch on v limit 1 delete from t", [[b"2", b"5"], [b"1", b"3"], [b"4"]]),
        ("batch on v limit 3 delete from t", [[b"1", b"2", b"3", b"5"], [b"4"]]),
        ("batch on w limit 2 update t set v = 7 where id <> 4", [[b"2", b"5"], [b"1", b"3"]]),
        ("batch limit 2 delete from t where id = 3 or id > 3", [[b"3", b"4"], [b"5"]]),
        ("batch limit 2 update t set v = v + 1 where v is null", []),
        ("batch limit 2 insert into t select id + 10, v, w from t where id < 4", [[b"11", b"12"], [b"13"]]),
        ("batch limit 2 replace into t select id, 7, w from t", [[b"1", b"2"], [b"3", b"4"], [b"5"]]),
        ("batch limit 2 dry run delete from t", []),
        ("batch limit 2 dry run query delete from t", []),
    ],
)
def test_parts(statement: str, parts: list[list[bytes | None]]) -> None:
    changed = [[*dict.fromkeys(keys)] for keys in parts_of(statement)]
    assert changed == parts


def test_a_date_divides_rows() -> None:
    table = "create table d (d datetime(3) primary key, n decimal(9, 3) unique);"
    values = "insert into d values ('2024-01-01', 1.5), ('2024-01-01 00:00:00.001', 2.25);"
    by_date = history_of(f"{table} {values} batch limit 1 update d set n = n + 1")
    assert by_date.commits == history_of(f"{table} {values}").commits + 2
    assert rows_of(f"{table} {values} batch on n limit 1 delete from d where n > 2", "d") == [
        (b"2024-01-01 00:00:00.000", b"1.500")
    ]


def test_its_line_and_the_row_count() -> None:
    history = history_of(f"{T}\nbatch limit 3 update t set v = 0;\nupdate t set v = row_count() where id = 1")
    assert [change.line for change in history.changes[-6:]] == [2, 2, 2, 2, 2, 3]
    assert history.state["test", "t"].rows[0][1] == b"-1"


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("batch limit 0 delete from t", "batch size should be positive"),
        ("begin; batch limit 1 delete from t", "only run in auto-commit mode"),
        ("set autocommit = 0; batch limit 1 delete from t", "only run in auto-commit mode"),
        ("batch on id limit 1 update t set id = id + 10", "shard column cannot be updated"),
        ("batch on x limit 1 delete from t", "shard column x not found"),
        ("create table u (a int primary key, b int); batch on b limit 1 delete from u", "b is not indexed"),
        (
            "create table u (a int, b int, primary key (a, b)); batch limit 1 delete from u",
            "multiple columns",
        ),
        ("batch limit 1 insert into t values (9, 9, 'x')", "supports insert select stmt only"),
        ("batch limit 1 insert into t select 9, 9, 'x'", "table reference is nil"),
        ("batch limit 1 delete from t limit 1", "don't support limit"),
        ("batch limit 1 delete from t order by id", "don't support order by"),
        (
            "create table e (a enum('x') unique); insert into e values (1); batch on a limit 1 delete from e",
            "unsupported type of the shard column",
        ),
        ("batch limit 1 delete from t where nothing = 1", "Unknown column"),
        ("batch limit 1 select * from t", "expected INSERT, REPLACE, UPDATE or DELETE"),
        ("batch on test.t.id limit 1 update t, t u set t.v = 1", "BATCH of several tables"),
        ("batch limit 1 insert into t select t.id from t join t u using (id)", "BATCH of several tables"),
    ],
)
def test_what_is_refused(statement: str, what: str) -> None:
    with pytest.raises(ScenarioError, match=what):
        history_of(f"{T} {statement}")
