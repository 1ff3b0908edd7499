"""Options for messages that are too large, common to several protocols, and claim-check objects.

Source: tiflow ``pkg/sink/kafka/claimcheck/claim_check.go``, ``pkg/sink/codec/common/message.go``
(``ClaimCheckMessage``).
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from typing import Literal, TypeAlias, get_args
from uuid import UUID

import msgspec

from ticdc_producer.errors import ChangefeedError, DecodeError
from ticdc_producer.hints import nearest
from ticdc_producer.model.event import ClaimObject

DEFAULT_MAX_MESSAGE_BYTES = 10 << 20

LargeMessageHandle: TypeAlias = Literal["none", "handle-key-only", "claim-check"]


def check_large_message_handle(option: str) -> None:
    """Check the value of ``large-message-handle-option``.

    :raises ChangefeedError: for an unknown value; the hint names the nearest known one.
    """
    if option not in get_args(LargeMessageHandle):
        raise ChangefeedError(
            f"unknown large-message-handle-option {option!r}",
            parameter="large-message-handle-option",
            hint=nearest(option, get_args(LargeMessageHandle)),
        )


def claim_name(content: bytes) -> str:
    """Return the file name of an object: a UUID like TiCDC's, but derived from the content instead of random.

    The same scenario therefore gives the same messages, and an event that is sent twice has one object.
    """
    return f"{UUID(bytes=sha256(content).digest()[:16], version=4)}.json"


def claim_content(key: bytes | None, value: bytes, *, raw_value: bool) -> bytes:
    """Return the content of a message's object: Go's JSON of both byte slices, or the bare value."""
    if raw_value:
        return value
    return b'{"key":%b,"value":%b}' % (_base64(key), _base64(value))


def _base64(data: bytes | None) -> bytes:
    return b"null" if data is None else b'"%b"' % b64encode(data)


def claim_location(storage_uri: str, claim: ClaimObject) -> str:
    """Return the location of an object, as the message contains it."""
    return f"{storage_uri.removesuffix('/')}/{claim.name}"


class _WrappedJSON(msgspec.Struct, forbid_unknown_fields=True):
    key: bytes | None
    value: bytes


_WRAPPED = msgspec.json.Decoder(_WrappedJSON)


def claimed_message(content: bytes) -> tuple[bytes | None, bytes]:
    """Return the key and value of the message in an object; a raw value has no key.

    :raises DecodeError: if the object is empty.
    """
    if not content:
        raise DecodeError("CLAIM-EMPTY", "a message in the claim-check object", part="value", byte=0)
    try:
        wrapped = _WRAPPED.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None, content  # a raw value, or a damaged one, which the protocol's decoder refuses
    return wrapped.key, wrapped.value
