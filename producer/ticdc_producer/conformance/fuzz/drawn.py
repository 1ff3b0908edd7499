"""Draws random examples: the examples of one history after those of another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from ticdc_producer.conformance.fuzz.example import FuzzExample
from ticdc_producer.conformance.fuzz.random_example import new_history, possible_traps, random_example
from ticdc_producer.conformance.fuzz.steering import Steering
from ticdc_producer.conformance.level import Level
from ticdc_producer.conformance.wire import ProtocolName

VARIATIONS = 4
"""Examples of one history, with protocols, options, traps and deliveries of their own: running the statements
takes a third of the time of an example."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What is drawn.

    :param follows_ddl: whether tables that a DDL altered are requested, too.
    """

    seed: int
    protocols: Sequence[ProtocolName]
    levels: tuple[Level, ...] = tuple(Level)
    follows_ddl: bool = False


class Examples:
    """Random examples.

    :param steering: what the consumer has survived; it decides which traps are drawn next.
    :ivar protocols: the protocols of further examples.
    """

    def __init__(self, settings: Settings, steering: Steering) -> None:
        self._settings, self._steering = settings, steering
        self._random = Random(settings.seed)
        self.protocols = list(settings.protocols)

    def draw(self) -> list[FuzzExample]:
        """The examples of a new history; nearly all of them are valid."""
        protocol = self._random.choice(self.protocols)
        focus = self._steering.focus(self._random, protocol)
        history = new_history(self._random, focus)
        possible, examples = possible_traps(history), list[FuzzExample]()
        for _ in range(VARIATIONS):
            if examples:  # the first one has what the history was drawn for
                protocol = self._random.choice(self.protocols)
                focus = self._steering.focus(self._random, protocol, possible)
            examples.append(
                random_example(
                    self._random,
                    protocol,
                    history=history,
                    focus=focus,
                    levels=self._settings.levels,
                    follows_ddl=self._settings.follows_ddl,
                )
            )
        return examples
