"""Detection of the protocol: correct for every golden message, and None for everything else."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.golden_events import GOLDEN
from tests.protocols.golden_messages import Compared, load_messages
from ticdc_producer.protocols.registry import decoder, detect_protocol, signatures

PROTOCOLS = {
    "open": "open-protocol",
    "craft": "craft",
    "canal-json": "canal-json",
    "debezium": "debezium",
    "simple": "simple",
    "maxwell": "maxwell",
    "canal": "canal",
}


def _files(variant: str) -> list[Path]:
    """All message files of a protocol in Kafka, except Avro, which cannot be detected from a message."""
    paths = [path for form in (variant, f"new-{variant}") for path in GOLDEN.glob(f"*/*.{form}.*jsonl")]
    return [
        path for path in paths if not path.name.endswith((".claims.jsonl", ".avro.jsonl", ".storage.jsonl"))
    ]


@pytest.mark.parametrize("variant", PROTOCOLS)
def test_every_golden_message_is_detected(variant: str, compared: Compared) -> None:
    messages = [message for path in _files(variant) for message in load_messages(path) if not message.error]
    detected = [detect_protocol(message.key, message.value) for message in messages]
    assert detected == [PROTOCOLS[variant]] * len(messages)
    assert len(messages) > 300
    compared(f"{PROTOCOLS[variant]}, recognised", len(messages))


def test_every_detected_protocol_has_a_decoder() -> None:
    protocols = {name for name, _ in signatures()}
    assert protocols == set(PROTOCOLS.values())
    for protocol in protocols:
        assert decoder(protocol, {})


@settings(max_examples=5 * settings().max_examples)
@given(st.none() | st.binary(max_size=60), st.none() | st.binary(max_size=80))
def test_arbitrary_bytes_match_no_protocol(key: bytes | None, value: bytes | None) -> None:
    assert detect_protocol(key, value) is None
    assert detect_protocol(None, b"\x01" + (value or b"")) is None


_LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=6)
_NAMES = st.sampled_from(["payload", "schema", "source", "op", "isDdl", "type", "es", "database", "data"])
_JSON = st.recursive(
    _LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=6)
)


@settings(max_examples=2 * settings().max_examples)
@given(st.none() | _JSON, _JSON)
def test_other_json_matches_no_protocol(key: object, value: object) -> None:
    text = json.dumps(value).encode()
    assert detect_protocol(None if key is None else json.dumps(key).encode(), text) is None


OTHERS = {
    "Maxwell of MySQL": (b"{}", b'{"database":"s","table":"t","type":"insert","ts":1}'),
    "CSV": (None, b'"I","t","s",429918007904436226,1,"a"\r\n'),
    "Avro": (b"\x00\x00\x00\x00\x01\x02", b"\x00\x00\x00\x00\x02\x02\x02a"),
    "Canal with a damaged entry": (None, b"\x10\x01\x18\x07*\x0b\x01\x12\x08\n\x06*\x05UTF-8"),
    "Debezium of MySQL": (b'{"payload":{"id":1}}', b'{"payload":{"after":{},"op":"c","source":{"pos":4}}}'),
    "a tombstone": (b'{"payload":{"id":1}}', None),
    "nothing": (None, None),
    "Open Protocol of version 2": (struct.pack(">QQ", 2, 2) + b"{}", bytes(8)),
    "deep JSON": (b"[" * 10_000, b"[" * 100_000),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_messages_of_other_protocols_match_none(name: str) -> None:
    assert detect_protocol(*OTHERS[name]) is None
