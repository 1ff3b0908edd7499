"""How the bytes of a protocol's messages are compared: their events, and the canonical form of these.

A decoder keeps what a consumer needs of an event. Two messages that decode to equal events may still differ
in every other member. The canonical form ignores what means nothing: the order of members, white space,
escapes, compression, and the members that a protocol excludes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, TypeAlias

import msgspec

from ticdc_producer.errors import DecodeError

EventBytes: TypeAlias = tuple[bytes | None, bytes | None]
"""The part of a key and of a value that belongs to one event."""
NOT_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, DecodeError)
"""The errors of a text that is not JSON."""


def json_form(text: bytes) -> object:
    """Return the value of a JSON text that may be compressed, and may contain bytes that are not UTF-8.

    Numbers keep their text: 1, 1.0 and 1.00 differ. The values of a member that occurs several times are an
    object with the member ``repeated``.

    >>> json_form(b'{"a": 1.00, "b": 1, "b": 2}')
    {'a': Decimal('1.00'), 'b': {'repeated': [1, 2]}}

    :raises DecodeError: if it is not JSON.
    """
    from ticdc_producer.protocols.bytes_in_json import escape
    from ticdc_producer.protocols.compression import plain

    text, _ = escape("value", plain(text, "value"), "WIRE")
    value: object = _PARSER.decode(text)
    # Only a text that its own serializer would write differently can have repeated members.
    return value if len(_PLAIN.encode(value)) == len(text) else _with_repeated_members(text)


def sorted_json(text: bytes) -> bytes:
    """Return JSON with sorted members; a text that is not JSON is returned as it is."""
    try:
        return SORTED_JSON.encode(json_form(text))
    except NOT_JSON:
        return text


_PARSER = msgspec.json.Decoder(float_hook=Decimal)
_PLAIN = msgspec.json.Encoder(decimal_format="number")
SORTED_JSON = msgspec.json.Encoder(decimal_format="number", order="sorted")
"""Writes canonical forms: equal values give equal bytes."""


def _with_repeated_members(text: bytes) -> Any:
    import json

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        values: dict[str, list[Any]] = {}
        for name, value in pairs:
            values.setdefault(name, []).append(value)
        return {name: {"repeated": of} if len(of) > 1 else of[0] for name, of in values.items()}

    return json.loads(text, parse_float=Decimal, object_pairs_hook=members)


_DIGITS = b"0123456789"


def without_number(member: bytes, text: bytes) -> bytes:
    """Return a JSON object without the number of a member.

    Objects with equal results differ in this number alone: what precedes it is a part of the result.

    >>> without_number(b',"ts":', b'{"id":0,"ts":17,"data":[{"ts":"1"}]}')
    b'{"id":0,"ts":,"data":[{"ts":"1"}]}'

    :param member: its name with the characters around it, as the encoder writes it. In the encoder's messages
        no other member precedes it that is written so.
    """
    if not text.startswith(b"{"):  # compressed, or in another encoding
        return text
    before, name, after = text.partition(member)
    return b"".join((before, name, after.lstrip(_DIGITS)))


def _whole(key: bytes | None, value: bytes | None) -> Sequence[EventBytes]:
    return ((key, value),)


@dataclass(frozen=True, slots=True, kw_only=True)
class WireFormat:
    """The rules by which the bytes of a protocol are compared.

    A path names a member from ``key`` or ``value`` on, with a dot between the names.

    :param excluded: path of each member whose value is not compared, with the reason. Whether there is such
        a member, and the type of its value, is compared.
    :param excluded_with: by option the further paths that are excluded if it is on.
    :param location: path of the location of a claim-check object, which is excluded, too. The object is
        compared, if it can be read.
    :param events: divides a message into its events. Its result does not depend on how events share messages.
    :param starts: where the event of a message with one event starts in its key and in its value; None: only
        ``events`` finds it.
    :param form: returns the content of an event's part of a key or value: values of JSON.
    :param form_of: makes ``form`` from the options and inputs of the codec, for parts that the bytes alone do
        not describe.
    :param by_form: whether equal events may have other bytes in each topic: the digests are then always those
        of the canonical form.
    :param repeatable: returns a value without the bytes that TiCDC writes differently each time. Values with
        equal results have equal canonical forms.
    :param repeatable_with: by option the function that replaces ``repeatable`` if it is on.
    :param is_eventless: whether a message value is one without events, such as the description of a table;
        None: the protocol has none.
    """

    excluded: Mapping[str, str] = field(default_factory=dict)
    excluded_with: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    location: str = ""
    events: Callable[[bytes | None, bytes | None], Sequence[EventBytes]] = _whole
    starts: tuple[int, int] | None = (0, 0)
    form: Callable[[bytes], object] = json_form
    form_of: Callable[[Mapping[str, object]], Callable[[bytes], object]] | None = None
    by_form: bool = False
    repeatable: Callable[[bytes], bytes] | None = None
    repeatable_with: Mapping[str, Callable[[bytes], bytes]] = field(default_factory=dict)
    is_eventless: Callable[[bytes], bool] | None = None

    def not_compared(self, *, claims: bool) -> dict[str, str]:
        """Return the paths of the members whose values are not compared, with the reasons.

        :param claims: whether messages refer to claim-check objects.
        """
        location = {self.location: _LOCATION_REASON} if claims and self.location else {}
        return {**self.excluded, **location}


def row_of_file(end: bytes, _key: bytes | None, value: bytes | None) -> Sequence[EventBytes]:
    """Return the event of a row of a file, whose key is its directory.

    >>> row_of_file(b"\\n", b"d/t/1", b"{}\\n") == row_of_file(b"\\n", None, b"{}")
    True

    :param end: the terminator, which a row that was read does not have. Rows end with a brace: if the
        terminator also does, only a row that is not JSON has the terminator.
    """
    if value is None or (end.endswith(b"}") and _is_json(value)):
        return ((None, value),)
    return ((None, value.removesuffix(end)),)


def _is_json(value: bytes) -> bool:
    try:
        json.loads(value)
    except (ValueError, RecursionError):
        return False
    return True


_LOCATION_REASON = "the name of a claim-check object is random; its content is compared"
