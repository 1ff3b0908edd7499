"""The history cut into segments of equal length.

A fault that concerns a segment (a replay, a lag) derives its bounds from the commit-ts alone. No task has
to see events of another task, and faults in two segments never interfere.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F

MAX_SEGMENTS = 1 << 30
"""Restart epochs are 32-bit integers, and each segment needs two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segments:
    """``count`` segments, each ``length`` long (a difference of TSOs), beginning at the TSO ``start``."""

    start: int
    length: int
    count: int

    @classmethod
    def of_history(cls, first: int, last: int, length: int) -> Segments:
        """The segments from the first to the last commit-ts; longer ones if there would be too many."""
        longer = max(length, (last - first) // MAX_SEGMENTS + 1)
        return cls(start=first, length=longer, count=(last - first) // longer + 1)

    def of(self, ts: int) -> int:
        """Number of the segment that contains a TSO."""
        return min(max(0, (ts - self.start) // self.length), self.count - 1)

    def number(self, ts: Column) -> Column:
        """``of`` for a column of TSOs."""
        number = F.floor((ts - F.lit(self.start)) / F.lit(self.length))
        exact = F.expr("bigint(0)") if self.count == 1 else number
        return F.least(F.greatest(exact, F.lit(0)), F.lit(self.count - 1)).cast("long")

    def end(self, number: Column) -> Column:
        """The last TSO of a segment."""
        return F.lit(self.start - 1) + (number + 1) * F.lit(self.length)
