"""Avro as the other packages see it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ticdc_producer.model.option_type import Boolean, Choice, Plain, Secret
from ticdc_producer.model.parameter import CODEC, Parameter
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.avro.changefeed_rules import check_changefeed
from ticdc_producer.protocols.avro.options import AvroOptions
from ticdc_producer.protocols.base import Decoder, Encoder
from ticdc_producer.protocols.spec import ConformanceOptions, Options, ProtocolSpec, RegisteredSchemas


def _encoder(options: AvroOptions, inputs: Options) -> Encoder:
    from ticdc_producer.protocols.avro.encoder import AvroEncoder
    from ticdc_producer.protocols.avro.schemas import schema_id_lookup

    schema_id = inputs.get("schema_id") or schema_id_lookup(inputs.get("schema_ids", {}))
    return AvroEncoder(options, schema_id=schema_id)


def _decoder(_options: AvroOptions, inputs: Options) -> Decoder:
    from ticdc_producer.protocols.avro.decoder import AvroDecoder

    return AvroDecoder(inputs.get("schema_of") or inputs.get("schemas", {}).get)


def _schemas(
    tables: Iterable[TableInfo], topic: Callable[[TableInfo], str], options: AvroOptions
) -> Sequence[Any]:
    from ticdc_producer.protocols.avro.schemas import schemas

    return schemas(tables, topic, options)


def _id_in(part: bytes) -> int | None:
    from ticdc_producer.protocols.avro.decoder import schema_id_of

    return schema_id_of(part)


def _sends_ddl(options: Mapping[str, Plain]) -> bool:
    return bool(options["enable-tidb-extension"] and options["avro-enable-watermark"])


SPEC = ProtocolSpec(
    name="avro",
    title="Avro",
    aliases=("flat-avro",),
    options=AvroOptions,
    encoder=_encoder,
    decoder=_decoder,
    parameters=(
        Parameter(
            name="avro-decimal-handling-mode",
            value=Choice(choices=("precise", "string")),
            default="precise",
            file_key=CODEC + "avro-decimal-handling-mode",
            effect="DECIMAL as Avro's decimal, or as text.",
        ),
        Parameter(
            name="avro-bigint-unsigned-handling-mode",
            value=Choice(choices=("long", "string")),
            default="long",
            file_key=CODEC + "avro-bigint-unsigned-handling-mode",
            effect="BIGINT UNSIGNED as 64 bits that readers interpret as signed, or as text.",
        ),
        Parameter(
            name="avro-enable-watermark",
            value=Boolean(),
            default=False,
            file_key=CODEC + "avro-enable-watermark",
            effect="With the TiDB extension: DDL and watermark messages, in a form that TiCDC uses in its "
            "own tests.",
        ),
        Parameter(
            name="schema-registry",
            value=Secret(),
            file_key="sink.schema-registry",
            of_client=True,
            effect="URL of the registry that stores Avro's schemas; it may contain user and password.",
        ),
    ),
    sends_ddl=_sends_ddl,
    schemas=RegisteredSchemas(of_tables=_schemas, id_in=_id_in),
    check=check_changefeed,
    # Without the extension rows have neither operation nor commit-ts. Messages of random histories would need
    # the schemas of a registry.
    conformance=ConformanceOptions(
        types={"enable-tidb-extension": True},
        others={"enable-tidb-extension": True},
        histories={"enable-tidb-extension": True, "avro-enable-watermark": True},
        variants=(
            {"avro-decimal-handling-mode": "string"},
            {"avro-bigint-unsigned-handling-mode": "string"},
            {"enable-tidb-extension": False, "avro-enable-watermark": False},
        ),
    ),
)
