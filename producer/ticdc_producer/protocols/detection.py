"""Detects the protocol of a message from its bytes.

Only the outer structure of a message is checked: a message with damaged content still belongs to its
protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from ticdc_producer.errors import DecodeError
from ticdc_producer.protocols.canal_json.envelope import parse_envelope as parse_canal_json
from ticdc_producer.protocols.compression import Decompressor, plain
from ticdc_producer.protocols.craft.envelope import parse_envelope as parse_craft
from ticdc_producer.protocols.debezium.message_json import parse_value
from ticdc_producer.protocols.open_protocol.frame_reader import FrameReader
from ticdc_producer.protocols.simple.envelope import parse_envelope as parse_simple
from ticdc_producer.protocols.simple.event_type import is_message_type

_Matcher: TypeAlias = Callable[[bytes, bytes], bool]
"""Whether key and value are a message of the protocol; a decode error means no."""


@dataclass(frozen=True, slots=True)
class Signature:
    """How messages of a protocol are recognized.

    :param description: what every message of the protocol has, for error messages.
    """

    matches: _Matcher
    description: str


def _open(key: bytes, _: bytes) -> bool:
    """Check only the key. A key without events could be another protocol's: Maxwell's is a version."""
    blocks = FrameReader("key", key)
    blocks.version()
    first_bytes = []
    while not blocks.at_end:
        first_bytes.append(blocks.next()[:1])
    return set(first_bytes) == {b"{"}


def _craft(key: bytes, value: bytes) -> bool:
    return not key and bool(parse_craft(value).headers)


def _canal_json(_: bytes, value: bytes) -> bool:
    return parse_canal_json(plain(value, "value")) is not None


def _debezium(_: bytes, value: bytes) -> bool:
    payload = parse_value(Decompressor().text(value, "value")).payload
    return payload.op is not None or payload.ddl is not None


def _simple(_: bytes, value: bytes) -> bool:
    return is_message_type(parse_simple(plain(value, "value")).type)


SIGNATURES: Mapping[str, Signature] = MappingProxyType({
    "open-protocol": Signature(_open, "a key of version 1 and JSON objects, each after its length"),
    "craft": Signature(_craft, "no key, version 1, and at the end sizes that add up"),
    "canal-json": Signature(_canal_json, "JSON with database, table, isDdl, type and es"),
    "debezium": Signature(_debezium, "JSON with a source that has a commit_ts, beside op or ddl"),
    "simple": Signature(_simple, "JSON with version, type and commitTs, and a type of the protocol"),
})  # fmt: skip
"""By protocol. No message matches two of them."""


def detect_protocol(key: bytes | None, value: bytes | None) -> str | None:
    """The protocol of a message; None if no signature matches its bytes."""
    return next((name for name in SIGNATURES if _matches(SIGNATURES[name], key or b"", value or b"")), None)


def _matches(signature: Signature, key: bytes, value: bytes) -> bool:
    try:
        return signature.matches(key, value)
    except DecodeError:
        return False
