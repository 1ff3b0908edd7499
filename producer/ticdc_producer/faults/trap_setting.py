"""How often a trap occurs, as scenarios and command lines set it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TrapSetting:
    """How often a trap occurs; with neither ``rate`` nor ``times``, the trap's default.

    :param rate: share of the possible positions.
    :param times: number of faults.
    :param window: length of a segment, in commits.
    """

    rate: float | None = None
    times: int | None = None
    window: int | None = None
