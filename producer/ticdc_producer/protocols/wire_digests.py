"""Digests of everything in the bytes of a message, one per event.

``WireDigests`` computes a number of 64 bits per event, by which whole messages can be compared without moving
their bytes:

- The digest of the *bytes* is fast. Two events with equal digests are equal. A protocol removes what TiCDC
  writes differently each time where it expects it, such as a wall clock.
- The digest of the *canonical form* costs a parser per event, and is necessary only where the bytes differ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from zlib import adler32, crc32

from ticdc_producer.errors import DecodeError
from ticdc_producer.protocols.wire import NOT_JSON, SORTED_JSON, EventBytes, WireFormat

if TYPE_CHECKING:  # every command loads the specifications of protocols, and few compare bytes
    from ticdc_producer.model.column_functions import Numbers
    from ticdc_producer.model.event import ClaimObject
    from ticdc_producer.protocols.message_batch import Headers


_NOTHING: Final = b"\x00null"
_NO_HEADERS: Mapping[int, Headers] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class WireDigests:
    """Digests of the events of messages.

    :param canonical: digests of the canonical form; otherwise of the bytes.
    :param claims: whether claim-check objects can be read, and are therefore compared.
    """

    format: WireFormat
    canonical: bool = False
    claims: bool = False

    @property
    def not_compared(self) -> dict[str, str]:
        """The paths of the members whose values are not compared, with the reasons."""
        return self.format.not_compared(claims=self.claims)

    def of_messages(
        self,
        keys: Sequence[bytes | None],
        values: Sequence[bytes | None],
        counts: Sequence[int],
        content: Contents,
        headers: Mapping[int, Headers] = _NO_HEADERS,
    ) -> Numbers:
        """Return the digest of each event; 0 if its claim-check object cannot be read.

        The events of a message that has fewer parts than events have the digest of the whole message. The
        headers of a message belong to each of its events.

        :param counts: number of events of each message.
        :param content: reads a claim-check object of a message; the first argument is the message's index.
        :param headers: of the messages that have any, by the message's index.
        """
        import numpy as np

        if self.canonical or self.claims:
            digests = self._of_each(keys, values, counts, content)
        else:
            if self.format.repeatable is not None:
                values = [None if value is None else self.format.repeatable(value) for value in values]
            digests = self._of_bytes(keys, values, counts)
        if headers:
            ends = [*accumulate(counts)]
            for index, own in headers.items():
                for event in range(ends[index] - counts[index], ends[index]):
                    digests[event] = _with_headers(digests[event], own)
        return np.array(digests, np.uint64).view(np.int64)

    def _of_bytes(
        self, keys: Sequence[bytes | None], values: Sequence[bytes | None], counts: Sequence[int]
    ) -> list[int]:
        if self.format.starts is None:
            messages = zip(keys, values, counts, strict=True)
            return [_digest(event) for message in messages for event in self._events(*message)]
        in_key, in_value = self.format.starts
        own_keys = [_NOTHING if key is None else key[in_key:] for key in keys]
        own_values = [
            _NOTHING if value is None or len(value) < in_value else value[in_value:] for value in values
        ]
        # The same as `_digest_of`, without a call for each message: most messages have one event.
        digests = [
            crc32(value, crc32(key) ^ len(key)) << 32 | adler32(value, adler32(key)) or 1
            for key, value in zip(own_keys, own_values, strict=True)
        ]
        if counts.count(1) == len(counts):
            return digests
        of_events: list[int] = []
        for index, count in enumerate(counts):
            if count == 1:
                of_events.append(digests[index])
            elif count:
                of_events += map(_digest, self._events(keys[index], values[index], count))
        return of_events

    def _events(self, key: bytes | None, value: bytes | None, count: int) -> Sequence[EventBytes]:
        """Return the part of each event; the whole message if it has fewer parts than events."""
        events = self.format.events(key, value) if count else ()
        return events[:count] if len(events) >= count else [(key, value)] * count

    def _of_each(
        self,
        keys: Sequence[bytes | None],
        values: Sequence[bytes | None],
        counts: Sequence[int],
        content: Contents,
    ) -> list[int]:
        digests: list[int] = []
        for index, message in enumerate(zip(keys, values, counts, strict=True)):
            events = self._events(*message)
            if self.canonical:
                digests += [self._of_form(event, index, content) for event in events]
            else:
                digests += [self._with_object(event, index, content) for event in events]
        return digests

    def _of_form(self, event: EventBytes, index: int, content: Contents) -> int:
        try:
            return _digest((None, self.form(event, lambda location: content(index, location))))
        except DecodeError:
            return 0  # the decoder reports it

    def _with_object(self, event: EventBytes, index: int, content: Contents) -> int:
        """Return the digest of the bytes of an event and of its claim-check object."""
        from ticdc_producer.protocols.compression import plain

        digest, member = _digest(event), b'"%b"' % self.format.location.rpartition(".")[2].encode()
        try:
            texts = (plain(part, "value") for part in event if part)
            if all(text.startswith(b"{") and member not in text for text in texts):
                return digest
            location = self._location(self._members(event))
            return _digest((b"%d" % digest, content(index, location))) if location else digest
        except DecodeError:
            return 0

    def eventless(
        self,
        keys: Sequence[bytes | None],
        values: Sequence[bytes | None],
        headers: Mapping[int, Headers] = _NO_HEADERS,
    ) -> list[tuple[int, int]]:
        """Return index and digest of each message without events."""
        is_eventless = self.format.is_eventless
        if is_eventless is None:
            return []
        indexes = [index for index, value in enumerate(values) if value and is_eventless(value)]
        forms = [SORTED_JSON.encode(self._hidden((keys[index], values[index]))) for index in indexes]
        digests = [_digest((None, form)) for form in forms]
        return [
            (index, _with_headers(digest, headers.get(index, ())))
            for index, digest in zip(indexes, digests, strict=True)
        ]

    def form(self, event: EventBytes, content: Callable[[str], bytes], headers: Headers = ()) -> bytes:
        """Return the canonical form of an event, as JSON with sorted members.

        :param content: reads a claim-check object.
        :param headers: of the event's message.
        :raises DecodeError: if the object cannot be read.
        """
        from ticdc_producer.protocols.compression import claimed_message

        members = self._members(event)
        location = self._location(members)
        if location and self.claims:
            stored = self.format.events(*claimed_message(content(location)))
            members["claim"] = [*map(self._hidden, stored)]
        self._hide_values(members)
        if headers:
            members["headers"] = _header_form(headers)
        return SORTED_JSON.encode(members)

    def _hidden(self, event: EventBytes) -> dict[str, Any]:
        members = self._members(event)
        self._hide_values(members)
        return members

    def _members(self, event: EventBytes) -> dict[str, Any]:
        return {name: self._part(part) for name, part in zip(("key", "value"), event, strict=True)}

    def _hide_values(self, members: dict[str, Any]) -> None:
        for path in self.not_compared:
            _hide(members, path.split("."))

    def _part(self, part: bytes | None) -> Any:
        if part is None:
            return None
        try:
            return self.format.form(part)
        except NOT_JSON:
            return {"bytes": part.hex()}

    def _location(self, members: Mapping[str, Any]) -> str:
        value: Any = members
        for name in self.format.location.split("."):
            value = value.get(name) if isinstance(value, Mapping) else None
        return value if isinstance(value, str) else ""


Contents: TypeAlias = Callable[[int, str], bytes]
"""Returns the claim-check object of a message, given by its index, at a location."""


def contents(claims: Mapping[int, Sequence[ClaimObject]]) -> Contents:
    """Return a reader of the claim-check objects that an encoder made.

    :param claims: by index of their message.
    """

    def content(index: int, location: str) -> bytes:
        name = location.rpartition("/")[2]
        for claim in claims.get(index, ()):
            if claim.name == name:
                return claim.content
        raise DecodeError("CLAIM-MISSING", f"an object named {name}", part="claim", byte=0)

    return content


def _digest(event: EventBytes) -> int:
    key, value = event
    return _digest_of(_NOTHING if key is None else key, _NOTHING if value is None else value)


def _digest_of(key: bytes, value: bytes) -> int:
    """Return 64 bits of a key and a value, never 0.

    CRC-32 and Adler-32 of zlib take a third of the time of a cryptographic hash. CRC-32 notices every change
    of up to 32 consecutive bits.
    """
    return crc32(value, crc32(key) ^ len(key)) << 32 | adler32(value, adler32(key)) or 1


def _with_headers(digest: int, headers: Headers) -> int:
    """Return the digest of an event whose message has headers; 0 remains 0."""
    if not digest or not headers:
        return digest
    return _digest((b"%d" % digest, SORTED_JSON.encode(_header_form(headers))))


def _header_form(headers: Headers) -> list[list[object]]:
    """Return names and values of headers, which Kafka keeps in their order.

    >>> _header_form((("a", b"1"), ("a", b"\\xff")))
    [['a', '1'], ['a', {'bytes': 'ff'}]]
    """
    return [[name, _header_value(value)] for name, value in headers]


def _header_value(value: bytes | None) -> object:
    if value is None:
        return None
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"bytes": value.hex()}


def _hide(members: dict[str, Any], path: Sequence[str]) -> None:
    """Replace the value of a member of nested objects by its type, if it is there."""
    *parents, last = path
    value: Any = members
    for name in parents:
        value = value.get(name) if isinstance(value, dict) else None
    if isinstance(value, dict) and last in value:
        value[last] = f"not compared: {type(value[last]).__name__}"
