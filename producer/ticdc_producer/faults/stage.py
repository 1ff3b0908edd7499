"""Stage: injects faults into the event stream, just before it is ordered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from ticdc_producer.faults.catalogue import catalogue, trap
from ticdc_producer.faults.event_context import TableMetadata, table_metadata
from ticdc_producer.faults.event_traps import OrderTrap, integers, replaced, selected_events
from ticdc_producer.faults.fault_plan import FaultPlan
from ticdc_producer.faults.illegal_event import EventGroup, IllegalEventTrap, with_illegal_fault
from ticdc_producer.faults.legal import draws_table, legal_faults, moves_tables
from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.column_functions import Flags, Numbers, whole_groups
from ticdc_producer.model.shapes import EventBatch
from ticdc_producer.pipeline.delivery import TopicPartitions, in_delivery_order

_SEGMENT = "segment"


@dataclass(frozen=True)
class EventFaults:
    """The faults of a plan that change an event stream.

    :param catalog: without the tables that ``with_drifted`` adds.
    :param illegal: whether to inject illegal faults; without them the result is a stream that TiCDC might
        send.
    """

    plan: FaultPlan
    catalog: Catalog
    partitions: TopicPartitions
    illegal: bool = True

    @property
    def is_local(self) -> bool:
        """Whether no fault of a partition needs the events of another one, or of more than one segment."""
        traps = (trap(fault.trap) for fault in self.plan.illegal)
        return not self.illegal or not any(isinstance(needed, IllegalEventTrap) for needed in traps)

    def in_partition(self, batches: Iterable[EventBatch], moved: Mapping[int, int]) -> Iterator[EventBatch]:
        """Inject the faults that are local into the events of a partition; a segment is in memory.

        :param batches: shape ``EVENT_STREAM``, in delivery order.
        :param moved: see ``with_legal_faults``.
        :return: the same shape, in delivery order.
        """
        with_segments = (batch.append_column(_SEGMENT, pa.array(self._segments(batch))) for batch in batches)
        whole = whole_groups(with_segments, (_SEGMENT,))
        segments = (segment.drop_columns([_SEGMENT]) for segment in whole)
        return self.reordered(self._locally(segment, moved) for segment in segments)

    def _locally(self, events: EventBatch, moved: Mapping[int, int]) -> EventBatch:
        reserved = self.reserved(events)
        faulty = self.with_legal_faults(selected_events(events, ~reserved), moved)
        return in_delivery_order(
            pa.concat_batches([faulty, self._in_epochs(selected_events(events, reserved))])
        )

    def reserved(self, events: EventBatch) -> Flags:
        """Return whether each event is in a segment that is reserved for an illegal fault.

        :param events: shape ``EVENT_STREAM``; its column ``deliver_after_ts`` is read.
        :return: one flag per event.
        """
        return np.isin(self._segments(events), sorted(self.plan.reserved))

    def fault_numbers(self, events: EventBatch) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Return the index of the illegal fault that each event's segment is reserved for; -1 for none.

        :param events: shape ``EVENT_STREAM``; its column ``deliver_after_ts`` is read.
        """
        segments = self._segments(events)
        numbers = np.full(events.num_rows, -1)
        for number, fault in enumerate(self.plan.illegal):
            numbers[(segments >= fault.segments.start) & (segments < fault.segments.stop)] = number
        return numbers

    def with_legal_faults(self, events: EventBatch, moved: Mapping[int, int]) -> EventBatch:
        """Inject the legal faults other than a new order into events of segments that are not reserved.

        :param events: shape ``EVENT_STREAM``, in any order.
        :param moved: by segment whose trap concerns one table, the id of the table that was drawn.
        :return: the same shape, in no order.
        """
        return legal_faults(events, self.plan, self.partitions, moved)

    @property
    def moves_tables(self) -> bool:
        """Whether a table is drawn in any segment."""
        return moves_tables(self.plan)

    def draws_table(self, times: Numbers) -> Flags:
        """Return whether a table is drawn in the segment of each TSO."""
        return draws_table(self.plan, self.plan.segments.numbers(times))

    @property
    def reorders(self) -> bool:
        """Whether events are reordered, after they were sorted."""
        return bool(self._order_traps)

    def reordered(self, batches: Iterable[EventBatch]) -> Iterator[EventBatch]:
        """Reorder sorted events.

        :param batches: shape ``EVENT_STREAM``, whole partitions in delivery order, with the other faults.
        :return: the same shape and partitions, in delivery order.
        """
        events = iter(batches)
        for order_trap in self._order_traps:
            events = order_trap.reordered(events, self.plan, self.reserved)
        return events

    @property
    def _order_traps(self) -> list[OrderTrap]:
        traps = catalogue().values()
        return [entry for entry in traps if isinstance(entry, OrderTrap) and entry.id in self.plan.rates]

    def with_illegal_fault(self, events: EventBatch, number: int) -> EventBatch:
        """Inject one illegal fault into all events of the segments that are reserved for it.

        :param events: shape ``EVENT_STREAM``, in any order.
        :return: the same shape, in no order; removed events have the kind ``illegal_event.DROPPED``.
        :param number: index of the fault in the plan.
        """
        events = self._in_epochs(events)
        fault = self.plan.illegal[number]
        illegal_trap = trap(fault.trap)
        if not self.illegal or not isinstance(illegal_trap, IllegalEventTrap) or not events.num_rows:
            return events
        group = EventGroup(events, self._metadata, self.partitions)
        return with_illegal_fault(group, illegal_trap, fault, self.plan.seed)

    def _in_epochs(self, reserved: EventBatch) -> EventBatch:
        """Put reserved events into the restart epochs of their segments."""
        if not self.plan.repeats:
            return reserved
        return replaced(reserved, {"restart_epoch": self._segments(reserved) * 2})

    def _segments(self, events: EventBatch) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return self.plan.segments.numbers(integers(events, "deliver_after_ts"))

    @cached_property
    def _metadata(self) -> TableMetadata:
        return table_metadata(self.catalog)
