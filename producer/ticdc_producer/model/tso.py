"""TiDB's TSO (timestamp oracle), and the commit clock of a scenario.

Source of the rule: client-go ``oracle``. The physical part is Unix time in milliseconds on the PD leader.

The commit-ts is computed from the commit number by arithmetic, so that every Spark task can compute it on its
own.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property

LOGICAL_BITS = 18
MAX_LOGICAL = (1 << LOGICAL_BITS) - 1
MAX_TS = (1 << 63) - 1  # consumers store it in a signed 64-bit integer

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def compose(physical_ms: int, logical: int = 0) -> int:
    """Compose a TSO from Unix milliseconds and a logical counter.

    :raises ValueError: if either part is out of range.
    """
    if not 0 <= logical <= MAX_LOGICAL:
        raise ValueError(f"logical part {logical} is outside 0 … {MAX_LOGICAL}")
    if not 0 <= physical_ms <= MAX_TS >> LOGICAL_BITS:
        raise ValueError(f"physical part {physical_ms} ms is outside of what a TSO holds")
    return physical_ms << LOGICAL_BITS | logical


def physical(ts: int) -> int:
    """Return the Unix milliseconds of a TSO."""
    return ts >> LOGICAL_BITS


def from_datetime(time: datetime) -> int:
    """Convert an aware ``datetime``, cut to milliseconds, to a TSO with logical counter 0."""
    return compose((time - _EPOCH) // timedelta(milliseconds=1))


def to_datetime(ts: int) -> datetime:
    """Convert the physical part of a TSO to an aware UTC ``datetime``."""
    return _EPOCH + timedelta(milliseconds=physical(ts))


DEFAULT_START = 429918007904436226
DEFAULT_EVERY_MS = 1000


@dataclass(frozen=True, kw_only=True)
class CommitClock:
    """The commit-ts: ``start + n * every`` of the ``n``-th, until a pinned commit sets a new start.

    :param start: TSO of the first commit.
    :param every_us: microseconds between two commits; fractions of a millisecond go to the logical part. With
        0 a commit-ts is one greater than the one before it: commit ``n`` has the commit-ts ``start + n``.
    :param pinned: commit number to explicit commit-ts; later commits continue from it.
    :param by_ts: first number and end of the commits that are numbered by their commit-ts: in these each TSO
        has a number, so that nobody has to count commits to know a number. The first one is pinned.
    """

    start: int = DEFAULT_START
    every_us: int = DEFAULT_EVERY_MS * 1000
    pinned: Mapping[int, int] = field(default_factory=dict)
    by_ts: tuple[tuple[int, int], ...] = ()

    @property
    def step(self) -> int:
        """Difference between the TSOs of two consecutive commits that are not numbered by their commit-ts."""
        return (self.every_us << LOGICAL_BITS) // 1000 or 1

    @cached_property
    def segments(self) -> tuple[tuple[int, int, int], ...]:
        """``(first commit, its ts, step)`` of each segment of commits with equal steps, in order."""
        starts = {0: self.start, **self.pinned}
        ends = {stop: first for first, stop in self.by_ts}
        for stop, first in ends.items():
            starts.setdefault(stop, starts[first] + stop - first - 1 + self.step)
        numbered = {first for first, _ in self.by_ts}
        return tuple(
            (first, start, 1 if first in numbered else self.step) for first, start in sorted(starts.items())
        )

    def ts(self, commit_seq: int) -> int:
        """Return the commit-ts of one commit."""
        first, start, step = self.segments[bisect_right(self.segments, (commit_seq, MAX_TS)) - 1]
        return start + (commit_seq - first) * step
