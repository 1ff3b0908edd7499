"""The row keys of columns are those of single rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scenario.generate.plans import changes_of, planned
from ticdc_producer.model.row_key import index_key, int_key

TYPES = (
    "INT", "BIGINT UNSIGNED", "TINYINT", "DECIMAL(9,2)", "DATE", "DATETIME(2)", "TIME", "YEAR", "BIT(20)",
    "CHAR(9)", "VARCHAR(20) COLLATE utf8mb4_general_ci", "BINARY(12)", "VARBINARY(12)", "DOUBLE",
    "ENUM('a','b')",
)  # fmt: skip


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("first", [True, False])
def test_keys_of_two_columns(tmp_path: Path, kind: str, first: bool) -> None:
    """One column numbers the rows, the other one is drawn."""
    key = "other, id" if first else "id, other"
    table = f"CREATE TABLE t (id INT NOT NULL, other {kind} NOT NULL, PRIMARY KEY ({key}) CLUSTERED)"
    plan = planned(tmp_path, table, rows=30, transactions=30, mix={"insert": 2, "delete": 1})
    assert plan.table.clustered_key is not None
    for change in changes_of(plan):
        image = change.after or change.before
        assert image is not None
        assert change.row_key == index_key(plan.table.columns, plan.table.clustered_key, image)
        assert change.row_id == 0


@pytest.mark.parametrize(("kind", "low"), [("INT", -5), ("BIGINT UNSIGNED", (1 << 63) - 3)])
def test_integer_handles(tmp_path: Path, kind: str, low: int) -> None:
    table = f"CREATE TABLE t (id {kind} PRIMARY KEY, n INT NOT NULL)"
    columns = {"id": {"min": low}}
    plan = planned(tmp_path, table, transactions=9, mix={"insert": 1}, columns=columns)
    changes = changes_of(plan)
    signed = [number - (1 << 64) if number >= 1 << 63 else number for number in range(low, low + 9)]
    assert [change.row_id for change in changes] == signed
    assert [change.row_key for change in changes] == [int_key(number) for number in range(low, low + 9)]
