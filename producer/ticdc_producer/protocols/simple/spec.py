"""The specification of Simple."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from ticdc_producer.errors import ChangefeedError, DecodeError
from ticdc_producer.model.option_type import Boolean, Choice, IntRange, Plain
from ticdc_producer.model.parameter import CODEC, Parameter
from ticdc_producer.protocols.base import Decoder, Encoder
from ticdc_producer.protocols.row_options import SimpleOptions
from ticdc_producer.protocols.spans import ByteSpan, ColumnPaths, json_spans
from ticdc_producer.protocols.spec import (
    BenchmarkLine,
    ConformanceOptions,
    DescribedTables,
    Inputs,
    Options,
    ProtocolSpec,
    Signature,
)
from ticdc_producer.protocols.wire import WireFormat, json_form, without_number

if TYPE_CHECKING:
    import pyarrow as pa

_COUNT = IntRange(-(1 << 63), (1 << 63) - 1)
_ONCE = {"send_bootstrap_interval_in_sec": 1 << 40, "send_bootstrap_in_msg_count": 1 << 40}
"""Options with which each table's schema is sent once."""


def _encoder(options: SimpleOptions, _: Options) -> Encoder:
    from ticdc_producer.protocols.simple.encoder import SimpleEncoder

    return SimpleEncoder(options)


def _decoder(options: SimpleOptions, inputs: Inputs) -> Decoder:
    from ticdc_producer.protocols.compression import decompressed_limit
    from ticdc_producer.protocols.simple.decoder import SimpleDecoder

    return SimpleDecoder(inputs.get("table_descriptions"), decompressed_limit(options.max_message_bytes))


def _described_versions(value: bytes) -> frozenset[Hashable]:
    from ticdc_producer.protocols.simple.decoder import schema_versions

    return schema_versions(value)


def _described_tables(value: bytes) -> DescribedTables:
    from ticdc_producer.protocols.simple.described_tables import described_tables

    return described_tables(value)


def _describing(values: pa.Array) -> pa.Array:
    """Return the rows of the message values that may contain table schemas.

    JSON is searched for a name, and Avro values name their type; compressed values are not read.

    >>> import pyarrow as pa
    >>> _describing(pa.array([b'{"data":{}}', b'{"tableSchema":{}}', None, b"Obj"])).to_pylist()
    [1, 3]
    >>> _describing(pa.array([bytes([0x16, kind, kind]) for kind in (0, 2, 4, 6)])).to_pylist()
    [1, 2]
    """
    import pyarrow.compute as pc

    from ticdc_producer.protocols.simple.decoder import SCHEMA_NAME
    from ticdc_producer.protocols.simple.envelope import AVRO_WITHOUT_SCHEMA

    is_json, named = pc.starts_with(values, b"{"), pc.match_substring(values, SCHEMA_NAME)
    other = pc.or_(*(pc.starts_with(values, start) for start in AVRO_WITHOUT_SCHEMA))
    return pc.indices_nonzero(pc.fill_null(pc.and_not(pc.or_(pc.invert(is_json), named), other), False))


def _is_bootstrap(value: bytes) -> bool:
    from ticdc_producer.protocols.simple.decoder import is_bootstrap

    return is_bootstrap(value)


def _form(value: bytes) -> object:
    from ticdc_producer.protocols.compression import plain
    from ticdc_producer.protocols.simple.avro_envelope import is_avro
    from ticdc_producer.protocols.simple.avro_form import avro_form

    text = plain(value, "value")
    return avro_form(text) if is_avro(text) else json_form(text)


def _without_build_ts(value: bytes) -> bytes:
    if value.startswith(b"{"):
        return without_number(b',"buildTs":', value)

    from ticdc_producer.protocols.simple.avro_form import without_build_ts

    return without_build_ts(value)


def _matches(_: bytes, value: bytes) -> bool:
    from ticdc_producer.protocols.compression import plain
    from ticdc_producer.protocols.simple.envelope import is_message_type, parse_envelope

    return is_message_type(parse_envelope(plain(value, "value")).type)


def _check(options: Mapping[str, Plain], _topics: Sequence[str], _reaches_kafka: bool) -> None:
    """Refuse an option that has no effect with other protocols but changes the messages of Simple."""
    name = "send-all-bootstrap-at-start"
    if options.get(name):
        what = f"protocol simple with {name} is not simulated"
        raise ChangefeedError(what, parameter=name, hint="a table's schema is sent before its first row")


def _describes_in_first(options: Options) -> bool:
    return not options.get("send_bootstrap_to_all_partition", True)


def _minimal(_key: bytes, value: bytes) -> list[tuple[object, ...]]:
    row = json.loads(value)
    if "data" not in row and "old" not in row:
        return []
    return [(row["database"], row["table"], row["type"], row["commitTs"], row.get("data"), row.get("old"))]


def _avro_spans(value: bytes) -> Iterator[ByteSpan]:
    from ticdc_producer.protocols.simple.avro_envelope import column_ranges

    with suppress(DecodeError):
        for image, column, start, end in column_ranges(value):
            yield ByteSpan(
                part="value", start=start, end=end, name=f"{image}.{column}", image=image, column=column
            )


_COLUMNS = ColumnPaths({("data",): "after", ("old",): "before"}, (), ("value",))
"""A TIMESTAMP is an object, which has its value and its time zone."""


def _annotate(_key: bytes | None, value: bytes | None, _options: Options) -> Iterator[ByteSpan]:
    from ticdc_producer.protocols.simple.avro_envelope import is_avro

    if value is not None and is_avro(value):
        yield from _avro_spans(value)
        return
    yield from json_spans("value", value, _COLUMNS)


SPEC = ProtocolSpec(
    name="simple",
    title="Simple",
    options=SimpleOptions,
    encoder=_encoder,
    decoder=_decoder,
    parameters=(
        Parameter(
            name="encoding-format",
            value=Choice(choices=("json", "avro"), aliases=(("", "json"),)),
            default="json",
            file_key=CODEC + "encoding-format",
            ignored_elsewhere=True,
            effect="Format of the messages.",
        ),
        Parameter(
            name="send-bootstrap-interval-in-sec",
            value=_COUNT,
            default=120,
            in_uri=False,
            file_key="sink.send-bootstrap-interval-in-sec",
            ignored_elsewhere=True,
            effect="Seconds of the commit clock after which a table's schema is sent again; up to 0: never.",
        ),
        Parameter(
            name="send-bootstrap-in-msg-count",
            value=_COUNT,
            default=10_000,
            in_uri=False,
            file_key="sink.send-bootstrap-in-msg-count",
            ignored_elsewhere=True,
            effect="Number of a table's rows after which its schema is sent again; up to 0: never.",
        ),
        Parameter(
            name="send-bootstrap-to-all-partition",
            value=Boolean(),
            default=True,
            in_uri=False,
            file_key="sink.send-bootstrap-to-all-partition",
            ignored_elsewhere=True,
            effect="Each partition has the schemas of its own rows; TiCDC sends each to all partitions. "
            "false: partition 0 has those of all rows.",
        ),
    ),
    check=_check,
    signature=Signature(
        matches=_matches, description="JSON with version, type and commitTs, and a type of the protocol"
    ),
    described_versions=_described_versions,
    described_tables=_described_tables,
    describing=_describing,
    describes_in_first=_describes_in_first,
    benchmark=(BenchmarkLine(options=_ONCE, minimal=_minimal),),
    conformance=ConformanceOptions(histories={}, variants=({"encoding-format": "avro"},)),
    wire=WireFormat(
        excluded={"value.buildTs": "the wall clock when TiCDC built the message"},
        location="value.claimCheckLocation",
        form=_form,
        repeatable=_without_build_ts,
        is_eventless=_is_bootstrap,
    ),
    annotate=_annotate,
)
