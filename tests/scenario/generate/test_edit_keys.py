"""SQL finds generated rows by keys of all types."""

from __future__ import annotations

from pathlib import Path
from time import process_time
from typing import Any

import pytest

from tests.scenario.generate.edited import SHORT, edited, rows_at, run
from tests.scenario.generate.plans import changes_of, rows_of
from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.event import Op
from ticdc_producer.model.row_key import int_key


def test_hidden_row_ids_and_auto_increment_continue(tmp_path: Path) -> None:
    table = "CREATE TABLE t (id BIGINT PRIMARY KEY NONCLUSTERED AUTO_INCREMENT, n INT)"
    history = edited(
        tmp_path, "INSERT INTO t (n) VALUES (1)", "UPDATE t SET n = 2 WHERE id = 3", table=table, **SHORT
    )
    (plan,) = history.generated
    used = {change.row_id for change in changes_of(plan)}
    new, old = history.changes
    assert int((new.after or ())[0] or 0) > plan.all_rows
    assert new.row_id > max(used)
    assert old.row_id in used
    assert old.row_id == next(change.row_id for change in changes_of(plan) if (change.after or ())[0] == b"3")


KEYS = {
    "binary": ("k BINARY(8) PRIMARY KEY", "x'3300000000000000'"),
    "decimal": ("k DECIMAL(10,2) PRIMARY KEY", "0.04"),
    "date": ("k DATE PRIMARY KEY", "'2000-01-04'"),
    "datetime": ("k DATETIME(3) PRIMARY KEY", "'2000-01-01 00:00:00.003'"),
    "text": ("k VARCHAR(20) COLLATE utf8mb4_unicode_ci PRIMARY KEY", "'３ '"),
    "unsigned": ("k BIGINT UNSIGNED PRIMARY KEY", "4"),
    "two columns": ("a INT NOT NULL, k INT NOT NULL, PRIMARY KEY (a, k)", "4"),
    "a prefix": ("k VARCHAR(60) NOT NULL, UNIQUE (k(20))", "'3'"),
}


@pytest.mark.parametrize("key", KEYS)
def test_types_of_keys(tmp_path: Path, key: str) -> None:
    columns, value = KEYS[key]
    table = f"CREATE TABLE t ({columns}, n INT)"
    step: dict[str, Any] = {"rows": 6, "transactions": 9, "mix": {"update": 1}}
    if key == "two columns":
        step["columns"] = {"k": {"distribution": "sequence"}}
    before = rows_at(edited(tmp_path, table=table, **step))
    history = edited(tmp_path, f"UPDATE t SET n = 77 WHERE k = {value}", table=table, **step)
    (change,) = history.changes
    assert before[change.row_key] == change.before
    assert change.after == (*before[change.row_key][:-1], b"77")
    assert rows_at(history) == {**before, change.row_key: change.after}


def test_the_version_of_the_table_after_ddl_of_the_step(tmp_path: Path) -> None:
    table = "CREATE TABLE t (id BIGINT PRIMARY KEY, n INT)"
    kinds = {"add-column": 2, "drop-column": 1, "rename-table": 3, "truncate-table": 1}
    step = {"rows": 30, "transactions": 60, "rows-per-transaction": 4, "ddl": {"every": 8, **kinds}}
    (before,) = edited(tmp_path, table=table, **step).generated
    last = before.table_after(None)
    assert last.name != "t"
    rows = rows_at(edited(tmp_path, table=table, **step))
    ids = sorted(int(row[0] or 0) for row in rows.values())
    history = edited(
        tmp_path,
        f"UPDATE {last.name} SET n = 5 WHERE id = {ids[0]}",
        f"ALTER TABLE {last.name} ADD COLUMN more INT DEFAULT 9",
        f"DELETE FROM {last.name} WHERE id = {ids[1]}",
        table=table,
        **step,
    )
    update, delete = history.changes
    assert update.op == Op.UPDATE
    assert update.before in rows.values()
    assert update.table_version == last.version
    assert delete.before is not None
    assert delete.before[:-1] in rows.values()
    assert {row[-1] for row in rows_at(history).values()} == {b"9"}
    assert len(rows_at(history)) == len(rows) - 1


STEPS: dict[str, dict[str, Any]] = {
    "several tables": {
        "tables": [{"table": "t"}, {"table": "u", "share": 2}],
        "mix": {"insert": 2, "update": 3, "delete": 1},
    },
    "statements": {
        "tables": [
            {"table": "t", "columns": {"n": {"adds": "place + 1", "min": 1, "max": 9}}},
            {"table": "u"},
        ],
        "each": [{"does": "update", "columns": ["n"]}, {"does": "replace"}],
    },
    "hot keys": {"table": "t", "hot-keys": 0.9, "changes-per-row": 2, "rows-per-transaction": 4},
    "inserts": {"table": "t", "mix": {"insert": 1}},
}


@pytest.mark.parametrize("kind", STEPS)
def test_all_kinds_of_steps(tmp_path: Path, kind: str) -> None:
    tables = "CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT NOT NULL); CREATE TABLE u LIKE t"
    generate = {"generate": {"rows": 12, "transactions": 40, **STEPS[kind]}}
    sql = {"sql": "UPDATE t SET n = n - 1 WHERE id BETWEEN 2 AND 9 AND id IN (2, 3, 4, 5, 6, 7, 8, 9, 10)"}
    history = run(tmp_path, {"sql": tables}, generate, sql)
    plan, *_ = history.generated
    left = rows_of(plan)
    assert [change.before for change in history.changes] == [
        left[int_key(number)] for number in range(2, 10) if int_key(number) in left
    ]
    assert history.changes


def test_one_pass_finds_the_rows_of_a_script(tmp_path: Path) -> None:
    """Each further script needs a pass over the generated transactions, a further statement does not."""
    step = {"rows": 5000, "transactions": 100_000, "rows-per-transaction": 4, "mix": {"update": 1}}
    statements = [f"UPDATE t SET n = 1 WHERE id = {number}" for number in range(1, 31)]
    started = process_time()
    one_script = edited(tmp_path, "; ".join(statements), **step)
    of_one = process_time() - started
    many_scripts = edited(tmp_path, *statements, **step)
    of_many = process_time() - started - of_one
    assert [change.before for change in one_script.changes] == [
        change.before for change in many_scripts.changes
    ]
    assert len(one_script.changes) == len(statements)
    assert of_one < of_many / 2


def test_a_virtual_column_that_does_not_fit(tmp_path: Path) -> None:
    """TiDB computes it when the row is read; only a statement that writes the row again is rejected."""
    table = "CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL, twice INT AS (n * 2))"
    step = {"rows": 5, "transactions": 1, "mix": {"update": 1}, "columns": {"n": {"min": 2_000_000_000}}}
    history = edited(tmp_path, "DELETE FROM t WHERE id = 3", table=table, **step)
    assert [change.after for change in history.changes] == [None]
    with pytest.raises(ScenarioError, match="twice"):
        edited(tmp_path, "UPDATE t SET n = n + 1 WHERE id = 3", table=table, **step)
