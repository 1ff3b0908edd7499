"""How far a topic that grows is complete, and from which offsets on the rest is read again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow.compute as pc

from ticdc_producer.model.column_functions import of_partitions
from ticdc_producer.model.shapes import DecodedBatch
from ticdc_producer.verifier.fingerprint import Numbers

_MOST_MARKS = 4096


@dataclass
class PartitionGrowth:
    """The growth of a partition.

    :param begin: the offset at which it is read first.
    :ivar first: commit-ts of the first event; 0: there is none.
    :ivar highest: the highest commit-ts.
    :ivar resolved: the highest resolved-ts; 0: there is none.
    :ivar marks: offsets of some events, in ascending order, each with the highest commit-ts up to it.
    """

    begin: int
    first: int = 0
    highest: int = 0
    resolved: int = 0
    marks: list[tuple[int, int]] = field(default_factory=list)

    def add(self, offsets: Numbers, ts: Numbers, resolved: int) -> None:
        """Add the next events, which have a commit-ts each.

        :param resolved: the highest resolved-ts of them.
        """
        self.first = self.first or int(ts[0])
        self.highest, self.resolved = max(self.highest, int(ts.max())), max(self.resolved, resolved)
        self.marks.append((int(offsets[-1]), self.highest))
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

    def add(self, batch: DecodedBatch) -> None:
        """Add the next events, those of a partition in the order of their offsets."""
        ts = pc.fill_null(batch.column("commit_ts"), 0).to_numpy()
        offsets = batch.column("offset").to_numpy()
        resolved = np.where(pc.equal(batch.column("kind"), "resolved").to_numpy(zero_copy_only=False), ts, 0)
        for (_, number), rows in of_partitions(batch):
            timed = rows[ts[rows] > 0]
            if len(timed):
                self.partitions[number].add(offsets[timed], ts[timed], int(resolved[timed].max()))

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
