"""Plans of scenarios with one ``generate`` step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import yaml

from ticdc_producer.model.event import Op
from ticdc_producer.scenario.execute import execute
from ticdc_producer.scenario.generate.cells import Expressions, no_expressions
from ticdc_producer.scenario.generate.changes import ChangeSource
from ticdc_producer.scenario.generate.plan import GeneratePlan
from ticdc_producer.scenario.history import Change, RowImage
from ticdc_producer.scenario.load import load_scenario

TABLE = """\
CREATE TABLE t (
  id BIGINT PRIMARY KEY, code VARCHAR(20) NOT NULL UNIQUE, n INT, amount DECIMAL(12,2),
  at DATETIME(3) NOT NULL, state ENUM('a','b','c') NOT NULL, note VARCHAR(40)
)"""


def planned(folder: Path, table: str = TABLE, seed: int = 1, **step: Any) -> GeneratePlan:
    """The plan of a step on ``t``; keys as in a scenario file, with ``_`` for ``-``."""
    [plan] = plans(folder, table, seed, table="t", **step)
    return plan


def plans(folder: Path, sql: str, seed: int = 1, /, **step: Any) -> tuple[GeneratePlan, ...]:
    """The plans of a step on several tables."""
    spec = {key.replace("_", "-"): value for key, value in step.items()}
    content = {"version": 1, "seed": seed, "steps": [{"sql": sql}, {"generate": spec}]}
    path = folder / "generated.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    return execute(load_scenario(path)).generated


def changes_of(
    *of_step: GeneratePlan, net: bool = False, expressions: Expressions = no_expressions
) -> list[Change]:
    """The changes of a step, in order.

    :param net: one change per row and transaction.
    """
    source = ChangeSource(plans=of_step, expressions=expressions, net=net)
    changes = [change for batch in source.batches() for change in read_changes(batch)]
    return sorted(changes, key=lambda change: (change.commit_seq, change.row_seq))


def read_changes(batch: pa.RecordBatch) -> list[Change]:
    """The rows of a batch of shape ``CHANGE_LOG``."""
    changes = []
    for row in batch.to_pylist():
        images = {name: None if row[name] is None else tuple(row[name]) for name in ("before", "after")}
        changes.append(Change(**{**row, **images, "op": Op(row["op"])}))
    return changes


def rows_of(plan: GeneratePlan, commits: int | None = None) -> dict[bytes, RowImage]:
    """The rows after a step, by row key."""
    batches = ChangeSource(plans=[plan], expressions=no_expressions).existing_rows(plan, commits)
    rows = [row for batch in batches for row in batch.to_pylist()]
    by_key = {row["row_key"]: tuple(row["row"]) for row in rows}
    assert len(by_key) == len(rows)
    return by_key
