"""Sources of changes that are data: ``data`` steps, dumps and DataFrames; columns that Spark computes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.choose import translate_worker_errors
from ticdc_producer.engine.dataset import Batches, Dataset, Engine, Order, Part
from ticdc_producer.errors import ArgumentError, ScenarioError
from ticdc_producer.model.shapes import TABLE_ROWS
from ticdc_producer.model.table import TableInfo
from ticdc_producer.pipeline.event_stream import StreamPlan
from ticdc_producer.scenario.data_steps import DataPlan, PlannedChanges, SourcePlan
from ticdc_producer.scenario.frames.frame_histories import complete, partial_changes, rows_after, rows_before
from ticdc_producer.scenario.frames.frame_plan import FramePlan
from ticdc_producer.scenario.frames.frame_rows import distinct, frame_rows, located, without_resolved
from ticdc_producer.scenario.frames.row_ids.starts import (
    ChangesWithIds,
    changes_with_ids,
    with_halves_in_order,
)
from ticdc_producer.scenario.frames.rows import COLUMNS
from ticdc_producer.scenario.frames.unique.unique_keys import check_unique_keys
from ticdc_producer.scenario.generate.cells import Expressions
from ticdc_producer.scenario.generate.plan import GeneratePlan
from ticdc_producer.simulate.change_log import (
    RESOLVED_AFTER,
    TIMES,
    UpstreamSource,
    row_events_by_key,
    row_events_by_row,
)
from ticdc_producer.simulate.job import MOST_UPDATES_IN_ORDER, Job
from ticdc_producer.simulate.state import is_compared, replicated_rows, sent_table

if TYPE_CHECKING:
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
class DataChanges(UpstreamSource):
    """The changes of a ``data`` step, of a large DataFrame or of a large dump."""

    plan: SourcePlan

    def changes(self, engine: Engine) -> Dataset:
        from ticdc_producer.scenario.dataframe.data import data_changes

        return data_changes(_on_spark(engine, self.plan.what), self.plan)

    def row_events(self, engine: Engine, plan: StreamPlan, _stack: ExitStack) -> Dataset | None:
        from ticdc_producer.scenario.dataframe.changes import located
        from ticdc_producer.scenario.dataframe.data import is_by_row

        if is_by_row(_on_spark(engine, self.plan.what), self.plan):
            return row_events_by_row(self.changes(engine), plan)
        if not isinstance(self.plan, DataPlan):
            return None
        # A shuffle of its own: two changes of a row at one position are an error of this step.
        return located(row_events_by_key(self.changes(engine), plan), (self.plan.file, self.plan.line))

    def rows(self, engine: Engine, job: Job, commits: int | None) -> Iterator[tuple[TableInfo, Dataset]]:
        from ticdc_producer.scenario.dataframe.data import data_rows

        for table in self.plan.tables:
            if is_compared(job, table, self.plan.first_commit, commits):
                rows = data_rows(_on_spark(engine, self.plan.what), self.plan, table, commits)
                yield sent_table(job, table), rows.map(partial(_replicated, job, table), TABLE_ROWS)


def _replicated(job: Job, table: TableInfo, batches: Batches) -> Batches:
    return (replicated_rows(job, table, batch) for batch in batches)


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
    from ticdc_producer.spark.storage import arrow_schema

    def rows(batches: Batches) -> Batches:
        values = ExpressionValues(plans, batches)
        if values.task is not None:
            yield from source(values.task, values)

    tasks = spark.spark.range(0, count, 1, count)
    frame = expression_values(tasks, plans, draws)
    return spark.of_frame(frame, arrow_schema(frame.schema)).map(rows, schema)


def frame_plan(plan: PlannedChanges) -> FramePlan:
    """Return a plan, which is that of a large DataFrame."""
    if not isinstance(plan, FramePlan):
        raise TypeError(f"{type(plan).__name__} is not the plan of a DataFrame")
    return plan


@dataclass(frozen=True)
class FrameSource(UpstreamSource):
    """The changes of a large DataFrame whose rows say which table they change."""

    plan: FramePlan
    _checked: set[str] = field(default_factory=set)

    def changes(self, engine: Engine) -> Dataset:
        """Return the changes, without the hidden row ids that follow from the order of all inserts."""
        plan = replace(self.plan, row_ids={}, sharing=frozenset())
        return self._located(complete(partial_changes(engine, plan), plan))

    def row_events(self, engine: Engine, plan: StreamPlan, stack: ExitStack) -> Dataset:
        changes = ChangesWithIds(partial_changes(engine, self.plan))
        # The upstream of a recording has accepted its rows.
        if engine.name not in self._checked and not self.plan.canonical:
            with translate_worker_errors():
                self._check(engine, changes.rows)
            self._checked.add(engine.name)
        if self.plan.row_ids:
            changes = changes_with_ids(engine, self.plan, stack)
        completed = self._located(complete(changes.rows, self.plan))
        if changes.are_moved:
            completed = self._located(completed.map(with_halves_in_order, completed.schema))
            return self._located(row_events_by_key(completed, plan))
        by = row_events_by_key if self.plan.has_hidden_ids else row_events_by_row
        return self._located(by(completed, plan))

    def _check(self, engine: Engine, changes: Dataset) -> None:
        rows = frame_rows(engine, self.plan.frame, self.plan.columns, COLUMNS)
        try:
            check_unique_keys(rows, rows_before(engine, self.plan), changes, self.plan)
        except ScenarioError as error:
            raise error.at(self.plan.file, self.plan.line) from None

    def has_large_transaction(self, engine: Engine) -> bool:
        if self.plan.largest_commit is not None:
            return self.plan.largest_commit > MOST_UPDATES_IN_ORDER
        number = self.plan.columns.number
        rows = frame_rows(engine, self.plan.frame, self.plan.columns, (number,)).select(number)
        with translate_worker_errors():
            return any(rows.shuffle((number,), Order((number,))).results(_has_large_group))

    def commit_times(self, engine: Engine) -> Dataset | None:
        if not self.plan.is_numbered_by_ts or self.plan.has_resolved:
            return None
        rows = frame_rows(engine, self.plan.frame, self.plan.columns, ("commit_ts", "statement", "resolved"))
        return distinct(rows.map(_times_of_rows, TIMES), "commit_ts")

    def resolved_events(self, engine: Engine) -> Dataset | None:
        if not self.plan.canonical:
            return None
        rows = frame_rows(engine, self.plan.frame, self.plan.columns, ("resolved", "commit_ts"))
        return rows.map(_resolved, RESOLVED_AFTER) if "resolved" in rows.schema.names else None

    def rows(self, engine: Engine, job: Job, commits: int | None) -> Iterator[tuple[TableInfo, Dataset]]:
        for table in self.plan.tables_after(commits):
            if is_compared(job, table, self.plan.first_commit, commits):
                changes = partial_changes(engine, self.plan)
                rows = self._located(rows_after(changes, self.plan, table, commits))
                yield (
                    sent_table(job, table),
                    rows.map(partial(_replicated, job, table), TABLE_ROWS),
                )

    def _located(self, rows: Dataset) -> Dataset:
        return located(rows, self.plan.file, self.plan.line)


def _has_large_group(_part: Part, batches: Batches) -> bool:
    """Return whether a number occurs so often that a sort of its changes may be unstable.

    >>> batches = [pa.record_batch({"n": values}) for values in ([1, 2, 2], [2] * 4, [2])]
    >>> [_has_large_group(Part(0), iter(batches[:count])) for count in (2, 3)]
    [False, True]

    :param batches: one column, in its order.
    """
    last = np.zeros(0, np.int64)
    for batch in batches:
        values = np.concatenate([last, batch.column(0).to_numpy(zero_copy_only=False)])
        if (values[MOST_UPDATES_IN_ORDER:] == values[:-MOST_UPDATES_IN_ORDER]).any():
            return True
        last = values[-MOST_UPDATES_IN_ORDER:]
    return False


def _resolved(batches: Batches) -> Batches:
    for batch in batches:
        resolved = batch.filter(batch.column("resolved").is_valid())
        columns = [resolved.column("resolved").cast(pa.int64()), resolved.column("commit_ts")]
        yield pa.record_batch(columns, schema=RESOLVED_AFTER)


def _times_of_rows(batches: Batches) -> Batches:
    """Yield the commit-ts of row changes; those of DDL jobs are counted."""
    for batch in map(without_resolved, batches):
        changes = batch
        if "statement" in batch.schema.names and batch.column("statement").null_count < batch.num_rows:
            changes = batch.filter(pc.is_null(batch.column("statement")))
        yield pa.record_batch([changes.column("commit_ts")], schema=TIMES)
