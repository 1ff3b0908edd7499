"""Legal faults: what TiCDC does after a restart, a retry or a move of tables (docs/stream-semantics.md §9).

This stage rewrites the delivery key and never a commit-ts. What a restart repeats has a restart epoch of
its own, after the segment that it repeats: the events of segment n are in epoch 2n, their repetitions in
epoch 2n + 1. The checkpoint to which a restart returns is the beginning of the segment.
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
    chosen,
    integers,
    is_kind,
    replaced,
)
from ticdc_producer.faults.fault_plan import FaultPlan
from ticdc_producer.faults.seeded_hash import seeded_hash, threshold
from ticdc_producer.model.event import Kind
from ticdc_producer.pipeline.row_images import Flags, Numbers


def legal_faults(
    events: pa.RecordBatch, plan: FaultPlan, partitions: int, moved: Mapping[int, int]
) -> pa.RecordBatch:
    """Events with their legal faults. Needs no other events.

    :param events: shape ``EVENT_STREAM``, in any order, without the segments that are reserved for illegal
        faults.
    :param partitions: number of partitions of a topic.
    :param moved: by segment, the id of the table that ``moved_tables`` draws among all events.
    :return: the same shape, in no order, with the copies of repeated events.
    """
    if plan.repeats:
        events = _with_restarts(_Segments(events, plan, partitions, moved))
    events = _with_copies(events, plan)
    for one in catalogue().values():
        if isinstance(one, EditTrap) and one.id in plan.rates:
            events = one.edited(events, plan)
    return events


def moves_tables(plan: FaultPlan) -> bool:
    """Whether a table is drawn in any segment."""
    return any(one.of_one_table for one in _segment_traps(plan))


def draws_table(plan: FaultPlan, segments: Numbers) -> Flags:
    """Whether the trap of each of some segments concerns one table."""
    names = [one.id for one in _segment_traps(plan) if one.of_one_table]
    return np.isin(_segment_faults(plan, segments), names)


def moved_tables(batches: Iterable[pa.RecordBatch], plan: FaultPlan) -> dict[int, tuple[int, int]]:
    """The table that is drawn in each segment whose trap concerns one table, from those with rows in it.

    :param batches: events as for ``legal_faults``, in any order.
    :return: by segment, the hash by which the table was drawn, and its id. The lowest pair of several
        results counts.
    """
    found: dict[int, tuple[int, int]] = {}
    if not moves_tables(plan):
        return found
    for events in batches:
        segments = plan.segments.numbers(integers(events, "deliver_after_ts"))
        rows = is_kind(events, Kind.ROW) & draws_table(plan, segments)
        tables = np.stack([segments[rows], integers(events, "table_id")[rows]], axis=1)
        pairs = np.unique(tables, axis=0)
        hashes = seeded_hash(plan.seed, "table", len(pairs), *map(pa.array, pairs.T))
        for (segment, table_id), value in zip(pairs.tolist(), hashes.tolist(), strict=True):
            found[segment] = min((value, table_id), found.get(segment, (value, table_id)))
    return found


def _segment_traps(plan: FaultPlan) -> list[SegmentTrap]:
    return [one for one in traps_of(SegmentTrap) if one.id in plan.segment_faults]


@dataclass(frozen=True)
class _Segments:
    """Events, and the traps of their segments."""

    events: pa.RecordBatch
    plan: FaultPlan
    partitions: int
    moved: Mapping[int, int]

    @cached_property
    def numbers(self) -> Numbers:
        return self.plan.segments.numbers(integers(self.events, "deliver_after_ts"))

    @cached_property
    def faults(self) -> npt.NDArray[np.object_]:
        """The id of the trap that the segment of each event has; None for none."""
        return _segment_faults(self.plan, self.numbers)

    def traps(self) -> Iterator[tuple[SegmentTrap, SegmentEvents]]:
        """The traps of the segments, each with the events for which it decides."""
        for one in _segment_traps(self.plan):
            has: Flags = self.faults == one.id
            if has.any():
                found = SegmentEvents(self.events, self.numbers, has, self.plan, self.partitions, self.moved)
                yield one, found


def _with_restarts(segments: _Segments) -> pa.RecordBatch:
    """Put events into the restart epochs of their segments, and repeat what a restart repeats."""
    events, numbers = segments.events, segments.numbers
    delivered, repeated, delayed = np.ones(len(numbers), bool), *np.zeros((2, len(numbers)), bool)
    for one, found in segments.traps():
        delivered &= ~found.has | one.delivered(found)
        repeated |= found.has & one.repeated(found)
        delayed |= found.has & one.delayed(found)
    faults = pa.array(segments.faults, pa.string())
    after = np.where(delayed, segments.plan.segments.end(numbers), integers(events, "deliver_after_ts"))
    first: Columns = {
        "restart_epoch": numbers * 2,
        "deliver_after_ts": after,
        "delivery_no": 0,
        "fault": pc.if_else(pa.array(delayed), faults, None),
    }
    second: Columns = {"restart_epoch": numbers * 2 + 1, "delivery_no": 1, "fault": faults}
    return pa.concat_batches(
        [chosen(replaced(events, first), delivered), chosen(replaced(events, second), repeated)]
    )


def _segment_faults(plan: FaultPlan, segments: Numbers) -> npt.NDArray[np.object_]:
    """The id of the trap that each of some segments has; None for none."""
    with_rate = [one for one in reversed(traps_of(SegmentTrap)) if one.id in plan.segment_rates]
    values = seeded_hash(plan.seed, "again", len(segments), pa.array(segments))
    faults = np.full(len(segments), None, object)
    sums = accumulate(plan.segment_rates[one.id] for one in with_rate)
    has_ddl = np.isin(segments, sorted(plan.ddl_segments))
    for one, limit in reversed(list(zip(with_rate, sums, strict=True))):
        hit = values < threshold(limit)
        faults[hit & ~has_ddl if one.without_ddl else hit] = one.id
    for segment, name in plan.fixed.items():
        faults[segments == segment] = name
    return faults


def _with_copies(events: pa.RecordBatch, plan: FaultPlan) -> pa.RecordBatch:
    """Deliver single events once more."""
    traps = catalogue().values()
    requested = [one for one in traps if isinstance(one, CopyTrap) and one.id in plan.rates]
    copies = [chosen(replaced(events, one.copies(events)), one.copied(events, plan)) for one in requested]
    return pa.concat_batches([events, *copies])
