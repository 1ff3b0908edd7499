"""Violations by events that belong in several partitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ticdc_producer.verifier.events import NOTHING
from ticdc_producer.verifier.row_history import Occurrences
from ticdc_producer.verifier.violations import EventPositions, Violations


@dataclass(frozen=True)
class BroadcastViolation:
    """An event that a partition lacks, or has although it should not.

    :param later: position of an event that shows that the partition continued; -1 for none.
    """

    event: Occurrences
    partition: int
    severity: str
    later: int
    detail: str


def in_partition(
    event: Occurrences, partition: int, newest: Mapping[int, tuple[int, int]], what: str, *, unless: str
) -> BroadcastViolation:
    """A partition that lacks an event: an error if the partition went on without it.

    :param newest: commit-ts and position of the newest event by partition.
    :param what: names the event.
    :param unless: the severity if the partition may be truncated.
    """
    ts, position = newest.get(partition, (NOTHING, NOTHING))
    continues = ts > event.commit_ts
    detail = violation_text(event, f"{what} {event.commit_ts} is missing in", partition)
    severity, later = ("error", position) if continues else (unless, NOTHING)
    return BroadcastViolation(event, partition, severity, later, detail)


def violation_text(event: Occurrences, what: str, partition: int) -> str:
    """What is wrong in a partition, and where the event is."""
    return f"{what} partition {partition}; found in partitions {', '.join(map(str, event.found_in))}"


def broadcast_violations(found: Sequence[BroadcastViolation]) -> Violations:
    """The violations as columns; examples are the first copy, and what shows that a partition continued."""
    topics = sorted({one.event.topic for one in found})
    return Violations(
        np.array([one.severity for one in found], str),
        np.array([topics.index(one.event.topic) for one in found], np.int64),
        topics,
        (
            EventPositions(
                np.array([one.event.first[0] for one in found], np.int64),
                np.array([one.event.first[1] for one in found], np.int64),
            ),
            EventPositions(
                np.array([one.partition for one in found], np.int64),
                np.array([one.later for one in found], np.int64),
            ),
        ),
        lambda number: found[number].detail,
    )
