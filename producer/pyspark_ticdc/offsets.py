"""The offsets between which topics are read: those of the options, and those after resolved events."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from pyspark_ticdc.options import GivenOptions
from ticdc_producer.errors import ArgumentError, TopicError
from ticdc_producer.rows.origin import Origin
from ticdc_producer.runs.targets.existing_topics import offset_ranges, partitions_of
from ticdc_producer.spark.read_limit import ReadLimit, ReadMaxRows
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
        position: _offset_of(
            position, given.get(position), whole[position], (first[position], last[position])
        )
        for position in first
    }


def _offset_of(position: tuple[str, int], offset: int | None, default: int, span: tuple[int, int]) -> int:
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


def limited(starts: Partitions, ends: Partitions, limit: ReadLimit | None) -> dict[tuple[str, int], int]:
    """Return the ends of a micro-batch.

    Each partition gets a message, and the rest of a limit is divided in proportion to their messages. If the
    limit is too low for that, the partitions get one in turn.

    >>> limited({("t", 0): 0, ("t", 1): 5}, {("t", 0): 30, ("t", 1): 15}, ReadMaxRows(8))
    {('t', 0): 6, ('t', 1): 7}
    >>> limited({("t", 0): 9, ("t", 1): 5}, {("t", 0): 30, ("t", 1): 15}, ReadMaxRows(1))
    {('t', 0): 10, ('t', 1): 5}
    """
    sizes = {position: end - starts[position] for position, end in ends.items()}
    total = sum(sizes.values())
    if not isinstance(limit, ReadMaxRows) or total <= limit.max_rows:
        return dict(ends)
    positions = sorted(starts)
    turn = sum(starts.values()) % len(positions)  # grows by the limit with each micro-batch
    waiting = [at for at in (*positions[turn:], *positions[:turn]) if sizes.get(at)]
    rest = limit.max_rows - len(waiting)
    if rest <= 0:
        shares = dict.fromkeys(waiting[: limit.max_rows], 1)
    else:
        others = total - len(waiting)
        shares = {at: 1 + (sizes[at] - 1) * rest // others for at in waiting}
        most_first = sorted(waiting, key=sizes.__getitem__, reverse=True)
        for at in most_first[: limit.max_rows - sum(shares.values())]:  # what rounding down left
            shares[at] += 1
    return {at: start + shares.get(at, 0) for at, start in starts.items() if at in ends}


_WINDOW = 512
"""Messages that are decoded first; TiCDC sends a resolved event about once in a second."""
ResolvedAt = tuple[int, int]
"""The offset after a resolved event, and its ts."""


@dataclass(frozen=True)
class ResolvedSearch:
    """A search that decodes few messages.

    :param origin_of: returns the messages between two offsets of each partition.
    """

    origin_of: Callable[[Partitions, Partitions], Origin]

    def ends(
        self,
        starts: Partitions,
        ends: Partitions,
        available: Partitions,
        resolved: Mapping[tuple[str, int], int],
    ) -> tuple[dict[tuple[str, int], int], dict[tuple[str, int], int]]:
        """Return for each partition the end after a resolved event that raises the resolved-ts.

        It is the last one before ``ends``, else the first one after it. Without one the partition waits.

        :param available: the ends of the topics.
        :param resolved: the resolved-ts at the start.
        :return: the ends, and the resolved-ts there.
        """
        after: dict[tuple[str, int], int] = {}
        raised = dict(resolved)
        for position, start in starts.items():
            before = resolved.get(position, 0)
            hit = self._last(position, start, ends[position], before)
            if hit is None:
                hit = self._first(position, ends[position], available[position], before)
            after[position], raised[position] = (start, before) if hit is None else hit
        return after, raised

    def _last(self, position: tuple[str, int], start: int, end: int, before: int) -> ResolvedAt | None:
        window = _WINDOW
        while start < end:
            begin = max(start, end - window)
            hits = [*self._hits(position, begin, end, before)]
            if hits:
                return hits[-1][0], max(ts for _, ts in hits)
            end, window = begin, 2 * window
        return None

    def _first(self, position: tuple[str, int], start: int, end: int, before: int) -> ResolvedAt | None:
        return next(self._hits(position, start, end, before), None)

    def _hits(self, position: tuple[str, int], start: int, end: int, before: int) -> Iterator[ResolvedAt]:
        """Yield the offset after each resolved event that raises the resolved-ts, and the new one."""
        if start >= end:
            return
        for batch in self.origin_of({position: start}, {position: end}).events.batches():
            for offset, ts in _resolved_at(batch):
                if ts > before:
                    before = ts
                    yield offset + 1, ts


def _resolved_at(batch: pa.RecordBatch) -> Iterator[ResolvedAt]:
    events = batch.select(["offset", "commit_ts"]).filter(pc.equal(batch.column("kind"), "resolved"))
    yield from zip(*(column.to_pylist() for column in events.columns), strict=True)
