"""From a mix of operations to what decides each event: how many rows are born, how often one is deleted.

A row that exists is deleted with one probability; a row that is gone comes back at its next event, as
there is nothing else to do with it. After ``n`` events per row, on average, a share
``p / (1 + p) * (1 - exp(-n * (1 + p)))`` of the rows is gone: the two states of a Markov chain whose events
come as a Poisson process. What deletes the mix asks for gives ``p``; inserts that do not bring a row back
are births.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp

_ROUNDS = 60


@dataclass(frozen=True, slots=True)
class Rates:
    """What decides the operations.

    :param births: how many rows are born, beside those inserted first; exact.
    :param delete: probability that an event of a row that exists deletes it.
    """

    births: int
    delete: float


def rates(insert: float, delete: float, rows: int, events: int) -> Rates:
    """The rates that give a mix, in expectation.

    :param insert: share of all events, 0 to 1, not below that of ``delete``.
    :param rows: that exist before the first event.
    """
    births, chance = (insert - delete) * events, 0.0
    for _ in range(_ROUNDS if delete else 0):
        there, visits = max(rows + births, 1.0), max(events - births, 0.0)
        chance = _chance(delete * events / there, visits / there)
        births = (insert - delete) * events + there * _gone(chance, visits / there)
        births = min(max(births, 0.0), float(events))
    least = 0 if rows else 1
    return Rates(max(round(births), least), chance)


def _chance(wanted: float, visits: float) -> float:
    """The probability under which a row is deleted ``wanted`` times in so many visits."""
    low, high = 0.0, 1.0
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        low, high = (middle, high) if _deletes(middle, visits) < wanted else (low, middle)
    return high


def _gone(chance: float, visits: float) -> float:
    return chance / (1 + chance) * (1 - exp(-visits * (1 + chance)))


def _deletes(chance: float, visits: float) -> float:
    """How often one row is deleted, in expectation: the chance over the time in which it exists."""
    settled = (1 - exp(-visits * (1 + chance))) / (1 + chance)
    return chance * (visits - chance / (1 + chance) * (visits - settled))
