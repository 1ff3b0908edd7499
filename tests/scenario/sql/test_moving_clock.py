"""NOW() is the time of the commit, unless the scenario fixes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ticdc_producer.scenario.execute import execute
from ticdc_producer.scenario.load import load_scenario

TABLE = "create table t (id int primary key, v int, at timestamp(3) default now(3) on update now(3));"
START = "2022-05-01T10:00:00Z"


def times(tmp_path: Path, sql: str, *overrides: str) -> list[str]:
    """Values of the column ``at`` in the row changes of a scenario, without their date."""
    path = tmp_path / "s.sql"
    path.write_text(TABLE + sql)
    scenario = load_scenario(path, [f"clock.start={START}", *overrides])
    changes = execute(scenario).changes
    return [(change.after or ())[2].decode().partition(" ")[2] for change in changes]  # type: ignore[union-attr]


def test_each_transaction_has_the_time_of_its_commit(tmp_path: Path) -> None:
    sql = "insert into t (id) values (1); insert into t (id) values (2); update t set v = 1 where id = 1"
    assert times(tmp_path, sql) == ["10:00:01.000", "10:00:02.000", "10:00:03.000"]
    assert times(tmp_path, sql, "clock.every=1500ms") == ["10:00:01.500", "10:00:03.000", "10:00:04.500"]


def test_the_statements_of_a_transaction_have_one_time(tmp_path: Path) -> None:
    sql = (
        "begin; insert into t (id) values (1); insert into t (id) values (2); commit; "
        "begin; delete from t; rollback; insert into t (id) values (3)"
    )
    assert times(tmp_path, sql) == ["10:00:01.000", "10:00:01.000", "10:00:02.000"]


def test_rows_that_a_new_column_fills_have_the_time_of_the_ddl(tmp_path: Path) -> None:
    sql = (
        "insert into t (id) values (1); alter table t add column b datetime default current_timestamp;"
        "insert into t (id, at) select id + 1, b from t"
    )
    assert times(tmp_path, sql)[1] == "10:00:02.000"


def test_set_timestamp_stops_the_clock_and_default_starts_it(tmp_path: Path) -> None:
    sql = (
        "set timestamp = 1600000000.25; insert into t (id) values (1); insert into t (id) values (2);"
        "set timestamp = default; insert into t (id) values (3)"
    )
    assert times(tmp_path, sql) == ["12:26:40.250", "12:26:40.250", "10:00:03.000"]


def test_a_fixed_time(tmp_path: Path) -> None:
    sql = "insert into t (id) values (1); insert into t (id) values (2)"
    assert times(tmp_path, sql, "session.now=2020-02-02T02:02:02Z") == ["02:02:02.000"] * 2


def test_a_commit_ts_moves_the_clock(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(
        f"version: 1\nclock: {{start: {START}}}\nsteps:\n  - sql: {TABLE}\n"
        "  - {txn: insert into t (id) values (unix_timestamp()), commit-ts: '2022-05-01T10:30:00Z'}\n"
        "  - sql: insert into t (id) values (unix_timestamp())\n"
    )
    first, second = (change.after[0] for change in execute(load_scenario(path)).changes if change.after)
    assert first is not None
    assert second is not None
    assert int(second) - int(first) == 1
    assert int(first) % 3600 == 30 * 60


@pytest.mark.parametrize("value", ["now", "yesterday", "2021-13-01"])
def test_other_values_are_refused(tmp_path: Path, value: str) -> None:
    with pytest.raises(Exception, match=r"session\.now"):
        times(tmp_path, "", f"session.now={value}")
