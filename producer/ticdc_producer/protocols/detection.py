"""Which protocol a message is of, told from its bytes.

Only what holds a message together is looked at: a message that is damaged inside is still one of its
protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from ticdc_producer.errors import DecodeError
from ticdc_producer.protocols.canal_json.envelope import opened as opened_object
from ticdc_producer.protocols.compression import Decompressor, plain
from ticdc_producer.protocols.craft.envelope import opened
from ticdc_producer.protocols.debezium.message_json import parse_value
from ticdc_producer.protocols.open_protocol.frame_reader import Blocks
from ticdc_producer.protocols.simple.envelope import opened as simple_object
from ticdc_producer.protocols.simple.event_type import is_message_type

_Look: TypeAlias = Callable[[bytes, bytes], bool]
"""Whether key and value are of the protocol; a decode error says no as well."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What gives a protocol away.

    :param words: what a message of it has, for those who hold one that has not.
    """

    look: _Look
    words: str


def _open(key: bytes, _: bytes) -> bool:
    """The key alone: in a message without events it could be another protocol's (Maxwell's is a version)."""
    blocks = Blocks("key", key)
    blocks.version()
    heads = []
    while not blocks.at_end:
        heads.append(blocks.next()[:1])
    return set(heads) == {b"{"}


def _craft(key: bytes, value: bytes) -> bool:
    return not key and bool(opened(value).headers)


def _canal_json(_: bytes, value: bytes) -> bool:
    return opened_object(plain(value, "value")) is not None


def _debezium(_: bytes, value: bytes) -> bool:
    payload = parse_value(Decompressor().text(value, "value")).payload
    return payload.op is not None or payload.ddl is not None


def _simple(_: bytes, value: bytes) -> bool:
    return is_message_type(simple_object(plain(value, "value")).type)


EVIDENCE: Mapping[str, Evidence] = MappingProxyType({
    "open-protocol": Evidence(_open, "a key of version 1 and JSON objects, each after its length"),
    "craft": Evidence(_craft, "no key, version 1, and at the end sizes that add up"),
    "canal-json": Evidence(_canal_json, "JSON with database, table, isDdl, type and es"),
    "debezium": Evidence(_debezium, "JSON with a source that has a commit_ts, beside op or ddl"),
    "simple": Evidence(_simple, "JSON with version, type and commitTs, and a type of the protocol"),
})  # fmt: skip
"""By protocol. No message can be of two of them."""


def recognised(key: bytes | None, value: bytes | None) -> str | None:
    """The protocol of a message, None where its bytes do not tell."""
    return next((name for name in EVIDENCE if _shows(EVIDENCE[name], key or b"", value or b"")), None)


def _shows(evidence: Evidence, key: bytes, value: bytes) -> bool:
    try:
        return evidence.look(key, value)
    except DecodeError:
        return False
