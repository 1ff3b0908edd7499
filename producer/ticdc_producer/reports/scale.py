"""Commit-ts as time since the first one, in a unit that keeps the numbers short."""

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
_ENOUGH = 2
"""A unit is used from so many of it on."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A vertical axis that all partitions share.

    :param origin: TSO that is shown as 0, ``end`` the largest one.
    :param unit: as a word, ``milliseconds`` to ``days``; so many ``milliseconds`` are one of it.
    """

    origin: int
    end: int
    unit: str
    milliseconds: int

    def of(self, ts: int) -> float:
        """A TSO in units since the origin."""
        return (ts - self.origin) / (self.milliseconds << tso.LOGICAL_BITS)


def scale(buckets: Iterable[Bucket]) -> Scale:
    """The axis that holds all rows and resolved events."""
    seen = [
        ts
        for bucket in buckets
        for ts in (bucket.lowest, bucket.highest, bucket.resolved and bucket.resolved[0])
        if ts is not None
    ]
    origin, end = min(seen, default=0), max(seen, default=0)
    span = tso.physical(end - origin)
    unit, milliseconds = next((unit for unit in _UNITS if span >= _ENOUGH * unit[1]), _UNITS[-1])
    return Scale(origin, end, unit, milliseconds)
