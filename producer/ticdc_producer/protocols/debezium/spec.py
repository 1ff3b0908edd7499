"""The specification of Debezium."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from ticdc_producer.errors import ChangefeedError
from ticdc_producer.model.option_type import Boolean, Choice, Plain, Text
from ticdc_producer.model.parameter import Parameter, own_parameter
from ticdc_producer.protocols.base import Decoder, Encoder
from ticdc_producer.protocols.row_options import DebeziumOptions
from ticdc_producer.protocols.spans import ByteSpan, ColumnPaths, ImageName, Path, json_spans, scalar_at
from ticdc_producer.protocols.spec import BenchmarkLine, ConformanceOptions, Options, ProtocolSpec, Signature
from ticdc_producer.protocols.wire import WireFormat, without_number


def _encoder(options: DebeziumOptions, _: Options) -> Encoder:
    from ticdc_producer.protocols.debezium.encoder import DebeziumEncoder

    return DebeziumEncoder(options)


def _decoder(options: DebeziumOptions, _: Options) -> Decoder:
    from ticdc_producer.protocols.debezium.decoder import DebeziumDecoder

    return DebeziumDecoder(time_zone=options.time_zone)


def _matches(_: bytes, value: bytes) -> bool:
    from ticdc_producer.protocols.compression import Decompressor
    from ticdc_producer.protocols.debezium.message_parts import parse_value

    payload = parse_value(Decompressor().text(value, "value")).payload
    return payload.op is not None or payload.ddl is not None


def _minimal(_key: bytes, value: bytes) -> list[tuple[object, ...]]:
    row = json.loads(value)["payload"]
    source = row["source"]
    return [(source["db"], source["table"], row["op"], source["commit_ts"], row.get("before"), row["after"])]


def _check(options: Mapping[str, Plain], _topics: Sequence[str], _reaches_kafka: bool) -> None:
    """Refuse what TiCDC refuses (ticdc ``pkg/sink/codec/common/config.go``)."""
    for name in ("schema-registry", "glue-schema-registry-config"):
        if options["profile"] == "new" and options.get(name):
            what = "Debezium protocol does not support schema registry"
            raise ChangefeedError(
                what, parameter=name, hint="leave it out: these messages have their schemas"
            )


_without_ts_ms = partial(without_number, b'},"ts_ms":')


def _without_start_ts(value: bytes) -> bytes:
    return _without_ts_ms(without_number(b',"start_ts":', value))


_IMAGES: dict[Path, ImageName] = {("after",): "after", ("before",): "before"}
_VALUE_COLUMNS = ColumnPaths({
    **_IMAGES, **{("payload", *path): image for path, image in _IMAGES.items()},
})  # fmt: skip


def _annotate(key: bytes | None, value: bytes | None, _options: Options) -> Iterator[ByteSpan]:
    op = scalar_at(value, ("payload", "op"), ("op",))
    of_key: ImageName = "before" if op == b'"d"' else "after"
    yield from json_spans("key", key, ColumnPaths({(): of_key, ("payload",): of_key}))
    yield from json_spans("value", value, _VALUE_COLUMNS)


CLUSTER_ID = own_parameter("cluster-id", Text(), "default", "TiCDC's cluster id (TiCDC: a server setting).")

SPEC = ProtocolSpec(
    name="debezium",
    title="Debezium",
    options=DebeziumOptions,
    encoder=_encoder,
    decoder=_decoder,
    section="debezium",
    check=_check,
    describes_columns=True,
    parameters=(
        Parameter(
            name="debezium-disable-schema",
            value=Boolean(),
            default=False,
            file_key="sink.debezium-disable-schema",
            ignored_elsewhere=True,
            effect="Messages without their schema.",
        ),
        Parameter(
            name="debezium-include-start-ts",
            value=Boolean(),
            default=False,
            file_key="sink.debezium.include-start-ts",
            profiles=("new",),
            effect="The transaction's start-ts in source: one TSO before its commit.",
        ),
        CLUSTER_ID,
        own_parameter(
            "invalid-utf8",
            Choice(choices=("raw", "replace")),
            "raw",
            "Text that is not UTF-8: its bytes as TiCDC copies them, or U+FFFD for each byte.",
        ),
    ),
    sends_ddl=lambda _: False,  # the documentation says so, although TiCDC's code can
    signature=Signature(
        matches=_matches, description="JSON with op or ddl, and a source that has a commit_ts"
    ),
    benchmark=(
        BenchmarkLine(minimal=_minimal),
        BenchmarkLine(suffix="disable-schema", options={"debezium_disable_schema": True}, minimal=_minimal),
    ),
    conformance=ConformanceOptions(
        types={"enable-tidb-extension": True},
        histories={"enable-tidb-extension": True, "output-ddl": True},
        variants=({"debezium-disable-schema": True}, {"output-old-value": False}),
    ),
    wire=WireFormat(
        excluded={"value.payload.ts_ms": "the wall clock when TiCDC built the message"},
        excluded_with={
            "debezium_include_start_ts": {
                "value.payload.source.start_ts": "a scenario has no start-ts of transactions"
            }
        },
        repeatable=_without_ts_ms,
        repeatable_with={"debezium_include_start_ts": _without_start_ts},
    ),
    annotate=_annotate,
)
