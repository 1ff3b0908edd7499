"""A summary of a stream in small tables, which the HTML page draws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

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
