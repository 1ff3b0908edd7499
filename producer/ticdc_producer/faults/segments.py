"""The history cut into segments of equal length.

A fault that concerns a segment (a replay, a lag) derives its bounds from the commit-ts alone. No task has
to see events of another task, and faults in two segments never interfere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ticdc_producer.protocols.arrow_text import Numbers

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

    def numbers(self, ts: Numbers) -> Numbers:
        """``of`` for many TSOs."""
        return np.clip((ts - self.start) // self.length, 0, self.count - 1)

    def end(self, numbers: Numbers) -> Numbers:
        """The last TSO of some segments."""
        return self.start - 1 + (numbers + 1) * self.length
