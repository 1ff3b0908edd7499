"""Violations of events that belong in certain partitions: DDLs and resolved events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ticdc_producer.verifier.events import NOTHING
from ticdc_producer.verifier.passes.row_history import Occurrences
from ticdc_producer.verifier.violations import Violations


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


def missing_in(
    event: Occurrences, partition: int, newest: Mapping[int, tuple[int, int]], what: str, *, unless: str
) -> BroadcastViolation:
    """Return the violation of a partition that lacks an event; an error if the partition continued.

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
    """Return what is wrong in a partition, and where the event is."""
    return f"{what} partition {partition}; found in partitions {', '.join(map(str, event.partitions))}"


def broadcast_violations(violations: Sequence[BroadcastViolation]) -> Violations:
    """Return the violations as columns.

    Their examples are the first copy, and the event that shows that a partition continued.
    """
    return Violations.of_positions(
        [violation.severity for violation in violations],
        [violation.event.topic for violation in violations],
        [(violation.event.first, (violation.partition, violation.later)) for violation in violations],
        lambda number: violations[number].detail,
    )
