"""The changes of a large DataFrame with several tables, on either engine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.choose import translate_worker_errors
from ticdc_producer.engine.dataset import Batches, Dataset, Engine
from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.shapes import TABLE_ROWS
from ticdc_producer.model.table import TableInfo
from ticdc_producer.pipeline.event_stream import StreamPlan
from ticdc_producer.scenario.data_steps import PlannedChanges
from ticdc_producer.scenario.frames.frame_changes import FRAME_CHANGES, rows_before
from ticdc_producer.scenario.frames.frame_histories import complete, partial_changes, rows_after
from ticdc_producer.scenario.frames.frame_plan import FramePlan
from ticdc_producer.scenario.frames.frame_rows import distinct, frame_rows, located
from ticdc_producer.scenario.frames.rows import COLUMNS
from ticdc_producer.scenario.frames.unique_keys import check_unique_keys
from ticdc_producer.simulate.change_log import TIMES, UpstreamSource, row_events_by_row
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.state import is_compared, replicated_rows


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
        return self._located(complete(self._partial(engine), self.plan))

    def row_events(self, engine: Engine, plan: StreamPlan) -> Dataset:
        changes = self._partial(engine)
        if engine.name not in self._checked:
            with translate_worker_errors():
                self._check(engine, changes)
            self._checked.add(engine.name)
        return self._located(row_events_by_row(self._located(complete(changes, self.plan)), plan))

    def _check(self, engine: Engine, changes: Dataset) -> None:
        rows = frame_rows(engine, self.plan.frame, self.plan.columns, COLUMNS)
        before = engine.of_batches(rows_before(self.plan), FRAME_CHANGES)
        try:
            check_unique_keys(rows, before, changes, self.plan)
        except ScenarioError as error:
            raise error.at(self.plan.file, self.plan.line) from None

    def commit_times(self, engine: Engine) -> Dataset | None:
        if not self.plan.is_numbered_by_ts:
            return None
        rows = frame_rows(engine, self.plan.frame, self.plan.columns, ("commit_ts", "statement"))
        return distinct(rows.map(_times_of_rows, TIMES), "commit_ts")

    def rows(self, engine: Engine, job: Job, commits: int | None) -> Iterator[tuple[TableInfo, Dataset]]:
        for table in self.plan.tables_after(commits):
            if is_compared(job, table, self.plan.first_commit, commits):
                rows = self._located(rows_after(self._partial(engine), self.plan, table, commits))
                yield job.stream.selection.of(table), rows.map(partial(_replicated, job, table), TABLE_ROWS)

    def _partial(self, engine: Engine) -> Dataset:
        """Return the changes as the rows give them (shape ``FRAME_CHANGES``), in no order."""
        rows = frame_rows(engine, self.plan.frame, self.plan.columns, COLUMNS)
        before = engine.of_batches(rows_before(self.plan), FRAME_CHANGES)
        return self._located(partial_changes(rows, self.plan, before))

    def _located(self, rows: Dataset) -> Dataset:
        return located(rows, self.plan.file, self.plan.line)


def _replicated(job: Job, table: TableInfo, batches: Batches) -> Batches:
    return (replicated_rows(job, table, batch) for batch in batches)


def _times_of_rows(batches: Batches) -> Batches:
    """Yield the commit-ts of row changes; those of DDL jobs are counted."""
    for batch in batches:
        changes = batch
        if "statement" in batch.schema.names and batch.column("statement").null_count < batch.num_rows:
            changes = batch.filter(pc.is_null(batch.column("statement")))
        yield pa.record_batch([changes.column("commit_ts")], schema=TIMES)
