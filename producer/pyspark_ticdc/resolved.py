"""Searches the resolved events at which the micro-batches of a stream end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from pyspark_ticdc.offsets import Partitions
from ticdc_producer.rows.origin import Origin

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
            for offset, ts in _resolved(batch):
                if ts > before:
                    before = ts
                    yield offset + 1, ts


def _resolved(batch: pa.RecordBatch) -> Iterator[ResolvedAt]:
    events = batch.select(["offset", "commit_ts"]).filter(pc.equal(batch.column("kind"), "resolved"))
    yield from zip(*(column.to_pylist() for column in events.columns), strict=True)
