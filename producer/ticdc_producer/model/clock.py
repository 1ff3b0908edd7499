"""The commit clock of a scenario: which time stamp the n-th commit takes.

Arithmetic on the commit number, so that every Spark task finds the same time stamp alone.
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
    """Commit ``n`` takes ``start + n * every``, until a pinned commit sets the clock anew.

    :param start: TSO of the first commit.
    :param every_us: microseconds between two commits; below a millisecond the logical part counts.
    :param pinned: explicit commit-ts of single commits; those after them go on from there.
    """

    start: int = DEFAULT_START
    every_us: int = DEFAULT_EVERY_MS * 1000
    pinned: Mapping[int, int] = field(default_factory=dict)

    @property
    def step(self) -> int:
        """Distance of two commits, as a TSO."""
        return (self.every_us << tso.LOGICAL_BITS) // 1000

    @cached_property
    def segments(self) -> tuple[tuple[int, int], ...]:
        """``(first commit, its ts)`` of each stretch of even steps, in order."""
        pinned = dict(self.pinned)
        return tuple(sorted({0: self.start, **pinned}.items()))

    def ts(self, commit_seq: int) -> int:
        """Commit-ts of one commit."""
        first, start = self.segments[bisect_right(self.segments, (commit_seq, tso.MAX_TS)) - 1]
        return start + (commit_seq - first) * self.step

    def falls_at(self, commits: int) -> int | None:
        """The first pinned commit whose time stamp does not exceed the one before it, if any."""
        return next((n for n, _ in self.segments if 0 < n < commits and self.ts(n) <= self.ts(n - 1)), None)
