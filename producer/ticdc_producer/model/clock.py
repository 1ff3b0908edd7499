"""The commit clock of a scenario: the commit-ts of the n-th commit.

The commit-ts is computed from the commit number by arithmetic, so that every Spark task can compute it on its
own.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ticdc_producer.model import tso

DEFAULT_START = 429918007904436226
DEFAULT_EVERY_MS = 1000


@dataclass(frozen=True, kw_only=True)
class Clock:
    """Commit ``n`` has the commit-ts ``start + n * every``, until a pinned commit sets a new start.

    :param start: TSO of the first commit.
    :param every_us: microseconds between two commits; fractions of a millisecond go to the logical part.
    :param pinned: commit number to explicit commit-ts; later commits continue from it.
    """

    start: int = DEFAULT_START
    every_us: int = DEFAULT_EVERY_MS * 1000
    pinned: Mapping[int, int] = field(default_factory=dict)

    @property
    def step(self) -> int:
        """Difference between the TSOs of two consecutive commits."""
        return (self.every_us << tso.LOGICAL_BITS) // 1000

    @cached_property
    def segments(self) -> tuple[tuple[int, int], ...]:
        """``(first commit, its ts)`` of each segment of commits with equal steps, in order."""
        pinned = dict(self.pinned)
        return tuple(sorted({0: self.start, **pinned}.items()))

    def ts(self, commit_seq: int) -> int:
        """Commit-ts of one commit."""
        first, start = self.segments[bisect_right(self.segments, (commit_seq, tso.MAX_TS)) - 1]
        return start + (commit_seq - first) * self.step

    def first_decrease(self, commits: int) -> int | None:
        """The first pinned commit whose commit-ts is not greater than the previous one, if any."""
        return next((n for n, _ in self.segments if 0 < n < commits and self.ts(n) <= self.ts(n - 1)), None)
