"""Tracks each row from event to event: whether it exists, and its last values; what its checks share.

The events of a row are ordered by commit-ts; within a transaction, deletes come before inserts. Each event
is compared with the previous one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from ticdc_producer.model.column_functions import Flags, Numbers, sorted_groups, starts_of
from ticdc_producer.model.event import Op
from ticdc_producer.verifier.events import EventKind, Events, Rule
from ticdc_producer.verifier.passes.key_groups import KeyGroups, op_rank

UNKNOWN, ABSENT, PRESENT = -1, 0, 1
_Column = TypeVar("_Column", Numbers, Flags)


@dataclass(frozen=True)
class RowHistory:
    """The changes of each row in order; an update of the handle key deletes one row and inserts another.

    :param changes: first deliveries of rows with handle key.
    :param has_previous: whether the previous element is the previous change of the same row.
    """

    groups: KeyGroups
    changes: Events
    has_previous: Flags

    def previous(self, column: _Column) -> _Column:
        """Return a column's values of the previous change; of the change itself where there is none."""
        return column[np.arange(len(column)) - self.has_previous]

    @cached_property
    def since_previous(self) -> Flags:
        """The previous change determines the row: no DDL of the table is between the two.

        Two events of one transaction are checked by INV-COLLAPSE; events of one millisecond in two
        partitions have no order.
        """
        changes, (epoch_ts, _) = self.changes, self.epoch
        before = self.previous(changes.commit_ts)
        apart = changes.commit_ts > before
        if self.groups.options.fidelity.commit_ts != "exact":
            apart |= changes.partition == self.previous(changes.partition)
        flags: Flags = self.has_previous & (before > epoch_ts) & apart
        return flags

    @cached_property
    def epoch(self) -> tuple[Numbers, Flags]:
        """See ``TableEpochs.before``."""
        return self.groups.stats.epochs.before(self.changes)

    @cached_property
    def state(self) -> Numbers:
        """The state of the row before each change: ``UNKNOWN``, ``ABSENT`` or ``PRESENT``.

        >>> from ticdc_producer.verifier.options import VerifyOptions
        >>> from ticdc_producer.verifier.stream_stats import StreamStats
        >>> columns = {"op": [Op.INSERT, Op.DELETE, Op.INSERT], "commit_ts": [5, 7, 9], "identity": [0, 1, 2]}
        >>> events = Events.with_columns(3, kind=EventKind.ROW, keyed=True, **columns)
        >>> row_history(KeyGroups(events, VerifyOptions(), StreamStats(VerifyOptions()))).state.tolist()
        [-1, 1, 0]
        """
        changes, (epoch_ts, empty) = self.changes, self.epoch
        fresh = ~self.has_previous | (self.previous(changes.commit_ts) <= epoch_ts)
        absent = empty & (changes.commit_ts > epoch_ts) & fresh
        if self.groups.options.from_beginning:
            absent |= (epoch_ts < 0) & ~self.has_previous
        exists = np.where(self.previous(changes.op) != Op.DELETE, PRESENT, ABSENT)
        return np.where(self.since_previous, exists, np.where(absent, ABSENT, UNKNOWN))

    @cached_property
    def keeps_key(self) -> Flags:
        """Neither the change nor the previous one changes the row's handle key."""
        return ~self.changes.moves & ~self.previous(self.changes.moves)

    @cached_property
    def wrong_state(self) -> Flags:
        """Inserts of present rows, updates and deletes of absent ones."""
        inserts = self.changes.op == Op.INSERT
        wrong = ~inserts & (self.state == ABSENT)
        if self.groups.options.fidelity.distinguishes_updates:
            wrong |= inserts & (self.state == PRESENT)
        flags: Flags = wrong & ~self.changes.uncomparable
        return flags

    @cached_property
    def wrong_old(self) -> Flags:
        """Old images with another fingerprint than the previous new image."""
        changes, previous_new = self.changes, self.previous(self.changes.new)
        differs = (changes.old != 0) & (previous_new != 0) & (changes.old != previous_new)
        tracked = ~changes.uncomparable & self.since_previous & (self.state == PRESENT)
        flags: Flags = tracked & (changes.op != Op.INSERT) & differs
        return flags

    @cached_property
    def wrong_copy(self) -> Flags:
        """Two events of one row, commit-ts and operation that are not copies."""
        changes = self.changes
        if self.groups.options.fidelity.commit_ts != "exact":
            return np.zeros(len(changes), bool)
        same = self.has_previous & self.keeps_key
        for column in (changes.commit_ts, changes.op):
            same &= column == self.previous(column)
        differs = changes.partition == self.previous(changes.partition)
        for column in (changes.old, changes.new):
            differs |= column != self.previous(column)
        flags: Flags = same & differs
        return flags

    @cached_property
    def wrong_partition(self) -> Flags:
        """Events in another partition than the previous one of their row, whose rule fixes the partition."""
        changes = self.changes
        fixed = (
            (changes.rule == Rule.TABLE)
            | (changes.rule == Rule.UNKNOWN)
            | ((changes.rule == Rule.INDEX_VALUE) & changes.hashes_handle)
        )
        moved = changes.partition != self.previous(changes.partition)
        flags: Flags = fixed & moved & self.has_previous & self.keeps_key
        return flags


def row_history(groups: KeyGroups) -> RowHistory:
    """Return the history of all rows with handle key.

    >>> from ticdc_producer.verifier.options import VerifyOptions
    >>> from ticdc_producer.verifier.stream_stats import StreamStats
    >>> columns = {"op": [Op.UPDATE, Op.DELETE, Op.INSERT], "commit_ts": [7, 9, 5], "identity": [0, 1, 2]}
    >>> events = Events.with_columns(3, kind=EventKind.ROW, keyed=True, **columns)
    >>> history = row_history(KeyGroups(events, VerifyOptions(), StreamStats(VerifyOptions())))
    >>> [Op(op).label for op in history.changes.op], history.has_previous.tolist()
    (['insert', 'update', 'delete'], [False, True, True])
    """
    events = groups.events
    leaves = events.kind == EventKind.OLD_KEY
    rows = np.flatnonzero(groups.first_delivery & (events.keyed & (events.kind == EventKind.ROW) | leaves))
    changes = events.take(rows)
    if groups.snapshot is not None:
        changes = Events.joined([groups.snapshot.take(groups.snapshot.keyed), changes])
    arrives = changes.moves & (changes.kind == EventKind.ROW)
    changes = replace(
        changes,
        op=np.where(arrives, int(Op.INSERT), changes.op),
        old=np.where(arrives, 0, changes.old),
    )
    keys = (changes.topics[0], changes.key_check, changes.key)
    inside = (op_rank(changes.op),) if groups.options.fidelity.commit_ts == "exact" else ()
    # If transactions of one millisecond cannot be distinguished, the position in the partition decides.
    order, starts = sorted_groups(keys, changes.commit_ts, *inside, changes.position, changes.partition)
    return RowHistory(groups, changes.take(order), ~starts)


@dataclass(frozen=True)
class Occurrences:
    """Copies of a broadcast event that are not in exactly the partitions where they belong.

    :param partitions: the partitions that have one, in order.
    :param missing: the partitions that should have one.
    :param unexpected: the partitions that should not.
    :param first: partition and position of the first copy.
    """

    topic: str
    commit_ts: int
    partitions: tuple[int, ...]
    missing: tuple[int, ...]
    unexpected: tuple[int, ...]
    first: tuple[int, int]


@dataclass(frozen=True)
class KeyChecks:
    """Whole groups of events, and what is derived from them once."""

    groups: KeyGroups

    @cached_property
    def history(self) -> RowHistory:
        """The history of each row."""
        return row_history(self.groups)

    def incomplete(self, kind: EventKind, *, to_all: bool) -> list[Occurrences]:
        """Return the events of a kind that some partition lacks, or has although it should not.

        >>> from ticdc_producer.verifier.options import VerifyOptions
        >>> from ticdc_producer.verifier.stream_stats import StreamStats
        >>> events = Events.with_columns(2, topic="t", kind=EventKind.DDL, commit_ts=5, partition=[0, 1])
        >>> options = VerifyOptions(partitions={"t": 3})
        >>> checks = KeyChecks(KeyGroups(events, options, StreamStats(options)))
        >>> [(event.partitions, event.missing) for event in checks.incomplete(EventKind.DDL, to_all=True)]
        [((0, 1), (2,))]

        :param to_all: the events belong in all partitions of their topic; otherwise in partition 0.
        """
        events = self.groups.events
        copies = events.take(np.flatnonzero(events.kind == kind))
        if not len(copies):
            return []
        codes, topics = copies.topics
        keys = (codes, copies.commit_ts, copies.identity)
        order, starts = sorted_groups(keys, copies.partition, copies.position)
        once = starts | starts_of(copies.partition[order])
        group = np.cumsum(starts) - 1
        counts = self.groups.options.partitions
        due = np.array([counts.get(topic, 0) for topic in topics], np.int64)[codes[order]]
        belongs = copies.partition[order] < (due if to_all else np.minimum(due, 1))
        present = np.bincount(group, weights=once & belongs).astype(np.int64)
        unexpected = np.bincount(group, weights=once & ~belongs).astype(np.int64)
        required = due[starts] if to_all else np.minimum(due[starts], 1)
        wrong = np.flatnonzero((due[starts] > 0) & ((present < required) | (unexpected > 0)))
        bounds = [*np.flatnonzero(starts).tolist(), len(order)]
        return [
            _occurrences(copies.take(order[bounds[number] : bounds[number + 1]]), int(required[number]))
            for number in wrong.tolist()
        ]


def _occurrences(copies: Events, due: int) -> Occurrences:
    """Return where the copies of an event are.

    :param copies: in the order of partition and position.
    """
    partitions = sorted(set(copies.partition.tolist()))
    return Occurrences(
        topic=copies.topic[0].as_py(),
        commit_ts=int(copies.commit_ts[0]),
        partitions=tuple(partitions),
        missing=tuple(partition for partition in range(due) if partition not in partitions),
        unexpected=tuple(partition for partition in partitions if partition >= due),
        first=(int(copies.partition[0]), int(copies.position[0])),
    )
