"""Kinds of legal traps of the event stream, and access to its columns.

A legal trap rewrites the delivery key and never a commit-ts. Its decisions depend on the event, the plan and
hashes of both alone, so it needs no other events. ``events`` has the columns of ``EVENT_STREAM``, with rows
in any order; results have one element per event, in the same order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.faults.fault_plan import FaultPlan, seeded_hash, threshold
from ticdc_producer.faults.trap import Trap
from ticdc_producer.model.column_functions import Flags, Numbers, filtered
from ticdc_producer.model.event import Kind, Op
from ticdc_producer.model.shapes import EVENT_STREAM, Batch, EventBatch
from ticdc_producer.pipeline.delivery import TopicPartitions
from ticdc_producer.pipeline.row_images import numbers, typed

Columns: TypeAlias = dict[str, pa.Array | Numbers | int | str]
"""New columns; a number or text is the value of every row."""


def integers(rows: Batch, name: str) -> Numbers:
    """Return a column of integers or of one of the enums as int64; -1 for NULL."""
    column = rows.column(name)
    return numbers(pc.fill_null(column, -1) if column.null_count else column)


def is_kind(events: EventBatch, kind: Kind) -> Flags:
    """Return whether each event is of a kind."""
    of_kind: Flags = integers(events, "kind") == int(kind)
    return of_kind


def has_op(events: EventBatch, *ops: Op) -> Flags:
    """Return whether each event is a row change with one of these operations."""
    return is_kind(events, Kind.ROW) & np.isin(integers(events, "op"), [int(op) for op in ops])


def replaced(events: EventBatch, columns: Columns) -> EventBatch:
    """Replace columns of events.

    :param columns: by name, values that are cast to the types of ``EVENT_STREAM``.
    :return: shape ``EVENT_STREAM``.
    """
    arrays = {name: events.column(name) for name in EVENT_STREAM.names}
    for name, column in columns.items():
        if isinstance(column, np.ndarray):
            arrays[name] = pa.array(column)
        elif isinstance(column, int | str | bytes):
            arrays[name] = pa.repeat(column, events.num_rows)
        else:
            arrays[name] = column
    columns_in_order = [typed(arrays[field.name], field.type) for field in EVENT_STREAM]
    events_with: EventBatch = pa.record_batch(columns_in_order, schema=EVENT_STREAM)
    return events_with


def selected_events(events: EventBatch, rows: Flags) -> EventBatch:
    """Return the events whose flag is set, with all their columns."""
    selected: EventBatch = filtered(events, rows)
    return selected


_DUPLICATE = 2
"""Added to ``delivery_no`` of a copy; 1 is the repetition after a restart."""


@dataclass(frozen=True)
class SegmentEvents:
    """The events for which a segment trap decides.

    :param events: shape ``EVENT_STREAM``.
    :param segments: the segment of each event.
    :param has: which events are in segments that have the trap.
    :param moved: the table that was drawn for each segment whose trap concerns one table, as its column
        ``of_one_table`` identifies it.
    """

    events: EventBatch
    segments: Numbers
    has: Flags
    plan: FaultPlan
    partitions: TopicPartitions
    moved: Mapping[int, int]

    def of_kind(self, kind: Kind) -> Flags:
        """Return whether each event is of a kind."""
        return is_kind(self.events, kind)

    def of_moved_table(self, identity: str) -> Flags:
        """Return whether each event with the trap is a row of the table that was drawn for its segment.

        :param identity: the column ``of_one_table`` of the trap.
        """
        rows, tables = self.has & self.of_kind(Kind.ROW), integers(self.events, identity)
        moved = np.zeros(len(rows), bool)
        for segment in np.unique(self.segments[rows]).tolist():
            moved |= rows & (self.segments == segment) & (tables == self.moved[segment])
        return moved

    def hashes(self, purpose: str, *columns: str) -> Numbers:
        """Hash some columns of each event, then its segment."""
        keys = (*(self.events.column(name) for name in columns), pa.array(self.segments))
        return seeded_hash(self.plan.seed, purpose, len(self.segments), *keys)


class SegmentTrap(Trap):
    """A trap of a whole segment of the history, which has at most one such trap.

    All events of the segment are delivered, unless ``delivered`` says otherwise; then those that ``repeated``
    chooses are delivered again. Only events in segments with the trap count (``SegmentEvents.has``).

    :cvar without_ddl: whether the segment must have no DDL.
    :cvar of_one_table: the column that identifies the table if the trap concerns one, drawn from those with
        rows in the segment: ``table_id`` for a part of a partitioned table, ``table_version`` for all parts;
        empty if the trap concerns all tables.
    """

    mechanism = "event"
    measures = ("times", "rate")
    occurrence = "a segment of the history"
    without_ddl: ClassVar[bool] = False
    of_one_table: ClassVar[Literal["", "table_id", "table_version"]] = ""

    def delivered(self, events: SegmentEvents) -> Flags:
        """Return whether each event is delivered at first."""
        return np.ones(events.events.num_rows, bool)

    def repeated(self, events: SegmentEvents) -> Flags:
        """Return whether each event is delivered again, after the segment."""
        return np.zeros(events.events.num_rows, bool)

    def delayed(self, events: SegmentEvents) -> Flags:
        """Return whether each event comes at the end of the segment instead; rows precede resolved events."""
        return np.zeros(events.events.num_rows, bool)


class CopyTrap(Trap, ABC):
    """A trap that delivers single events once more."""

    mechanism = "event"
    measures = ("rate",)

    @abstractmethod
    def copied(self, events: EventBatch, plan: FaultPlan) -> Flags:
        """Return whether each event is delivered once more.

        :param events: shape ``EVENT_STREAM``, in any order.
        :return: one flag per event.
        """

    def changes(self, events: EventBatch) -> Columns:  # noqa: ARG002  # for traps to override
        """Return new columns of the copies; without them a copy directly follows its event.

        :param events: the copied events (shape ``EVENT_STREAM``).
        """
        return {}

    def copies(self, events: EventBatch) -> Columns:
        """Return all new columns of the copies, with one element per copied event."""
        again = integers(events, "delivery_no") + _DUPLICATE
        return {"delivery_no": again, "fault": self.id, **self.changes(events)}


class EditTrap(Trap, ABC):
    """A trap that changes some events, after all copies were added."""

    mechanism = "event"
    measures = ("rate",)

    @abstractmethod
    def edited(self, events: EventBatch, plan: FaultPlan) -> EventBatch:
        """Return all events, in their order; the column ``fault`` of those that it changes has its id.

        :param events: shape ``EVENT_STREAM``, in any order.
        :return: the same shape and number of rows.
        """


class OrderTrap(Trap, ABC):
    """A trap that reorders events, after they were brought into delivery order."""

    mechanism = "event"
    measures = ("rate",)

    @abstractmethod
    def reordered(
        self, batches: Iterable[EventBatch], plan: FaultPlan, reserved: Callable[[EventBatch], Flags]
    ) -> Iterator[EventBatch]:
        """Yield the events in their new order.

        :param batches: shape ``EVENT_STREAM``, whole partitions in delivery order.
        :return: the same shape, rows and partitions, in delivery order by new delivery keys.
        :param reserved: which events must not move, because their segments are reserved for illegal faults.
        """


def is_drawn(events: EventBatch, plan: FaultPlan, name: str, *columns: str) -> Flags:
    """Return whether a trap with a rate draws each event, by hashes of columns; by default by its position.

    :param events: shape ``EVENT_STREAM``, in any order.
    :param name: id of the trap, whose rate the plan has.
    :return: one flag per event.
    """
    keys = columns or ("partition_index", "commit_ts", "txn_order_key")
    values = seeded_hash(plan.seed, name, events.num_rows, *(events.column(key) for key in keys))
    hit: Flags = values < threshold(plan.rates[name])
    return hit
