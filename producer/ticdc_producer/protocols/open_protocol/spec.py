"""The specification of Open Protocol."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from ticdc_producer.model.option_type import Boolean
from ticdc_producer.model.parameter import own_parameter
from ticdc_producer.protocols.base import Decoder, Encoder
from ticdc_producer.protocols.batch_options import OpenOptions
from ticdc_producer.protocols.spans import ByteSpan, ColumnPaths, json_spans
from ticdc_producer.protocols.spec import BenchmarkLine, ConformanceOptions, Options, ProtocolSpec, Signature
from ticdc_producer.protocols.wire import EventBytes, WireFormat

_LENGTH = 8


def _encoder(options: OpenOptions, _: Options) -> Encoder:
    from ticdc_producer.protocols.open_protocol.encoder import OpenEncoder

    return OpenEncoder(options)


def _decoder(options: OpenOptions, _: Options) -> Decoder:
    from ticdc_producer.protocols.compression import decompressed_limit
    from ticdc_producer.protocols.open_protocol.decoder import OpenDecoder

    return OpenDecoder(
        legacy_varchar_base64=options.legacy_varchar_base64,
        max_bytes=decompressed_limit(options.max_message_bytes),
    )


def _matches(key: bytes, _: bytes) -> bool:
    """Check only the key. A key without events could be another protocol's: Maxwell's is a version."""
    from ticdc_producer.protocols.open_protocol.decoder import FrameReader

    blocks = FrameReader("key", key)
    blocks.version()
    first_bytes = []
    while not blocks.at_end:
        first_bytes.append(blocks.next()[:1])
    return set(first_bytes) == {b"{"}


def _events(key: bytes | None, value: bytes | None) -> Sequence[EventBytes]:
    from ticdc_producer.protocols.open_protocol.decoder import event_bytes

    return event_bytes(key or b"", value or b"")


def _log_lines(partition: int, key: bytes, value: bytes) -> list[str]:
    from ticdc_producer.protocols.open_protocol.decoder import log_lines

    return list(log_lines(partition, key, value))


def _minimal(key: bytes, value: bytes) -> list[tuple[object, ...]]:
    events: list[tuple[object, ...]] = []
    at_key, at_value = _LENGTH, 0
    while at_key < len(key):
        key_end = at_key + _LENGTH + int.from_bytes(key[at_key : at_key + _LENGTH], "big")
        value_end = at_value + _LENGTH + int.from_bytes(value[at_value : at_value + _LENGTH], "big")
        head, row = (
            json.loads(key[at_key + _LENGTH : key_end]),
            json.loads(value[at_value + _LENGTH : value_end]),
        )
        new, old = (
            {name: column["v"] for name, column in row.get(image, {}).items()} for image in ("u", "p")
        )
        events.append((head["scm"], head["tbl"], head["ts"], new, old))
        at_key, at_value = key_end, value_end
    return events


_COLUMNS = ColumnPaths({("u",): "after", ("p",): "before", ("d",): "before"}, ("v",))


def _annotate(key: bytes | None, value: bytes | None, _options: Options) -> Iterator[ByteSpan]:
    data = key or b""
    if len(data) >= _LENGTH:
        yield ByteSpan(part="key", start=0, end=_LENGTH, name="version", event=-1)
    for event, (start, _) in enumerate(_frames(data, _LENGTH)):
        yield ByteSpan(
            part="key", start=start - _LENGTH, end=start, name=f"length of event {event}", event=-1
        )
    for event, (start, end) in enumerate(_frames(value or b"", 0)):
        yield ByteSpan(
            part="value", start=start - _LENGTH, end=start, name=f"length of event {event}", event=-1
        )
        yield from json_spans("value", value, _COLUMNS, start=start, end=end, event=event)


def _frames(data: bytes, position: int) -> Iterator[tuple[int, int]]:
    """Yield first byte and end of each block, up to one that is truncated."""
    while (start := position + _LENGTH) <= len(data):
        position = start + int.from_bytes(data[start - _LENGTH : start], "big")
        if position > len(data):
            return
        yield start, position


SPEC = ProtocolSpec(
    name="open-protocol",
    title="Open Protocol",
    aliases=("default",),
    options=OpenOptions,
    encoder=_encoder,
    decoder=_decoder,
    section="open",
    parameters=(
        own_parameter("output-row-id", Boolean(), True, "Whether keys carry rid, as classic writes it."),
        own_parameter("legacy-no-flag", Boolean(), False, "Older format: columns without f."),
        own_parameter("legacy-varchar-base64", Boolean(), False, "Older format: VARCHAR and CHAR in Base64."),
    ),
    combines_rows=True,
    has_extension=False,
    signature=Signature(
        matches=_matches, description="a key of version 1 and JSON objects, each after its length"
    ),
    log_lines=_log_lines,
    benchmark=(BenchmarkLine(options={"max_batch_size": 16}, minimal=_minimal),),
    conformance=ConformanceOptions(
        histories={},
        variants=(
            {"only-output-updated-columns": True},
            {"output-old-value": False},
            {"delete-only-output-handle-key-columns": True},
            {"max-batch-size": 2},
        ),
    ),
    wire=WireFormat(location="key.ccl", events=_events, starts=(2 * _LENGTH, _LENGTH)),
    annotate=_annotate,
)
