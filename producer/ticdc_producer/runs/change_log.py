"""The change log of a scenario as DataFrames: the row changes that were committed upstream."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from ticdc_producer.model.dataframes import CHANGE_LOG
from ticdc_producer.pipeline.event_stream import Faults, StreamPlan, ordered_events, row_events
from ticdc_producer.scenario.dataframe.data import data_changes
from ticdc_producer.scenario.generate.log import generated_changes, generated_images, net_changes
from ticdc_producer.scenario.generate.plan import GeneratePlan
from ticdc_producer.scenario.history import Change, History
from ticdc_producer.spark.materialize import materialized

FEW_CHANGES = 100_000
"""Below this many generated changes, planning their query costs more than computing them."""


@dataclass(frozen=True)
class ChangeLog:
    """The row changes of a history as DataFrames.

    :param sql_changes: changes (shape ``CHANGE_LOG``) of SQL run on the driver and of ``data`` steps.
    :param plans: the ``generate`` steps.
    :param images: for each plan the row images that ``generated_images`` returns.
    :param row_events: the row events of the stream if they were already computed; None: computed on demand.
    """

    sql_changes: DataFrame
    plans: tuple[GeneratePlan, ...] = ()
    images: tuple[DataFrame, ...] = ()
    row_events: DataFrame | None = None

    @property
    def spark(self) -> SparkSession:
        """The session of the DataFrames."""
        return self.sql_changes.sparkSession

    @cached_property
    def changes(self) -> DataFrame:
        """All changes: those of SQL, of ``data`` steps and of ``generate`` steps."""
        return reduce(
            DataFrame.unionByName, map(generated_changes, self.images, self.plans), self.sql_changes
        )

    @cached_property
    def net(self) -> DataFrame | None:
        """The net changes per transaction of the ``generate`` steps; None without such steps."""
        logs = [*map(net_changes, self.images, self.plans)]
        return reduce(DataFrame.unionByName, logs) if logs else None

    def events(self, plan: StreamPlan, faults: Faults | None = None) -> DataFrame:
        """The ordered event stream (shape ``EVENT_STREAM``).

        :param faults: the stage that injects faults; None: no faults.
        """
        return ordered_events(self.rows(plan), plan, faults)

    def rows(self, plan: StreamPlan) -> DataFrame:
        """The row events of the stream without DDL and resolved events, unordered."""
        if self.row_events is not None:
            return self.row_events
        moves = any(plan.rows_move for plan in self.plans)
        return row_events(self.spark, self.sql_changes, plan, self.net, net_moves=moves)

    @contextmanager
    def materialize_rows(self, plan: StreamPlan) -> Iterator[ChangeLog]:
        """This change log with its row events materialized, for callers that read them several times."""
        with materialized(self.rows(plan)) as rows:
            yield replace(self, row_events=rows)


def change_log(spark: SparkSession, history: History) -> ChangeLog:
    """The change log of a whole scenario.

    :raises ScenarioError: for a step that Spark rejects.
    """
    sql_changes = spark.createDataFrame([_row(change) for change in history.changes], CHANGE_LOG)
    for source in history.data:
        sql_changes = sql_changes.unionByName(data_changes(spark, source))
    images = tuple(_checkpoint_if_small(generated_images(spark, plan), history) for plan in history.generated)
    return ChangeLog(sql_changes, history.generated, images)


def _checkpoint_if_small(generated: DataFrame, history: History) -> DataFrame:
    """Checkpoint few generated rows, so that later queries do not plan their windows and cells again.

    Not on a cluster: a local checkpoint is lost with its executor.
    """
    local = str(generated.sparkSession.conf.get("spark.master")).startswith("local")
    return generated.localCheckpoint() if local and history.row_changes < FEW_CHANGES else generated


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
