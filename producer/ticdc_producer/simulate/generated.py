"""The events of ``generate`` steps, drawn by the part that sends them: one partition, or a part of the rows.

A part draws all changes that go to its partition, in the order of their commits, and merges the few other
events into them. Nothing is shuffled, and nothing is sorted but the events of a span.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from ticdc_producer.engine.dataset import Batches, Dataset, Engine
from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.faults.stage import EventFaults
from ticdc_producer.model.column_functions import Flags, filtered
from ticdc_producer.model.shapes import CHANGE_LOG, EVENT_STREAM, TABLE_ROWS, ChangeBatch, EventBatch
from ticdc_producer.model.table import TableInfo
from ticdc_producer.pipeline.control_events import regular_resolved_events
from ticdc_producer.pipeline.delivery import commit_ts, in_delivery_order
from ticdc_producer.pipeline.event_stream import StreamPlan, net_row_events, single_control_events
from ticdc_producer.pipeline.row_images import numbers
from ticdc_producer.scenario.generate.arrays import Longs
from ticdc_producer.scenario.generate.cells import Expressions, no_expressions
from ticdc_producer.scenario.generate.changes import ChangeFilter, ChangeSource, part_of_rows
from ticdc_producer.scenario.generate.edited_rows import rows_of_table
from ticdc_producer.scenario.generate.plan import GeneratePlan, has_expressions, needs_expressions
from ticdc_producer.scenario.generate.row_history import RowChanges
from ticdc_producer.simulate.change_log import DividedSource, shuffled_row_events
from ticdc_producer.simulate.data_sources import computed_parts
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.state import is_compared, replicated_rows, sent_table
from ticdc_producer.simulate.stream import drawn_tables
from ticdc_producer.simulate.target_partitions import TargetPartition

_NO_EVENTS = pa.RecordBatch.from_pylist([], EVENT_STREAM)
_FOLLOWED = 8
"""Limits the changes that a task follows at once, in multiples of those that it draws at once."""
_FEW_CHANGES = 100_000
_TICKS_AT_ONCE = 1 << 16
"""Resolved events that are merged at once."""


@dataclass(frozen=True)
class GeneratedPartitions:
    """The event stream of a scenario by partitions; small, sent to the tasks.

    :param plans: the plans of the ``generate`` steps.
    :param changes: the changes of SQL (shape ``CHANGE_LOG``).
    :param faults: local faults; None: no faults.
    :param moved: by segment whose trap concerns one table, the id of the table that was drawn.
    :param accepts: a mask of the commit-ts whose changes are drawn; None: all are.
    """

    stream: StreamPlan
    plans: Sequence[GeneratePlan]
    changes: ChangeBatch
    faults: EventFaults | None = None
    moved: Mapping[int, int] = field(default_factory=dict)
    accepts: Callable[[Longs], Flags] | None = None

    def events(self, index: int, expressions: Expressions) -> Iterator[EventBatch]:
        """Yield the ordered events of a partition (shape ``EVENT_STREAM``)."""
        events = self._without_faults(index, expressions)
        return events if self.faults is None else self.faults.in_partition(events, self.moved)

    def _without_faults(self, index: int, expressions: Expressions) -> Iterator[EventBatch]:
        clock, others = self.stream.resolved.clock, _OtherEvents(self, index)
        for span, changes in self._source(index, expressions).spans():
            rows = [of_partition(net_row_events(batch, self.stream), index) for batch in changes]
            end = clock.ts(span.stop) if span.stop < self.stream.resolved.commits else None
            yield from _merged(rows, others.blocks(end))
        yield from (in_delivery_order(block.events) for block in others.blocks(None))

    def draw_expressions(self, index: int, expressions: Expressions) -> Iterator[object]:
        """Draw the values of a partition that come from expressions, in the same order as ``events``."""
        return self._source(index, expressions, only_expressions=True).spans()

    def _source(
        self, index: int, expressions: Expressions, *, only_expressions: bool = False
    ) -> ChangeSource:
        target = TargetPartition(self.stream, index)

        def is_drawn(plan: GeneratePlan) -> bool:
            return target.receives(plan) and (needs_expressions(plan) or not only_expressions)

        return ChangeSource(
            plans=self.plans,
            expressions=expressions,
            accepts=is_drawn,
            rows=target.rows,
            changes=self._accepted(target.changes),
            share=self._share(target),
        )

    def _accepted(self, changes: ChangeFilter) -> ChangeFilter:
        accepts, stream = self.accepts, self.stream
        if accepts is None and stream.sends_all:
            return changes

        def accepted_changes(plan: GeneratePlan, candidates: RowChanges) -> RowChanges:
            times = commit_ts(stream.resolved.clock, candidates.commit)
            accepted = stream.sends(times)
            if accepts is not None:
                accepted &= accepts(times)
            return changes(plan, candidates.take(np.flatnonzero(accepted)))

        return accepted_changes

    def _share(self, target: TargetPartition) -> int:
        """Return the factor by which all changes outnumber those that the task draws."""
        partitions = len(self.stream.topic_partitions)
        follows_all = any(target.receives(plan) and target.rows(plan) is None for plan in self.plans)
        return min(partitions, _FOLLOWED) if follows_all else partitions


def of_partition(events: EventBatch, index: int) -> EventBatch:
    """Return the events of one partition, in the same order.

    :param events: shape ``EVENT_STREAM``.

    >>> of_partition(pa.record_batch({"partition_index": [0, 1, 0], "id": [7, 8, 9]}), 0)["id"].to_pylist()
    [7, 9]
    """
    in_partition = numbers(events.column("partition_index")) == index
    selected: EventBatch = filtered(events, in_partition)
    return selected


@dataclass(frozen=True)
class _Block:
    """Successive events of a partition that are not generated.

    :param end: TSO; all rows that are delivered before it precede the next block. None: all rows do.
    """

    events: EventBatch
    end: int | None


class _OtherEvents:
    """The events of a partition that are not generated, in order: rows of SQL, DDLs and resolved events."""

    def __init__(self, of: GeneratedPartitions, index: int) -> None:
        self._stream, self._index = of.stream, index
        with ExitStack() as stack:
            changes = LocalEngine().of_batches([of.changes], CHANGE_LOG)
            rows = [*shuffled_row_events(changes, of.stream, stack).batches()]
        few = pa.concat_batches([_NO_EVENTS, *rows, *single_control_events(of.stream)])
        self._few = in_delivery_order(of_partition(few, index))
        self._times = numbers(self._few.column("deliver_after_ts"))
        self._sent, self._ticks = 0, 0

    def blocks(self, end: int | None) -> Iterator[_Block]:
        """Yield the next events.

        :param end: those that are delivered before this TSO; None: all.
        """
        stop = self._ticks_before(end)
        while True:
            until = min(self._ticks + _TICKS_AT_ONCE, stop)
            bound = end if until == stop else self._tick_ts(until)
            yield _Block(pa.concat_batches([self._few_before(bound), self._resolved(until)]), bound)
            if until == stop:
                return

    def _few_before(self, end: int | None) -> EventBatch:
        first = self._sent
        self._sent = len(self._times) if end is None else int(np.searchsorted(self._times, end))
        return self._few.slice(first, self._sent - first)

    def _resolved(self, until: int) -> EventBatch:
        """Return the regular resolved events with numbers below ``until``."""
        stream, ticks = self._stream, np.arange(self._ticks, until)
        self._ticks = until
        return regular_resolved_events(
            stream.resolved, ticks, stream.active_topics, stream.topic_partitions, only=self._index
        )

    def _ticks_before(self, end: int | None) -> int:
        """Return the number of regular resolved events before a TSO."""
        resolved = self._stream.resolved
        if end is None:
            return resolved.regular
        return bisect_left(range(resolved.regular), end, lo=self._ticks, key=self._tick_ts)

    def _tick_ts(self, number: int) -> int:
        return int(self._stream.resolved.regular_ts(np.array([number]))[0])


def _merged(rows: Sequence[pa.RecordBatch], blocks: Iterator[_Block]) -> Iterator[pa.RecordBatch]:
    """Yield the rows and the other events of their span, in delivery order.

    Rows that are delivered at 1, 3 and 5, and blocks that end at 4 and None, are yielded as 1, 3 with the
    first block, and 5 with the second one.
    """
    block = next(blocks)
    for following in blocks:
        ordered = in_delivery_order(pa.concat_batches([_NO_EVENTS, *rows]))
        times = numbers(ordered.column("deliver_after_ts"))
        due = len(times) if block.end is None else int(np.searchsorted(times, block.end))
        yield in_delivery_order(pa.concat_batches([ordered.slice(0, due), block.events]))
        rows, block = [ordered.slice(due)], following
    yield in_delivery_order(pa.concat_batches([*rows, block.events]))


@dataclass(frozen=True)
class GeneratedVolume(DividedSource):
    """The changes of ``generate`` steps, drawn by the part that needs them.

    :param plans: the plans of all steps.
    """

    plans: tuple[GeneratePlan, ...]

    def changes(self, engine: Engine) -> Dataset:
        return self._drawn_by_rows(engine, lambda changes: changes, CHANGE_LOG, net=False)

    def row_events(self, engine: Engine, plan: StreamPlan, _stack: ExitStack) -> Dataset:
        return self._drawn_by_rows(
            engine, lambda changes: net_row_events(changes, plan), EVENT_STREAM, net=True
        )

    @property
    def is_divided(self) -> bool:
        """Whether the changes are many: each part has fixed costs, and few changes are sorted faster than
        that."""
        return sum(plan.events for plan in self.plans) > _FEW_CHANGES

    def ordered_events(
        self, engine: Engine, plan: StreamPlan, few: pa.RecordBatch, faults: EventFaults | None
    ) -> Dataset:
        partitions = GeneratedPartitions(plan, self.plans, few, faults)
        if faults is not None and faults.moves_tables:
            without = replace(partitions, faults=None, accepts=faults.draws_table)
            tables = drawn_tables(self._divided(engine, without), faults)
            partitions = replace(partitions, moved=tables)
        return self._divided(engine, partitions)

    def rows(self, engine: Engine, job: Job, commits: int | None) -> Iterator[tuple[TableInfo, Dataset]]:
        for plan in self.plans:
            table = plan.table_after(commits)
            if is_compared(job, table, plan.first_commit, commits):
                yield sent_table(job, table), self._rows(engine, job, plan, commits)

    def _divided(self, engine: Engine, partitions: GeneratedPartitions) -> Dataset:
        parts = len(partitions.stream.topic_partitions)
        return drawn_parts(
            engine, self.plans, parts, partitions.events, partitions.draw_expressions, EVENT_STREAM
        )

    def _drawn_by_rows(
        self,
        engine: Engine,
        function: Callable[[pa.RecordBatch], pa.RecordBatch],
        schema: pa.Schema,
        *,
        net: bool,
    ) -> Dataset:
        """Return a dataset each of whose parts draws the changes of a part of the rows."""
        plans, parts = self.plans, engine.parallelism

        def source(part: int, expressions: Expressions, *, only_expressions: bool) -> ChangeSource:
            return ChangeSource(
                plans=plans,
                expressions=expressions,
                accepts=lambda plan: needs_expressions(plan) or not only_expressions,
                rows=part_of_rows(part, parts),
                share=parts,
                net=net,
            )

        def rows(part: int, expressions: Expressions) -> Batches:
            return map(function, source(part, expressions, only_expressions=False).batches())

        def draws(part: int, expressions: Expressions) -> Iterator[object]:
            return source(part, expressions, only_expressions=True).batches()

        return drawn_parts(engine, plans, parts, rows, draws, schema)

    def _rows(self, engine: Engine, job: Job, plan: GeneratePlan, commits: int | None) -> Dataset:
        parts, table = engine.parallelism, plan.table_after(commits)

        def rows(part: int, expressions: Expressions) -> Batches:
            source = ChangeSource(
                plans=[plan], expressions=expressions, rows=part_of_rows(part, parts), share=parts
            )
            for batch in rows_of_table(source, plan, commits, of_sql=part == 0):
                yield replicated_rows(job, table, batch)

        return drawn_parts(engine, [plan], parts, rows, rows, TABLE_ROWS)


def drawn_parts(
    engine: Engine,
    plans: Sequence[GeneratePlan],
    count: int,
    source: Callable[[int, Expressions], Batches],
    draws: Callable[[int, Expressions], Iterator[object]],
    schema: pa.Schema,
) -> Dataset:
    """Return a dataset whose parts draw their rows.

    :param source: returns the rows of a part; it needs values of expressions in the same order as ``draws``.
    :param draws: draws nothing but what needs expressions.
    :raises MissingPartError: for a column with an ``expression`` without Spark, which computes it.
    """
    if not has_expressions(plans):
        return engine.of_parts(count, lambda part: source(part, no_expressions), schema)
    return computed_parts(engine, plans, count, source, draws, schema)
