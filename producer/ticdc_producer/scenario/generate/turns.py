"""Whose turn it is: which of a step's picks fall to each of its tables."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

CYCLE = 1009
"""Picks in which the shares come out. A prime, so that it does not keep step with the transactions."""


@dataclass(frozen=True, slots=True)
class Turns:
    """The picks of one table: those at some places of every cycle of picks.

    :param places: from 0 up to, but not, ``cycle``, sorted.
    """

    cycle: int
    places: tuple[int, ...]

    def count(self, picks: int) -> int:
        """How many of the first ``picks`` are the table's."""
        whole, rest = divmod(picks, self.cycle)
        return whole * len(self.places) + bisect_left(self.places, rest)

    def has(self, pick: int) -> bool:
        return pick % self.cycle in self.places


ALWAYS = Turns(1, (0,))
"""Of the only table of a step."""


def turns_by_share(shares: Sequence[float], seed: str) -> list[Turns]:
    """Turns by weight, in an order that a hash of the seed gives.

    Each table gets its share of the cycle, rounded so that all is given away; one that has a share at all
    gets one place at least.
    """
    if len(shares) == 1:
        return [ALWAYS]
    order = sorted(
        range(CYCLE), key=lambda place: blake2b(f"{seed}/{place}".encode(), digest_size=8).digest()
    )
    found: list[Turns] = []
    first = 0
    for count in _counts(shares):
        found.append(Turns(CYCLE, tuple(sorted(order[first : first + count]))))
        first += count
    return found


def turns_by_statement(tables: Sequence[int], of: int) -> list[Turns]:
    """Turns of ``of`` tables, where each statement of a transaction names its table by number."""
    places = range(len(tables))
    return [Turns(len(tables), tuple(p for p in places if tables[p] == number)) for number in range(of)]


def _counts(shares: Sequence[float]) -> list[int]:
    """Places of each, the largest remainders first."""
    least = [1 if share else 0 for share in shares]
    exact = [(CYCLE - sum(least)) * share / sum(shares) for share in shares]
    counts = [one + int(part) for one, part in zip(least, exact, strict=True)]
    there = [number for number, share in enumerate(shares) if share]
    by_rest = sorted(there, key=lambda number: (int(exact[number]) - exact[number], number))
    for number in by_rest[: CYCLE - sum(counts)]:
        counts[number] += 1
    return counts
