"""The events of ``generate`` steps as Spark draws them: those of a partition, or of a part of the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from ticdc_producer.model.shapes import CHANGE_LOG, EVENT_STREAM
from ticdc_producer.pipeline.event_stream import StreamPlan, net_row_events
from ticdc_producer.runs.generated_events import GeneratedPartitions
from ticdc_producer.scenario.generate.cells import Expressions
from ticdc_producer.scenario.generate.changes import ChangeSource, part_of_rows
from ticdc_producer.scenario.generate.expressions import made_in_tasks, needs_expressions
from ticdc_producer.scenario.generate.plan import GeneratePlan
from ticdc_producer.targets.encoding.ordered_events import BatchFunction, OrderedEvents

_Batches: TypeAlias = Iterator[pa.RecordBatch]


@dataclass(frozen=True)
class GeneratedStream(OrderedEvents):
    """Ordered events, each drawn by the task that encodes it; one task per partition."""

    session: SparkSession
    partitions: GeneratedPartitions

    @property
    def spark(self) -> SparkSession:
        return self.session

    def mapped(self, function: BatchFunction, schema: StructType | str, columns: Sequence[str]) -> DataFrame:
        partitions, names = self.partitions, [*columns]

        def made(task: int, expressions: Expressions) -> _Batches:
            return function(batch.select(names) for batch in partitions.events(task, expressions))

        tasks = len(partitions.stream.topic_partitions)
        return made_in_tasks(self.session, partitions.plans, tasks, made, partitions.drawn, schema)


def generated_changes(spark: SparkSession, plans: tuple[GeneratePlan, ...]) -> DataFrame:
    """All changes of ``generate`` steps (shape ``CHANGE_LOG``), in no order."""
    return _drawn_by_rows(spark, plans, lambda changes: changes, CHANGE_LOG, net=False)


def generated_row_events(
    spark: SparkSession, plans: tuple[GeneratePlan, ...], stream: StreamPlan
) -> DataFrame:
    """The row events of ``generate`` steps (shape ``EVENT_STREAM``), in no order."""
    return _drawn_by_rows(
        spark, plans, lambda changes: net_row_events(changes, stream), EVENT_STREAM, net=True
    )


def _drawn_by_rows(
    spark: SparkSession,
    plans: tuple[GeneratePlan, ...],
    function: Callable[[pa.RecordBatch], pa.RecordBatch],
    schema: pa.Schema,
    *,
    net: bool,
) -> DataFrame:
    """Each task draws the changes of a part of the rows."""
    tasks = spark.sparkContext.defaultParallelism

    def source(task: int, expressions: Expressions, *, only_expressions: bool) -> ChangeSource:
        return ChangeSource(
            plans=plans,
            expressions=expressions,
            drawn=lambda plan: needs_expressions(plan) or not only_expressions,
            rows=part_of_rows(task, tasks),
            share=tasks,
            net=net,
        )

    def made(task: int, expressions: Expressions) -> _Batches:
        yield from map(function, source(task, expressions, only_expressions=False).batches())

    def drawn(task: int, expressions: Expressions) -> Iterator[object]:
        return source(task, expressions, only_expressions=True).batches()

    return made_in_tasks(spark, plans, tasks, made, drawn, from_arrow_schema(schema))
