"""Scenarios whose SQL uses a table after its ``generate`` step."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from ticdc_producer.scenario.execute import execute
from ticdc_producer.scenario.generate.cells import no_expressions
from ticdc_producer.scenario.generate.changes import ChangeSource, part_of_rows
from ticdc_producer.scenario.generate.edited_rows import rows_of_table
from ticdc_producer.scenario.history import History, RowImage
from ticdc_producer.scenario.load import load_scenario

TABLE = """\
CREATE TABLE t (
  id BIGINT PRIMARY KEY, code VARCHAR(20) COLLATE utf8mb4_general_ci NOT NULL UNIQUE, n INT,
  amount DECIMAL(12,2), state ENUM('a','b','c') NOT NULL, twice INT AS (n MOD 1000 * 2), UNIQUE pair (id, n)
)"""
COLUMNS = "id, code, n, amount, state"
BUSY = {
    "transactions": 150,
    "rows-per-transaction": 3,
    "rows": 40,
    "mix": {"insert": 1, "update": 2, "delete": 1},
}
SHORT = {"transactions": 20, "rows": 5}


def run(folder: Path, *steps: dict[str, Any], state_at: Sequence[int] = ()) -> History:
    """The history of a scenario with a commit every second."""
    path = folder / "edited.yaml"
    content = {"version": 1, "seed": 7, "clock": {"every": "1s"}, "steps": steps}
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    return execute(load_scenario(path), state_at=state_at)


def edited(folder: Path, *sql: str, table: str = TABLE, state_at: Sequence[int] = (), **step: Any) -> History:
    """The history of a generated table ``t``, and of SQL after the step."""
    spec = {"table": "t", **(step or BUSY)}
    steps = ({"sql": statement} for statement in sql)
    return run(folder, {"sql": table}, {"generate": spec}, *steps, state_at=state_at)


def rows_at(history: History, commits: int | None = None) -> dict[bytes, RowImage]:
    """The rows of the only generated table, from three tasks."""
    (plan,) = history.generated
    rows: dict[bytes, RowImage] = {}
    for task in range(3):
        source = ChangeSource(
            plans=[plan],
            expressions=no_expressions,
            rows=part_of_rows(task, 3),
            share=3,
        )
        for batch in rows_of_table(source, plan, commits, of_sql=task == 0):
            for row in batch.to_pylist():
                assert row["row_key"] not in rows
                rows[row["row_key"]] = tuple(row["row"])
    return rows
