"""How far a topic that grows is complete, and from which offsets on the rest is read again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain

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
    """Consecutive messages of a partition.

    :param end: the offset after the last message.
    :param last: the offset of the last event that has a commit-ts; 0 without such events.
    :param first: commit-ts of the first event; 0: there is none.
    :param highest: the highest commit-ts; 0: there is none.
    :param resolved: the highest resolved-ts; 0: there is none.
    """

    partition: int
    messages: int
    end: int
    last: int = 0
    first: int = 0
    highest: int = 0
    resolved: int = 0


def increments(decode: BatchFunction, _part: Part, batches: Batches) -> list[Increment]:
    """Decode the messages of a part, and return their increments: one per batch and partition.

    :param decode: the function from messages to events.
    :param batches: shape ``MESSAGES``, those of a partition in the order of their offsets.
    :raises DecodeError: for a message that does not decode.
    """
    return [*chain.from_iterable(_increments(batch, [*decode(iter([batch]))]) for batch in batches)]


def _increments(messages: pa.RecordBatch, decoded: list[DecodedBatch]) -> Iterator[Increment]:
    events = pa.Table.from_batches(decoded).combine_chunks().to_batches() if decoded else []
    of_events = dict(chain.from_iterable(map(_of_events, events)))
    offsets = messages.column("offset").to_numpy()
    for name, rows in of_partitions(messages):
        times = of_events.get(name, {})
        yield Increment(partition=name[1], messages=len(rows), end=int(offsets[rows[-1]]) + 1, **times)


def _of_events(batch: DecodedBatch) -> Iterator[tuple[tuple[str, int], dict[str, int]]]:
    """Yield the fields of an increment that follow from its events, by topic and partition."""
    kinds = batch.column("kind")
    damaged = pc.index(kinds, pa.scalar("error", kinds.type)).as_py()
    if damaged >= 0:
        raise damage_error(batch, damaged)
    ts = pc.fill_null(batch.column("commit_ts"), 0).to_numpy()
    offsets = batch.column("offset").to_numpy()
    resolved = np.where(pc.equal(kinds, "resolved").to_numpy(zero_copy_only=False), ts, 0)
    for name, rows in of_partitions(batch):
        timed = rows[ts[rows] > 0]
        if len(timed):
            yield (
                name,
                {
                    "last": int(offsets[timed[-1]]),
                    "first": int(ts[timed[0]]),
                    "highest": int(ts[timed].max()),
                    "resolved": int(resolved[timed].max()),
                },
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
        """Add the next messages."""
        self.end = increment.end
        if not increment.highest:
            return
        self.first = self.first or increment.first
        self.highest = max(self.highest, increment.highest)
        self.resolved = max(self.resolved, increment.resolved)
        self.marks.append((increment.last, self.highest))
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
        """Add the next messages, and return their number."""
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
