"""Plans of scenarios with one ``generate`` step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from pyspark.sql import DataFrame, SparkSession

from ticdc_producer.scenario.execute import execute
from ticdc_producer.scenario.generate.log import generated_changes, generated_images
from ticdc_producer.scenario.generate.plan import GeneratePlan
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


def changes_of(spark: SparkSession, plan: GeneratePlan) -> DataFrame:
    """The change log of a step."""
    return generated_changes(generated_images(spark, plan), plan)
