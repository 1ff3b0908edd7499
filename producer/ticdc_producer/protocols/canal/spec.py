"""The specification of Canal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ticdc_producer.protocols.base import Decoder, Encoder
from ticdc_producer.protocols.batch_options import MAX_ROWS, WorkerOptions
from ticdc_producer.protocols.spans import ByteSpan
from ticdc_producer.protocols.spec import BenchmarkLine, ConformanceOptions, Options, ProtocolSpec, Signature
from ticdc_producer.protocols.wire import EventBytes, WireFormat


def _encoder(options: WorkerOptions, _: Options) -> Encoder:
    from ticdc_producer.protocols.canal.encoder import CanalEncoder

    return CanalEncoder(options)


def _decoder(_options: WorkerOptions, _: Options) -> Decoder:
    from ticdc_producer.protocols.canal.decoder import CanalDecoder

    return CanalDecoder()


def _events(key: bytes | None, value: bytes | None) -> Sequence[EventBytes]:
    from ticdc_producer.protocols.canal.decoder import event_bytes

    return event_bytes(key, value)


def _form(entry: bytes) -> object:
    from ticdc_producer.protocols.canal.wire import wire_form

    return wire_form(entry)


def _annotate(key: bytes | None, value: bytes | None, _options: Options) -> Iterator[ByteSpan]:
    from ticdc_producer.protocols.canal.spans import canal_spans

    yield from canal_spans(key, value)


def _matches(key: bytes, value: bytes) -> bool:
    from ticdc_producer.protocols.canal.decoder import entries, entry_header

    first = next(entries(value), None)
    return not key and first is not None and bool(entry_header(value, first))


SPEC = ProtocolSpec(
    name="canal",
    title="Canal",
    options=WorkerOptions,
    encoder=_encoder,
    decoder=_decoder,
    profiles=("classic",),
    ddl_partitions="first",
    combines_rows=True,
    max_rows=MAX_ROWS,
    has_extension=False,
    signature=Signature(
        matches=_matches, description="no key, and a packet of version 1 with messages, which are entries"
    ),
    benchmark=(BenchmarkLine(),),
    conformance=ConformanceOptions(histories={}, variants=({"delete-only-output-handle-key-columns": True},)),
    wire=WireFormat(events=_events, starts=None, form=_form),
    annotate=_annotate,
)
