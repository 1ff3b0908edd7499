"""A stream in small tables, whatever its size: what the HTML page draws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

Place: TypeAlias = tuple[str, int, int, int]
"""Topic, partition, offset, index in the message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionCount:
    """What one partition holds.

    :param first: offset of its first message, ``last`` of its last one.
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
    """Neighbouring messages of one partition.

    :param first: offset of the first message.
    :param lowest: smallest commit-ts of its rows, ``highest`` the largest; None without rows.
    :param ddl_offset: of its first DDL, None without one.
    :param resolved: largest resolved-ts and the offset of that event; None without one.
    :param error_offset: of the first message that does not decode, None without one.
    """

    first: int
    lowest: int | None
    highest: int | None
    ddl_offset: int | None
    resolved: tuple[int, int] | None
    error_offset: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """The course of a stream.

    :param partitions: all of them, by topic and number.
    :param buckets: by topic and partition, in order of offsets; of the partitions that are drawn.
    :param sizes: messages by the power of two that their size in bytes does not reach.
    :param witnesses: events named by findings, as a readable line with their values.
    """

    partitions: tuple[PartitionCount, ...]
    buckets: Mapping[tuple[str, int], tuple[Bucket, ...]]
    sizes: Mapping[int, int]
    witnesses: Mapping[Place, str] = field(default_factory=dict)
