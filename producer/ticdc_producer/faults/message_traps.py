"""Kinds of traps of encoded messages, and the changes that they make to messages.

``faults.message_faults`` injects them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import msgspec

from ticdc_producer.errors import DecodeError
from ticdc_producer.faults.trap import Trap
from ticdc_producer.model.event import Event, Message, RowEvent
from ticdc_producer.protocols.craft.wire import varint

DAMAGED = "damaged"
"""``type`` of a message that no longer decodes; it carries no events."""
FOREIGN = "foreign"
"""``type`` of a message that another program might have written."""
_FOREIGN_VALUE = b'{"type":"heartbeat","source":"another-producer"}'
_OPEN_KEY_HEAD = 8

Decode: TypeAlias = Callable[[bytes | None, bytes | None], Iterator[Event]]


def corrupted(message: Message, decode: Decode, seed: int) -> Message | None:
    """Invert the bits of one byte so that the message does not decode; None if there is no such byte.

    :param seed: where to start the search.
    """
    value = message.value or b""
    for step in range(len(value)):
        at = (seed + step) % len(value)
        damaged = value[:at] + bytes((value[at] ^ 0xFF,)) + value[at + 1 :]
        if not _decodes(message.key, damaged, decode):
            return _damaged(message, damaged)
    return None


def truncated(message: Message, decode: Decode, seed: int) -> Message | None:
    """Cut off the end of the message so that it does not decode; None if it always decodes.

    :param seed: where to start the search.
    """
    value = message.value or b""
    for step in range(len(value)):
        damaged = value[: (seed + step) % len(value)]
        if not _decodes(message.key, damaged, decode):
            return _damaged(message, damaged)
    return None


def with_wrong_checksum(message: Message, decode: Decode) -> Message | None:
    """Change the checksum in the message of a row, and nothing else; None if it has none to verify.

    The checksum is a decimal number in JSON and in Avro's text, and a varint in Simple's Avro encoding.
    """
    value = message.value or b""
    row = _only_row(message.key, value, decode)
    checksum = None if row is None else row.checksum
    if row is None or checksum is None or row.handle_key_only or not checksum.columns:
        return None
    name, number = ("current", checksum.current) if row.after is not None else ("previous", checksum.previous)
    if not number:
        return None
    wrong = number ^ 1 or number ^ 2  # of the same length; 0 would not be verified
    expected = msgspec.structs.replace(row, checksum=msgspec.structs.replace(checksum, **{name: wrong}))
    for old, new in ((b"%d" % number, b"%d" % wrong), (varint(number), varint(wrong))):
        at = value.rfind(old)
        while at >= 0:
            changed = value[:at] + new + value[at + len(old) :]
            if _only_row(message.key, changed, decode) == expected:
                return msgspec.structs.replace(message, value=changed)
            at = value.rfind(old, 0, at + len(old) - 1)
    return None


def _only_row(key: bytes | None, value: bytes, decode: Decode) -> RowEvent | None:
    try:
        events = list(decode(key, value))
    except DecodeError:
        return None
    return events[0] if len(events) == 1 and isinstance(events[0], RowEvent) else None


def foreign(message: Message) -> Message:
    """Return a message that another program might write into the topic, at the commit-ts of ``message``."""
    return Message(None, _FOREIGN_VALUE, FOREIGN, message.commit_ts, 0)


def joined(first: Message, second: Message) -> Message:
    """Join two Open Protocol messages: the version and the keys of both, then the values of both."""
    key = (first.key or b"") + (second.key or b"")[_OPEN_KEY_HEAD:]
    value = (first.value or b"") + (second.value or b"")
    events = first.events + second.events
    return msgspec.structs.replace(
        first, key=key, value=value, events=events, claims=first.claims + second.claims
    )


def _damaged(message: Message, value: bytes) -> Message:
    return msgspec.structs.replace(message, value=value, type=DAMAGED, events=0)


def _decodes(key: bytes | None, value: bytes | None, decode: Decode) -> bool:
    try:
        list(decode(key, value))
    except DecodeError:
        return False
    return True


Replacement: TypeAlias = tuple[int, list[tuple[Message, int]]]
"""How many messages are replaced, and the new ones. Each new one has the number of its first event, counted
from the first replaced message's first event."""


class RepeatTrap(Trap):
    """A trap that delivers whole messages of rows again.

    :cvar distances: the second delivery follows the first after less than this number of messages.
    """

    mechanism = "message"
    measures = ("rate",)
    occurrence = "a message"
    distances: ClassVar[int] = 1


@dataclass(frozen=True, slots=True)
class MessageFaultInput:
    """The input of an illegal trap of messages other than the messages.

    :param seed: a random number of the fault.
    :param decode: decodes a message; raises ``DecodeError``.
    :param max_batch_size: largest number of events in a message; 0: the protocol has none.
    """

    seed: int
    decode: Decode
    max_batch_size: int


class IllegalMessageTrap(Trap, ABC):
    """A trap that replaces one or several consecutive messages of the segments that are reserved for it.

    :cvar keeps_events: whether a reader still decodes all events, unchanged and in order.
    :cvar needs_tables: whether it decodes rows for which a protocol needs the description of their table.
    """

    legal = False
    mechanism = "message"
    measures = ("times", "rate")
    occurrence = "a message"
    keeps_events: ClassVar[bool] = False
    needs_tables: ClassVar[bool] = False

    @abstractmethod
    def replacement(self, messages: Sequence[Message], facts: MessageFaultInput) -> Replacement | None:
        """Return the fault at the first message, which has rows; None if it cannot happen there.

        :param messages: the messages of the partition from there to the end of their batch.
        """
