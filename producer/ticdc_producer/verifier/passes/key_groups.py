"""Groups of events by row key or time: which deliveries are the first ones, and the history of each row."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ticdc_producer.model.column_functions import Flags, Numbers, highest_before, sorted_groups
from ticdc_producer.verifier.events import NOTHING, EventKind, Events, KeyedEvents
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.stream_stats import StreamStats


@dataclass(frozen=True)
class KeyGroups:
    """Delivered events in whole groups of equal ``key``.

    :param stats: what is known of the whole stream.
    :param snapshot: the rows of these groups with which a consumer starts, as inserts; None: none.
    """

    events: Events
    options: VerifyOptions
    stats: StreamStats
    snapshot: Events | None = None

    @property
    def with_snapshot(self) -> Events:
        """The events after those of the snapshot."""
        return self.events if self.snapshot is None else Events.joined([self.snapshot, self.events])

    @cached_property
    def first_delivery(self) -> Flags:
        """No identical event came before in the partition."""
        events = self.events
        return first_deliveries(events, events.kind, events.identity, self.options)

    @cached_property
    def first_rows(self) -> Flags:
        """First deliveries of rows."""
        return self.first_of(EventKind.ROW)

    def first_of(self, kind: EventKind) -> Flags:
        """Return the first deliveries of events of a kind."""
        flags: Flags = self.first_delivery & (self.events.kind == kind)
        return flags

    @cached_property
    def late_in_key(self) -> tuple[Flags, Numbers, Numbers]:
        """Rows older than an earlier one of their row key in the partition, with commit-ts and position of
        the newest earlier one.

        Rows whose dispatch key hashes the handle key are checked by their batching groups instead. A repeated
        row is not late, as the last one here.

        >>> columns = {"commit_ts": [5, 9, 6, 5], "position": [10, 11, 12, 13], "identity": [0, 1, 2, 0]}
        >>> events = Events.with_columns(4, kind=EventKind.ROW, keyed=True, **columns)
        >>> late, ts, position = KeyGroups(events, VerifyOptions(), StreamStats(VerifyOptions())).late_in_key
        >>> late.tolist(), ts.tolist(), position.tolist()
        ([False, False, True, False], [-1, 5, 9, -1], [-1, 10, 11, -1])
        """
        events = self.events
        covered = (events.batch_value != NOTHING) & events.hashes_handle
        rows = np.flatnonzero(self.first_rows & events.keyed & ~covered)
        candidates = events.take(rows)
        late, newest_ts, newest_position = late_in_groups(
            candidates.commit_ts,
            candidates.position,
            (candidates.topics[0], candidates.partition, candidates.key, candidates.key_check),
        )
        late_events = np.zeros(len(events), bool)
        ts, position = np.full((2, len(events)), NOTHING)
        late_events[rows], ts[rows], position[rows] = late, newest_ts, newest_position
        return late_events, ts, position

    def transactions(self) -> tuple[Numbers, Numbers]:
        """Return the first deliveries of rows with handle key by row and commit-ts, and the group starts."""
        events = self.events
        rows = np.flatnonzero(self.first_rows & events.keyed)
        keys = (events.topics[0], events.key, events.key_check, events.commit_ts)
        order, starts = sorted_groups(
            [key[rows] for key in keys], events.partition[rows], events.position[rows]
        )
        return rows[order], np.flatnonzero(starts)


def first_deliveries(events: KeyedEvents, kind: Numbers, identity: Numbers, options: VerifyOptions) -> Flags:
    """Return the events before which no identical one came in the partition.

    Identities ``[7, 8, 7]`` of one group and partition, in the order of their position, give
    ``[True, True, False]``.

    :param events: in whole groups of equal ``key``.
    :param kind, identity: see ``Events``.
    """
    keys = (events.key, events.key_check, events.topics[0], events.partition, identity)
    order, starts = sorted_groups(keys, events.position)
    first = np.empty(len(events), bool)
    first[order] = starts
    if not options.rows_have_commit_ts:  # a row deleted and inserted again reads as the same event
        first |= (kind == EventKind.ROW) & (events.commit_ts == 0)
    return first


def late_in_groups(
    commit_ts: Numbers, position: Numbers, keys: tuple[Numbers, ...]
) -> tuple[Flags, Numbers, Numbers]:
    """Return the rows older than an earlier one of their group.

    >>> commit_ts, key = np.array([5, 9, 6]), np.zeros(3, np.int64)
    >>> late, ts, position = late_in_groups(commit_ts, np.array([10, 11, 12]), (key,))
    >>> late.tolist(), ts.tolist(), position.tolist()
    ([False, False, True], [-1, 5, 9], [-1, 10, 11])

    :param keys: the columns that the rows of a group share, among them topic and partition.
    :return: which ones, and commit-ts and position of the newest row before each one.
    """
    order, starts = sorted_groups(keys, position)
    before, numbers = highest_before(commit_ts[order], starts)
    late, newest_ts, newest_position = np.zeros(len(order), bool), *np.full((2, len(order)), NOTHING)
    late[order], newest_ts[order] = commit_ts[order] < before, before
    newest_position[order] = np.where(numbers < 0, NOTHING, position[order][numbers])
    return late, newest_ts, newest_position


def op_rank(op: Numbers) -> Numbers:
    """Return the order of operations within a transaction: deletes come before updates and inserts.

    >>> from ticdc_producer.model.event import Op
    >>> op_rank(np.array([Op.DELETE, Op.UPDATE, Op.INSERT])).tolist()
    [0, 1, 2]
    """
    ranks: Numbers = np.array([0, 2, 1, 0])[op]  # by the numbers of model.event.Op
    return ranks
