"""A summary of a stream in small tables, which the HTML page draws.

Marks in a partition's chart are the positions of findings and of faults, as many as the page shows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from ticdc_producer.reports.report import FaultOccurrence
from ticdc_producer.verifier.finding import Finding

EventPosition: TypeAlias = tuple[str, int, int, int]
"""Topic, partition, offset, index in the message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionCount:
    """Counts of one partition.

    :param first: offset of its first message.
    :param last: offset of its last message.
    :param size: bytes of keys and values.
    """

    topic: str
    partition: int
    first: int
    last: int
    messages: int
    size: int
    rows: int
    ddls: int
    resolved: int
    errors: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """Consecutive messages of one partition.

    :param first: offset of the first message.
    :param lowest: smallest commit-ts of its rows; None without rows.
    :param highest: largest commit-ts of its rows; None without rows.
    :param ddl_offset: offset of its first DDL; None without one.
    :param resolved: largest resolved-ts and the offset of that event; None without one.
    :param error_offset: offset of the first message that cannot be decoded; None without one.
    """

    first: int
    lowest: int | None
    highest: int | None
    ddl_offset: int | None
    resolved: tuple[int, int] | None
    error_offset: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """A stream over its offsets.

    :param partitions: all partitions, ordered by topic and number.
    :param buckets: (topic, partition) → buckets in order of offsets, for the partitions that have a chart.
    :param sizes: exponent n → number of messages smaller than 2^n bytes and at least half of that.
    :param examples: events that findings name → text with their values.
    """

    partitions: tuple[PartitionCount, ...]
    buckets: Mapping[tuple[str, int], tuple[Bucket, ...]]
    sizes: Mapping[int, int]
    examples: Mapping[EventPosition, str] = field(default_factory=dict)


BUCKETS = 500
"""Maximum number of buckets of one partition."""
ALL_BUCKETS = 16_000
"""Maximum number of buckets of all partitions; a bucket takes about 80 bytes of the page."""
DRAWN = 64
"""Maximum number of partitions with a chart; partitions that findings name come first."""
LISTED = 500
"""Maximum number of partitions in the table."""
MARKS = 200
"""Maximum number of marks of one role in one partition."""
LONGEST_EVENT = 2_000
"""Maximum number of characters of one event on the page."""
LONGEST_SOURCE = 20_000
"""Maximum number of characters of the scenario's text on the page."""


def cut(text: str, most: int = LONGEST_EVENT) -> str:
    """Return the text, shortened to ``most`` characters."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"


@dataclass(frozen=True, slots=True)
class Mark:
    """One marked position.

    :param role: ``error``, ``warning``, ``info`` for findings of that severity, or ``fault``.
    :param commit_ts: None if the event has none.
    """

    role: str
    offset: int
    commit_ts: int | None

    def id_in(self, chart: int) -> str:
        """Return the id of its element on the page, to which findings link.

        :param chart: number of the partition's chart.
        """
        return f"at-{chart}-{self.role}-{self.offset}-{self.commit_ts or 0}"


def marks(
    findings: Sequence[Finding], faults: Sequence[FaultOccurrence]
) -> Mapping[tuple[str, int], Sequence[Mark]]:
    """Return the marks of each partition; if a role has more than ``MARKS``, an even selection of them."""
    by_partition: dict[tuple[str, int], dict[str, set[Mark]]] = defaultdict(lambda: defaultdict(set))
    for topic, partition, mark in (*_of_faults(faults), *_of_findings(findings)):
        by_partition[topic, partition][mark.role].add(mark)
    return {
        partition: [mark for role_marks in by_role.values() for mark in _thinned(role_marks)]
        for partition, by_role in by_partition.items()
    }


def _of_faults(faults: Sequence[FaultOccurrence]) -> Iterator[tuple[str, int, Mark]]:
    for fault in faults:
        yield fault.topic, fault.partition, Mark("fault", fault.offset, fault.commit_ts)


def _of_findings(findings: Sequence[Finding]) -> Iterator[tuple[str, int, Mark]]:
    violated = [finding for finding in findings if finding.severity != "not checked"]
    for finding in violated:
        for example in finding.examples:
            for event in example.events:
                if event.offset is not None:
                    mark = Mark(finding.severity, event.offset, event.commit_ts)
                    yield event.topic, event.partition, mark


def _thinned(marks: set[Mark]) -> list[Mark]:
    ordered = sorted(marks, key=lambda mark: (mark.offset, mark.commit_ts or 0))
    return ordered[:: -(-len(ordered) // MARKS)]
