"""The specification of Maxwell."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from ticdc_producer.protocols.base import Decoder, Encoder
from ticdc_producer.protocols.batch_options import MAX_ROWS, WorkerOptions
from ticdc_producer.protocols.spans import ByteSpan, ColumnPaths, json_spans
from ticdc_producer.protocols.spec import BenchmarkLine, ConformanceOptions, Options, ProtocolSpec, Signature
from ticdc_producer.protocols.wire import EventBytes, WireFormat


def _encoder(options: WorkerOptions, _: Options) -> Encoder:
    from ticdc_producer.protocols.maxwell.encoder import MaxwellEncoder

    return MaxwellEncoder(options)


def _decoder(_options: WorkerOptions, _: Options) -> Decoder:
    from ticdc_producer.protocols.maxwell.decoder import MaxwellDecoder

    return MaxwellDecoder()


def _events(key: bytes | None, value: bytes | None) -> Sequence[EventBytes]:
    from ticdc_producer.protocols.maxwell.decoder import event_bytes

    return event_bytes(key, value)


def _matches(key: bytes, value: bytes) -> bool:
    from ticdc_producer.protocols.maxwell.decoder import is_message

    return is_message(key, value)


def _minimal(_key: bytes, value: bytes) -> list[tuple[object, ...]]:
    text, at, parser = value.decode(), 0, json.JSONDecoder()
    rows: list[tuple[object, ...]] = []
    while at < len(text):
        row, at = parser.raw_decode(text, at)
        rows.append((row["database"], row["table"], row["type"], row["ts"], row.get("data"), row.get("old")))
    return rows


def _annotate(_key: bytes | None, value: bytes | None, _options: Options) -> Iterator[ByteSpan]:
    yield from json_spans("value", value, ColumnPaths({("data",): "after", ("old",): "before"}))


SPEC = ProtocolSpec(
    name="maxwell",
    title="Maxwell",
    options=WorkerOptions,
    encoder=_encoder,
    decoder=_decoder,
    profiles=("classic",),
    combines_rows=True,
    max_rows=MAX_ROWS,
    has_extension=False,
    signature=Signature(
        matches=_matches,
        description="the key of version 1 without more, or of a DDL; JSON with database, table, type and ts",
    ),
    benchmark=(BenchmarkLine(minimal=_minimal),),
    # Its rows do not name their key, without which no consumer can apply random histories. It sends no DDL of
    # databases, and half of two rows of equal length is one row.
    conformance=ConformanceOptions(
        left_out=frozenset(
            {"types.vector-null", "ddl.create-database", "ddl.drop-database", "damaged.batch-half-lost"}
        )
    ),
    wire=WireFormat(events=_events, starts=None),
    annotate=_annotate,
)
