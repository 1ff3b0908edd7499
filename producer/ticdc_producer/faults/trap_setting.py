"""How often a trap is set, as scenarios and command lines say it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TrapSetting:
    """How often a trap is set; without either number its default.

    :param rate: share of the places where it can be.
    :param times: how many times.
    :param window: commits of a stretch.
    """

    rate: float | None = None
    times: int | None = None
    window: int | None = None
