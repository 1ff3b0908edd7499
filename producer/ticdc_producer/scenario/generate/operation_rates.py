"""Computes the number of new rows and the probability of a delete from a mix of operations.

An event of an existing row deletes it with probability ``p``; an event of a deleted row inserts it again.
After ``n`` events per row on average, the share ``p / (1 + p) * (1 - exp(-n * (1 + p)))`` of the rows is
deleted: these are the two states of a Markov chain whose events are a Poisson process. The deletes of the
mix determine ``p``; inserts that do not insert a deleted row again are new rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp

_ROUNDS = 60
_DIGITS = 9
"""Decimal digits of the probability of a delete."""


@dataclass(frozen=True, slots=True)
class Rates:
    """The rates of operations.

    :param new_rows: exact number of new rows, not counting the rows inserted first.
    :param delete: probability that an event of an existing row deletes it.
    """

    new_rows: int
    delete: float


def operation_rates(insert: float, delete: float, rows: int, events: int) -> Rates:
    """The rates that give a mix, in expectation.

    :param insert: share of all events, 0 to 1, not below that of ``delete``.
    :param rows: number of rows before the first event.
    :param events: number of events.
    """
    new_rows, chance = (insert - delete) * events, 0.0
    for _ in range(_ROUNDS if delete else 0):
        existing_rows, table_picks = max(rows + new_rows, 1.0), max(events - new_rows, 0.0)
        chance = _chance(delete * events / existing_rows, table_picks / existing_rows)
        new_rows = (insert - delete) * events + existing_rows * _gone(chance, table_picks / existing_rows)
        new_rows = min(max(new_rows, 0.0), float(events))
    least = 0 if rows else 1
    # Libraries differ in the last bits of exp, which must not decide about any change.
    return Rates(max(round(new_rows), least), round(chance, _DIGITS))


def _chance(wanted: float, table_picks: float) -> float:
    """The delete probability for ``wanted`` deletes of a row in ``table_picks`` events."""
    low, high = 0.0, 1.0
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        low, high = (middle, high) if _deletes(middle, table_picks) < wanted else (low, middle)
    return high


def _gone(chance: float, table_picks: float) -> float:
    return chance / (1 + chance) * (1 - exp(-table_picks * (1 + chance)))


def _deletes(chance: float, table_picks: float) -> float:
    """Expected number of deletes of one row: the chance times the events at which it exists."""
    settled = (1 - exp(-table_picks * (1 + chance))) / (1 + chance)
    return chance * (table_picks - chance / (1 + chance) * (table_picks - settled))
