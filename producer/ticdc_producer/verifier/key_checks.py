"""What the checks of a row key or time share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ticdc_producer.verifier.events import EventKind, Events
from ticdc_producer.verifier.fingerprint import Numbers
from ticdc_producer.verifier.key_groups import KeyGroups, starts_of
from ticdc_producer.verifier.row_history import RowHistory, row_history


@dataclass(frozen=True)
class Occurrences:
    """Copies of a broadcast event that are not in exactly the partitions where they belong.

    :param found_in: the partitions that have one, in order.
    :param lacking: the partitions that should have one.
    :param surplus: the partitions that should not.
    :param first: partition and position of the first copy.
    """

    topic: str
    commit_ts: int
    found_in: tuple[int, ...]
    lacking: tuple[int, ...]
    surplus: tuple[int, ...]
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
        """Events of a kind that some partition lacks, or has although it should not.

        :param to_all: the events belong in all partitions of their topic; otherwise in partition 0.
        """
        events = self.groups.events
        chosen = events.take(np.flatnonzero(events.kind == kind))
        if not len(chosen):
            return []
        codes, topics = chosen.topics
        keys = (codes, chosen.commit_ts, chosen.identity)
        order = np.lexsort((chosen.position, chosen.partition, *reversed(keys)))
        starts = starts_of(*(key[order] for key in keys))
        once = starts | starts_of(chosen.partition[order])
        group = np.cumsum(starts) - 1
        counts = self.groups.options.partitions
        due = np.array([counts.get(topic, 0) for topic in topics], np.int64)[codes[order]]
        belongs = chosen.partition[order] < (due if to_all else np.minimum(due, 1))
        found = np.bincount(group, weights=once & belongs).astype(np.int64)
        surplus = np.bincount(group, weights=once & ~belongs).astype(np.int64)
        wanted = due[starts] if to_all else np.minimum(due[starts], 1)
        wrong = np.flatnonzero((due[starts] > 0) & ((found < wanted) | (surplus > 0)))
        bounds = [*np.flatnonzero(starts).tolist(), len(order)]
        return [
            _occurrences(chosen.take(order[bounds[number] : bounds[number + 1]]), int(wanted[number]))
            for number in wrong.tolist()
        ]


def _occurrences(copies: Events, due: int) -> Occurrences:
    """:param copies: in the order of partition and position."""
    found = sorted(set(copies.partition.tolist()))
    return Occurrences(
        topic=copies.topic[0].as_py(),
        commit_ts=int(copies.commit_ts[0]),
        found_in=tuple(found),
        lacking=tuple(partition for partition in range(due) if partition not in found),
        surplus=tuple(partition for partition in found if partition >= due),
        first=(int(copies.partition[0]), int(copies.position[0])),
    )


def sorted_copies(events: Events, keys: tuple[Numbers, ...]) -> tuple[Numbers, Numbers]:
    """The order of events by some keys, then partition and position, and where each group starts."""
    order = np.lexsort((events.position, events.partition, *reversed(keys)))
    return order, np.flatnonzero(starts_of(*(key[order] for key in keys)))
