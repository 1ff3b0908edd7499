"""The vertical axis: time since the first commit-ts, in a unit that gives short numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ticdc_producer.model import tso
from ticdc_producer.reports.timeline import Bucket

_UNITS = (
    ("days", 86_400_000),
    ("hours", 3_600_000),
    ("minutes", 60_000),
    ("seconds", 1000),
    ("milliseconds", 1),
)
_MIN_UNITS = 2
"""A unit is used if the time span is at least this number of it."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A vertical axis that all partitions share.

    :param origin: TSO of the axis's 0; the smallest one.
    :param end: the largest TSO.
    :param unit: label of the unit, ``milliseconds`` to ``days``.
    :param milliseconds: length of one unit.
    """

    origin: int
    end: int
    unit: str
    milliseconds: int

    def of(self, ts: int) -> float:
        """A TSO in units since the origin."""
        return (ts - self.origin) / (self.milliseconds << tso.LOGICAL_BITS)


def scale(buckets: Iterable[Bucket]) -> Scale:
    """The axis that covers all rows and resolved events."""
    timestamps = [
        ts
        for bucket in buckets
        for ts in (bucket.lowest, bucket.highest, bucket.resolved and bucket.resolved[0])
        if ts is not None
    ]
    origin, end = min(timestamps, default=0), max(timestamps, default=0)
    span = tso.physical(end - origin)
    unit, milliseconds = next((unit for unit in _UNITS if span >= _MIN_UNITS * unit[1]), _UNITS[-1])
    return Scale(origin, end, unit, milliseconds)
