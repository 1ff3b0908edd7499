"""The rule of MERGE in docs/spark.md: changes leave the same rows in whatever micro-batches they come.

Spark has no format of its own with MERGE. A join applies the conditions of the statement.
"""

from __future__ import annotations

import random
import re
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.docs.page_commands import blocks

CHANGES = [
    (1, "a", "insert", 10), (2, "b", "insert", 10),
    # the keys of two rows are swapped
    (1, "a", "delete", 20), (2, "b", "delete", 20), (1, "b", "insert", 20), (2, "a", "insert", 20),
    # one message changes a key: output-raw-change-event
    (2, "a", "update_preimage", 30), (3, "a", "update_postimage", 30),
    (3, "a", "update_preimage", 40), (3, "c", "update_postimage", 40), (1, "b", "delete", 50),
]  # fmt: skip
LEFT = [(3, "c")]
KEY = ("run", "id")
"""Each run has its own rows, so that one job merges the micro-batches of all runs."""
RUNS = range(200)


def test_any_micro_batches_leave_the_same_rows(spark: SparkSession) -> None:
    """Each change comes twice, at any time."""
    (recipe,) = (block for block in blocks("spark.md", "python") if "MERGE INTO" in block)
    names: dict[str, Any] = {}
    exec(recipe, names)
    chance = random.Random(0)
    orders = {run: chance.sample(CHANGES * 2, 2 * len(CHANGES)) for run in RUNS}
    target = spark.createDataFrame(
        [], "run INT, id INT, v STRING, ticdc_version BIGINT, ticdc_deleted BOOLEAN"
    )
    size = 4
    for first in range(0, 2 * len(CHANGES), size):
        rows = [(run, *change) for run in RUNS for change in orders[run][first : first + size]]
        batch = spark.createDataFrame(
            rows, "run INT, id INT, v STRING, _change_type STRING, _commit_version BIGINT"
        )
        changes = names["newest_changes"](batch.withColumn("_commit_timestamp", F.lit(None)), *KEY)
        target = spark.createDataFrame(_merged(target, changes, recipe).collect(), target.schema)
    left: dict[int, list[tuple[int, str]]] = {run: [] for run in RUNS}
    for row in target.where("NOT ticdc_deleted").collect():
        left[row["run"]].append((row["id"], row["v"]))
    assert left == dict.fromkeys(RUNS, LEFT)


def _merged(target: DataFrame, changes: DataFrame, recipe: str) -> DataFrame:
    """Return the target after the MERGE of the recipe."""
    statement = " ".join(recipe.split())
    (matched,) = re.findall(r"WHEN MATCHED AND \((.*?)\) THEN UPDATE SET \*", statement)
    assert "WHEN NOT MATCHED THEN INSERT *" in statement
    same_key = " AND ".join(f"t.{name} = s.{name}" for name in KEY)
    joined = target.alias("t").join(changes.alias("s"), F.expr(same_key), "full")
    is_changed = F.expr(f"t.id IS NULL OR (s.id IS NOT NULL AND ({matched}))")
    return joined.select(
        *(
            F.when(is_changed, F.col(f"s.{name}")).otherwise(F.col(f"t.{name}")).alias(name)
            for name in target.columns
        )
    )
