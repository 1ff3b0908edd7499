"""The plan of the injected faults, which all stages share, and its deterministic random numbers.

A fault that concerns a segment (a replay, a lag) derives its bounds from the commit-ts alone. No task has
to see events of another task, and faults in two segments never interfere. Faults depend on nothing else, so
every run of a scenario gets the same faults.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ticdc_producer.model.column_functions import Numbers
from ticdc_producer.model.xx_hash import xx_hash

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
        """Cut the history from the first to the last commit-ts into segments.

        They are longer than ``length`` if there would be too many.
        """
        longer = max(length, (last - first) // MAX_SEGMENTS + 1)
        return cls(start=first, length=longer, count=(last - first) // longer + 1)

    def of(self, ts: int) -> int:
        """Return the number of the segment that contains a TSO."""
        return min(max(0, (ts - self.start) // self.length), self.count - 1)

    def numbers(self, ts: Numbers) -> Numbers:
        """Return the number of the segment that contains each TSO."""
        return np.clip((ts - self.start) // self.length, 0, self.count - 1)

    def end(self, numbers: Numbers) -> Numbers:
        """Return the last TSO of each segment."""
        return self.start - 1 + (numbers + 1) * self.length


@dataclass(frozen=True, slots=True)
class IllegalFault:
    """One illegal fault.

    :param number: counts the faults of one trap from 0.
    :param segments: the segments that are reserved for it; one event in them is changed.
    :param partition_index: the partition of a fault of messages; None: it is drawn.
    """

    trap: str
    number: int
    segments: range
    partition_index: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedFaults:
    """The events that are delivered again as in a recorded topic, and its damaged messages.

    :param location: path or URI of these events (shape ``RECORDED_FAULTS``).
    :param file: the scenario file, for errors.
    :param same_topology: whether protocol, dispatch rules and partitions are those of the recording.
    """

    location: str
    file: str
    same_topology: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultPlan:
    """The faults of one run.

    :param rates: rates of the legal faults of single events and messages, by trap id.
    :param segment_rates: rates of the legal faults that concern a whole segment, by trap id.
    :param fixed: trap ids of such faults that were requested by number, by segment.
    :param illegal: the illegal faults.
    :param ddl_ts: commit-ts of the DDLs that are sent.
    :param recorded: the faults of a recording; None: there are none.
    """

    seed: int
    segments: Segments
    rates: Mapping[str, float] = field(default_factory=dict)
    segment_rates: Mapping[str, float] = field(default_factory=dict)
    fixed: Mapping[int, str] = field(default_factory=dict)
    illegal: tuple[IllegalFault, ...] = ()
    ddl_ts: tuple[int, ...] = ()
    recorded: RecordedFaults | None = None

    @property
    def ddl_segments(self) -> frozenset[int]:
        """Segments in which a DDL is sent."""
        return frozenset(map(self.segments.of, self.ddl_ts))

    @property
    def reserved(self) -> frozenset[int]:
        """Segments that are reserved for illegal faults."""
        return frozenset(number for fault in self.illegal for number in fault.segments)

    @property
    def segment_faults(self) -> frozenset[str]:
        """The traps that whole segments may have."""
        return frozenset((*self.segment_rates, *self.fixed.values()))

    @property
    def repeats(self) -> bool:
        """Whether any segment may have events that are delivered again or later."""
        return bool(self.segment_faults)


_BITS = 53


def seeded_hash(seed: int, purpose: str, rows: int, *parts: pa.Array | int | str) -> Numbers:
    """Hash some columns, row by row, to integers from 0 to 2^53 - 1.

    :param parts: columns, or values that all rows share; the width of integers matters.
    """
    salt = int.from_bytes(blake2b(f"{seed}/{purpose}".encode(), digest_size=8).digest(), "big", signed=True)
    return (xx_hash(rows, salt, *parts) >> np.uint64(64 - _BITS)).astype(np.int64)


def threshold(rate: float) -> int:
    """Return the bound below which the share ``rate`` of all values of ``seeded_hash`` lies."""
    return round(rate * (1 << _BITS))


def seeded_integer(seed: int, purpose: str, number: int) -> int:
    """Hash one number on the driver to an unsigned 64-bit integer."""
    return int.from_bytes(blake2b(f"{seed}/{purpose}/{number}".encode(), digest_size=8).digest(), "big")


def seeded_floats(seed: int, purpose: str, numbers: Numbers) -> NDArray[np.float64]:
    """Hash numbers to floats from 0 up to but excluding 1, by SplitMix64 (Steele, Lea, Flood 2014).

    >>> seeded_floats(7, "gap", np.array([0, 1])).round(4).tolist()
    [0.3702, 0.8509]
    """
    mixed = numbers.astype(np.uint64) + np.uint64(seeded_integer(seed, purpose, 0))
    with np.errstate(over="ignore"):
        mixed = mixed * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    floats: NDArray[np.float64] = (mixed ^ (mixed >> np.uint64(31))) / 2.0**64
    return floats
