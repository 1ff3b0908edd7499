"""The positions that a small stream has for faults.

A fault of events is tried on the events of its segments alone, as the stage injects it. A fault of messages
is tried in the encoded partitions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.faults.catalogue import trap
from ticdc_producer.faults.event_context import table_metadata
from ticdc_producer.faults.event_traps import SegmentTrap, integers, selected_events
from ticdc_producer.faults.fault_plan import FaultPlan, IllegalFault
from ticdc_producer.faults.illegal_event import EventGroup, IllegalEventTrap
from ticdc_producer.faults.legal import moved_tables
from ticdc_producer.faults.stage import EventFaults
from ticdc_producer.model.column_functions import Numbers
from ticdc_producer.model.event import ROW_ELSEWHERE
from ticdc_producer.model.shapes import EVENT_STREAM, EventBatch
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.simulate import Simulation, simulate
from ticdc_producer.simulate.stream import ordered_events
from ticdc_producer.targets.encode_partition import FaultRow

_TRIED_AT_ONCE = 64
"""Segments in which a fault of messages is tried at once."""


def injected_rows(job: Job, plan: FaultPlan) -> list[FaultRow]:
    """Return the occurrences of a plan's faults in a small stream, by encoding it."""
    tried = replace(job, fitted=plan)
    with simulate(tried, LocalEngine(), messages=False, expected_events=False) as simulation:
        return [row for batch in simulation.encoded.faults.batches() for row in batch.to_pylist()]


@dataclass(frozen=True)
class FaultPositions:
    """The positions of a small stream.

    :param plan: has the segments and the seed; its faults do not matter.
    """

    job: Job
    plan: FaultPlan

    @cached_property
    def _by_segment(self) -> tuple[EventBatch, Numbers]:
        """The events without faults (shape ``EVENT_STREAM``) in the order of their segments, and these."""
        with ExitStack() as stack:
            simulation = Simulation.of(self.job, LocalEngine())
            ordered = ordered_events(simulation.log, self.job.stream, simulation.engine, stack)
            events = pa.concat_batches([pa.RecordBatch.from_pylist([], EVENT_STREAM), *ordered.batches()])
        events = selected_events(events, integers(events, "kind") != ROW_ELSEWHERE)
        segments = self.plan.segments.numbers(integers(events, "deliver_after_ts"))
        order = np.argsort(segments, kind="stable")
        return events.take(pa.array(order)), segments[order]

    @property
    def segments(self) -> list[int]:
        """The segments that have events."""
        segments: list[int] = np.unique(self._by_segment[1]).tolist()
        return segments

    def _events_of(self, segments: range) -> EventBatch:
        events, numbers = self._by_segment
        start, stop = np.searchsorted(numbers, [segments.start, segments.stop]).tolist()
        of_segments: EventBatch = events.slice(start, stop - start)
        return of_segments

    def _stage(self, plan: FaultPlan) -> EventFaults:
        return EventFaults(plan, self.job.history.catalog, self.job.stream.topic_partitions)

    def takes_legal(self, name: str, segment: int) -> bool:
        """Return whether a trap of whole segments may be in a segment, and has an effect there."""
        definition = trap(name)
        without_ddl = isinstance(definition, SegmentTrap) and definition.without_ddl
        if without_ddl and segment in self.plan.ddl_segments:
            return False
        plan = replace(self.plan, rates={}, segment_rates={}, fixed={segment: name}, illegal=())
        events = self._events_of(range(segment, segment + 1))
        tables = {number: table for number, (_, table) in moved_tables([events], plan).items()}
        return _has_fault(self._stage(plan).with_legal_faults(events, tables))

    def takes_illegal(self, fault: IllegalFault) -> bool:
        """Return whether an illegal fault of events has an effect in its segments."""
        plan = replace(self.plan, rates={}, segment_rates={}, fixed={}, illegal=(fault,))
        return _has_fault(self._stage(plan).with_illegal_fault(self._events_of(fault.segments), 0))

    def number_of(self, name: str) -> int:
        """Return the number of positions of a trap that is set by number: events, segments or messages."""
        definition = trap(name)
        if isinstance(definition, IllegalEventTrap):
            return len(self.fitting_segments(name))
        if isinstance(definition, SegmentTrap):
            return sum(self.takes_legal(name, segment) for segment in self.segments)
        return len(self.message_positions(name, self.segments))

    def fitting_segments(self, name: str) -> list[int]:
        """Return the segment of each event that an illegal trap of events may change."""
        definition, (events, numbers) = trap(name), self._by_segment
        if not isinstance(definition, IllegalEventTrap) or not events.num_rows:
            return []
        partitions = self.job.stream.topic_partitions
        group = EventGroup(events, table_metadata(self.job.history.catalog), partitions)
        edit = definition.edit(group)
        segments: list[int] = numbers[edit.fits & group.in_several if edit.several else edit.fits].tolist()
        return segments

    def message_positions(self, name: str, segments: Collection[int]) -> list[tuple[int, int]]:
        """Return segments and partitions in which an illegal trap of messages has an effect.

        :param segments: those in which it may be; the first of them are tried one by one.
        """
        few = [range(segment, segment + 1) for segment in [*segments][:_TRIED_AT_ONCE]]
        for tried in (few, [range(self.plan.segments.count)]):
            positions = self._message_positions(name, tried)
            if positions := [position for position in positions if position[0] in segments]:
                return positions
        return []

    def _message_positions(self, name: str, tried: Iterable[range]) -> list[tuple[int, int]]:
        partitions = self.job.stream.topic_partitions
        faults = [
            IllegalFault(name, number, segments, partition_index=index)
            for number, segments in enumerate(tried)
            for index in range(len(partitions))
        ]
        plan = replace(self.plan, rates={}, segment_rates={}, fixed={}, illegal=tuple(faults))
        return [
            (self.plan.segments.of(row["commit_ts"]), partitions.of(row["topic"])[row["partition"]])
            for row in injected_rows(self.job, plan)
        ]


def _has_fault(events: EventBatch) -> bool:
    return bool(events.column("fault").null_count < events.num_rows)
