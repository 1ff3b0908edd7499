"""Compressed keys and values: detected from their bytes, and limited in size."""

from __future__ import annotations

import json
import tracemalloc

import lz4.frame
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.event import Kind
from ticdc_producer.protocols import registry
from ticdc_producer.protocols.base import Decoder
from ticdc_producer.protocols.canal_json.decoder import CanalJSONDecoder
from ticdc_producer.protocols.compression import (
    COMPRESSORS,
    Decompressor,
    claim_name,
    claimed_message,
    compressed,
    decompressed_limit,
)
from ticdc_producer.protocols.debezium.decoder import DebeziumDecoder
from ticdc_producer.protocols.open_protocol.decoder import OpenDecoder
from ticdc_producer.protocols.open_protocol.encoder import framed

SMALL = 1 << 16
JSON = st.dictionaries(st.text(), st.recursive(st.text() | st.integers(), st.lists, max_leaves=4), max_size=4)


@given(JSON, st.sampled_from(["none", *COMPRESSORS]), st.booleans())
def test_any_object_survives_the_round_trip(
    content: dict[str, object], method: str, ascii_only: bool
) -> None:
    text = json.dumps(content, ensure_ascii=ascii_only, separators=(",", ":")).encode()
    assert Decompressor().text(compressed(text, method), "value") == text


@pytest.mark.parametrize("length", [8, 32, 60, 61, 62, 122, 123, 124, 127, 128, 1 << 14, 1 << 20])
@pytest.mark.parametrize("method", ["none", *COMPRESSORS])
def test_objects_of_every_length_survive_the_round_trip(length: int, method: str) -> None:
    text = b'{"a":"' + b"x" * (length - 8) + b'"}'
    assert Decompressor().text(compressed(text, method), "value") == text


@pytest.mark.parametrize("text", [b"{ }", b'{ "a":1}', b"{\n}", b"{}", b"[]", b"", b"{", b"\x80", b"null"])
def test_data_that_is_not_compressed_is_unchanged(text: bytes) -> None:
    assert Decompressor().text(text, "value") == text


def _snappy_bomb(length: int) -> bytes:
    """A block that declares a length, starts like an object and then ends."""
    varint = bytearray()
    while length > 0x7F:
        varint.append(length & 0x7F | 0x80)
        length >>= 7
    return bytes([*varint, length, 0]) + b"{"


BOMBS = {
    "snappy that declares 4 GiB": ("COMPRESSION-SIZE", _snappy_bomb((1 << 32) - 1)),
    "snappy that holds too much": ("COMPRESSION-SIZE", compressed(b"{" + b" " * SMALL, "snappy")),
    "lz4 that holds too much": ("COMPRESSION-SIZE", compressed(b"{" + b" " * (64 << 20), "lz4")),
    "lz4 that is cut short": ("COMPRESSION-LZ4", compressed(b"{" + b" " * 99, "lz4")[:-9]),
}


def test_a_snappy_block_cannot_declare_more_than_its_bytes_can_yield() -> None:
    """It is refused before its text is allocated; the densest block that exists is accepted."""
    bomb = _snappy_bomb(100 << 20)
    with pytest.raises(DecodeError, match=f"declares at most {len(bomb) * 64 // 3} bytes"):
        Decompressor().text(bomb, "value")
    dense = b'{"a":"' + b"x" * (8 << 20) + b'"}'
    assert Decompressor().text(compressed(dense, "snappy"), "value") == dense


@pytest.mark.parametrize(("code", "bomb"), BOMBS.values(), ids=BOMBS)
def test_a_bomb_costs_no_more_than_the_limit(code: str, bomb: bytes) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(DecodeError) as refusal:
            Decompressor(SMALL).text(bomb, "value", 7)
        assert tracemalloc.get_traced_memory()[1] < 8 * SMALL + len(bomb)
    finally:
        tracemalloc.stop()
    assert (refusal.value.code, refusal.value.part, refusal.value.byte) == (code, "value", 7)


def test_a_declared_size_is_compared_before_the_text_is_allocated() -> None:
    """Also of a frame that is cut off after its head, and has no such text."""
    bomb = lz4.frame.compress(b"{" + b" " * SMALL, store_size=True)[:20]
    with pytest.raises(DecodeError, match="COMPRESSION-SIZE"):
        Decompressor(SMALL).text(bomb, "value")


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("canal-json", "simple", "debezium")]
PROTOCOLS = ["open-protocol", *SLOW]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("method", COMPRESSORS)
def test_the_limit_of_a_message_follows_from_max_message_bytes(protocol: str, method: str) -> None:
    """Debezium has no maximum size of messages, and therefore the limit of the default."""
    options = {} if protocol == "debezium" else {"max_message_bytes": 2 << 20}
    limit = decompressed_limit(**options)
    codes = []
    for size in (limit, limit + 1):
        text = b'{"a":"' + bytes(size - 8).replace(b"\0", b"x") + b'"}'
        message = framed(b'{"ts":1,"scm":"a","tbl":"b","t":1}', compressed(text, method), Kind.ROW, 1)
        key, value = (message.key, message.value) if protocol == "open-protocol" else (None, None)
        with pytest.raises(DecodeError) as refusal:
            list(registry.decoder(protocol, options).events(key, value or compressed(text, method)))
        codes.append(refusal.value.code)
    assert codes[1] == "COMPRESSION-SIZE"
    assert codes[0] != "COMPRESSION-SIZE", "a text of the limit is parsed, and is no event"


def test_the_parts_of_a_message_share_the_limit() -> None:
    decompressor, part = Decompressor(100), compressed(b"{" + b" " * 59, "snappy")
    decompressor.text(part, "key")
    with pytest.raises(DecodeError, match="COMPRESSION-SIZE at value byte 0"):
        decompressor.text(part, "value")


@pytest.mark.parametrize("method", COMPRESSORS)
@pytest.mark.parametrize("decoder", [OpenDecoder(), CanalJSONDecoder(), DebeziumDecoder()], ids=type)
def test_damage_is_a_decode_error(decoder: Decoder, method: str) -> None:
    value = compressed(b'{"q":"DROP TABLE `some_table_of_a_name`","t":4}', method)
    for cut in range(len(value)):
        damaged = [value[:cut], value[:cut] + bytes([value[cut] ^ 0x41]) + value[cut + 1 :]]
        for each in damaged:
            message = framed(b'{"ts":1,"t":2}', each, Kind.DDL, 1)
            key = message.key if isinstance(decoder, OpenDecoder) else None
            try:
                list(decoder.events(key, message.value if key else each))
            except DecodeError:
                continue
            assert isinstance(decoder, OpenDecoder)
            assert method == "snappy"  # which has no checksum


@pytest.mark.parametrize("method", COMPRESSORS)
def test_bytes_after_the_compressed_data_are_an_error(method: str) -> None:
    with pytest.raises(DecodeError, match="COMPRESSION"):
        Decompressor().text(compressed(b'{"a":1}', method) + b"{}", "value")


def test_a_claim_is_named_after_its_content() -> None:
    name = claim_name(b"content")
    assert name == claim_name(b"content") != claim_name(b"content ")
    assert name == "ed7002b4-39e9-4c84-9f22-357d822bac14.json"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"key":null,"value":"e30="}', (None, b"{}")),
        (b'{"key":"AQ==","value":"e30="}', (b"\x01", b"{}")),
        (b'{"id":0,"key":1}', (None, b'{"id":0,"key":1}')),
        (b'{"key":null,"value":"e30', (None, b'{"key":null,"value":"e30')),
        (b"\xff\xfe", (None, b"\xff\xfe")),
    ],
)
def test_an_object_is_wrapped_or_raw(content: bytes, message: tuple[bytes | None, bytes]) -> None:
    assert claimed_message(content) == message
