"""Draws valid random examples, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from ticdc_producer.conformance.fuzz.random_example import new_history, possible_traps, random_example
from ticdc_producer.conformance.fuzz.random_history import RandomHistory
from ticdc_producer.conformance.fuzz.steering import Steering
from ticdc_producer.conformance.fuzz.topic import FuzzTopic, build_topic
from ticdc_producer.conformance.level import Level
from ticdc_producer.conformance.wire import ProtocolName
from ticdc_producer.errors import ProducerError

_MAX_REJECTED = 50
"""Consecutive examples without a valid topic; nearly all examples have one."""
_VARIATIONS = 4
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
    """Random examples with their topics.

    :ivar protocols: the protocols of further examples.
    :ivar rejected: number of examples that had no valid topic.
    """

    def __init__(self, settings: Settings, steering: Steering) -> None:
        self._settings, self._steering = settings, steering
        self._random = Random(settings.seed)
        self._history: RandomHistory | None = None
        self._variations = 0
        self.protocols = list(settings.protocols)
        self.rejected = 0

    def draw(self) -> FuzzTopic:
        """The next example that has a topic.

        :raises ProducerError: if none is drawn, which the tests rule out.
        """
        for _ in range(_MAX_REJECTED):
            try:
                return self._draw()
            except ProducerError as error:
                self.rejected += 1
                last = error
        raise last

    def _draw(self) -> FuzzTopic:
        protocol, history = self._random.choice(self.protocols), self._history
        self._variations += 1
        if history is None or self._variations > _VARIATIONS:
            focus = self._steering.focus(self._random, protocol)
            history, self._variations = new_history(self._random, focus), 1
        else:
            focus = self._steering.focus(self._random, protocol, possible_traps(history))
        self._history = history
        return build_topic(
            random_example(
                self._random,
                protocol,
                history=history,
                focus=focus,
                levels=self._settings.levels,
                follows_ddl=self._settings.follows_ddl,
            )
        )
