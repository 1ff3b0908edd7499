"""The offsets between which topics are read: those of the options, and those of a stream's checkpoint."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from pyspark_ticdc.options import GivenOptions
from ticdc_producer.errors import ArgumentError, TopicError
from ticdc_producer.runs.targets.run_topics import offset_ranges, partitions_of
from ticdc_producer.targets.kafka.read import OffsetRange
from ticdc_producer.targets.kafka.topics import Topics

Partitions = Mapping[tuple[str, int], int]
"""A number by topic and partition."""
_EARLIEST, _LATEST = -2, -1
_FORM = 'earliest, latest, or JSON such as {"TOPIC": {"0": 23, "1": -2}}; -2 is earliest, -1 latest'


def ranges_of(cluster: Topics, topics: Sequence[str], options: GivenOptions) -> list[OffsetRange]:
    """Return the offsets of a batch query.

    :raises ArgumentError: for offsets that contradict each other.
    :raises TopicError: for a topic that does not exist, or offsets that it does not have.
    """
    partitions = partitions_of(cluster, topics)
    first, last = cluster.starts(partitions), cluster.ends(partitions)
    starts = bounds(cluster, partitions, options, "starting", first, last)
    ends = bounds(cluster, partitions, options, "ending", first, last)
    for position, end in ends.items():
        if end < starts[position]:
            what = f"partition {position[0]}/{position[1]} would be read from {starts[position]} to {end}"
            raise ArgumentError(what, argument="endingOffsets", hint="it ends before it begins")
    return offset_ranges(starts, ends)


def bounds(
    cluster: Topics,
    partitions: Mapping[str, int],
    options: GivenOptions,
    side: str,
    first: Partitions,
    last: Partitions,
) -> dict[tuple[str, int], int]:
    """Return the offsets at one side of what is read.

    :param side: ``starting`` or ``ending``, with which the names of the options begin.
    :param first: the first offset of each partition.
    :param last: the offset after its last message.
    """
    by_offset, by_time = f"{side}Offsets", f"{side}Timestamp"
    text, time = options.values.get(by_offset), options.values.get(by_time)
    if text is not None and time is not None:
        what = f"the options {by_offset!r} and {by_time!r} cannot be combined"
        raise ArgumentError(what, argument=by_time, hint="choose one of them")
    default = "earliest" if side == "starting" else "latest"
    if time is not None:
        return cluster.at_time(partitions, int(time))
    if text in (None, "earliest", "latest"):
        return dict(first if (text or default) == "earliest" else last)
    given = _parsed(str(text), by_offset)
    unknown = sorted(given.keys() - first.keys())
    if unknown:
        what = f"{by_offset} names a partition that does not exist"
        raise TopicError(what, topic=f"{unknown[0][0]}/{unknown[0][1]}")
    whole = first if default == "earliest" else last
    return {
        position: _resolved(position, given.get(position), whole[position], (first[position], last[position]))
        for position in first
    }


def _resolved(position: tuple[str, int], offset: int | None, default: int, span: tuple[int, int]) -> int:
    if offset in (None, _EARLIEST, _LATEST):
        return {None: default, _EARLIEST: span[0], _LATEST: span[1]}[offset]
    if not span[0] <= offset <= span[1]:
        what = f"there is no offset {offset}: the partition has messages from {span[0]} to {span[1]}"
        raise TopicError(what, topic=f"{position[0]}/{position[1]}", hint="retention removes old messages")
    return offset


def _parsed(text: str, option: str) -> dict[tuple[str, int], int]:
    try:
        return {
            (topic, int(partition)): int(offset)
            for topic, offsets in json.loads(text).items()
            for partition, offset in offsets.items()
        }
    except (ValueError, TypeError, AttributeError):
        raise ArgumentError(f"option {option!r} cannot be read", argument=option, hint=_FORM) from None
