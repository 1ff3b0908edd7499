"""Groups of events by row key or time: which deliveries are the first ones, and the history of each row."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ticdc_producer.verifier.events import NOTHING, EventColumns, EventKind, Events, KeyedEvents
from ticdc_producer.verifier.fingerprint import Flags, Numbers
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.stream_facts import StreamFacts


def starts_of(*keys: Numbers) -> Flags:
    """Which rows begin a group of equal keys; those of a group are consecutive."""
    first = np.zeros(len(keys[0]), bool)
    first[:1] = True
    for key in keys:
        first[1:] |= key[1:] != key[:-1]
    return first


def highest_before(values: Numbers, starts: Flags) -> tuple[Numbers, Numbers]:
    """The highest value before each row in its group, and its row; -1 at the start of a group.

    The last of equal values counts.

    :param values: not negative.
    """
    if not len(values):
        return values, values
    group = np.cumsum(starts)
    # A step of all ranks from group to group makes the maximum of all rows that of the row's group.
    ranks = np.unique(values, return_inverse=True)[1]
    lifted = ranks + group * (int(ranks.max()) + 1)
    highest = np.maximum.accumulate(lifted)
    newest = np.maximum.accumulate(np.where(lifted == highest, np.arange(len(values)), 0))
    rows = np.where(starts, NOTHING, np.concatenate([[0], newest[:-1]]))
    return np.where(rows < 0, NOTHING, values[rows]), rows


@dataclass(frozen=True)
class KeyGroups:
    """Delivered events in whole groups of equal ``key``.

    :param facts: what is known of the whole stream.
    """

    events: Events
    options: VerifyOptions
    facts: StreamFacts

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
        """First deliveries of events of a kind."""
        found: Flags = self.first_delivery & (self.events.kind == kind)
        return found

    @cached_property
    def late_in_key(self) -> tuple[Flags, Numbers, Numbers]:
        """Rows older than an earlier one of their row key in the partition, with commit-ts and position of
        the newest earlier one.

        A dispatch key that hashes the handle key covers the row key; the batching groups have it.
        """
        events = self.events
        covered = (events.batch_value != NOTHING) & events.hashes_handle
        rows = np.flatnonzero(self.first_rows & events.keyed & ~covered)
        chosen = events.take(rows)
        late, newest_ts, newest_position = late_in_groups(
            chosen, (chosen.topics[0], chosen.partition, chosen.key, chosen.key_check)
        )
        found = np.zeros(len(events), bool)
        ts, position = np.full((2, len(events)), NOTHING)
        found[rows], ts[rows], position[rows] = late, newest_ts, newest_position
        return found, ts, position

    def transactions(self) -> tuple[Numbers, Numbers]:
        """First deliveries of rows with handle key, by row and commit-ts, and where each group starts."""
        events = self.events
        rows = np.flatnonzero(self.first_rows & events.keyed)
        keys = [events.topics[0], events.key, events.key_check, events.commit_ts]
        order = rows[
            np.lexsort([column[rows] for column in (events.position, events.partition, *reversed(keys))])
        ]
        return order, np.flatnonzero(starts_of(*(key[order] for key in keys))) if len(order) else order


def first_deliveries(events: KeyedEvents, kind: Numbers, identity: Numbers, options: VerifyOptions) -> Flags:
    """Return the events before which no identical one came in the partition.

    :param events: in whole groups of equal ``key``.
    :param kind, identity: see ``Events``.
    """
    keys = (events.key, events.key_check, events.topics[0], events.partition, identity)
    order = np.lexsort((events.position, *reversed(keys)))
    first = np.empty(len(events), bool)
    first[order] = starts_of(*(key[order] for key in keys))
    if not options.rows_have_commit_ts:  # a row deleted and inserted again reads as the same event
        first |= (kind == EventKind.ROW) & (events.commit_ts == 0)
    return first


def late_in_groups(rows: EventColumns, keys: tuple[Numbers, ...]) -> tuple[Flags, Numbers, Numbers]:
    """Rows older than an earlier one of their group.

    :param keys: the columns that the rows of a group share, among them topic and partition.
    :return: which ones, and commit-ts and position of the newest row before each one.
    """
    order = np.lexsort((rows.position, *reversed(keys)))
    before, numbers = highest_before(rows.commit_ts[order], starts_of(*(key[order] for key in keys)))
    late, ts, position = np.zeros(len(rows), bool), *np.full((2, len(rows)), NOTHING)
    late[order], ts[order] = rows.commit_ts[order] < before, before
    position[order] = np.where(numbers < 0, NOTHING, rows.position[order][numbers])
    return late, ts, position


def op_rank(op: Numbers) -> Numbers:
    """The order of operations within a transaction: deletes come before updates and inserts."""
    ranks: Numbers = np.array([0, 2, 1, 0])[op]  # by the numbers of model.event.Op
    return ranks
