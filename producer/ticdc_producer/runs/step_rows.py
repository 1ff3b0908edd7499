"""The rows that the tables of ``generate`` and ``data`` steps have at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias, TypeVar

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from ticdc_producer.model.shapes import BatchFunction
from ticdc_producer.model.table import TableInfo
from ticdc_producer.pipeline.decoded_images import project_values
from ticdc_producer.pipeline.event_filter import reduced_tables
from ticdc_producer.pipeline.local_time import is_utc, local_images, timestamp_columns
from ticdc_producer.pipeline.row_images import selected_from
from ticdc_producer.protocols.zone import local_timestamp, zone_of
from ticdc_producer.runs.prepare import Job
from ticdc_producer.scenario.data_step import DataPlan
from ticdc_producer.scenario.dataframe.data import data_rows
from ticdc_producer.scenario.dump_step import DumpPlan
from ticdc_producer.scenario.generate.cells import Expressions, no_expressions
from ticdc_producer.scenario.generate.changes import ROWS, ChangeSource, part_of_rows
from ticdc_producer.scenario.generate.edited_rows import rows_of_table
from ticdc_producer.scenario.generate.expressions import (
    ExpressionValues,
    expression_values,
    has_expressions,
    made_in_tasks,
)
from ticdc_producer.scenario.generate.plan import GeneratePlan
from ticdc_producer.scenario.history import RowImage
from ticdc_producer.spark.task_results import MapInArrow, run_in_one_task
from ticdc_producer.verifier.table_state import STATE


def local_rows(table: TableInfo, rows: Sequence[RowImage], time_zone: str) -> tuple[RowImage, ...]:
    """Convert rows that the driver holds.

    :param time_zone: the changefeed's time zone.
    """
    columns = timestamp_columns(table)
    if is_utc(time_zone) or not columns:
        return tuple(rows)
    zone = zone_of(time_zone)
    return tuple(
        tuple(local_timestamp(value, zone) if index in columns else value for index, value in enumerate(row))
        for row in rows
    )


@dataclass(frozen=True)
class StepRows:
    """The rows of the ``generate`` and ``data`` steps of a history, which come as DataFrames."""

    spark: SparkSession
    plans: Sequence[GeneratePlan] = ()
    data: Sequence[DataPlan | DumpPlan] = ()

    def at(self, job: Job, commits: int | None) -> Iterator[tuple[TableInfo, MapInArrow]]:
        """The replicated tables, and what applies functions to their rows (shape ``ROWS``) as they are sent.

        :param commits: the number of commits after which the rows are taken; None: after the last one.
        """
        for plan in self.plans:
            table = plan.table_after(commits)
            if _is_compared(job, table, plan.first_commit, commits):
                yield job.stream.selection.of(table), partial(self._generated, job, plan, commits)
        for source in self.data:
            if _is_compared(job, source.table, source.first_commit, commits):
                yield job.stream.selection.of(source.table), partial(self._read, job, source, commits)

    def _generated(
        self,
        job: Job,
        plan: GeneratePlan,
        commits: int | None,
        function: BatchFunction,
        schema: StructType | str,
    ) -> DataFrame:
        tasks = self.spark.sparkContext.defaultParallelism
        table = plan.table_after(commits)

        def rows(task: int, expressions: Expressions) -> Iterator[pa.RecordBatch]:
            source = ChangeSource(
                plans=[plan],
                expressions=expressions,
                rows=part_of_rows(task, tasks),
                share=tasks,
            )
            for batch in rows_of_table(source, plan, commits, of_sql=task == 0):
                yield replicated_rows(job, table, batch)

        def made(task: int, expressions: Expressions) -> Iterator[pa.RecordBatch]:
            return function(rows(task, expressions))

        return made_in_tasks(self.spark, [plan], tasks, made, rows, schema)

    def _read(
        self,
        job: Job,
        source: DataPlan | DumpPlan,
        commits: int | None,
        function: BatchFunction,
        schema: StructType | str,
    ) -> DataFrame:
        def made(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return function(replicated_rows(job, source.table, batch) for batch in batches)

        return data_rows(self.spark, source, commits).mapInArrow(made, schema)


def generated_at(
    job: Job, expressions: Expressions, commits: int | None
) -> Iterator[tuple[TableInfo, pa.Table]]:
    """The replicated tables of ``generate`` steps and their rows; as ``StepRows.at``, for few rows.

    :return: shape ``ROWS``, sorted by ``row_key``.
    """
    source = ChangeSource(plans=job.history.generated, expressions=expressions)
    for plan in job.history.generated:
        table = plan.table_after(commits)
        if _is_compared(job, table, plan.first_commit, commits):
            batches = [replicated_rows(job, table, one) for one in rows_of_table(source, plan, commits)]
            rows = pa.Table.from_batches(batches, ROWS).sort_by("row_key")
            yield job.stream.selection.of(table), rows


def _is_compared(job: Job, table: TableInfo, first_commit: int, commits: int | None) -> bool:
    """Whether the changefeed sends all rows of a table, and its step has begun after some commits."""
    return table.version in job.stream.whole and (commits is None or commits > first_commit)


def replicated_rows(job: Job, table: TableInfo, rows: pa.RecordBatch) -> pa.RecordBatch:
    """Rows with TIMESTAMP values in the changefeed's time zone, and without unselected columns.

    :param rows: shape ``ROWS``.
    """
    images, versions = rows.column("row"), np.full(rows.num_rows, table.version)
    columns = timestamp_columns(table)
    if columns and not is_utc(job.changefeed.time_zone):
        images = local_images(images, {table.version: columns}, versions, job.changefeed.time_zone)
    selected = reduced_tables([table], job.stream.selection)
    if selected:
        images = selected_from(images, selected, versions)
    return pa.record_batch([rows.column("row_key"), images], schema=ROWS)


def state_rows(job: Job, table: TableInfo, rows: pa.RecordBatch) -> pa.RecordBatch:
    """Rows as a reader of the messages decodes them (shape ``STATE``).

    Replaced bytes of invalid text need no handling: generated text is valid UTF-8.

    :param table: with the columns of ``rows``.
    :param rows: shape ``ROWS``.
    """
    fidelity, count = job.encoder.fidelity, rows.num_rows
    images = rows.column("row")
    staged = pa.record_batch(
        {
            "table_version": pa.array(np.full(count, table.version, np.int32)),
            "before": pa.nulls(count, images.type),
            "after": images,
        }
    )
    images = project_values(staged, job.catalog.tables, fidelity).column("after")
    names = pa.array([fidelity.visible_name(column.name) for column in table.sent_columns], pa.string())
    keys = names.take(pa.array(np.tile(np.arange(len(names)), count)))
    offsets = pa.array(np.arange(count + 1) * len(names), pa.int32())
    columns = [
        *(pa.repeat(fidelity.visible_name(name), count) for name in (table.schema, table.name)),
        pa.MapArray.from_arrays(offsets, keys, images.flatten()),
    ]
    return pa.record_batch(columns, schema=STATE)


def table_marker(job: Job, table: TableInfo) -> pa.RecordBatch:
    """A record of shape ``STATE`` without a row, which says that there is the table."""
    visible = job.encoder.fidelity.visible_name
    marker = {"schema": visible(table.schema), "table": visible(table.name), "row": None}
    return pa.RecordBatch.from_pylist([marker], STATE)


T = TypeVar("T")
StepStates: TypeAlias = Mapping[int | None, Sequence[tuple[TableInfo, pa.Table]]]
"""The replicated tables of ``generate`` steps and their rows (``changes.ROWS``), by TSO; None: at the end."""


@dataclass(frozen=True)
class GeneratedRows:
    """What the ``generate`` steps of a history do.

    :param changes: shape ``CHANGE_LOG``.
    :param states: the rows at the end, and at the job's ``state_at``.
    """

    changes: Sequence[pa.RecordBatch]
    states: StepStates


def generated_rows(job: Job, expressions: Expressions = no_expressions) -> GeneratedRows:
    """Draw all changes of the ``generate`` steps of a small history.

    :param expressions: computes the columns with an ``expression``.
    """
    source = ChangeSource(plans=job.history.generated, expressions=expressions)
    changes = [*source.batches()]
    commits: dict[int | None, int | None] = {None: job.sent}
    commits |= {ts: job.commits_until(ts) for ts in job.state_at}
    return GeneratedRows(
        changes, {ts: [*generated_at(job, expressions, until)] for ts, until in commits.items()}
    )


Session: TypeAlias = Callable[[], SparkSession]
"""Returns the Spark session, and starts it if it does not run."""


def _rows_without_expressions(job: Job | None) -> GeneratedRows:
    return GeneratedRows((), {}) if job is None else generated_rows(job)


def call_with_generated_rows(
    session: Session, job: Job | None, function: Callable[[GeneratedRows], T], *, in_worker: bool
) -> T:
    """Call a function with the generated rows of a small history, in this process unless Spark draws them.

    :param session: called if the function is called in a Spark task, which computes columns with an
        ``expression``.
    :param job: None: nothing is generated.
    :param in_worker: call it in a task in any case: a task can be cancelled, and has a memory of its own.
    """
    if in_worker or (job is not None and has_expressions(job.history.generated)):
        return run_with_generated_rows(session(), job, function)
    return function(_rows_without_expressions(job))


def run_with_generated_rows(
    spark: SparkSession, job: Job | None, function: Callable[[GeneratedRows], T]
) -> T:
    """Call a function with the generated rows of a small history in one Spark task.

    :param function: see ``run_in_one_task``.
    :param job: None: nothing is generated.
    """
    if job is None or not has_expressions(job.history.generated):
        return run_in_one_task(spark, lambda _batches: function(_rows_without_expressions(job)))

    def draws(_task: int, expressions: Expressions) -> Iterator[object]:
        yield generated_rows(job, expressions)

    def call(batches: Iterable[pa.RecordBatch]) -> T:
        return function(generated_rows(job, ExpressionValues(batches)))

    values = expression_values(spark.range(0, 1, 1, 1), job.history.generated, draws)
    return run_in_one_task(spark, call, values)
