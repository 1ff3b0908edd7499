"""Which faults are injected where: the plan that all stages share, by segments of the history.

A fault that concerns a segment (a replay, a lag) derives its bounds from the commit-ts alone. No task has
to see events of another task, and faults in two segments never interfere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

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


@dataclass(frozen=True, slots=True)
class IllegalFault:
    """One illegal fault.

    :param number: counts the faults of one trap from 0.
    :param segments: the segments that are reserved for it; one event in them is changed.
    """

    trap: str
    number: int
    segments: range


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultPlan:
    """The faults of one run.

    :param rates: rates of the legal faults of single events and messages, by trap id.
    :param segment_rates: rates of the legal faults that concern a whole segment, by trap id.
    :param fixed: trap ids of such faults that were requested by number, by segment.
    :param illegal: the illegal faults.
    :param ddl_ts: commit-ts of the DDLs that are sent.
    """

    seed: int
    segments: Segments
    rates: Mapping[str, float] = field(default_factory=dict)
    segment_rates: Mapping[str, float] = field(default_factory=dict)
    fixed: Mapping[int, str] = field(default_factory=dict)
    illegal: tuple[IllegalFault, ...] = ()
    ddl_ts: tuple[int, ...] = ()

    @property
    def ddl_segments(self) -> frozenset[int]:
        """Segments in which a DDL is sent."""
        return frozenset(map(self.segments.of, self.ddl_ts))

    @property
    def reserved(self) -> frozenset[int]:
        """Segments that are reserved for illegal faults."""
        return frozenset(number for one in self.illegal for number in one.segments)

    @property
    def segment_faults(self) -> frozenset[str]:
        """The traps that whole segments may have."""
        return frozenset((*self.segment_rates, *self.fixed.values()))

    @property
    def repeats(self) -> bool:
        """Whether any segment may have events that are delivered again or later."""
        return bool(self.segment_faults)
