"""Tracks each row from event to event: whether it exists, and its last values.

The events of a row are ordered by commit-ts; within a transaction, deletes come before inserts. Each event
is compared with the previous one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from ticdc_producer.model.event import Op
from ticdc_producer.verifier.events import EventKind, Events, Rule
from ticdc_producer.verifier.fingerprint import Flags, Numbers
from ticdc_producer.verifier.key_groups import KeyGroups, op_rank, starts_of

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
        """A column's values of the previous change; of the change itself where there is none."""
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
        found: Flags = self.has_previous & (before > epoch_ts) & apart
        return found

    @cached_property
    def epoch(self) -> tuple[Numbers, Flags]:
        """See ``TableEpochs.before``."""
        return self.groups.facts.epochs.before(self.changes)

    @cached_property
    def state(self) -> Numbers:
        """Whether the row exists before each change: ``UNKNOWN``, ``ABSENT`` or ``PRESENT``."""
        changes, (epoch_ts, empty) = self.changes, self.epoch
        fresh = ~self.has_previous | (self.previous(changes.commit_ts) <= epoch_ts)
        absent = empty & (changes.commit_ts > epoch_ts) & fresh
        if self.groups.options.from_beginning:
            absent |= (epoch_ts < 0) & ~self.has_previous
        exists = np.where(self.previous(changes.op) != Op.DELETE, PRESENT, ABSENT)
        return np.where(self.since_previous, exists, np.where(absent, ABSENT, UNKNOWN))

    @cached_property
    def stays(self) -> Flags:
        """Neither the change nor the previous one changes the row's handle key."""
        return ~self.changes.moves & ~self.previous(self.changes.moves)

    @cached_property
    def wrong_state(self) -> Flags:
        """Inserts of present rows, updates and deletes of absent ones."""
        inserts = self.changes.op == Op.INSERT
        wrong = ~inserts & (self.state == ABSENT)
        if self.groups.options.fidelity.distinguishes_updates:
            wrong |= inserts & (self.state == PRESENT)
        found: Flags = wrong & ~self.changes.untracked
        return found

    @cached_property
    def wrong_old(self) -> Flags:
        """Old images with another fingerprint than the previous new image."""
        changes, left = self.changes, self.previous(self.changes.new)
        differs = (changes.old != 0) & (left != 0) & (changes.old != left)
        tracked = ~changes.untracked & self.since_previous & (self.state == PRESENT)
        found: Flags = tracked & (changes.op != Op.INSERT) & differs
        return found

    @cached_property
    def wrong_copy(self) -> Flags:
        """Two events of one row, commit-ts and operation that are not copies."""
        changes = self.changes
        if self.groups.options.fidelity.commit_ts != "exact":
            return np.zeros(len(changes), bool)
        same = self.has_previous & self.stays
        for column in (changes.commit_ts, changes.op):
            same &= column == self.previous(column)
        differs = changes.partition == self.previous(changes.partition)
        for column in (changes.old, changes.new):
            differs |= column != self.previous(column)
        found: Flags = same & differs
        return found

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
        found: Flags = fixed & moved & self.has_previous & self.stays
        return found


def row_history(groups: KeyGroups) -> RowHistory:
    """The history of all rows with handle key."""
    events = groups.events
    leaves = events.kind == EventKind.LEFT_KEY
    rows = np.flatnonzero(groups.first_delivery & (events.keyed & (events.kind == EventKind.ROW) | leaves))
    found = events.take(rows)
    arrives = found.moves & (found.kind == EventKind.ROW)
    found = replace(
        found,
        op=np.where(arrives, int(Op.INSERT), found.op),
        old=np.where(arrives, 0, found.old),
    )
    keys = (found.key, found.key_check, found.topics[0])
    inside = (op_rank(found.op),) if groups.options.fidelity.commit_ts == "exact" else ()
    # If transactions of one millisecond cannot be distinguished, the position in the partition decides.
    order = np.lexsort((found.partition, found.position, *inside, found.commit_ts, *keys))
    return RowHistory(groups, found.take(order), ~starts_of(*(key[order] for key in keys)))
