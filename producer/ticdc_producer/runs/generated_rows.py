"""The changes and rows of the ``generate`` steps of a small history: one plain function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import pyarrow as pa
from pyspark.sql import SparkSession

from ticdc_producer.model.table import TableInfo
from ticdc_producer.runs.prepare import Job
from ticdc_producer.runs.step_rows import generated_at
from ticdc_producer.scenario.generate.cells import Expressions, no_expressions
from ticdc_producer.scenario.generate.changes import ChangeSource
from ticdc_producer.scenario.generate.expressions import (
    ExpressionValues,
    expression_values,
    has_expressions,
)
from ticdc_producer.spark.one_task import run_in_one_task

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


def run_with_generated_rows(
    spark: SparkSession, job: Job | None, function: Callable[[GeneratedRows], T]
) -> T:
    """Call a function with the generated rows of a small history in one Spark task.

    :param function: see ``run_in_one_task``.
    :param job: None: nothing is generated.
    """
    nothing = GeneratedRows((), {})
    if job is None or not job.history.generated:
        return run_in_one_task(spark, lambda _batches: function(nothing))
    if not has_expressions(job.history.generated):
        return run_in_one_task(spark, lambda _batches: function(generated_rows(job)))

    def draws(_task: int, expressions: Expressions) -> Iterator[object]:
        yield generated_rows(job, expressions)

    def call(batches: Iterable[pa.RecordBatch]) -> T:
        return function(generated_rows(job, ExpressionValues(batches)))

    values = expression_values(spark.range(0, 1, 1, 1), job.history.generated, draws)
    return run_in_one_task(spark, call, values)
