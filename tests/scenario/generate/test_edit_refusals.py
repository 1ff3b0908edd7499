"""What SQL cannot do after a ``generate`` step is refused by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.scenario.generate.edited import COLUMNS, SHORT, TABLE, edited, rows_at, run
from tests.scenario.generate.plans import changes_of
from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.generate.plan import GeneratePlan


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        (
            "DELETE FROM t",
            "the rows of test.t were generated: WHERE must give their keys (compare id",
        ),
        ("UPDATE t SET n = 1 WHERE n = 5", "the rows of test.t were generated: WHERE must give their keys ("),
        ("DELETE FROM t WHERE id > 5", "the rows of test.t were generated: WHERE must give their keys ("),
        ("DELETE FROM t WHERE id = 5 OR n = 1", "the rows of test.t were generated: WHERE must give their"),
        (
            "DELETE FROM t WHERE id IN (5, n)",
            "the rows of test.t were generated: WHERE must give their keys (",
        ),
        ("DELETE FROM t WHERE code = 5", "the rows of test.t were generated: WHERE must give their keys ("),
        ("INSERT INTO u SELECT id FROM t", "the rows of test.t were generated: WHERE must give their keys ("),
        ("DELETE FROM t WHERE nope = 5", "Unknown column 'nope' in table 't'"),
        ("ALTER TABLE t ADD INDEX (n)", "DDL of test.t after its generate step is not supported (only ADD,"),
        ("ALTER TABLE t ADD COLUMN x INT, ADD INDEX (n)", "DDL of test.t after its generate step is not"),
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
        edited(tmp_path, "UPDATE t SET n = 1 WHERE id = 1", sql, table=f"{TABLE}; CREATE TABLE u (id INT)")
    assert str(caught.value).split(": ", 1)[1].startswith(message)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ({"key-changes": 0.1}, "the keys of test.t change in its generate step, so SQL cannot find its rows"),
        (
            {"columns": {"n": {"expression": "row"}}},
            "column 'n' of test.t has an expression, which SQL cannot",
        ),
    ],
)
def test_tables_whose_rows_cannot_be_looked_up(tmp_path: Path, step: dict[str, Any], message: str) -> None:
    for sql in ("DELETE FROM t WHERE id = 1", f"INSERT INTO t ({COLUMNS}) VALUES (9000, 'x', 1, 1, 'a')"):
        with pytest.raises(ScenarioError) as caught:
            edited(tmp_path, sql, **SHORT, **step)
        assert message in str(caught.value)


HASHED = "PARTITION BY HASH (id) PARTITIONS 2"


@pytest.mark.parametrize(
    "ddl",
    [
        "ALTER TABLE q EXCHANGE PARTITION p0 WITH TABLE t",
        "ALTER TABLE parts EXCHANGE PARTITION p0 WITH TABLE u",
        "ALTER TABLE parts TRUNCATE PARTITION p0",
        "ALTER TABLE parts COALESCE PARTITION 1",
        "ALTER TABLE parts REMOVE PARTITIONING",
    ],
)
def test_partitions_of_generated_tables_stay(tmp_path: Path, ddl: str) -> None:
    names = {"t": "", "u": "", "q": HASHED, "parts": HASHED}
    sql = "; ".join(f"CREATE TABLE {name} (id INT PRIMARY KEY, n INT) {by}" for name, by in names.items())
    generate = {"tables": [{"table": "t"}, {"table": "parts"}], **SHORT}
    with pytest.raises(ScenarioError, match="after its generate step is not supported"):
        run(tmp_path, {"sql": sql}, {"generate": generate}, {"sql": ddl})


MANY_ROWS = {"rows": 10_001, "transactions": 1, "mix": {"update": 1}}
FIRST_KEYS = ", ".join(map(str, range(1, 10_001)))


@pytest.mark.slow
def test_a_statement_may_change_ten_thousand_rows(tmp_path: Path) -> None:
    history = edited(tmp_path, f"DELETE FROM t WHERE id IN ({FIRST_KEYS}, 3, 99999)", **MANY_ROWS)
    assert len(history.changes) == 10_000


def test_the_number_of_rows_of_a_statement_is_limited(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"10001 generated rows of test\.t, more than 10000 \(write sev"):
        edited(tmp_path, f"DELETE FROM t WHERE id IN ({FIRST_KEYS}, 10001)", **MANY_ROWS)


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


def test_ddl_of_a_table_whose_rows_cannot_be_looked_up(tmp_path: Path) -> None:
    """It needs no row; after TRUNCATE TABLE all rows are SQL's."""
    ddl = "ALTER TABLE t ADD COLUMN more INT; TRUNCATE TABLE t"
    dml = f"INSERT INTO t ({COLUMNS}) VALUES (1, 'x', 1, 1, 'a'); UPDATE t SET more = 5"
    history = edited(tmp_path, ddl, dml, **SHORT, columns={"n": {"expression": "row"}})
    assert [row[-1] for row in rows_at(history).values()] == [b"5"]
