"""The event stream of a change log: with DDL and resolved events, with faults, divided by partition and in
delivery order.

The delivery key is unique, so the order is the same on every run, on either engine and in any number of
parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial

import numpy as np
import pyarrow as pa

from ticdc_producer.engine.dataset import Batches, Dataset, Engine, Order, union
from ticdc_producer.faults.event_traps import selected_events
from ticdc_producer.faults.legal import moved_tables
from ticdc_producer.faults.stage import EventFaults
from ticdc_producer.model.shapes import DELIVERY_KEY, EVENT_STREAM
from ticdc_producer.pipeline.control_events import (
    given_resolved_events,
    regular_resolved_events,
    resolved_events_after,
)
from ticdc_producer.pipeline.delivery import TopicPartitions, delivery_order, rows_elsewhere
from ticdc_producer.pipeline.event_stream import StreamPlan, single_control_events
from ticdc_producer.simulate.change_log import UpstreamLog
from ticdc_producer.simulate.fault_counts import UnmetFaults

_RESERVED = "fault_number"
_WITH_NUMBER = EVENT_STREAM.append(pa.field(_RESERVED, pa.int64()))
_QUICK_KEY = ("deliver_after_ts", "kind_order", "table_id", "txn_order_key")
"""The delivery key without the columns that only faults set. ``txn_order_key`` begins with the table id;
Spark compares the number first, which is faster."""


def ordered_events(
    log: UpstreamLog,
    plan: StreamPlan,
    engine: Engine,
    stack: ExitStack,
    faults: EventFaults | None = None,
    unmet: UnmetFaults | None = None,
) -> Dataset:
    """Return the event stream (shape ``EVENT_STREAM``), divided by partition and in delivery order.

    If ``changefeed.describes_in_first``, it has the places of rows of other partitions (``ROW_ELSEWHERE``).

    :param faults: injects faults. Removed events remain, with the kind ``illegal_event.DROPPED``.
    :param stack: removes the data stored for the stream.
    :param unmet: gets the recorded faults of which the stream lacks the event.
    """
    if (source := log.divided_source(plan, faults)) is not None:
        return source.ordered_events(engine, plan, log.few, faults)
    events = union([log.rows(engine, plan, stack), *_control_events(engine, plan, log)])
    if faults is None:
        return _in_order(_with_elsewhere(events, plan), plan.topic_partitions)
    recorded = faults.plan.recorded
    if recorded is not None:
        # Most scenarios are not recordings.
        from ticdc_producer.simulate.recorded import copies, damages, event_keys, faults_file

        rows = faults_file.recorded_rows(recorded, engine)
        clock, same = plan.resolved.clock, recorded.same_topology
        keys = event_keys.EventKeys(faults.catalog, clock, has_messages=same)
        again = stack.enter_context(copies.recorded_copies(rows, events, keys, engine))
        if unmet is not None:
            unmet.add(again.results)
        events = events.union(again[copies.COPIES])
        if same:
            start = max(plan.resolved.start_ts, clock.ts(0))
            messages = damages.FaultMessages(plan.topic_partitions, start)
            events = events.union(rows.map(messages, EVENT_STREAM))
    faulty = _with_elsewhere(_with_faults(events, faults), plan)
    ordered = _in_order(faulty, plan.topic_partitions, faultless=False)
    if recorded is not None and recorded.same_topology:
        ordered = ordered.map(copies.at_recorded_positions, EVENT_STREAM)
    return ordered.map(faults.reordered, EVENT_STREAM) if faults.reorders else ordered


def _with_elsewhere(events: Dataset, plan: StreamPlan) -> Dataset:
    """Add the places of rows of other partitions, if partition 0 needs them; they have no images."""
    if not plan.changefeed.describes_in_first:
        return events

    def with_rows_elsewhere(batches: Batches) -> Batches:
        for batch in batches:
            yield batch
            yield rows_elsewhere(batch, plan.topic_partitions)

    return events.map(with_rows_elsewhere, EVENT_STREAM)


def _control_events(engine: Engine, plan: StreamPlan, log: UpstreamLog) -> Iterator[Dataset]:
    """Yield the DDL and resolved events (shape ``EVENT_STREAM``), in no order."""
    yield engine.of_batches(single_control_events(plan), EVENT_STREAM)
    if plan.resolved.regular:
        parts = engine.parallelism
        yield engine.of_parts(parts, partial(_resolved_events, plan, parts), EVENT_STREAM)
    if plan.resolved.sent and plan.resolved.after_transaction:
        for times in log.commit_times(engine):
            yield times.map(partial(_resolved_after, plan), EVENT_STREAM)
    for resolved in log.resolved_events(engine) if plan.resolved.sent else ():
        yield resolved.map(partial(_given_resolved, plan), EVENT_STREAM)


def _resolved_after(plan: StreamPlan, batches: Batches) -> Batches:
    """Return a resolved event after each commit.

    :param batches: shape ``TIMES``.
    """
    for batch in batches:
        times = batch.column("commit_ts").to_numpy()
        yield resolved_events_after(times[plan.sends(times)], plan.active_topics, plan.topic_partitions)


def _given_resolved(plan: StreamPlan, batches: Batches) -> Batches:
    """Return the resolved events that a source gives (shape ``RESOLVED_AFTER``)."""
    for batch in batches:
        times, after = (batch.column(name).to_numpy() for name in ("commit_ts", "after"))
        own = plan.sends(times)
        yield given_resolved_events(times[own], after[own], plan.active_topics, plan.topic_partitions)


_TICKS_AT_ONCE = 1 << 16


def _resolved_events(plan: StreamPlan, parts: int, part: int) -> Batches:
    start, stop = (plan.resolved.regular * number // parts for number in (part, part + 1))
    for first in range(start, stop, _TICKS_AT_ONCE):
        ticks = np.arange(first, min(first + _TICKS_AT_ONCE, stop))
        yield regular_resolved_events(plan.resolved, ticks, plan.active_topics, plan.topic_partitions)


def _in_order(events: Dataset, topic_partitions: TopicPartitions, *, faultless: bool = True) -> Dataset:
    """Sort events by the delivery key; the part ``n`` has ``partition_index`` ``n``.

    :param faultless: whether the events have no faults: one restart epoch, one delivery each, and the
        ``txn_order_key`` of ``split``.
    """
    names = [topic_partitions.name(index) for index in range(len(topic_partitions))]
    return events.divide(
        "partition_index",
        len(topic_partitions),
        Order(_QUICK_KEY if faultless else DELIVERY_KEY, delivery_order),
        of_part={"topic": [topic for topic, _ in names], "partition": [number for _, number in names]},
        constant={"restart_epoch": 0, "delivery_no": 0} if faultless else {},
    )


def _with_faults(events: Dataset, faults: EventFaults) -> Dataset:
    tables = drawn_tables(events, faults) if faults.moves_tables else {}

    def legal(batches: Batches) -> Batches:
        for batch in batches:
            yield faults.with_legal_faults(selected_events(batch, ~faults.reserved(batch)), tables)

    faulty = events.map(legal, EVENT_STREAM)
    return union([faulty, _with_illegal_faults(events, faults)]) if faults.plan.reserved else faulty


def drawn_tables(events: Dataset, faults: EventFaults) -> dict[int, int]:
    """Return the table that is drawn in each segment whose trap concerns one table.

    :param events: with the columns of ``EVENT_STREAM``, in any order.
    """

    def first_draws(_part: object, batches: Batches) -> dict[int, tuple[int, int]]:
        return moved_tables(
            (selected_events(batch, ~faults.reserved(batch)) for batch in batches), faults.plan
        )

    lowest: dict[int, tuple[int, int]] = {}
    for of_part in events.results(first_draws):
        for segment, pair in of_part.items():
            lowest[segment] = min(pair, lowest.get(segment, pair))
    return {segment: table for segment, (_, table) in lowest.items()}


def _with_illegal_faults(events: Dataset, faults: EventFaults) -> Dataset:
    """Return the events of the reserved segments: those of one fault are brought together."""

    def reserved(batches: Batches) -> Batches:
        for batch in batches:
            of_faults = selected_events(batch, faults.reserved(batch))
            # Recorded faults are left out there: all violations are to be those of the illegal fault.
            of_faults = of_faults.filter(of_faults.column("fault").is_null())
            number = pa.array(faults.fault_numbers(of_faults), pa.int64())
            yield of_faults.append_column(_RESERVED, number)

    def injected(group: pa.RecordBatch) -> pa.RecordBatch:
        number = group.column(_RESERVED)
        rows = group.drop_columns([_RESERVED])
        numbers = np.unique(number.to_numpy()).tolist()
        return pa.concat_batches(
            [
                faults.with_illegal_fault(selected_events(rows, number.to_numpy() == fault), fault)
                for fault in numbers
            ]
        )

    numbered = events.map(reserved, _WITH_NUMBER)
    by_fault = numbered.shuffle((_RESERVED,), Order((_RESERVED,)))
    return by_fault.map_groups(injected, (_RESERVED,), EVENT_STREAM)
