"""Kinds of traps of encoded messages: what a subclass decides, and what it knows.

``faults.message_faults`` injects them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from ticdc_producer.faults.damage import Decode
from ticdc_producer.faults.trap import Trap
from ticdc_producer.model.event import Message

Replacement: TypeAlias = tuple[int, list[tuple[Message, int]]]
"""How many messages are replaced, and the new ones. Each new one has the number of its first event, counted
from the first replaced message's first event."""


class RepeatTrap(Trap):
    """Delivers whole messages of rows again.

    :cvar distances: the second delivery follows the first after less than this number of messages.
    """

    mechanism = "message"
    measures = ("rate",)
    occurrence = "a message"
    distances: ClassVar[int] = 1


@dataclass(frozen=True, slots=True)
class MessageFacts:
    """What an illegal trap of messages knows besides the messages.

    :param seed: a random number of the fault.
    :param decode: decodes a message; raises ``DecodeError``.
    :param max_batch_size: largest number of events in a message; 0: the protocol has none.
    """

    seed: int
    decode: Decode
    max_batch_size: int


class IllegalMessageTrap(Trap, ABC):
    """Replaces one or several consecutive messages of the segments that are reserved for it.

    :cvar keeps_events: whether a reader still decodes all events, unchanged and in order.
    """

    legal = False
    mechanism = "message"
    measures = ("times", "rate")
    occurrence = "a message"
    keeps_events: ClassVar[bool] = False

    @abstractmethod
    def replacement(self, messages: Sequence[Message], facts: MessageFacts) -> Replacement | None:
        """The fault at the first message, which has rows; None if it cannot happen there.

        :param messages: the messages of the partition from there on, as far as they are known.
        """
