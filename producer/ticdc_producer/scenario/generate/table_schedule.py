"""The schedule of tables: which picks of a step belong to each of its tables."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

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
        """Number of the table's picks among the first ``picks``."""
        whole, rest = divmod(picks, self.cycle)
        return whole * len(self.positions) + bisect_left(self.positions, rest)

    def has(self, pick: int) -> bool:
        return pick % self.cycle in self.positions


ALWAYS = TableSchedule(1, (0,))
"""The schedule of the only table of a step."""


def schedules_by_share(shares: Sequence[float], seed: str) -> list[TableSchedule]:
    """Schedules by weight; a hash of the seed orders the positions.

    Each table gets its share of the cycle, rounded so that all positions are assigned; a table with a
    positive share gets at least one position.
    """
    if len(shares) == 1:
        return [ALWAYS]
    order = sorted(
        range(CYCLE), key=lambda position: blake2b(f"{seed}/{position}".encode(), digest_size=8).digest()
    )
    found: list[TableSchedule] = []
    first = 0
    for count in _counts(shares):
        found.append(TableSchedule(CYCLE, tuple(sorted(order[first : first + count]))))
        first += count
    return found


def schedules_by_statement(tables: Sequence[int], of: int) -> list[TableSchedule]:
    """Schedules of ``of`` tables, if each statement of a transaction names its table by number."""
    positions = range(len(tables))
    return [
        TableSchedule(len(tables), tuple(p for p in positions if tables[p] == number)) for number in range(of)
    ]


def _counts(shares: Sequence[float]) -> list[int]:
    """Number of positions of each table, by the largest remainder method."""
    least = [1 if share else 0 for share in shares]
    exact = [(CYCLE - sum(least)) * share / sum(shares) for share in shares]
    counts = [one + int(part) for one, part in zip(least, exact, strict=True)]
    with_share = [number for number, share in enumerate(shares) if share]
    by_rest = sorted(with_share, key=lambda number: (int(exact[number]) - exact[number], number))
    for number in by_rest[: CYCLE - sum(counts)]:
        counts[number] += 1
    return counts
