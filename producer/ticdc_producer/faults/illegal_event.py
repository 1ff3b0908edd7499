"""Illegal traps of the event stream: defects that TiCDC must never produce.

Only the events of the segments that the plan reserves for a fault are read. A trap has a condition that
an event must meet and an edit; one of the events that meet it is drawn.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.faults.event_context import Neighbours, TableMetadata
from ticdc_producer.faults.event_traps import Columns, has_op, integers, replaced, selected_events
from ticdc_producer.faults.fault_plan import IllegalFault, seeded_hash
from ticdc_producer.faults.trap import Trap
from ticdc_producer.model.column_functions import Flags
from ticdc_producer.model.event import Op
from ticdc_producer.model.shapes import DELIVERY_KEY, EventBatch
from ticdc_producer.pipeline.delivery import TopicPartitions
from ticdc_producer.pipeline.row_images import column_values, same_values

DROPPED = 0
"""``kind`` of an event that a fault removed: the row marks the position and is not sent."""
AFTER_ORIGINAL = 100
"""``delivery_no`` that sorts an event directly after the one whose delivery key it copies."""
_FIRST = {"kind_order": -1, "txn_order_key": b""}
"""The part of the delivery key that sorts an event before all others of its commit."""


@dataclass(frozen=True, slots=True)
class Edit:
    """The change that an illegal trap makes.

    :param fits: which events meet its condition.
    :param changes: new values of columns, for the number of an event.
    :param adds: whether the changed event is added after the original instead of replacing it.
    :param several: whether the topic needs several partitions for the fault to be visible.
    :param removes: which other events are removed, for the number of an event.
    """

    fits: Flags
    changes: Callable[[int], Columns]
    adds: bool = False
    several: bool = False
    removes: Callable[[int], Flags] | None = None


@dataclass(frozen=True)
class EventGroup:
    """The events of the segments of one fault.

    :param events: shape ``EVENT_STREAM``, in any order.
    """

    events: EventBatch
    metadata: TableMetadata
    partitions: TopicPartitions

    @cached_property
    def in_several(self) -> Flags:
        """Whether the topic of each event has several partitions."""
        return self.partitions.sizes(integers(self.events, "partition_index")) > 1

    @cached_property
    def neighbours(self) -> Neighbours:
        """Relations between the events."""
        return Neighbours(self.events, self.metadata)

    def rows(self, *ops: Op) -> Flags:
        """Return whether each event is a row change with one of these operations; by default with any."""
        return has_op(self.events, *ops or Op)

    def value(self, name: str, number: int) -> pa.Array:
        """Return one value of a column."""
        return self.events.column(name).slice(number, 1)

    def differs(self) -> Flags:
        """Return whether each event is an update that changes a column that is in no index.

        >>> from types import SimpleNamespace
        >>> columns = {"kind": [1, 1], "op": [Op.UPDATE] * 2, "table_version": [0, 0]}
        >>> columns |= {"before": [[b"1", b"a"], [b"1", b"a"]], "after": [[b"2", b"a"], [b"1", b"b"]]}
        >>> metadata = SimpleNamespace(unindexed=[[1]])  # the second column
        >>> EventGroup(pa.record_batch(columns), metadata, None).differs().tolist()
        [False, True]
        """
        versions, differs = integers(self.events, "table_version"), np.zeros(self.events.num_rows, bool)
        updates = self.rows(Op.UPDATE)
        for version in np.unique(versions[updates]).tolist():
            rows = np.flatnonzero(updates & (versions == version))
            for index in self.metadata.unindexed[version]:
                values = [
                    column_values(self.events.column(name), rows, index) for name in ("before", "after")
                ]
                differs[rows] |= ~same_values(*values)
        return differs


class IllegalEventTrap(Trap, ABC):
    """A trap that changes one event of the segments that are reserved for it.

    :cvar at_ddl: whether its segments must have a DDL, if there is one.
    """

    legal = False
    mechanism = "event"
    measures = ("times", "rate")
    occurrence = "an event"
    at_ddl: ClassVar[bool] = False

    @abstractmethod
    def edit(self, group: EventGroup) -> Edit:
        """Return which events the trap may change, and how."""


def removal(fits: Flags, *, several: bool = False) -> Edit:
    """Remove an event."""
    return Edit(fits, lambda _: {"kind": DROPPED}, several=several)


def moved_before(after_ts: int, restart_epoch: int) -> Columns:
    """Return the delivery key of an event that precedes all rows of an earlier commit."""
    first: Columns = {name: pa.array([value]) for name, value in _FIRST.items()}
    return {**first, "deliver_after_ts": int(after_ts), "restart_epoch": int(restart_epoch)}


def with_illegal_fault(
    group: EventGroup, trap: IllegalEventTrap, fault: IllegalFault, seed: int
) -> EventBatch:
    """Inject an illegal fault into one of the events, if any fits.

    A removed event remains, with the kind ``DROPPED``.

    :param group: all events of the segments that are reserved for the fault, in any order.
    :return: shape ``EVENT_STREAM``, unordered: the changed, added and removed events are the last ones.
    """
    events, edit = group.events, trap.edit(group)
    fits = edit.fits & group.in_several if edit.several else edit.fits
    number = _drawn_event(events, fits, fault, seed)
    if number is None:
        return events
    parts = [replaced(events.slice(number, 1), {**edit.changes(number), "fault": trap.id})]
    gone = np.zeros(events.num_rows, bool)
    gone[number] = not edit.adds
    if edit.removes is not None:
        others = edit.removes(number)
        parts.append(replaced(events.filter(pa.array(others)), {"kind": DROPPED, "fault": trap.id}))
        gone |= others
    faulty: EventBatch = pa.concat_batches([selected_events(events, ~gone), *parts])
    return faulty


def _drawn_event(events: EventBatch, fits: Flags, fault: IllegalFault, seed: int) -> int | None:
    """Return the number of the event that is changed; None if none fits."""
    keys = (events.column(name) for name in ("partition_index", "deliver_after_ts", "txn_order_key"))
    hashes = seeded_hash(seed, "illegal", len(fits), fault.trap, fault.number, *keys)
    candidates = np.flatnonzero(fits)
    if not len(candidates):
        return None
    least = candidates[hashes[candidates] == hashes[candidates].min()]
    tied = events.select(DELIVERY_KEY).take(pa.array(least))
    return int(least[pc.sort_indices(tied, [(name, "ascending") for name in DELIVERY_KEY])[0].as_py()])
