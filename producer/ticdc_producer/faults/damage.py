"""What can be done to one encoded message, or to two that follow each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import msgspec

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.event import Event, Message

DAMAGED = "damaged"
"""``type`` of a message that no longer decodes; it carries no events."""
FOREIGN = "foreign"
"""``type`` of a message that is none of TiCDC's."""
_NOT_TICDCS = b'{"type":"heartbeat","source":"another-producer"}'
_OPEN_KEY_HEAD = 8

Decode: TypeAlias = Callable[[bytes | None, bytes | None], Iterator[Event]]


def corrupted(message: Message, decode: Decode, draw: int) -> Message | None:
    """The message with the bits of one byte turned, so that it does not decode; None if it always does."""
    value = message.value or b""
    for step in range(len(value)):
        place = (draw + step) % len(value)
        damaged = value[:place] + bytes((value[place] ^ 0xFF,)) + value[place + 1 :]
        if not _decodes(message.key, damaged, decode):
            return _damaged(message, damaged)
    return None


def truncated(message: Message, decode: Decode, draw: int) -> Message | None:
    """The message without its end, so that it does not decode; None if it always does."""
    value = message.value or b""
    for step in range(len(value)):
        damaged = value[: (draw + step) % len(value)]
        if not _decodes(message.key, damaged, decode):
            return _damaged(message, damaged)
    return None


def foreign(message: Message) -> Message:
    """What some other program might write into the topic; its time is that of a message beside it."""
    return Message(None, _NOT_TICDCS, FOREIGN, message.commit_ts, 0)


def joined(first: Message, second: Message) -> Message:
    """Two Open Protocol messages as one: a version, then the keys; the values."""
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
