"""SQL after a ``generate`` step does to the generated rows what it does to rows that SQL inserted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.scenario.generate.edited import COLUMNS, TABLE, edited, rows_at, run
from tests.scenario.generate.plans import changes_of
from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.event import Value
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.history import Change, History, RowImage

START = 429918007904436226


def literal(value: Value) -> str:
    text = value.decode() if isinstance(value, bytes) else value
    return "NULL" if text is None else f"'{text}'"


def inserted(folder: Path, sql: str) -> History:
    """The history of the same rows, inserted by SQL."""
    rows = rows_at(edited(folder)).values()
    tuples = ", ".join(f"({', '.join(map(literal, row[:4]))}, {int(row[4] or 0)})" for row in rows)
    insert = f"INSERT INTO t ({COLUMNS}) VALUES {tuples}"
    return run(folder, {"sql": TABLE}, {"sql": insert}, {"sql": sql})


def by_sql(history: History, *, since: int) -> list[tuple[Any, ...]]:
    """The changes of SQL after a commit, without the numbers of their commits and tables."""
    changes = [change for change in history.changes if change.commit_seq >= since]
    return [
        (change.op, change.row_key, change.old_row_key, change.before, change.after) for change in changes
    ]


STATEMENTS = [
    "INSERT INTO t ({columns}) VALUES (5000, 'new', 1, 2.5, 'a'), (5001, 'newer', 2, NULL, 'b')",
    "INSERT INTO t ({columns}) VALUES ({gone}, 'back', 1, 2.5, 'a')",
    "UPDATE t SET n = n + 1, state = 'b' WHERE id = {a}",
    "UPDATE t SET n = 1 WHERE (id IN ({a}, {b}, {gone}, 99999)) AND state <> 'a'",
    "UPDATE t SET n = 3 WHERE id IN ({a}, {b}, {c}) ORDER BY n DESC LIMIT 2",
    "UPDATE t SET n = 7 WHERE id = {a}; UPDATE t SET n = n * 2 WHERE id = {a}",
    "UPDATE t SET n = 7 WHERE code = '{of_d}'; DELETE FROM t WHERE id = {d} AND n = 7",
    "UPDATE t SET id = 7000 WHERE id = {a}; UPDATE t SET id = {a} WHERE id = 7000",
    "UPDATE t SET id = {gone}, code = 'x' WHERE id = {a}; UPDATE t SET n = 5 WHERE id IN ({a}, {gone})",
    "DELETE FROM t WHERE id = {a}; DELETE FROM t WHERE id = {a}",
    "DELETE FROM t WHERE id IN ({a}, {b}) AND id IN ({b}, {c})",
    "DELETE FROM t WHERE id = -5; UPDATE t SET n = 1 WHERE id = 99999999999999999999",
    "DELETE FROM t WHERE id = {a}; INSERT INTO t ({columns}) VALUES ({a}, '{of_a}', 1, 1, 'c')",
    "REPLACE INTO t ({columns}) VALUES ({a}, '{of_b}', 1, 1, 'c')",
    "INSERT INTO t ({columns}) VALUES (6000, '{of_a}', 1, 1, 'c') ON DUPLICATE KEY UPDATE n = VALUES(n) + n",
    "INSERT IGNORE INTO t ({columns}) VALUES (6000, '{of_a}', 1, 1, 'c'), (6001, '6001', 1, 1, 'c')",
    "BEGIN; DELETE FROM t WHERE id = {a}; ROLLBACK; UPDATE t SET n = 9 WHERE id IN ({a}, {b})",
    "BEGIN; DELETE FROM t WHERE id = {a}; INSERT INTO t ({columns}) VALUES ({a}, 'x', 1, 1, 'c'); COMMIT",
    "INSERT INTO t ({columns}) SELECT id + 9000, 'copy', n, amount, state FROM t WHERE id = {a}",
    "ALTER TABLE t ADD COLUMN more INT NOT NULL DEFAULT 5 AFTER id; UPDATE t SET more = n WHERE id = {a}",
    "DELETE FROM t WHERE id = {a}; ALTER TABLE t ADD COLUMN x VARCHAR(9); DELETE FROM t WHERE id = {b}",
    "ALTER TABLE t ADD COLUMN (x INT DEFAULT 1, y INT), DROP COLUMN amount; DELETE FROM t WHERE id = {a}",
    "UPDATE t SET n = 0 WHERE id = {a}; ALTER TABLE t DROP COLUMN amount; UPDATE t SET n = 0 WHERE id = {b}",
    "ALTER TABLE t DROP COLUMN code; UPDATE t SET n = 0 WHERE id = {b}",
    "ALTER TABLE t RENAME COLUMN id TO no; UPDATE t SET no = no + 9000 WHERE no = {b}",
    "ALTER TABLE t DROP COLUMN amount, ADD COLUMN extra INT; ALTER TABLE t RENAME COLUMN extra TO amount",
    "DELETE FROM t WHERE id = {b}; TRUNCATE TABLE t; INSERT INTO t ({columns}) VALUES ({a}, 'x', 1, 1, 'a')",
    "TRUNCATE t; INSERT INTO t ({columns}) VALUES (1, 'x', 1, 1, 'a'); ALTER TABLE t ADD z INT DEFAULT 3",
    "TRUNCATE t; INSERT INTO t ({columns}) VALUES (1, 'x', 1, 1, 'a'); UPDATE t SET n = 4; DELETE FROM t",
]


def filled(folder: Path, statements: str) -> str:
    """Statements on some rows that exist after the step, and on one that it deleted."""
    keys = [int(row[0] or 0) for row in rows_at(edited(folder)).values()]
    a, b, c, d = keys[3:7]
    gone = min({*range(1, 60)} - {*keys})
    codes = {"of_a": a - 1, "of_b": b - 1, "of_d": d - 1}  # codes are counted from 0
    return statements.format(a=a, b=b, c=c, d=d, gone=gone, columns=COLUMNS, **codes)


@pytest.mark.parametrize("statements", STATEMENTS)
def test_statements_do_what_they_do_to_inserted_rows(tmp_path: Path, statements: str) -> None:
    sql = filled(tmp_path, statements)
    history, plain = edited(tmp_path, sql), inserted(tmp_path, sql)
    (plan,) = history.generated
    assert by_sql(history, since=plan.commits_after) == by_sql(plain, since=2)
    state = plain.state["test", "t"]
    assert sorted(rows_at(history).values()) == sorted(state.rows)
    assert columns(plan.table_after(None)) == columns(plain.catalog.tables[state.version])


def columns(table: TableInfo) -> list[str]:
    return [column.name for column in table.columns]


@pytest.mark.parametrize("statements", STATEMENTS)
def test_rows_between_the_statements(tmp_path: Path, statements: str) -> None:
    """The rows after each number of commits are those that the changes up to then leave."""
    sql = filled(tmp_path, statements)
    history = edited(tmp_path, sql)
    (plan,) = history.generated
    times = [START + (number << 18) * 1000 for number in range(history.commits)]
    snapshots = edited(tmp_path, sql, state_at=times)
    log = sorted(
        [*changes_of(plan), *history.changes], key=lambda change: (change.commit_seq, change.row_seq)
    )
    for commits in (plan.first_commit + 1, *range(plan.commits_after - 2, history.commits + 1)):
        rows = rows_at(snapshots, commits)
        if "ALTER" not in sql:
            assert rows == replayed(history, log, commits)
        assert all(len(row) == len(plan.table_after(commits).sent) for row in rows.values())
    assert rows_at(snapshots, history.commits) == rows_at(history)


def replayed(history: History, log: Sequence[Change], commits: int) -> dict[bytes, RowImage]:
    """The rows that changes leave; every change fits the row before it."""
    truncated = max((ddl.commit_seq for ddl in history.catalog.ddls if ddl.commit_seq < commits), default=0)
    rows: dict[bytes, RowImage] = {}
    for change in log:
        if truncated <= change.commit_seq < commits:
            if change.before is not None:
                assert rows.pop(change.old_row_key or change.row_key) == change.before
            if change.after is not None:
                assert change.row_key not in rows
                rows[change.row_key] = change.after
    return rows


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO t ({columns}) VALUES ({a}, 'new', 1, 1, 'a')",
        "INSERT INTO t ({columns}) VALUES (9000, '{of_a}', 1, 1, 'a')",
        "INSERT INTO t ({columns}) VALUES (9000, '{of_a}  ', 1, 1, 'a')",
        "INSERT INTO t ({columns}) VALUES (9000, 'x', 1, 1, 'a'), (9001, 'X', 1, 1, 'a')",
        "UPDATE t SET id = {b} WHERE id = {a}",
        "UPDATE t SET code = '{of_b}' WHERE id = {a}",
        "UPDATE t SET n = 99999999999 WHERE id = {a}",
        "ALTER TABLE t DROP COLUMN id",
    ],
)
def test_what_tidb_rejects_is_rejected(tmp_path: Path, statement: str) -> None:
    sql = filled(tmp_path, statement)
    messages = []
    for history_of in (edited, inserted):
        with pytest.raises(ScenarioError) as caught:
            history_of(tmp_path, sql)
        messages.append(caught.value.what)
    assert messages[0] == messages[1]
