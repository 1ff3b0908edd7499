"""Violations by events that belong in several partitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ticdc_producer.verifier.key_checks import Occurrences
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
