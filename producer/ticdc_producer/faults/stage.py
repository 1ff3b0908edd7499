"""Stage: injects faults into the event stream, just before it is ordered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from ticdc_producer.faults.catalogue import catalogue, trap
from ticdc_producer.faults.event_traps import OrderTrap, chosen, integers, replaced
from ticdc_producer.faults.facts import TableFacts, table_facts
from ticdc_producer.faults.fault_plan import FaultPlan
from ticdc_producer.faults.illegal_event import EventGroup, IllegalEventTrap, with_illegal_fault
from ticdc_producer.faults.legal import draws_table, legal_faults, moves_tables
from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.column_functions import whole_groups
from ticdc_producer.pipeline.order import in_delivery_order
from ticdc_producer.pipeline.row_images import Flags, Numbers

_SEGMENT = "segment"


@dataclass(frozen=True)
class EventFaults:
    """Injects the faults of a plan into an event stream.

    :param catalog: without the tables that ``with_drifted`` adds.
    :param partitions: number of partitions of a topic.
    :param illegal: whether to inject illegal faults; without them the result is a stream that TiCDC might
        send.
    """

    plan: FaultPlan
    catalog: Catalog
    partitions: int
    illegal: bool = True

    @property
    def is_local(self) -> bool:
        """Whether no fault of a partition needs the events of another one, or of more than one segment."""
        traps = (trap(one.trap) for one in self.plan.illegal)
        return not self.illegal or not any(isinstance(one, IllegalEventTrap) for one in traps)

    def in_partition(
        self, batches: Iterable[pa.RecordBatch], moved: Mapping[int, int]
    ) -> Iterator[pa.RecordBatch]:
        """The events of a partition with faults that are local; a segment is in memory.

        :param batches: shape ``EVENT_STREAM``, in delivery order.
        :param moved: see ``with_legal_faults``.
        :return: the same shape, in delivery order.
        """
        with_segments = (batch.append_column(_SEGMENT, pa.array(self._segments(batch))) for batch in batches)
        whole = whole_groups(with_segments, (_SEGMENT,))
        return self.reordered(self._locally(one.drop_columns([_SEGMENT]), moved) for one in whole)

    def _locally(self, events: pa.RecordBatch, moved: Mapping[int, int]) -> pa.RecordBatch:
        reserved = self.reserved(events)
        faulty = self.with_legal_faults(chosen(events, ~reserved), moved)
        return in_delivery_order(pa.concat_batches([faulty, self._in_epochs(chosen(events, reserved))]))

    def reserved(self, events: pa.RecordBatch) -> Flags:
        """Which events are in segments that are reserved for illegal faults.

        :param events: shape ``EVENT_STREAM``; its column ``deliver_after_ts`` is read.
        :return: one flag per event.
        """
        return np.isin(self._segments(events), sorted(self.plan.reserved))

    def fault_numbers(self, events: pa.RecordBatch) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """For each event, the index of the illegal fault that its segment is reserved for; -1 for none.

        :param events: shape ``EVENT_STREAM``; its column ``deliver_after_ts`` is read.
        """
        segments = self._segments(events)
        found = np.full(events.num_rows, -1)
        for number, fault in enumerate(self.plan.illegal):
            found[(segments >= fault.segments.start) & (segments < fault.segments.stop)] = number
        return found

    def with_legal_faults(self, events: pa.RecordBatch, moved: Mapping[int, int]) -> pa.RecordBatch:
        """Events of segments that are not reserved, with the legal faults other than a new order.

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
        """Whether a table is drawn in the segments of some TSOs."""
        return draws_table(self.plan, self.plan.segments.numbers(times))

    @property
    def reorders(self) -> bool:
        """Whether events are reordered, after they were sorted."""
        return bool(self._order_traps)

    def reordered(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Sorted events in another order.

        :param batches: shape ``EVENT_STREAM``, whole partitions in delivery order, with the other faults.
        :return: the same shape and partitions, in delivery order.
        """
        events = iter(batches)
        for one in self._order_traps:
            events = one.reordered(events, self.plan, self.reserved)
        return events

    @property
    def _order_traps(self) -> list[OrderTrap]:
        traps = catalogue().values()
        return [one for one in traps if isinstance(one, OrderTrap) and one.id in self.plan.rates]

    def with_illegal_fault(self, events: pa.RecordBatch, number: int) -> pa.RecordBatch:
        """All events of the segments that are reserved for one illegal fault, with this fault.

        :param events: shape ``EVENT_STREAM``, in any order.
        :return: the same shape, in no order; removed events have the kind ``illegal_event.DROPPED``.
        :param number: index of the fault in the plan.
        """
        events = self._in_epochs(events)
        fault = self.plan.illegal[number]
        found = trap(fault.trap)
        if not self.illegal or not isinstance(found, IllegalEventTrap) or not events.num_rows:
            return events
        group = EventGroup(events, self._facts, self.partitions)
        return with_illegal_fault(group, found, fault, self.plan.seed)

    def _in_epochs(self, reserved: pa.RecordBatch) -> pa.RecordBatch:
        """Reserved events in the restart epochs of their segments."""
        if not self.plan.repeats:
            return reserved
        return replaced(reserved, {"restart_epoch": self._segments(reserved) * 2})

    def _segments(self, events: pa.RecordBatch) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return self.plan.segments.numbers(integers(events, "deliver_after_ts"))

    @cached_property
    def _facts(self) -> TableFacts:
        return table_facts(self.catalog)
