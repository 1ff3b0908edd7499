"""Compares the bytes of matched events, in their canonical form, member by member.

Digests of bytes are equal for the messages of an encoder that writes what TiCDC writes. Where they differ, a
second pass compares the digests of the canonical form. Only the messages of the examples are decoded to their
canonical forms, which name the different members.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, TypeAlias

import msgspec
import pyarrow as pa

from ticdc_producer.engine.dataset import Batches, Dataset, Part
from ticdc_producer.hints import shortened
from ticdc_producer.model.shapes import BatchFunction, StoredMessageBatch
from ticdc_producer.verifier.events import EventID, Offset
from ticdc_producer.verifier.messages import LOCATION

Forms: TypeAlias = Callable[[pa.RecordBatch], Mapping[EventID, bytes]]
"""Returns the canonical forms of the events of some messages (shape ``MESSAGES``), as JSON."""
Eventless: TypeAlias = Callable[[pa.RecordBatch], Sequence[tuple[int, int]]]
"""Returns row and digest of the messages without events among some messages (shape ``MESSAGES``)."""
_Group: TypeAlias = tuple[str, int]
_MAX_MEMBERS, _MAX_TEXT = 3, 80
_MAX_EVENTLESS = 10_000
"""Different messages without events that a part of a stream may have."""
_NOTHING = "nothing"
_PARSER = msgspec.json.Decoder(float_hook=Decimal)
_TEXT = msgspec.json.Encoder(decimal_format="number")


@dataclass(frozen=True, kw_only=True)
class ExpectedMessages:
    """The messages of a correct stream, encoded whenever they are needed.

    :param canonical_events: the events with digests of the canonical form (shape ``EXPECTED_WIRE``).
    :param messages: shape ``MESSAGES``, and their claim-check objects.
    :param eventless: those without events.
    :param forms: returns canonical forms.
    """

    canonical_events: Dataset
    messages: Dataset
    eventless: Dataset
    forms: Forms


@dataclass(frozen=True, kw_only=True)
class WireDecoder:
    """A decoder of the bytes of delivered messages.

    :param decode_bytes: decodes messages (shape ``MESSAGES``) to events with digests of their bytes (shape
        ``DECODED_WIRE``).
    :param decode: the same with digests of the canonical form.
    :param forms: returns canonical forms.
    :param not_compared: the paths of members that are not in a canonical form, with the reasons.
    :param eventless: finds the messages without events; None: they are not compared.
    :param delivered_eventless: those that were delivered.
    """

    decode_bytes: BatchFunction
    decode: BatchFunction
    forms: Forms
    not_compared: Mapping[str, str] = field(default_factory=dict)
    eventless: Eventless | None = None
    delivered_eventless: EventlessMessages | None = None


def different_members(expected: bytes, delivered: bytes) -> str:
    """Return the members that differ between two canonical forms, with both values.

    >>> different_members(b'{"value": {"a": 1, "b": [2]}}', b'{"value": {"a": 1.0, "b": [2, 3]}}')
    'value.a is 1.0, expected 1; value.b[1] is 3, expected nothing'
    """
    members = _members(expected, delivered)
    texts = [f"{path} is {_text(came)}, expected {_text(due)}" for path, due, came in members[:_MAX_MEMBERS]]
    if len(members) > _MAX_MEMBERS:
        texts.append(f"and {len(members) - _MAX_MEMBERS} more")
    return "; ".join(texts)


def _members(expected: bytes, delivered: bytes) -> list[tuple[str, Any, Any]]:
    return [*_differences("", _PARSER.decode(expected), _PARSER.decode(delivered))]


class _Absent:
    """The value of a member that does not exist."""


_ABSENT = _Absent()


def _differences(path: str, expected: Any, delivered: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield path, expected and delivered value of each member that differs."""
    if isinstance(expected, dict) and isinstance(delivered, dict):
        for name in dict.fromkeys((*expected, *delivered)):
            yield from _differences(
                f"{path}.{name}" if path else name,
                expected.get(name, _ABSENT),
                delivered.get(name, _ABSENT),
            )
    elif isinstance(expected, list) and isinstance(delivered, list):
        for index in range(max(len(expected), len(delivered))):
            yield from _differences(f"{path}[{index}]", _element(expected, index), _element(delivered, index))
    elif type(expected) is not type(delivered) or str(expected) != str(delivered):
        yield path, expected, delivered


def _element(values: Sequence[Any], index: int) -> Any:
    return values[index] if index < len(values) else _ABSENT


def _text(value: Any) -> str:
    if value is _ABSENT:
        return _NOTHING
    return shortened(_TEXT.encode(value).decode(), _MAX_TEXT)


@dataclass
class EventlessMessages:
    """Different messages without events.

    :param by_partition: whether equal messages of two partitions count as different.
    :ivar first: by topic and partition (0 if partitions do not count) and digest the position of the first
        message.
    :ivar complete: False if there are more than can be held.
    """

    by_partition: bool = False
    first: dict[_Group, dict[int, Offset]] = field(default_factory=dict)
    complete: bool = True

    def add(self, messages: StoredMessageBatch, eventless: Eventless) -> None:
        """Add those of some messages (shape ``MESSAGES``; its time stamp and counts are not read)."""
        for row, digest in eventless(messages):
            topic, partition, offset = (messages.column(name)[row].as_py() for name in LOCATION[:3])
            self._add(digest, (topic, partition, offset))

    def merge(self, others: Iterable[EventlessMessages]) -> None:
        """Add those of other parts."""
        for other in others:
            self.complete &= other.complete
            for known in other.first.values():
                for digest, position in known.items():
                    self._add(digest, position)

    def _add(self, digest: int, position: Offset) -> None:
        topic, partition, _ = position
        known = self.first.setdefault((topic, partition if self.by_partition else 0), {})
        if digest in known or len(known) < _MAX_EVENTLESS:
            known[digest] = min(known.get(digest, position), position)
        else:
            self.complete = False


def eventless_messages(
    messages: Dataset, eventless: Eventless, *, by_partition: bool = False
) -> EventlessMessages:
    """Return the messages without events.

    :param messages: shape ``MESSAGES``.
    :param by_partition: whether equal messages of two partitions count as different.
    """

    def of_part(_part: Part, batches: Batches) -> EventlessMessages:
        own = EventlessMessages(by_partition)
        for batch in batches:
            own.add(batch, eventless)
        return own

    total = EventlessMessages(by_partition)
    total.merge(messages.select(*LOCATION[:3], "key", "value", "headers").results(of_part))
    return total


def unmatched(messages: EventlessMessages, others: EventlessMessages) -> list[Offset]:
    """Return the positions of the messages that no other message equals, in order."""
    return sorted(
        position
        for group, known in messages.first.items()
        for digest, position in known.items()
        if digest not in others.first.get(group, ())
    )


def nearest_form(form: bytes, others: Sequence[bytes]) -> bytes:
    """Return the canonical form with the fewest differences.

    >>> nearest_form(b'{"a": 1, "b": 2}', [b'{"a": 2, "b": 3}', b'{"a": 1, "b": 3}'])
    b'{"a": 1, "b": 3}'
    """
    return min(others, key=lambda other: len(_members(other, form)))
