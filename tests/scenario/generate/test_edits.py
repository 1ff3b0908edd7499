"""SQL behind a ``generate`` step does to the generated rows what it does to rows that SQL inserted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.scenario.generate.plans import changes_of
from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.event import Op, Value
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.execute import execute
from ticdc_producer.scenario.generate.cells import no_expressions
from ticdc_producer.scenario.generate.changes import ChangeSource
from ticdc_producer.scenario.generate.edited_rows import rows_of_table
from ticdc_producer.scenario.generate.plan import GeneratePlan
from ticdc_producer.scenario.history import Change, History, RowImage
from ticdc_producer.scenario.load import load_scenario
from ticdc_producer.scenario.sql import generated_table

TABLE = """\
CREATE TABLE t (
  id BIGINT PRIMARY KEY, code VARCHAR(20) COLLATE utf8mb4_general_ci NOT NULL UNIQUE, n INT,
  amount DECIMAL(12,2), state ENUM('a','b','c') NOT NULL, twice INT AS (n MOD 1000 * 2), UNIQUE pair (n, id)
)"""
COLUMNS = "id, code, n, amount, state"
BUSY = {"transactions": 150, "rows-per-transaction": 3, "rows": 40, "mix": {"insert": 1, "update": 2, "delete": 1}}
START = 429918007904436226


def run(folder: Path, *steps: dict[str, Any], state_at: Sequence[int] = ()) -> History:
    path = folder / "edited.yaml"
    content = {"version": 1, "seed": 7, "clock": {"every": "1s"}, "steps": steps}
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    return execute(load_scenario(path), state_at=state_at)


def generated(folder: Path, *sql: str, table: str = TABLE, **step: Any) -> History:
    spec = {"table": "t", **(step or BUSY)}
    return run(folder, {"sql": table}, {"generate": spec}, *({"sql": one} for one in sql))


def rows_at(history: History, commits: int | None = None) -> dict[bytes, RowImage]:
    """The rows of the only generated table, each task's part once."""
    (plan,) = history.generated
    found: dict[bytes, RowImage] = {}
    for task in range(3):
        source = ChangeSource(
            plans=[plan],
            expressions=no_expressions,
            rows=lambda _plan, task=task: lambda rows: rows % 3 == task,
            share=3,
        )
        for batch in rows_of_table(source, plan, commits, of_sql=task == 0):
            for row in batch.to_pylist():
                assert row["row_key"] not in found
                found[row["row_key"]] = tuple(row["row"])
    return found


def literal(value: Value) -> str:
    text = value.decode() if isinstance(value, bytes) else value
    return "NULL" if text is None else f"'{text}'"


def inserted(folder: Path, *sql: str, **step: Any) -> History:
    """The same rows, inserted by SQL."""
    rows = rows_at(generated(folder, **step)).values()
    tuples = ", ".join(f"({', '.join(map(literal, (*row[:4], _letter(row[4]))))})" for row in rows)
    insert = f"INSERT INTO t ({COLUMNS}) VALUES {tuples}"
    return run(folder, {"sql": TABLE}, {"sql": insert}, *({"sql": one} for one in sql))


def _letter(number: Value) -> Value:
    return "abc"[int(number or 0) - 1]


def by_sql(history: History, *, since: int) -> list[tuple[Any, ...]]:
    """The changes of SQL behind a commit, without the numbers of their commits and tables."""
    changes = [change for change in history.changes if change.commit_seq >= since]
    return [(one.op, one.row_key, one.old_row_key, one.before, one.after) for one in changes]


def existing(folder: Path, count: int = 6) -> list[int]:
    """Some keys of the rows that the step leaves."""
    return [int(row[0] or 0) for row in rows_at(generated(folder)).values()][3 : 3 + count]


def absent(folder: Path) -> int:
    """A key that the step generated, whose row it deleted."""
    keys = {int(row[0] or 0) for row in rows_at(generated(folder)).values()}
    return min({*range(1, 60)} - keys)


STATEMENTS = [
    ["INSERT INTO t ({columns}) VALUES (5000, 'new', 1, 2.5, 'a'), (5001, 'newer', 2, NULL, 'b')"],
    ["INSERT INTO t ({columns}) VALUES ({gone}, 'back', 1, 2.5, 'a')"],
    ["UPDATE t SET n = n + 1, state = 'b' WHERE id = {a}"],
    ["UPDATE t SET n = 1 WHERE (id IN ({a}, {b}, {gone}, 99999)) AND state <> 'a'"],
    ["UPDATE t SET n = 3 WHERE id IN ({a}, {b}, {c}) ORDER BY n DESC LIMIT 2"],
    ["UPDATE t SET n = 7 WHERE id = {a}", "UPDATE t SET n = n * 2 WHERE id = {a}"],
    ["UPDATE t SET n = 7 WHERE code = '{d}'", "DELETE FROM t WHERE id = {d} AND n = 7"],
    ["UPDATE t SET id = 7000 WHERE id = {a}", "UPDATE t SET id = {a} WHERE id = 7000"],
    ["UPDATE t SET id = {gone}, code = 'x' WHERE id = {a}", "UPDATE t SET n = 5 WHERE id IN ({a}, {gone})"],
    ["DELETE FROM t WHERE id = {a}", "DELETE FROM t WHERE id = {a}"],
    ["DELETE FROM t WHERE id IN ({a}, {b}) AND id IN ({b}, {c})"],
    ["DELETE FROM t WHERE id = -5", "UPDATE t SET n = 1 WHERE id = 99999999999999999999"],
    ["DELETE FROM t WHERE id = {a}", "INSERT INTO t ({columns}) VALUES ({a}, '{a}', 1, 1, 'c')"],
    ["REPLACE INTO t ({columns}) VALUES ({a}, '{b}', 1, 1, 'c')"],
    ["INSERT INTO t ({columns}) VALUES (6000, '{a}', 1, 1, 'c') ON DUPLICATE KEY UPDATE n = VALUES(n) + n"],
    ["INSERT IGNORE INTO t ({columns}) VALUES (6000, '{a}', 1, 1, 'c'), (6001, '6001', 1, 1, 'c')"],
    ["BEGIN; DELETE FROM t WHERE id = {a}; ROLLBACK; UPDATE t SET n = 9 WHERE id IN ({a}, {b})"],
    ["BEGIN; DELETE FROM t WHERE id = {a}; INSERT INTO t ({columns}) VALUES ({a}, 'again', 1, 1, 'c'); COMMIT"],
    ["INSERT INTO t ({columns}) SELECT id + 9000, 'copy', n, amount, state FROM t WHERE id = {a}"],
    ["ALTER TABLE t ADD COLUMN more INT NOT NULL DEFAULT 5 AFTER id", "UPDATE t SET more = n WHERE id = {a}"],
    ["DELETE FROM t WHERE id = {a}", "ALTER TABLE t ADD COLUMN more VARCHAR(9)", "DELETE FROM t WHERE id = {b}"],
    ["ALTER TABLE t ADD COLUMN (x INT DEFAULT 1, y INT), DROP COLUMN amount", "DELETE FROM t WHERE id = {a}"],
    ["UPDATE t SET amount = 0 WHERE id = {a}", "ALTER TABLE t DROP COLUMN amount", "UPDATE t SET n = 0 WHERE id = {b}"],
    ["ALTER TABLE t DROP COLUMN code", "UPDATE t SET n = 0 WHERE id = {b}"],
    ["ALTER TABLE t RENAME COLUMN id TO no", "UPDATE t SET no = no + 9000 WHERE no = {b}"],
    ["ALTER TABLE t DROP COLUMN amount, ADD COLUMN extra INT", "ALTER TABLE t RENAME COLUMN extra TO amount"],
    ["UPDATE t SET n = 0 WHERE id = {b}", "TRUNCATE TABLE t", "INSERT INTO t ({columns}) VALUES ({a}, 'x', 1, 1, 'a')"],
    ["TRUNCATE t", "INSERT INTO t ({columns}) VALUES (1, 'x', 1, 1, 'a')", "ALTER TABLE t ADD COLUMN z INT DEFAULT 3",
     "UPDATE t SET z = 4"],
]  # fmt: skip


def filled(folder: Path, statements: Sequence[str]) -> list[str]:
    a, b, c, d, *_ = existing(folder)
    names = {"a": a, "b": b, "c": c, "d": d, "gone": absent(folder), "columns": COLUMNS}
    return [one.format(**names) for one in statements]


@pytest.mark.parametrize("statements", STATEMENTS)
def test_statements_do_what_they_do_to_inserted_rows(tmp_path: Path, statements: list[str]) -> None:
    sql = filled(tmp_path, statements)
    edited, plain = generated(tmp_path, *sql), inserted(tmp_path, *sql)
    (plan,) = edited.generated
    changes = by_sql(edited, since=plan.commits_after)
    assert changes == by_sql(plain, since=2)
    state = plain.state["test", "t"]
    assert sorted(rows_at(edited).values()) == sorted(state.rows)
    assert columns(plan.table_after(None)) == columns(plain.catalog.tables[state.version])


def columns(table: TableInfo) -> list[str]:
    return [column.name for column in table.columns]


@pytest.mark.parametrize("statements", STATEMENTS)
def test_rows_between_the_statements(tmp_path: Path, statements: list[str]) -> None:
    """The rows after each number of commits are those that the changes up to then leave."""
    sql = filled(tmp_path, statements)
    history = generated(tmp_path, *sql)
    (plan,) = history.generated
    times = [START + (number << 18) * 1000 for number in range(history.commits)]
    steps = [{"sql": TABLE}, {"generate": {"table": "t", **BUSY}}, *({"sql": one} for one in sql)]
    snapshots = run(tmp_path, *steps, state_at=times)
    log = sorted([*changes_of(plan), *history.changes], key=lambda one: (one.commit_seq, one.row_seq))
    for commits in (plan.first_commit + 1, *range(plan.commits_after - 2, history.commits + 1)):
        found = rows_at(snapshots, commits)
        if not any("ALTER" in one for one in sql):
            assert found == replayed(history, log, commits)
        assert all(len(row) == len(plan.table_after(commits).sent) for row in found.values())
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
        "INSERT INTO t ({columns}) VALUES (9000, '{a}', 1, 1, 'a')",
        "INSERT INTO t ({columns}) VALUES (9000, '{a}  ', 1, 1, 'a')",
        "INSERT INTO t ({columns}) VALUES (9000, 'x', 1, 1, 'a'), (9001, 'X', 1, 1, 'a')",
        "UPDATE t SET id = {b} WHERE id = {a}",
        "UPDATE t SET code = '{b}' WHERE id = {a}",
        "UPDATE t SET n = 99999999999 WHERE id = {a}",
        "ALTER TABLE t DROP COLUMN id",
    ],
)
def test_what_tidb_rejects_is_rejected(tmp_path: Path, statement: str) -> None:
    (sql,) = filled(tmp_path, [statement])
    messages = []
    for way in (generated, inserted):
        with pytest.raises(ScenarioError) as caught:
            way(tmp_path, sql)
        messages.append(caught.value.what)
    assert messages[0] == messages[1]


SHORT = {"transactions": 20, "rows": 5}


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("DELETE FROM t", "the rows of test.t were generated: WHERE must give their keys (compare id or code"),
        ("UPDATE t SET n = 1 WHERE n = 5", "the rows of test.t were generated: WHERE must give their keys"),
        ("DELETE FROM t WHERE id > 5", "the rows of test.t were generated: WHERE must give their keys"),
        ("DELETE FROM t WHERE id = 5 OR n = 1", "the rows of test.t were generated: WHERE must give their"),
        ("DELETE FROM t WHERE id IN (5, n)", "the rows of test.t were generated: WHERE must give their keys"),
        ("DELETE FROM t WHERE code = 5", "the rows of test.t were generated: WHERE must give their keys"),
        ("INSERT INTO u SELECT id FROM t", "the rows of test.t were generated: WHERE must give their keys"),
        ("DELETE FROM t WHERE nope = 5", "Unknown column 'nope' in table 't'"),
        ("ALTER TABLE t ADD INDEX (n)", "DDL of test.t after its generate step is not supported (only ADD,"),
        ("ALTER TABLE t ADD COLUMN x INT, ADD INDEX (x)", "DDL of test.t after its generate step is not"),
        ("ALTER TABLE t MODIFY COLUMN n BIGINT", "DDL of test.t after its generate step is not supported"),
        ("ALTER TABLE t MODIFY COLUMN amount DECIMAL(12,2) FIRST", "DDL of test.t after its generate step"),
        ("ALTER TABLE t ALTER COLUMN n SET DEFAULT 5", "DDL of test.t after its generate step is not"),
        ("ALTER TABLE t DROP INDEX code", "DDL of test.t after its generate step is not supported"),
        ("ALTER TABLE t COMMENT = 'x'", "DDL of test.t after its generate step is not supported"),
        ("RENAME TABLE t TO v", "DDL of test.t after its generate step is not supported"),
        ("DROP TABLE t", "DDL of test.t after its generate step is not supported"),
    ],
)
def test_the_rest_is_refused_by_name(tmp_path: Path, sql: str, message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        generated(tmp_path, "UPDATE t SET n = 1 WHERE id = 1", sql, table=f"{TABLE}; CREATE TABLE u (id INT)")
    assert str(caught.value).split(": ", 1)[1].startswith(message)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ({"key-changes": 0.1}, "the keys of test.t change in its generate step, so SQL cannot find its rows"),
        ({"columns": {"n": {"expression": "row"}}}, "column 'n' of test.t has an expression, which SQL cannot"),
    ],
)
def test_tables_whose_rows_cannot_be_looked_up(tmp_path: Path, step: dict[str, Any], message: str) -> None:
    for sql in ("DELETE FROM t WHERE id = 1", f"INSERT INTO t ({COLUMNS}) VALUES (9000, 'x', 1, 1, 'a')"):
        with pytest.raises(ScenarioError) as caught:
            generated(tmp_path, sql, **SHORT, **step)
        assert message in str(caught.value)


def test_the_number_of_rows_of_a_statement_is_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generated_table, "MOST_ROWS", 3)
    generated(tmp_path, "UPDATE t SET n = 1 WHERE id IN (1, 2, 3, 3, 99999)")
    with pytest.raises(ScenarioError, match=r"4 generated rows of test\.t, more than 3 \(write several"):
        generated(tmp_path, "UPDATE t SET n = 1 WHERE id IN (1, 2, 3, 4)")


def test_hidden_row_ids_and_auto_increment_continue(tmp_path: Path) -> None:
    table = "CREATE TABLE t (id BIGINT PRIMARY KEY NONCLUSTERED AUTO_INCREMENT, n INT)"
    history = generated(
        tmp_path, "INSERT INTO t (n) VALUES (1)", "UPDATE t SET n = 2 WHERE id = 3", table=table, **SHORT
    )
    (plan,) = history.generated
    used = {change.row_id for change in changes_of(plan)}
    new, old = history.changes
    assert int((new.after or ())[0] or 0) > plan.all_rows
    assert new.row_id > max(used)
    assert old.row_id in used
    assert old.row_id == next(one.row_id for one in changes_of(plan) if (one.after or ())[0] == b"3")


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
    name = "k"
    step = {"rows": 6, "transactions": 9, "mix": {"update": 1}}
    if key == "two columns":
        step["columns"] = {"k": {"distribution": "sequence"}}
    where = f"WHERE {name} = {value}"
    history = generated(
        tmp_path, f"UPDATE t SET n = 77 {where}", table=f"CREATE TABLE t ({columns}, n INT)", **step
    )
    (plan,) = history.generated
    (change,) = history.changes
    assert change.before in rows_at(generated(tmp_path, table=f"CREATE TABLE t ({columns}, n INT)", **step)).values()
    assert change.before != change.after
    assert rows_at(history)[change.row_key] == change.after
    assert len(rows_at(history)) == plan.all_rows


def test_the_version_of_the_table_after_ddl_of_the_step(tmp_path: Path) -> None:
    table = "CREATE TABLE t (id BIGINT PRIMARY KEY, n INT)"
    kinds = {"add-column": 2, "drop-column": 1, "rename-table": 1, "truncate-table": 1}
    step = {"rows": 30, "transactions": 60, "rows-per-transaction": 4, "ddl": {"every": 8, **kinds}}
    (before,) = generated(tmp_path, table=table, **step).generated
    last = before.table_after(None)
    assert last.name != "t"
    rows = rows_at(generated(tmp_path, table=table, **step))
    ids = sorted(int(row[0] or 0) for row in rows.values())
    history = generated(
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


def with_later_step(folder: Path, sql: str, column: str = "id") -> GeneratePlan:
    tables = f"{TABLE}; CREATE TABLE child (id INT PRIMARY KEY, parent BIGINT)"
    child = {
        "table": "child",
        "transactions": 30,
        "mix": {"insert": 1},
        "columns": {"parent": {"references": f"t.{column}", "nulls": 0}},
    }
    parent = {"table": "t", "rows": 20, "transactions": 5, "mix": {"insert": 1}}
    history = run(folder, {"sql": tables}, {"generate": parent}, {"sql": sql}, {"generate": child})
    return history.generated[1]


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE t SET n = 1 WHERE id = 3",
        "BEGIN; DELETE FROM t WHERE id = 3; ROLLBACK",
        f"DELETE FROM t WHERE id = 3; INSERT INTO t ({COLUMNS}) VALUES (3, 'x', 1, 1, 'a')",
        f"INSERT INTO t ({COLUMNS}) VALUES (900, 'x', 1, 1, 'a'); DELETE FROM t WHERE id = 900",
        "ALTER TABLE t DROP COLUMN code",
    ],
)
def test_later_references_to_an_edited_table(tmp_path: Path, sql: str) -> None:
    parents = {int((change.after or ())[1] or 0) for change in changes_of(with_later_step(tmp_path, sql))}
    assert parents <= set(range(1, 26))
    with_later_step(tmp_path, "ALTER TABLE t RENAME COLUMN id TO no", "no")


@pytest.mark.parametrize(
    "sql",
    ["DELETE FROM t WHERE id = 3", "UPDATE t SET id = 900 WHERE id = 3", "TRUNCATE TABLE t"],
)
def test_references_to_lost_keys_are_refused(tmp_path: Path, sql: str) -> None:
    with pytest.raises(ScenarioError, match=r"SQL removed values of test\.t\.id"):
        with_later_step(tmp_path, sql)


def test_an_edited_table_is_not_generated_again(tmp_path: Path) -> None:
    again = {"generate": {"table": "t", "transactions": 1}}
    first = {"generate": {"table": "t", **SHORT}}
    with pytest.raises(ScenarioError, match=r"the rows of test\.t were generated"):
        run(tmp_path, {"sql": TABLE}, first, {"sql": "TRUNCATE TABLE t"}, again)
