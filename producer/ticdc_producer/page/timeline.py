"""A summary of a stream in small tables, which the HTML page draws."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultOccurrence:
    """The position of a fault that was injected into the stream.

    :param trap: name of the fault in the trap catalogue.
    :param offset: offset of the message with the fault, or of the message after a removed one.
    :param commit_ts: commit-ts of the affected event; None if it has none.
    """

    trap: str
    topic: str
    partition: int
    offset: int
    commit_ts: int | None


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
    """

    partitions: tuple[PartitionCount, ...]
    buckets: Mapping[tuple[str, int], tuple[Bucket, ...]]
    sizes: Mapping[int, int]


BUCKETS = 500
"""Maximum number of buckets of one partition."""
ALL_BUCKETS = 16_000
"""Maximum number of buckets of all partitions; a bucket takes about 80 bytes of the page."""
DRAWN = 64
"""Maximum number of partitions with a chart; partitions that findings name come first."""
LISTED = 500
"""Maximum number of partitions in the table."""
MARKS = 200
"""Maximum number of faults in the chart of one partition."""


def few_faults(faults: Sequence[FaultOccurrence], timeline: Timeline) -> Iterator[FaultOccurrence]:
    """Yield the faults in the partitions that have a chart; of many in one, an even selection."""
    by_partition: dict[tuple[str, int], list[FaultOccurrence]] = defaultdict(list)
    for fault in faults:
        by_partition[fault.topic, fault.partition].append(fault)
    for partition, of_partition in by_partition.items():
        if partition in timeline.buckets:
            ordered = sorted(of_partition, key=lambda fault: (fault.offset, fault.commit_ts or 0))
            yield from ordered[:: -(-len(ordered) // MARKS)]
