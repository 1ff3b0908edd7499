"""Claim-check objects: a row too large for Kafka, kept in a storage, and how a message names it.

Source: tiflow ``pkg/sink/kafka/claimcheck/claim_check.go``, ``pkg/sink/codec/common/message.go``
(``ClaimCheckMessage``).
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from uuid import UUID

import msgspec

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.event import ClaimObject


def claim_name(content: bytes) -> str:
    """The file name of an object: a UUID as TiCDC's, made of the content instead of at random.

    So the same scenario gives the same messages, and an event that is sent twice has one object.
    """
    return f"{UUID(bytes=sha256(content).digest()[:16], version=4)}.json"


def claim_content(key: bytes | None, value: bytes, *, raw_value: bool) -> bytes:
    """What is stored of a message: Go's JSON of both byte slices, or the bare value."""
    if raw_value:
        return value
    return b'{"key":%b,"value":%b}' % (_base64(key), _base64(value))


def _base64(data: bytes | None) -> bytes:
    return b"null" if data is None else b'"%b"' % b64encode(data)


def claim_location(storage_uri: str, claim: ClaimObject) -> str:
    """What a message says of where the object is."""
    return f"{storage_uri.removesuffix('/')}/{claim.name}"


class _WrappedJSON(msgspec.Struct, forbid_unknown_fields=True):
    key: bytes | None
    value: bytes


_WRAPPED = msgspec.json.Decoder(_WrappedJSON)


def claimed_message(content: bytes) -> tuple[bytes | None, bytes]:
    """Key and value of the message that an object stands for; of a raw value there is no key.

    :raises DecodeError: if there is nothing in it.
    """
    if not content:
        raise DecodeError("CLAIM-EMPTY", "a message in the claim-check object", part="value", byte=0)
    try:
        wrapped = _WRAPPED.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None, content  # a raw value, or damaged: the decoder of the protocol will tell
    return wrapped.key, wrapped.value
