"""The events of partitions in their order, with what came before them.

A repeated row without handle key does not count as duplicate, because it may be a second row. Repeated events
are grouped by *islands*: the events of a partition between one first-time row and the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TypeAlias, TypeVar

import numpy as np

from ticdc_producer.model.column_functions import Flags, Numbers, starts_of
from ticdc_producer.model.fingerprint import combined
from ticdc_producer.verifier.events import (
    INDEX_BITS,
    NOTHING,
    EventColumns,
    EventKind,
    Events,
    FlagColumn,
    Int8Column,
    Int64Column,
    KeyedEvents,
    TextColumn,
)

PartitionName: TypeAlias = tuple[str, int]
"""Topic and partition."""
_NO_MESSAGE = -2
"""The offset of no message; no message follows it."""


@dataclass(frozen=True, kw_only=True)
class DeliveredEvents(KeyedEvents):
    """Events as they were delivered, see ``events.Events``.

    :param offset: of the message.
    :param first_delivery: no identical event came before in the partition.
    """

    key_change: TextColumn
    kind: Int8Column
    op: Int8Column
    keyed: FlagColumn
    identity: Int64Column
    rule: Int8Column
    offset: Int64Column
    first_delivery: FlagColumn


@dataclass(frozen=True, kw_only=True)
class OrderedEvents(EventColumns):
    """The events of partitions in their order, with what came before.

    :param first_row: a row that is delivered for the first time.
    :param row_again: a repeated row.
    :param repeated: its message repeats the previous one.
    :param resolved_max, row_max, table_max: commit-ts of the newest resolved event, first-time row, and
        first-time row of the event's table before it; -1 if none.
    :param island: its number in the partition.
    :param older: a resolved event that is not newer than one before it.
    :param rows_again, stale: number of repeated rows and of such resolved events in the island.
    :param replaying: after a restart, which repeats rows of several tables or a resolved event.
    """

    key_change: TextColumn
    kind: Int8Column
    op: Int8Column
    rule: Int8Column
    first_delivery: FlagColumn
    first_row: FlagColumn
    row_again: FlagColumn
    repeated: FlagColumn
    resolved_max: Int64Column
    row_max: Int64Column
    table_max: Int64Column
    island: Int64Column
    older: FlagColumn
    rows_again: Int64Column
    stale: Int64Column
    replaying: FlagColumn


Ordered = TypeVar("Ordered", DeliveredEvents, OrderedEvents)


def delivered(events: Events) -> DeliveredEvents:
    """Return observed events; it is unknown which of them are repeated."""
    unknown = np.zeros(len(events), bool)
    return DeliveredEvents.part_of(events, offset=events.position >> INDEX_BITS, first_delivery=unknown)


def indexes(events: EventColumns) -> Numbers:
    """Return the index of each event in its message."""
    return events.position & ((1 << INDEX_BITS) - 1)


def by_partition(events: Ordered) -> Iterator[tuple[PartitionName, Ordered]]:
    """Yield each partition with its events, which follow each other.

    >>> events = DeliveredEvents.with_columns(3, topic="t", partition=[0, 0, 1], position=[4, 5, 4])
    >>> [(name, of_partition.position.tolist()) for name, of_partition in by_partition(events)]
    [(('t', 0), [4, 5]), (('t', 1), [4])]
    """
    topics, _ = events.topics
    starts: list[int] = np.flatnonzero(starts_of(topics, events.partition)).tolist()
    for start, end in pairwise([*starts, len(events)]):
        name = events.topic[start].as_py(), int(events.partition[start])
        yield name, events.take(np.arange(start, end))


@dataclass
class OrderedPartition:
    """The state of a partition after the events so far.

    :param first: position of its first event.
    :param rows, resolved: numbers of events.
    :param offset, content: the last message.
    :param resolved_max, row_max, table_max, island, replaying: see :class:`OrderedEvents`.
    :param replayed_max: commit-ts of the newest row that a restart repeated.
    """

    name: PartitionName
    first: int
    rows: int = 0
    resolved: int = 0
    offset: int = _NO_MESSAGE
    content: int = 0
    resolved_max: int = NOTHING
    row_max: int = NOTHING
    table_max: dict[tuple[str, str], int] = field(default_factory=dict)
    island: int = 0
    replaying: bool = False
    replayed_max: int = NOTHING

    def ordered(self, events: DeliveredEvents) -> OrderedEvents:
        """Return the next events of the partition, without what only their whole island shows."""
        row, resolved = events.kind == EventKind.ROW, events.kind == EventKind.RESOLVED
        first_row = row & events.first_delivery
        again = ~events.first_delivery & (events.keyed | ~row)
        repeated = self._repeated(events, again)
        row_ts = np.where(first_row, events.commit_ts, NOTHING)
        resolved_ts = np.where(resolved, events.commit_ts, NOTHING)
        resolved_max, self.resolved_max = _highest_before(resolved_ts, self.resolved_max)
        row_max, self.row_max = _highest_before(row_ts, self.row_max)
        island = self.island + np.cumsum(first_row)
        self.island = int(island[-1])
        self.rows += int(row.sum())
        self.resolved += int(resolved.sum())
        unknown = np.zeros(len(events), np.int64)
        return OrderedEvents.part_of(
            events,
            first_row=first_row,
            row_again=row & again & ~repeated,
            repeated=repeated,
            resolved_max=resolved_max,
            row_max=row_max,
            table_max=self._table_max(events, row_ts),
            island=island,
            older=resolved & (events.commit_ts <= resolved_max) & ~repeated,
            rows_again=unknown,
            stale=unknown,
            replaying=unknown != 0,
        )

    def replayed(self, events: OrderedEvents) -> OrderedEvents:
        """Return the next events of the partition, in whole islands, with what their islands show."""
        starts = np.flatnonzero(starts_of(events.island))
        rows_again, stale = (_sums(flags, starts) for flags in (events.row_again, events.older))
        rows = events.row_again & ((rows_again > 1) | (stale > 0))
        self.replayed_max = max(self.replayed_max, int(events.commit_ts[rows].max(initial=NOTHING)))
        restart = np.concatenate([[self.replaying], rows | events.older])
        replaying = np.logical_or.accumulate(restart)
        self.replaying = bool(replaying[-1])
        return replace(events, rows_again=rows_again, stale=stale, replaying=replaying[:-1])

    def _repeated(self, events: DeliveredEvents, again: Flags) -> Flags:
        """Return which events are in a message with the events of the previous one.

        >>> events = DeliveredEvents.with_columns(5, offset=[0, 1, 2, 2, 4], identity=[7, 7, 7, 8, 7])
        >>> again = np.array([False, True, True, False, True])
        >>> OrderedPartition(("t", 0), first=0)._repeated(events, again).tolist()
        [False, True, False, False, False]

        :param again: which events came before in the partition.
        """
        starts = np.flatnonzero(starts_of(events.offset))
        content = np.add.reduceat(combined(indexes(events), events.identity), starts)
        offset = events.offset[starts]
        same = content == np.concatenate([np.array([self.content], np.uint64), content[:-1]])
        follows = offset == np.concatenate([[self.offset], offset[:-1]]) + 1
        self.offset, self.content = int(offset[-1]), int(content[-1])
        repeated = same & follows & np.logical_and.reduceat(again, starts)
        return np.repeat(repeated, np.diff(starts, append=len(again)))

    def _table_max(self, events: DeliveredEvents, row_ts: Numbers) -> Numbers:
        """Return the commit-ts of the newest first-time row of each event's table before it.

        >>> events = DeliveredEvents.with_columns(4, table=["a", "b", "a", "a"])
        >>> partition = OrderedPartition(("t", 0), first=0)
        >>> partition._table_max(events, row_ts=np.array([5, 7, -1, 6])).tolist()
        [-1, -1, 5, 5]

        :param row_ts: commit-ts of first-time rows; -1 for other events.
        """
        codes, tables = events.tables
        newest, order = np.empty(len(events), np.int64), np.argsort(codes, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(codes[order])) + 1):
            table = tables[codes[rows[0]]]
            newest[rows], self.table_max[table] = _highest_before(
                row_ts[rows], self.table_max.get(table, NOTHING)
            )
        return newest


def _highest_before(values: Numbers, before: int) -> tuple[Numbers, int]:
    """Return the highest value before each one, and the highest of all.

    >>> before, highest = _highest_before(np.array([5, 7, 6]), 4)
    >>> before.tolist(), highest
    ([4, 5, 7], 7)

    :param before: the highest value before the first one.
    """
    highest = np.maximum.accumulate(np.concatenate([[before], values]))
    return highest[:-1], int(highest[-1])


def _sums(flags: Flags, starts: Numbers) -> Numbers:
    """Return for each row how many rows of its group have a flag.

    >>> _sums(np.array([True, True, False]), np.array([0, 2])).tolist()
    [2, 2, 0]
    """
    sums = np.add.reduceat(flags.astype(np.int64), starts)
    return np.repeat(sums, np.diff(starts, append=len(flags)))
