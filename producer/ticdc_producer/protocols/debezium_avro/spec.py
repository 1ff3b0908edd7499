"""The specification of Debezium in Avro.

Source: ticdc ``pkg/sink/codec/common/config.go`` (``Validate``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from ticdc_producer.model.option_type import Plain
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.avro.spec import (
    BIGINT_UNSIGNED_MODE,
    DECIMAL_MODE,
    ENABLE_WATERMARK,
    GLUE_REGISTRY,
    SCHEMA_REGISTRY,
    check_changefeed,
    id_in,
    sends_ddl,
)
from ticdc_producer.protocols.base import Decoder, Encoder
from ticdc_producer.protocols.debezium.spec import CLUSTER_ID
from ticdc_producer.protocols.row_options import DebeziumAvroOptions
from ticdc_producer.protocols.spec import ConformanceOptions, Inputs, ProtocolSpec, RegisteredSchemas
from ticdc_producer.protocols.wire import WireFormat

if TYPE_CHECKING:
    from ticdc_producer.protocols.base import Schema


def _encoder(options: DebeziumAvroOptions, inputs: Inputs) -> Encoder:
    from ticdc_producer.protocols.debezium_avro.encoder import DebeziumAvroEncoder

    return DebeziumAvroEncoder(options, schema_ids=inputs.get("schema_ids"))


def _decoder(options: DebeziumAvroOptions, inputs: Inputs) -> Decoder:
    from ticdc_producer.protocols.debezium_avro.decoder import DebeziumAvroDecoder

    schema_of = inputs.get("schema_of") or inputs.get("schemas", {}).get
    return DebeziumAvroDecoder(schema_of, time_zone=options.time_zone)


def _schemas(
    tables: Iterable[TableInfo], topic: Callable[[TableInfo], str], options: DebeziumAvroOptions
) -> Sequence[Schema]:
    from ticdc_producer.protocols.debezium_avro.schemas import schemas

    return schemas(tables, topic, options)


def _form_of(options: Mapping[str, object]) -> Callable[[bytes], object]:
    from ticdc_producer.protocols.debezium_avro.wire import wire_form

    inputs = cast("Inputs", options)
    return wire_form(inputs.get("schema_of") or inputs.get("schemas", {}).get)


_CARRIES_ALL: Mapping[str, Plain] = {
    "enable-tidb-extension": True,
    "avro-bigint-unsigned-handling-mode": "string",
}

SPEC = ProtocolSpec(
    name="debezium-avro",
    title="Debezium in Avro",
    options=DebeziumAvroOptions,
    encoder=_encoder,
    decoder=_decoder,
    profiles=("new",),
    defaults={"profile": "new"},
    section="debezium",
    parameters=(
        DECIMAL_MODE,
        BIGINT_UNSIGNED_MODE,
        ENABLE_WATERMARK,
        SCHEMA_REGISTRY,
        GLUE_REGISTRY,
        CLUSTER_ID,
    ),
    sends_ddl=sends_ddl,
    schemas=RegisteredSchemas(of_tables=_schemas, id_in=id_in),
    check=check_changefeed,
    # TiCDC refuses a BIGINT UNSIGNED from 2^63 on unless it is a text, and tables with virtual columns.
    conformance=ConformanceOptions(
        types=_CARRIES_ALL,
        others=_CARRIES_ALL,
        histories={**_CARRIES_ALL, "avro-enable-watermark": True},
        variants=({"avro-decimal-handling-mode": "string"},),
        left_out=frozenset({"rows.generated-columns"}),
    ),
    wire=WireFormat(
        excluded={"value.ts_ms": "the wall clock when TiCDC built the message"},
        form_of=_form_of,
        by_form=True,
    ),
)
