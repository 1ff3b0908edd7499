"""The change log of a scenario, and the events that follow from it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from ticdc_producer.faults.stage import EventFaults
from ticdc_producer.model.shapes import EVENT_STREAM
from ticdc_producer.pipeline.event_stream import StreamPlan
from ticdc_producer.runs.generated_stream import (
    GeneratedPartitions,
    GeneratedStream,
    generated_changes,
    generated_row_events,
)
from ticdc_producer.runs.simulate import change_batch
from ticdc_producer.runs.step_rows import StepRows
from ticdc_producer.scenario.dataframe.data import data_changes
from ticdc_producer.scenario.history import History
from ticdc_producer.spark.background_jobs import materialized
from ticdc_producer.spark.event_stream import (
    DRAWN_TABLES,
    drawn_tables,
    ordered_events,
    tables_by_segment,
)
from ticdc_producer.spark.row_events import row_events
from ticdc_producer.targets.encoding.ordered_events import EventFrame, OrderedEvents


@dataclass(frozen=True)
class RunChangeLog:
    """The row changes of a history.

    :param few: the changes of SQL (shape ``CHANGE_LOG``).
    :param many: the changes of DataFrames and ``data`` steps (shape ``CHANGE_LOG``), if there are any.
    :param steps: the plans of ``generate`` and ``data`` steps, whose rows are compared.
    :param row_events: the row events of the stream if they were already computed; None: computed on demand.
    """

    steps: StepRows
    few: pa.RecordBatch
    many: DataFrame | None = None
    row_events: DataFrame | None = None

    @property
    def spark(self) -> SparkSession:
        """The session of the DataFrames."""
        return self.steps.spark

    @property
    def changes(self) -> DataFrame:
        """All changes (shape ``CHANGE_LOG``), in no order."""
        if not self.steps.plans:
            return self._changes_to_shuffle
        generated = generated_changes(self.spark, tuple(self.steps.plans))
        return self._changes_to_shuffle.unionByName(generated)

    @cached_property
    def _changes_to_shuffle(self) -> DataFrame:
        few = self.spark.createDataFrame(pa.Table.from_batches([self.few]))
        return few if self.many is None else few.unionByName(self.many)

    def events(self, plan: StreamPlan, faults: EventFaults | None = None) -> OrderedEvents:
        """The ordered event stream (shape ``EVENT_STREAM``).

        :param faults: the stage that injects faults; None: no faults.
        """
        if self.shuffles(faults):
            return EventFrame(ordered_events(self.rows(plan), plan, faults))
        partitions = GeneratedPartitions(plan, self.steps.plans, self.few, faults)
        if faults is not None and faults.moves_tables:
            without = GeneratedStream(self.spark, replace(partitions, faults=None, wanted=faults.draws_table))
            drawn = without.mapped(partial(tables_by_segment, faults), DRAWN_TABLES, EVENT_STREAM.names)
            partitions = replace(partitions, moved=drawn_tables(drawn))
        return GeneratedStream(self.spark, partitions)

    def shuffles(self, faults: EventFaults | None) -> bool:
        """Whether ``events`` orders its rows by a shuffle; to inject faults it evaluates them several times.

        :param faults: as for ``events``.
        """
        local = faults is None or faults.is_local
        return not (local and self.steps.plans and self.many is None)

    def rows(self, plan: StreamPlan) -> DataFrame:
        """The row events (shape ``EVENT_STREAM``), without DDL and resolved events, unordered."""
        if self.row_events is not None:
            return self.row_events
        rows = row_events(self._changes_to_shuffle, plan)
        if not self.steps.plans:
            return rows
        return rows.unionByName(generated_row_events(self.spark, tuple(self.steps.plans), plan))

    @contextmanager
    def materialize_rows(self, plan: StreamPlan) -> Iterator[RunChangeLog]:
        """This change log with its row events materialized, for callers that read them several times."""
        with materialized(self.rows(plan)) as rows:
            yield replace(self, row_events=rows)


def change_log(spark: SparkSession, history: History) -> RunChangeLog:
    """The change log of a whole scenario.

    :raises ScenarioError: for a step that Spark rejects.
    """
    many: DataFrame | None = None
    for source in history.data:
        changes = data_changes(spark, source)
        many = changes if many is None else many.unionByName(changes)
    steps = StepRows(spark, history.generated, history.data)
    return RunChangeLog(steps, change_batch(history.changes), many)
