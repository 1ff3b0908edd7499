"""Legal faults: the effects of a restart, a retry or a move of tables (docs/stream-semantics.md §9).

This stage rewrites the delivery key and never a commit-ts. The events that a restart repeats have a restart
epoch of their own, after the segment that it repeats: the events of segment n are in epoch 2n, their
repetitions in epoch 2n + 1. The checkpoint to which a restart returns is the beginning of the segment.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.faults.catalogue import catalogue, traps_of
from ticdc_producer.faults.event_traps import (
    Columns,
    CopyTrap,
    EditTrap,
    SegmentEvents,
    SegmentTrap,
    integers,
    is_kind,
    replaced,
    selected_events,
)
from ticdc_producer.faults.fault_plan import FaultPlan, seeded_hash, threshold
from ticdc_producer.model.column_functions import Flags, Numbers
from ticdc_producer.model.event import Kind
from ticdc_producer.model.shapes import EventBatch
from ticdc_producer.pipeline.delivery import TopicPartitions
from ticdc_producer.pipeline.mutations import eight_bytes


def legal_faults(
    events: EventBatch, plan: FaultPlan, partitions: TopicPartitions, moved: Mapping[int, int]
) -> EventBatch:
    """Inject the legal faults into events. Needs no other events.

    :param events: shape ``EVENT_STREAM``, in any order, without the segments that are reserved for illegal
        faults.
    :param moved: by segment, the table that ``moved_tables`` draws among all events.
    :return: the same shape, in no order, with the copies of repeated events.
    """
    if plan.repeats:
        events = _with_restarts(_Segments(events, plan, partitions, moved))
    events = _with_copies(events, plan)
    for trap in catalogue().values():
        if isinstance(trap, EditTrap) and trap.id in plan.rates:
            events = trap.edited(events, plan)
    return events


def moves_tables(plan: FaultPlan) -> bool:
    """Return whether a table is drawn in any segment."""
    return any(trap.of_one_table for trap in _segment_traps(plan))


def draws_table(plan: FaultPlan, segments: Numbers) -> Flags:
    """Return whether the trap of each segment concerns one table."""
    names = [trap.id for trap in _segment_traps(plan) if trap.of_one_table]
    return np.isin(_segment_faults(plan, segments), names)


def moved_tables(batches: Iterable[pa.RecordBatch], plan: FaultPlan) -> dict[int, tuple[int, int]]:
    """Draw a table in each segment whose trap concerns one table, from those with rows in it.

    :param batches: events as for ``legal_faults``, in any order.
    :return: by segment, the hash by which the table was drawn, and what identifies it for the trap. The
        lowest pair of several results counts.
    """
    lowest: dict[int, tuple[int, int]] = {}
    if not moves_tables(plan):
        return lowest
    for events in batches:
        segments = plan.segments.numbers(integers(events, "deliver_after_ts"))
        rows = is_kind(events, Kind.ROW) & draws_table(plan, segments)
        tables = np.stack([segments[rows], _identities(events, plan, segments)[rows]], axis=1)
        pairs = np.unique(tables, axis=0)
        hashes = seeded_hash(plan.seed, "table", len(pairs), *map(pa.array, pairs.T))
        for (segment, table_id), value in zip(pairs.tolist(), hashes.tolist(), strict=True):
            lowest[segment] = min((value, table_id), lowest.get(segment, (value, table_id)))
    return lowest


def _identities(events: EventBatch, plan: FaultPlan, segments: Numbers) -> Numbers:
    """Return what identifies the table of each event, for the trap of its segment."""
    faults, identities = _segment_faults(plan, segments), integers(events, "table_id")
    for trap in _segment_traps(plan):
        if trap.of_one_table:
            of_trap = integers(events, trap.of_one_table)
            identities = np.where(faults == trap.id, of_trap, identities)
    return identities


def _segment_traps(plan: FaultPlan) -> list[SegmentTrap]:
    return [trap for trap in traps_of(SegmentTrap) if trap.id in plan.segment_faults]


@dataclass(frozen=True)
class _Segments:
    """Events with the trap of each one's segment."""

    events: EventBatch
    plan: FaultPlan
    partitions: TopicPartitions
    moved: Mapping[int, int]

    @cached_property
    def numbers(self) -> Numbers:
        return self.plan.segments.numbers(integers(self.events, "deliver_after_ts"))

    @cached_property
    def faults(self) -> npt.NDArray[np.object_]:
        """The id of the trap that the segment of each event has; None for none."""
        return _segment_faults(self.plan, self.numbers)

    def traps(self) -> Iterator[tuple[SegmentTrap, SegmentEvents]]:
        """Yield the traps of the segments, each with the events for which it decides."""
        for trap in _segment_traps(self.plan):
            has: Flags = self.faults == trap.id
            if has.any():
                yield (
                    trap,
                    SegmentEvents(self.events, self.numbers, has, self.plan, self.partitions, self.moved),
                )


def _with_restarts(segments: _Segments) -> EventBatch:
    """Put events into the restart epochs of their segments, and repeat those that a restart repeats."""
    events, numbers = segments.events, segments.numbers
    delivered, repeated, delayed = np.ones(len(numbers), bool), *np.zeros((2, len(numbers)), bool)
    for trap, of_trap in segments.traps():
        delivered &= ~of_trap.has | trap.delivered(of_trap)
        repeated |= of_trap.has & trap.repeated(of_trap)
        delayed |= of_trap.has & trap.delayed(of_trap)
    faults = pa.array(segments.faults, pa.string())
    own_time = integers(events, "deliver_after_ts")
    in_own_order = pc.binary_join_element_wise(eight_bytes(own_time), events.column("txn_order_key"), b"")
    first: Columns = {
        "restart_epoch": numbers * 2,
        "deliver_after_ts": np.where(delayed, segments.plan.segments.end(numbers), own_time),
        "txn_order_key": pc.if_else(pa.array(delayed), in_own_order, events.column("txn_order_key")),
        "fault": pc.if_else(pa.array(delayed), faults, events.column("fault")),
    }
    second: Columns = {"restart_epoch": numbers * 2 + 1, "delivery_no": 1, "fault": faults}
    deliveries = [
        selected_events(replaced(events, first), delivered),
        selected_events(replaced(events, second), repeated),
    ]
    restarted: EventBatch = pa.concat_batches(deliveries)
    return restarted


def _segment_faults(plan: FaultPlan, segments: Numbers) -> npt.NDArray[np.object_]:
    """Return the id of the trap that each segment has; None for none."""
    with_rate = [trap for trap in reversed(traps_of(SegmentTrap)) if trap.id in plan.segment_rates]
    values = seeded_hash(plan.seed, "again", len(segments), pa.array(segments))
    faults = np.full(len(segments), None, object)
    sums = accumulate(plan.segment_rates[trap.id] for trap in with_rate)
    has_ddl = np.isin(segments, sorted(plan.ddl_segments))
    for trap, limit in reversed(list(zip(with_rate, sums, strict=True))):
        hit = values < threshold(limit)
        faults[hit & ~has_ddl if trap.without_ddl else hit] = trap.id
    for segment, name in plan.fixed.items():
        faults[segments == segment] = name
    return faults


def _with_copies(events: EventBatch, plan: FaultPlan) -> EventBatch:
    """Deliver single events once more."""
    traps = catalogue().values()
    requested = [trap for trap in traps if isinstance(trap, CopyTrap) and trap.id in plan.rates]
    copies = [
        selected_events(replaced(events, trap.copies(events)), trap.copied(events, plan))
        for trap in requested
    ]
    with_copies: EventBatch = pa.concat_batches([events, *copies])
    return with_copies
