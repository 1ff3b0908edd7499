"""The schedule of a step: the table of each pick, and the rates of the operations.

An event of an existing row deletes it with probability ``p``; an event of a deleted row inserts it again.
After ``n`` events per row on average, the share ``p / (1 + p) * (1 - exp(-n * (1 + p)))`` of the rows is
deleted: these are the two states of a Markov chain whose events are a Poisson process. The deletes of the
mix determine ``p``; inserts that do not insert a deleted row again are new rows.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import exp

CYCLE = 1009
"""Number of picks in which the shares are met; a prime, so that it is not in phase with transactions."""


@dataclass(frozen=True, slots=True)
class TableSchedule:
    """The picks of one table: those at fixed positions of every cycle of picks.

    :param positions: sorted positions from 0 to ``cycle`` - 1.
    """

    cycle: int
    positions: tuple[int, ...]

    def count(self, picks: int) -> int:
        """Return the number of the table's picks among the first ``picks``."""
        whole, rest = divmod(picks, self.cycle)
        return whole * len(self.positions) + bisect_left(self.positions, rest)

    def has(self, pick: int) -> bool:
        return pick % self.cycle in self.positions


ALWAYS = TableSchedule(1, (0,))
"""The schedule of the only table of a step."""


def schedules_by_share(shares: Sequence[float], seed: str) -> list[TableSchedule]:
    """Build schedules by weight; a hash of the seed orders the positions.

    Each table gets its share of the cycle, rounded so that all positions are assigned; a table with a
    positive share gets at least one position.
    """
    if len(shares) == 1:
        return [ALWAYS]
    order = sorted(
        range(CYCLE), key=lambda position: blake2b(f"{seed}/{position}".encode(), digest_size=8).digest()
    )
    schedules: list[TableSchedule] = []
    first = 0
    for count in _counts(shares):
        schedules.append(TableSchedule(CYCLE, tuple(sorted(order[first : first + count]))))
        first += count
    return schedules


def schedules_by_statement(tables: Sequence[int], of: int) -> list[TableSchedule]:
    """Build the schedules of ``of`` tables, if each statement of a transaction names its table by number."""
    positions = range(len(tables))
    return [
        TableSchedule(len(tables), tuple(p for p in positions if tables[p] == number)) for number in range(of)
    ]


def _counts(shares: Sequence[float]) -> list[int]:
    """Return the number of positions of each table, by the largest remainder method."""
    least = [1 if share else 0 for share in shares]
    exact = [(CYCLE - sum(least)) * share / sum(shares) for share in shares]
    counts = [minimum + int(part) for minimum, part in zip(least, exact, strict=True)]
    with_share = [number for number, share in enumerate(shares) if share]
    by_rest = sorted(with_share, key=lambda number: (int(exact[number]) - exact[number], number))
    for number in by_rest[: CYCLE - sum(counts)]:
        counts[number] += 1
    return counts


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
    """Return the rates that give a mix, in expectation.

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


def _chance(deletes: float, table_picks: float) -> float:
    """Return the delete probability for ``deletes`` deletes of a row in ``table_picks`` events."""
    low, high = 0.0, 1.0
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        low, high = (middle, high) if _deletes(middle, table_picks) < deletes else (low, middle)
    return high


def _gone(chance: float, table_picks: float) -> float:
    return chance / (1 + chance) * (1 - exp(-table_picks * (1 + chance)))


def _deletes(chance: float, table_picks: float) -> float:
    """Return the expected number of deletes of one row: the chance times the events at which it exists."""
    settled = (1 - exp(-table_picks * (1 + chance))) / (1 + chance)
    return chance * (table_picks - chance / (1 + chance) * (table_picks - settled))
