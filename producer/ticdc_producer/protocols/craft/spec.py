"""The specification of Craft."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ticdc_producer.protocols.base import Decoder, Encoder
from ticdc_producer.protocols.batch_options import CraftOptions
from ticdc_producer.protocols.spans import ByteSpan
from ticdc_producer.protocols.spec import BenchmarkLine, ConformanceOptions, Options, ProtocolSpec, Signature
from ticdc_producer.protocols.wire import EventBytes, WireFormat


def _encoder(options: CraftOptions, _: Options) -> Encoder:
    from ticdc_producer.protocols.craft.encoder import CraftEncoder

    return CraftEncoder(options)


def _decoder(_options: CraftOptions, _: Options) -> Decoder:
    from ticdc_producer.protocols.craft.decoder import CraftDecoder

    return CraftDecoder()


def _events(key: bytes | None, value: bytes | None) -> Sequence[EventBytes]:
    from ticdc_producer.protocols.craft.decoder import event_texts

    return event_texts(key, value)


def _matches(key: bytes, value: bytes) -> bool:
    from ticdc_producer.protocols.craft.decoder import parse_envelope

    return not key and bool(parse_envelope(value).headers)


def _annotate(key: bytes | None, value: bytes | None, _options: Options) -> Iterator[ByteSpan]:
    from ticdc_producer.protocols.craft.spans import craft_spans

    yield from craft_spans(key, value)


SPEC = ProtocolSpec(
    name="craft",
    title="Craft",
    options=CraftOptions,
    encoder=_encoder,
    decoder=_decoder,
    profiles=("classic",),
    combines_rows=True,
    limits_batches=False,  # tiflow pkg/sink/codec/craft/craft_encoder.go (AppendRowChangedEvent)
    has_extension=False,
    signature=Signature(matches=_matches, description="no key, version 1, and at the end sizes that add up"),
    benchmark=(BenchmarkLine(options={"max_batch_size": 16}),),
    conformance=ConformanceOptions(
        histories={}, variants=({"delete-only-output-handle-key-columns": True}, {"max-batch-size": 2})
    ),
    wire=WireFormat(events=_events, starts=None),
    annotate=_annotate,
)
