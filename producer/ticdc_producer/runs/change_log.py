"""The change log of a scenario as DataFrames: the row changes that were committed upstream."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, reduce

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from ticdc_producer.faults.stage import EventFaults
from ticdc_producer.pipeline.event_stream import StreamPlan
from ticdc_producer.runs.simulate import change_batch
from ticdc_producer.scenario.data_step import DataPlan
from ticdc_producer.scenario.dataframe.data import data_changes
from ticdc_producer.scenario.generate.log import generated_changes, generated_images, net_changes
from ticdc_producer.scenario.generate.plan import GeneratePlan
from ticdc_producer.scenario.history import History
from ticdc_producer.spark.event_stream import ordered_events
from ticdc_producer.spark.generated.row_events import generated_row_events
from ticdc_producer.spark.materialize import materialized
from ticdc_producer.spark.row_events import row_events

FEW_CHANGES = 100_000
"""Below this many generated changes, planning their query costs more than computing them."""


@dataclass(frozen=True)
class StepRows:
    """The rows of the ``generate`` and ``data`` steps of a history, which come as DataFrames.

    :param images: for each ``generate`` step the row images that ``generated_images`` returns.
    """

    spark: SparkSession
    plans: tuple[GeneratePlan, ...] = ()
    images: tuple[DataFrame, ...] = ()
    data: tuple[DataPlan, ...] = ()

    @cached_property
    def generated(self) -> DataFrame | None:
        """The changes of the ``generate`` steps (shape ``CHANGE_LOG``); None without such steps."""
        return _union(map(generated_changes, self.images, self.plans))

    @cached_property
    def net(self) -> DataFrame | None:
        """The net changes per transaction of the ``generate`` steps; None without such steps."""
        return _union(map(net_changes, self.images, self.plans))


@dataclass(frozen=True)
class ChangeLog:
    """The row changes of a history as DataFrames.

    :param sql_changes: changes (shape ``CHANGE_LOG``) of SQL run on the driver and of ``data`` steps.
    :param steps: the rows of ``generate`` and ``data`` steps.
    :param row_events: the row events of the stream if they were already computed; None: computed on demand.
    """

    sql_changes: DataFrame
    steps: StepRows
    row_events: DataFrame | None = None

    @property
    def spark(self) -> SparkSession:
        """The session of the DataFrames."""
        return self.steps.spark

    @cached_property
    def changes(self) -> DataFrame:
        """All changes: those of SQL, of ``data`` steps and of ``generate`` steps."""
        generated = self.steps.generated
        return self.sql_changes if generated is None else self.sql_changes.unionByName(generated)

    def events(self, plan: StreamPlan, faults: EventFaults | None = None) -> DataFrame:
        """The ordered event stream (shape ``EVENT_STREAM``).

        :param faults: the stage that injects faults; None: no faults.
        """
        return ordered_events(self.rows(plan), plan, faults)

    def rows(self, plan: StreamPlan) -> DataFrame:
        """The row events of the stream without DDL and resolved events, unordered."""
        if self.row_events is not None:
            return self.row_events
        rows = row_events(self.sql_changes, plan)
        if self.steps.net is None:
            return rows
        moves = any(plan.rows_move for plan in self.steps.plans)
        return rows.unionByName(generated_row_events(self.steps.net, plan, moves=moves))

    @contextmanager
    def materialize_rows(self, plan: StreamPlan) -> Iterator[ChangeLog]:
        """This change log with its row events materialized, for callers that read them several times."""
        with materialized(self.rows(plan)) as rows:
            yield replace(self, row_events=rows)


def change_log(spark: SparkSession, history: History) -> ChangeLog:
    """The change log of a whole scenario.

    :raises ScenarioError: for a step that Spark rejects.
    """
    sql_changes = spark.createDataFrame(pa.Table.from_batches([change_batch(history.changes)]))
    for source in history.data:
        sql_changes = sql_changes.unionByName(data_changes(spark, source))
    steps = step_rows(spark, history)
    images = tuple(_checkpoint_if_small(rows, history) for rows in steps.images)
    return ChangeLog(sql_changes, replace(steps, images=images))


def step_rows(spark: SparkSession, history: History) -> StepRows:
    """The rows of the steps of a history that come as DataFrames.

    :raises ScenarioError: for a step that Spark rejects.
    """
    images = tuple(generated_images(spark, plan) for plan in history.generated)
    return StepRows(spark, history.generated, images, history.data)


def _union(logs: Iterator[DataFrame]) -> DataFrame | None:
    found = [*logs]
    return reduce(DataFrame.unionByName, found) if found else None


def _checkpoint_if_small(generated: DataFrame, history: History) -> DataFrame:
    """Checkpoint few generated rows, so that later queries do not plan their windows and cells again.

    Not on a cluster: a local checkpoint is lost with its executor.
    """
    local = str(generated.sparkSession.conf.get("spark.master")).startswith("local")
    return generated.localCheckpoint() if local and history.row_changes < FEW_CHANGES else generated
