"""The specification of Canal-JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache

from ticdc_producer.model.option_type import Boolean
from ticdc_producer.model.parameter import Parameter, SinkKind, own_parameter
from ticdc_producer.protocols.base import BatchDecoder, Decoder, Encoder
from ticdc_producer.protocols.row_options import CanalJSONOptions
from ticdc_producer.protocols.spans import ByteSpan, ColumnPaths, ImageName, Path, json_spans, scalar_at
from ticdc_producer.protocols.spec import (
    BenchmarkLine,
    ConformanceOptions,
    FileFormat,
    Options,
    ProtocolSpec,
    Signature,
)
from ticdc_producer.protocols.wire import WireFormat, sorted_json, without_number


def _encoder(options: CanalJSONOptions, _: Options) -> Encoder:
    from ticdc_producer.protocols.canal_json.encoder import CanalJSONEncoder

    return CanalJSONEncoder(options)


def _decoder(options: CanalJSONOptions, _: Options) -> Decoder:
    from ticdc_producer.protocols.canal_json.decoder import CanalJSONDecoder
    from ticdc_producer.protocols.compression import decompressed_limit

    limit = decompressed_limit(options.max_message_bytes)
    return CanalJSONDecoder(limit, extended=options.enable_tidb_extension)


def _batch_decoder(options: CanalJSONOptions, _: Options) -> BatchDecoder:
    from ticdc_producer.protocols.canal_json.batch_decoder import CanalJSONBatchDecoder
    from ticdc_producer.protocols.compression import decompressed_limit

    limit = decompressed_limit(options.max_message_bytes)
    return CanalJSONBatchDecoder(limit, extended=options.enable_tidb_extension)


def _matches(_: bytes, value: bytes) -> bool:
    from ticdc_producer.protocols.canal_json.envelope import parse_envelope
    from ticdc_producer.protocols.compression import plain

    return parse_envelope(plain(value, "value")) is not None


def _file_rows(content: bytes, options: CanalJSONOptions) -> Iterator[bytes]:
    """Yield the rows of a file.

    Quotes in strings are escaped, so no row can contain the end of a row and the beginning of another. This
    is also true if nothing is between them.
    """
    rows = re.split(rb"(?<=\})" + re.escape(options.row_end.encode()) + rb'(?=\{"id":|\Z)', content)
    yield from rows if rows[-1] else rows[:-1]


def _minimal(_key: bytes, value: bytes) -> list[tuple[object, ...]]:
    row = json.loads(value)
    return [
        (row["database"], row["table"], row["type"], row["es"], row["data"], row["old"], row["mysqlType"])
    ]


_CLOCK = b',"ts":'
_TYPES = b'"mysqlType":'


def _repeatable(value: bytes) -> bytes:
    """Return a message without its wall clock and the order of ``mysqlType``, which is that of a Go map."""
    before, name, after = without_number(_CLOCK, value).partition(_TYPES)
    types, end, rest = after.partition(b'},"')
    return b"".join((before, name, _sorted_types(types + end[:1]), end[1:], rest))


@lru_cache(maxsize=1024)
def _sorted_types(types: bytes) -> bytes:
    return sorted_json(types)


def _annotate(_key: bytes | None, value: bytes | None, _options: Options) -> Iterator[ByteSpan]:
    data: ImageName = "before" if scalar_at(value, ("type",)) == b'"DELETE"' else "after"
    images: dict[Path, ImageName] = {("data", 0): data, ("old", 0): "before"}
    yield from json_spans("value", value, ColumnPaths(images))


SPEC = ProtocolSpec(
    name="canal-json",
    title="Canal-JSON",
    options=CanalJSONOptions,
    encoder=_encoder,
    decoder=_decoder,
    batch_decoder=_batch_decoder,
    parameters=(
        Parameter(
            name="content-compatible",
            value=Boolean(),
            default=False,
            file_key="sink.content-compatible",
            ignored_elsewhere=True,
            implies="only-output-updated-columns",
            effect="As official Canal: types with their parameters, old images with the changed columns "
            "only.",
        ),
        Parameter(
            name="output-row-key",
            value=Boolean(),
            default=False,
            profiles=("new",),
            ignored_elsewhere=True,
            effect="TiKV's key of the row in _tidb; without the extension no effect.",
        ),
        own_parameter("legacy-delete-old", Boolean(), False, "Before v5.4.0: deletes repeat data in old."),
        own_parameter("legacy-data-before-old", Boolean(), False, "As documented: data comes before old."),
        own_parameter("legacy-insert-old", Boolean(), False, "v5.1 to v5.3: old of an insert is [null]."),
        own_parameter(
            "legacy-row-end",
            Boolean(),
            False,
            "v6.5: rows end with CRLF.",
            sinks=(SinkKind.KAFKA, SinkKind.PULSAR),
        ),
    ),
    sinks=(SinkKind.KAFKA, SinkKind.PULSAR, SinkKind.STORAGE),
    ddl_partitions="first",
    signature=Signature(matches=_matches, description="JSON with database, table, isDdl, type and es"),
    file_format=FileFormat(extension=".json", rows=_file_rows),
    benchmark=(BenchmarkLine(minimal=_minimal),),
    conformance=ConformanceOptions(
        histories={"enable-tidb-extension": True},
        variants=(
            {"only-output-updated-columns": True},
            {"delete-only-output-handle-key-columns": True},
            {"content-compatible": True},
            {"enable-tidb-extension": False},
        ),
    ),
    wire=WireFormat(
        excluded={"value.ts": "the wall clock when TiCDC built the message"},
        location="value._tidb.claimCheckLocation",
        repeatable=_repeatable,
    ),
    annotate=_annotate,
)
