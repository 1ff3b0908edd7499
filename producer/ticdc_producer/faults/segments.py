"""The history cut into stretches of equal length.

A fault that concerns a stretch (a replay, a lag) knows its borders from the commit-ts alone, so that no task
has to see another's events; and two faults in two stretches never meet.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F

MOST_STRETCHES = 1 << 30
"""Epochs are 32-bit numbers, and each stretch has two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretches:
    """``count`` stretches of ``length`` (a distance of TSOs) from the TSO ``start`` on."""

    start: int
    length: int
    count: int

    @classmethod
    def of_history(cls, first: int, last: int, length: int) -> Stretches:
        """The stretches from the first to the last commit-ts; longer ones where there would be too many."""
        longer = max(length, (last - first) // MOST_STRETCHES + 1)
        return cls(start=first, length=longer, count=(last - first) // longer + 1)

    def of(self, ts: int) -> int:
        """Number of the stretch of a time stamp."""
        return min(max(0, (ts - self.start) // self.length), self.count - 1)

    def number(self, ts: Column) -> Column:
        """The same for a column."""
        number = F.floor((ts - F.lit(self.start)) / F.lit(self.length))
        exact = F.expr("bigint(0)") if self.count == 1 else number
        return F.least(F.greatest(exact, F.lit(0)), F.lit(self.count - 1)).cast("long")

    def end(self, number: Column) -> Column:
        """The last time stamp of a stretch."""
        return F.lit(self.start - 1) + (number + 1) * F.lit(self.length)
