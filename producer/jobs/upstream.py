"""What was committed upstream, as DataFrames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from producer.model.shapes import CHANGE_LOG
from producer.scenario.dataframe.data import data_changes
from producer.scenario.generate.log import generated_changes, generated_images
from producer.scenario.history import Change, History

FEW_CHANGES = 100_000
"""Of fewer generated changes, planning costs more than making them: they are made once, and kept."""


@dataclass(frozen=True)
class Upstream:
    """A history as DataFrames.

    :param changes: its change log, generated changes and those of data included.
    :param images: what ``generated_images`` makes of each of ``history.generated``, in their order.
    """

    changes: DataFrame
    images: tuple[DataFrame, ...] = ()

    @property
    def spark(self) -> SparkSession:
        """The session that they live in."""
        return self.changes.sparkSession


def upstream(spark: SparkSession, history: History) -> Upstream:
    """The DataFrames of a whole scenario.

    :raises ScenarioError: for a step that Spark finds something wrong with.
    """
    images = tuple(_settled(generated_images(spark, plan), history) for plan in history.generated)
    log = spark.createDataFrame([_row(change) for change in history.changes], CHANGE_LOG)
    for source in history.data:
        log = log.unionByName(data_changes(spark, source))
    for plan, made in zip(history.generated, images, strict=True):
        log = log.unionByName(generated_changes(made, plan))
    return Upstream(log, images)


def _settled(generated: DataFrame, history: History) -> DataFrame:
    """Generated rows, made now if they are few: whatever follows would plan their windows and cells again."""
    return generated.localCheckpoint() if history.row_changes < FEW_CHANGES else generated


def _row(change: Change) -> tuple[Any, ...]:
    return (
        change.commit_seq,
        change.row_seq,
        change.table_version,
        change.table_id,
        change.row_key,
        change.row_id,
        int(change.op),
        None if change.before is None else list(change.before),
        None if change.after is None else list(change.after),
        change.old_table_id,
        change.old_row_key,
        change.old_row_id,
    )
