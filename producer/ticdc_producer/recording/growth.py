"""How far a topic that grows is complete, and from which offsets on the rest is read again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Batches, Part
from ticdc_producer.model.column_functions import of_partitions
from ticdc_producer.model.shapes import BatchFunction, DecodedBatch
from ticdc_producer.rows.columns import damage_error

_MOST_MARKS = 4096


@dataclass(frozen=True, kw_only=True)
class Increment:
    """Consecutive messages of a partition, or the consecutive events in them.

    :param end: the offset after the last one.
    :param messages: number of messages; 0 for events.
    :param first: commit-ts of the first event; 0 for messages.
    :param highest: the highest commit-ts.
    :param resolved: the highest resolved-ts; 0: there is none.
    """

    partition: int
    end: int
    messages: int = 0
    first: int = 0
    highest: int = 0
    resolved: int = 0


def increments(decode: BatchFunction, _part: Part, batches: Batches) -> list[Increment]:
    """Decode the messages of a part, and return their increments: few per batch and partition.

    :param decode: the function from messages to events.
    :param batches: shape ``MESSAGES``, those of a partition in the order of their offsets.
    :raises DecodeError: for a message that does not decode.
    """
    return [increment for messages in batches for increment in _of_messages(decode, messages)]


def _of_messages(decode: BatchFunction, messages: pa.RecordBatch) -> Iterator[Increment]:
    offsets = messages.column("offset").to_numpy()
    for (_, partition), rows in of_partitions(messages):
        yield Increment(partition=partition, end=int(offsets[rows[-1]]) + 1, messages=len(rows))
    for events in decode(iter([messages])):
        yield from _of_events(events)


def _of_events(events: DecodedBatch) -> Iterator[Increment]:
    kinds = events.column("kind")
    damaged = pc.index(kinds, pa.scalar("error", kinds.type)).as_py()
    if damaged >= 0:
        raise damage_error(events, damaged)
    ts = pc.fill_null(events.column("commit_ts"), 0).to_numpy()
    offsets = events.column("offset").to_numpy()
    resolved = np.where(pc.equal(kinds, "resolved").to_numpy(zero_copy_only=False), ts, 0)
    for (_, partition), rows in of_partitions(events):
        timed = rows[ts[rows] > 0]
        if len(timed):
            yield Increment(
                partition=partition,
                end=int(offsets[timed[-1]]) + 1,
                first=int(ts[timed[0]]),
                highest=int(ts[timed].max()),
                resolved=int(resolved[timed].max()),
            )


@dataclass
class PartitionGrowth:
    """The growth of a partition.

    :param begin: the offset at which it is read first.
    :ivar end: the offset after the last message.
    :ivar first: commit-ts of the first event; 0: there is none.
    :ivar highest: the highest commit-ts.
    :ivar resolved: the highest resolved-ts; 0: there is none.
    :ivar marks: offsets of some events, in ascending order, each with the highest commit-ts up to it.
    """

    begin: int
    end: int = field(init=False)
    first: int = 0
    highest: int = 0
    resolved: int = 0
    marks: list[tuple[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.end = self.begin

    def add(self, increment: Increment) -> None:
        """Add the next messages or events."""
        self.end = max(self.end, increment.end)
        if increment.highest:
            self.first = self.first or increment.first
            self.highest = max(self.highest, increment.highest)
            self.resolved = max(self.resolved, increment.resolved)
            self.marks.append((increment.end - 1, self.highest))
        if len(self.marks) > _MOST_MARKS:  # with fewer marks more is read again
            del self.marks[1:-1:2]

    def offset_after(self, ts: int) -> int:
        """Return an offset before which no event commits after a TSO; the event there does not either."""
        return next((offset for offset, highest in reversed(self.marks) if highest <= ts), self.begin)


@dataclass
class Growth:
    """The growth of a topic.

    Each partition has sent everything up to its resolved-ts, so the lowest one of all partitions ends a
    complete history.

    :param partitions: all partitions of the topic by number.
    """

    partitions: Mapping[int, PartitionGrowth]

    def add(self, increments: Iterable[Increment]) -> int:
        """Add the next messages and their events, and return the number of messages."""
        in_order = sorted(increments, key=lambda increment: increment.end)
        for increment in in_order:
            self.partitions[increment.partition].add(increment)
        return sum(increment.messages for increment in in_order)

    @property
    def ends(self) -> dict[int, int]:
        """By partition the offset after the last message."""
        return {number: partition.end for number, partition in self.partitions.items()}

    @property
    def complete_ts(self) -> int:
        """The TSO up to which the history is complete; 0: it is not complete anywhere.

        A partition whose beginning is missing is complete after its first event.
        """
        complete = min(partition.resolved for partition in self.partitions.values())
        cut = (partition.first for partition in self.partitions.values() if partition.begin > 0)
        return complete if complete > max(cut, default=0) else 0

    def offsets_after(self, ts: int) -> dict[int, int]:
        """Return by partition an offset before which no event commits after a TSO."""
        return {number: partition.offset_after(ts) for number, partition in self.partitions.items()}
