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

    :param start: the first number; all are a multiple of ``increment`` away from it.
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
    last: int | None = None
    _base: int | None = None  # the last number that was taken or passed over
    _cached: int = 0  # how many numbers after it are in the cache

    def take(self) -> int:
        """Return the next number.

        :raises ScenarioError: if there are no more.
        """
        if self._cached <= 0:
            self._cached = max(self.cache, 1)
        self._cached -= 1
        number = self._after(self._base)
        if not self.smallest <= number <= self.largest:
            if not self.cycles:
                raise ScenarioError(f"Sequence '{self.name}' has run out", value=self.name)
            number = self.smallest if self.increment > 0 else self.largest
            self.start = number
        self._base = self.last = number
        return number

    def advance(self, number: int) -> int | None:
        """Pass over all numbers up to one (``SETVAL``); return it, or None if they are passed already."""
        if self._base is not None and (number - self._base) * self.increment <= 0:
            return None
        passed = 0 if self._base is None else (number - self._base) // self.increment
        self._base, self._cached = number, max(self._cached - passed, 0)
        return number

    def alter(self, options: Mapping[str, int | None]) -> StoredSequence:
        """Return the sequence after ALTER SEQUENCE, which forgets the numbers in the cache."""
        base = self._base if self._base is None else self._base + self._cached * self.increment
        options_before: dict[str, int | None] = {
            "START": self.start, "INCREMENT": self.increment, "MINVALUE": self.smallest,
            "MAXVALUE": self.largest, "CACHE": self.cache, "CYCLE": int(self.cycles),
        }  # fmt: skip
        altered = make_sequence(self.name, options_before | dict(options))
        altered.last = self.last
        if "RESTART" in options:
            first = options["RESTART"]
            altered._base = (altered.start if first is None else first) - altered.increment
        else:
            altered._base = base
        return altered

    def _after(self, base: int | None) -> int:
        if base is None:
            return self.start
        steps = (base - self.start) // self.increment
        return self.start + (steps + 1) * self.increment


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
    start = start if start is not None else (smallest if rises else largest)
    cache = options.get("CACHE")
    if increment == 0 or not smallest <= start <= largest or smallest >= largest:
        raise ScenarioError(f"Sequence '{name}' values are conflicting", value=name)
    cycles = bool(options.get("CYCLE"))
    return StoredSequence(
        name, start, increment, smallest, largest, _CACHE if cache is None else cache, cycles
    )
