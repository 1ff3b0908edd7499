"""What was committed upstream, as DataFrames."""

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
from ticdc_producer.spark.materialize import kept

FEW_CHANGES = 100_000
"""Of fewer generated changes, planning costs more than making them: they are made once, and kept."""


@dataclass(frozen=True)
class Upstream:
    """A history as DataFrames.

    :param told: the change log of what its SQL did on the driver, and of the data it names.
    :param plans: its ``generate`` steps.
    :param images: what ``generated_images`` makes of each of them.
    :param drawn: the row events of the stream, if they were made already.
    """

    told: DataFrame
    plans: tuple[GeneratePlan, ...] = ()
    images: tuple[DataFrame, ...] = ()
    drawn: DataFrame | None = None

    @property
    def spark(self) -> SparkSession:
        """The session that they live in."""
        return self.told.sparkSession

    @cached_property
    def changes(self) -> DataFrame:
        """The whole change log."""
        return reduce(DataFrame.unionByName, map(generated_changes, self.images, self.plans), self.told)

    @cached_property
    def net(self) -> DataFrame | None:
        """What each transaction of the ``generate`` steps changes in the end; None without such steps."""
        logs = [*map(net_changes, self.images, self.plans)]
        return reduce(DataFrame.unionByName, logs) if logs else None

    def events(self, plan: StreamPlan, faults: Faults | None = None) -> DataFrame:
        """The ordered event stream (shape ``EVENT_STREAM``).

        :param faults: what goes wrong on purpose.
        """
        return ordered_events(self.rows(plan), plan, faults)

    def rows(self, plan: StreamPlan) -> DataFrame:
        """The row events of that stream alone, in no order."""
        if self.drawn is not None:
            return self.drawn
        moves = any(plan.rows_move for plan in self.plans)
        return row_events(self.spark, self.told, plan, self.net, net_moves=moves)

    @contextmanager
    def drawn_once(self, plan: StreamPlan) -> Iterator[Upstream]:
        """The same, for whoever looks at the row events of a plan several times, as faults do."""
        with kept(self.rows(plan)) as rows:
            yield replace(self, drawn=rows)


def upstream(spark: SparkSession, history: History) -> Upstream:
    """The DataFrames of a whole scenario.

    :raises ScenarioError: for a step that Spark finds something wrong with.
    """
    told = spark.createDataFrame([_row(change) for change in history.changes], CHANGE_LOG)
    for source in history.data:
        told = told.unionByName(data_changes(spark, source))
    images = tuple(_settled(generated_images(spark, plan), history) for plan in history.generated)
    return Upstream(told, history.generated, images)


def _settled(generated: DataFrame, history: History) -> DataFrame:
    """Generated rows, made now if they are few: whatever follows would plan their windows and cells again.

    On a cluster they are not, since what an executor has checkpointed is lost with it.
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
