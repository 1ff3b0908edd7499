"""Detects the protocol of a message from its bytes.

Only the outer structure of a message is checked: a message with damaged content still belongs to its
protocol. No message matches two of the built-in protocols.
"""

from __future__ import annotations

from collections.abc import Iterator

from ticdc_producer.errors import DecodeError
from ticdc_producer.protocols.registry import protocol_specs
from ticdc_producer.protocols.spec import Signature


def signatures() -> Iterator[tuple[str, Signature]]:
    """Protocols that can be detected, and how."""
    for spec in protocol_specs():
        if spec.signature is not None:
            yield spec.name, spec.signature


def detect_protocol(key: bytes | None, value: bytes | None) -> str | None:
    """The protocol of a message; None if no signature matches its bytes."""
    found = (name for name, signature in signatures() if _matches(signature, key or b"", value or b""))
    return next(found, None)


def _matches(signature: Signature, key: bytes, value: bytes) -> bool:
    try:
        return signature.matches(key, value)
    except DecodeError:
        return False
