"""Sequences, which give numbers to statements.

Rules: tidb ``pkg/meta/autoid`` (``alloc4Sequence``, ``SeekToFirstSequenceValue``), ``pkg/ddl/sequence.go``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ticdc_producer.errors import ScenarioError

_LARGEST = (1 << 63) - 1
_CACHE = 1000


@dataclass(slots=True)
class StoredSequence:
    """A sequence.

    :param start: all numbers are a multiple of ``increment`` away from it.
    :param base: the last number that was taken or passed over.
    :param cache: how many numbers a session takes at once; ALTER SEQUENCE loses those that it did not use.
    :ivar last: the number that the session took last; None before the first.
    """

    name: str
    start: int
    increment: int
    smallest: int
    largest: int
    cache: int
    cycles: bool
    base: int
    last: int | None = None
    _cached: int = 0  # how many numbers after the base are in the cache

    def take(self) -> int:
        """Return the next number.

        :raises ScenarioError: if there are no more.
        """
        if self._cached <= 0:
            self._cached = self.cache
        self._cached -= 1
        steps = (self.base - self.start) // self.increment
        number = self.start + (steps + 1) * self.increment
        if not self.smallest <= number <= self.largest:
            if not self.cycles:
                raise ScenarioError(f"Sequence '{self.name}' has run out", value=self.name)
            number = self.smallest if self.increment > 0 else self.largest
            self.start = number
        self.base = self.last = number
        return number

    def advance(self, number: int) -> int | None:
        """Pass over all numbers up to one (``SETVAL``); return it, or None if they are passed already."""
        if (number - self.base) * self.increment <= 0:
            return None
        passed = (number - self.base) // self.increment
        self.base, self._cached = number, max(self._cached - passed, 0)
        return number

    def alter(self, options: Mapping[str, int | None]) -> StoredSequence:
        """Return the sequence after ALTER SEQUENCE, which forgets the numbers in the cache."""
        options_before: dict[str, int | None] = {
            "START": self.start, "INCREMENT": self.increment, "MINVALUE": self.smallest,
            "MAXVALUE": self.largest, "CACHE": self.cache, "CYCLE": int(self.cycles),
        }  # fmt: skip
        given = {name: value for name, value in options.items() if value is not None}
        altered = make_sequence(self.name, options_before | given)
        altered.last = self.last
        if "RESTART" not in options:
            altered.base = self.base + self._cached * self.increment
        elif (first := options["RESTART"]) is not None:
            altered.base = _before(first, altered.increment)
        return altered


def _before(number: int, increment: int) -> int:
    """Return the base after which a number, or the first one after it, is the next."""
    return number - 1 if increment > 0 else number + 1


def make_sequence(name: str, options: Mapping[str, int | None]) -> StoredSequence:
    """Return a new sequence.

    :param name: with its database, for errors.
    :param options: by their names; None for NO MINVALUE and NO MAXVALUE.
    :raises ScenarioError: for options that contradict each other.
    """
    increment = options.get("INCREMENT") or (0 if "INCREMENT" in options else 1)
    rises = increment > 0
    smallest, largest = options.get("MINVALUE"), options.get("MAXVALUE")
    smallest = smallest if smallest is not None else (1 if rises else -_LARGEST)
    largest = largest if largest is not None else (_LARGEST - 1 if rises else -1)
    start = options.get("START")
    if start is None:
        start = max(smallest, 1) if rises else min(largest, -1)
    cache = options.get("CACHE")
    cache = _CACHE if cache is None else cache
    fits = -_LARGEST <= smallest <= start <= largest < _LARGEST and smallest < largest
    if not fits or increment == 0 or cache <= 0 or cache >= _LARGEST // abs(increment) - 1:
        raise ScenarioError(f"Sequence '{name}' values are conflicting", value=name)
    base = _before(start, increment)
    return StoredSequence(name, start, increment, smallest, largest, cache, bool(options.get("CYCLE")), base)
