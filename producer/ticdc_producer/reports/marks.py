"""Marks in a partition's chart: positions of findings and of faults, as many as the page shows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ticdc_producer.reports.subject import FaultOccurrence
from ticdc_producer.verifier.finding import Finding

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
    """The text, shortened to ``most`` characters."""
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
        """The id of its element on the page, to which findings link.

        :param chart: number of the partition's chart.
        """
        return f"at-{chart}-{self.role}-{self.offset}-{self.commit_ts or 0}"


def marks(
    findings: Sequence[Finding], faults: Sequence[FaultOccurrence]
) -> Mapping[tuple[str, int], Sequence[Mark]]:
    """The marks of each partition; if a role has more than ``limits.MARKS``, an even selection of them."""
    by_partition: dict[tuple[str, int], dict[str, set[Mark]]] = defaultdict(lambda: defaultdict(set))
    for topic, partition, mark in (*_of_faults(faults), *_of_findings(findings)):
        by_partition[topic, partition][mark.role].add(mark)
    return {
        partition: [mark for found in by_role.values() for mark in _thinned(found)]
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


def _thinned(found: set[Mark]) -> list[Mark]:
    ordered = sorted(found, key=lambda mark: (mark.offset, mark.commit_ts or 0))
    return ordered[:: -(-len(ordered) // MARKS)]
