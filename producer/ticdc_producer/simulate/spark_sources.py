"""Sources of changes that Spark reads or computes: ``data`` steps, DataFrames, generated columns with SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ticdc_producer.engine.dataset import Batches, Dataset, Engine
from ticdc_producer.errors import ArgumentError
from ticdc_producer.model.shapes import CHANGE_LOG, TABLE_ROWS
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.data_steps import SourcePlan
from ticdc_producer.scenario.generate.cells import Expressions
from ticdc_producer.scenario.generate.plan import GeneratePlan
from ticdc_producer.simulate.change_log import UpstreamSource
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.state import is_compared, replicated_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ticdc_producer.engine.spark import SparkEngine


def _on_spark(engine: Engine, what: str) -> SparkEngine:
    """Return the engine, which must be Spark's.

    :raises ArgumentError: if it is not.
    """
    if engine.name != "spark":
        hint = "leave out `engine`, or choose `spark`"
        raise ArgumentError(f"{what} requires Spark", argument="engine", hint=hint).about("engine")
    from ticdc_producer.engine.spark import SparkEngine

    if not isinstance(engine, SparkEngine):
        raise TypeError(f"{type(engine).__name__} is named spark")
    return engine


@dataclass(frozen=True)
class DataSteps(UpstreamSource):
    """The changes of ``data`` steps, of large DataFrames and of large dumps."""

    steps: tuple[SourcePlan, ...]

    def changes(self, engine: Engine) -> Dataset:
        from ticdc_producer.scenario.dataframe.data import data_changes

        spark = _on_spark(engine, self.steps[0].what)
        frames = [data_changes(spark.spark, step) for step in self.steps]
        return spark.of_frame(_union(frames), CHANGE_LOG)

    def rows(self, engine: Engine, job: Job, commits: int | None) -> Iterator[tuple[TableInfo, Dataset]]:
        from ticdc_producer.scenario.dataframe.data import data_rows

        for step, table in [(each, table) for each in self.steps for table in each.tables]:
            if is_compared(job, table, step.first_commit, commits):
                spark = _on_spark(engine, step.what)
                rows = spark.of_frame(data_rows(spark.spark, step, table, commits), TABLE_ROWS)
                yield job.stream.selection.of(table), rows.map(partial(_replicated, job, table), TABLE_ROWS)


def _replicated(job: Job, table: TableInfo, batches: Batches) -> Batches:
    return (replicated_rows(job, table, batch) for batch in batches)


def _union(frames: Sequence[DataFrame]) -> DataFrame:
    first, *others = frames
    for frame in others:
        first = first.unionByName(frame)
    return first


def computed_parts(
    engine: Engine,
    plans: Sequence[GeneratePlan],
    count: int,
    source: Callable[[int, Expressions], Batches],
    draws: Callable[[int, Expressions], Iterator[object]],
    schema: pa.Schema,
) -> Dataset:
    """Return a dataset whose parts need values that Spark computes; as ``generated.drawn_parts``.

    :raises ArgumentError: for another engine than Spark's.
    """
    spark = _on_spark(engine, "a column with an `expression`, which is Spark SQL,")
    from ticdc_producer.scenario.generate.expressions import ExpressionValues, expression_values

    def rows(batches: Any) -> Batches:
        values = ExpressionValues(batches)
        if values.task is not None:
            yield from source(values.task, values)

    tasks = spark.spark.range(0, count, 1, count)
    values = pa.schema([("_task", pa.int32()), ("value", pa.binary())])
    return spark.of_frame(expression_values(tasks, plans, draws), values).map(rows, schema)
