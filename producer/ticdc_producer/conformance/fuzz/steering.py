"""Steers examples by the trap catalogue: traps that a consumer has not survived yet are tried next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from random import Random
from typing import Any

from ticdc_producer.conformance.fuzz.example import FuzzExample
from ticdc_producer.conformance.fuzz.protocols import drawn_traps
from ticdc_producer.conformance.wire import ProtocolName

Pair = tuple[str, str]
_STEERED = 0.6
"""Share of examples that are drawn for a pair of traps; the others are drawn freely."""
_CANDIDATES = 8
_MAX_TRIES = 12
"""A pair that was tried so often without appearing in a topic excludes itself, such as by its options."""


@dataclass
class Steering:
    """The counts of the traps that a consumer has survived.

    :param protocols: protocols of the examples.
    :ivar survived: examples that the consumer answered rightly, by protocol and trap.
    :ivar pairs: the same by protocol and pair of traps.
    :ivar orders: the same by order of delivery.
    """

    protocols: Sequence[ProtocolName]
    survived: Counter[tuple[ProtocolName, str]] = field(default_factory=Counter)
    pairs: Counter[tuple[ProtocolName, Pair]] = field(default_factory=Counter)
    orders: Counter[str] = field(default_factory=Counter)
    _tried: Counter[tuple[ProtocolName, Pair]] = field(default_factory=Counter)

    def focus(
        self, random: Random, protocol: ProtocolName, possible: Collection[str] | None = None
    ) -> Pair | tuple[()]:
        """Draw the traps that the next example should have; none for an example that is drawn freely.

        :param possible: the traps that it may have; None: all.
        """
        if random.random() >= _STEERED:
            return ()
        traps = [trap for trap in drawn_traps(protocol) if possible is None or trap in possible]
        if len(traps) < 2:
            return ()
        candidates = [self._pair(random.sample(traps, 2)) for _ in range(_CANDIDATES)]
        open_pairs = [pair for pair in candidates if self._tried[protocol, pair] < _MAX_TRIES] or candidates
        pair = min(open_pairs, key=lambda candidate: self._experience(protocol, candidate))
        self._tried[protocol, pair] += 1
        return pair

    def _experience(self, protocol: ProtocolName, pair: Pair) -> tuple[int, int]:
        return self.pairs[protocol, pair], min(self.survived[protocol, trap] for trap in pair)

    def record(self, example: FuzzExample, traps: Iterable[str]) -> None:
        """Count an example that the consumer answered rightly.

        :param traps: the traps that its topic has.
        """
        names = sorted(set(traps))
        self.survived.update((example.protocol, name) for name in names)
        self.pairs.update((example.protocol, self._pair(pair)) for pair in combinations(names, 2))
        self.orders.update(delivery.order for delivery in example.deliveries)

    @staticmethod
    def _pair(names: Sequence[str]) -> Pair:
        first, second = sorted(names)
        return first, second

    def as_json(self) -> dict[str, object]:
        """Return the counts by protocol: traps, pairs, and the traps that no topic had."""
        return {protocol: self._of_protocol(protocol) for protocol in self.protocols} | {
            "orders": dict(sorted(self.orders.items()))
        }

    def _of_protocol(self, protocol: ProtocolName) -> dict[str, Any]:
        traps = drawn_traps(protocol)
        pairs = {pair: self.pairs[protocol, self._pair(pair)] for pair in combinations(traps, 2)}
        return {
            "traps": {name: self.survived[protocol, name] for name in traps},
            "pairs": {" + ".join(pair): count for pair, count in pairs.items() if count},
            "pairs_not_survived": sum(not count for count in pairs.values()),
        }

    def text_lines(self) -> list[str]:
        """Return the counts as lines of text, without protocols of which nothing was survived."""
        lines = []
        for protocol in self.protocols:
            summary = self._of_protocol(protocol)
            traps = sorted(summary["traps"].items(), key=lambda item: item[1])
            survived = sum(bool(count) for _, count in traps)
            if not survived:  # such as a protocol that the consumer skips
                continue
            all_pairs = len(summary["pairs"]) + summary["pairs_not_survived"]
            lines.append(
                f"{protocol}: survived {survived} of {len(traps)} traps and {len(summary['pairs'])} of "
                f"{all_pairs} pairs"
            )
            missing = [name for name, count in traps if not count]
            if missing:
                lines.append(f"  not yet: {', '.join(missing)}")
            fewest = [f"{name} {count}" for name, count in traps if count]
            if fewest:
                lines.append(f"  fewest: {', '.join(fewest[:8])}")
        return lines
