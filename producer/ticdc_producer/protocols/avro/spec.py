"""The specification of Avro, and the changefeeds with Avro that TiCDC refuses.

Source: tiflow ``pkg/sink/codec/common/config.go`` (``Validate``), ``pkg/config/replica_config.go``,
``cdc/sink/dmlsink/mq/dispatcher/topic/expression.go`` (``ValidateForAvro``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from ticdc_producer.errors import ChangefeedError
from ticdc_producer.model.option_type import Boolean, Choice, Plain, Secret, UnusedSection
from ticdc_producer.model.parameter import CODEC, Parameter, SinkKind
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.base import Decoder, Encoder
from ticdc_producer.protocols.row_options import AvroOptions
from ticdc_producer.protocols.spans import ByteSpan
from ticdc_producer.protocols.spec import ConformanceOptions, Inputs, Options, ProtocolSpec, RegisteredSchemas
from ticdc_producer.protocols.wire import WireFormat

if TYPE_CHECKING:
    from ticdc_producer.protocols.base import Schema

_SCHEMES = ("http", "https", "mock")


def check_changefeed(options: Mapping[str, Plain], topics: Sequence[str], reaches_kafka: bool) -> None:
    """Refuse a changefeed that Avro does not allow.

    :param options: parameter name to value.
    :param topics: the topic expressions of the dispatch rules.
    :param reaches_kafka: whether the sink URI names hosts.
    :raises ChangefeedError: for the first rule that is violated.
    """
    if options["force-replicate"]:
        raise ChangefeedError(
            f"force-replicate must be off with protocol {options['protocol']}",
            parameter="force-replicate",
            hint="a table without a handle key has no message key",
        )
    for topic in topics:
        if "{" in topic and not ("{schema}" in topic and "{table}" in topic):
            what = f"topic expression {topic!r} of protocol {options['protocol']} lacks a placeholder"
            raise ChangefeedError(what, parameter="topic", hint="Avro requires both {schema} and {table}")
    url = str(options["schema-registry"] or "")
    if options[_GLUE] and url:
        what = f"protocol {options['protocol']} has one registry: schema-registry or {_GLUE}"
        raise ChangefeedError(what, parameter=_GLUE, hint="leave one out")
    if not options[_GLUE]:
        _check_registry(str(options["protocol"]), url, reaches_kafka)


_GLUE = "glue-schema-registry-config"


@dataclass(frozen=True, slots=True)
class GlueRegistry(UnusedSection):
    """The section of AWS Glue's registry. Its value is the registry's name, so that no secret is stored.

    Source: ticdc ``pkg/config/sink.go`` (``GlueSchemaRegistryConfig.Validate``).
    """

    def check(self, value: object) -> object:
        UnusedSection.check(self, value)
        section = cast("Mapping[str, object]", value)
        for key in ("registry-name", "region"):
            if not isinstance(section.get(key), str) or not section[key]:
                raise ValueError(f"it needs {key}")
        if section.get("access-key") and not section.get("secret-access-key"):
            raise ValueError("access-key needs secret-access-key")
        return section["registry-name"]


def _check_registry(protocol: str, url: str, reaches_kafka: bool) -> None:
    hint = "schema-registry=http://HOST:8081, as a parameter or in [sink]"
    if not url:
        if reaches_kafka:
            what = f"protocol {protocol} needs a schema registry"
            raise ChangefeedError(what, parameter="schema-registry", hint=hint)
        return
    try:
        parts = urlsplit(url)
        known = parts.scheme in _SCHEMES and (parts.scheme == "mock" or bool(parts.hostname))
    except ValueError:
        known = False
    if not known:  # the URL may hold a password, so the error does not repeat it
        raise ChangefeedError(
            "the schema registry's URL is not an http:// or https:// URL",
            parameter="schema-registry",
            hint=hint,
        )


def _encoder(options: AvroOptions, inputs: Inputs) -> Encoder:
    from ticdc_producer.protocols.avro.encoder import AvroEncoder
    from ticdc_producer.protocols.avro.schemas import schema_id_lookup

    return AvroEncoder(options, schema_id=schema_id_lookup(inputs.get("schema_ids", {})))


def _decoder(options: AvroOptions, inputs: Inputs) -> Decoder:
    from ticdc_producer.protocols.avro.decoder import AvroDecoder

    return AvroDecoder(inputs.get("schema_of") or inputs.get("schemas", {}).get, options.time_zone)


def _schemas(
    tables: Iterable[TableInfo], topic: Callable[[TableInfo], str], options: AvroOptions
) -> Sequence[Schema]:
    from ticdc_producer.protocols.avro.schemas import schemas

    return schemas(tables, topic, options)


def id_in(part: bytes) -> int | None:
    from ticdc_producer.protocols.avro.names import schema_id_of

    return schema_id_of(part)


def _form_of(options: Mapping[str, object]) -> Callable[[bytes], object]:
    from ticdc_producer.protocols.avro.decoder import wire_form

    inputs = cast("Inputs", options)
    return wire_form(inputs.get("schema_of") or inputs.get("schemas", {}).get)


def _annotate(key: bytes | None, value: bytes | None, options: Options) -> Iterator[ByteSpan]:
    from ticdc_producer.protocols.avro.spans import avro_spans

    inputs = cast("Inputs", options)
    yield from avro_spans(key, value, inputs.get("schema_of") or inputs.get("schemas", {}).get)


def sends_ddl(options: Mapping[str, Plain]) -> bool:
    return bool(options["enable-tidb-extension"] and options["avro-enable-watermark"])


DECIMAL_MODE = Parameter(
    name="avro-decimal-handling-mode",
    value=Choice(choices=("precise", "string"), aliases=(("", "precise"),)),
    default="precise",
    file_key=CODEC + "avro-decimal-handling-mode",
    ignored_elsewhere=True,
    effect="DECIMAL as Avro's decimal, or as text.",
)
BIGINT_UNSIGNED_MODE = Parameter(
    name="avro-bigint-unsigned-handling-mode",
    value=Choice(choices=("long", "string"), aliases=(("", "long"),)),
    default="long",
    file_key=CODEC + "avro-bigint-unsigned-handling-mode",
    ignored_elsewhere=True,
    effect="BIGINT UNSIGNED as 64 bits that readers interpret as signed, or as text.",
)
ENABLE_WATERMARK = Parameter(
    name="avro-enable-watermark",
    value=Boolean(),
    default=False,
    file_key=CODEC + "avro-enable-watermark",
    ignored_elsewhere=True,
    effect="With the TiDB extension: DDL and watermark messages, in a form that TiCDC uses in its own tests.",
)
SCHEMA_REGISTRY = Parameter(
    name="schema-registry",
    value=Secret(),
    file_key="sink.schema-registry",
    of_client=True,
    effect="URL of the registry that stores Avro's schemas; it may contain user and password.",
)
GLUE_REGISTRY = Parameter(
    name=_GLUE,
    value=GlueRegistry(("registry-name", "region", "access-key", "secret-access-key", "token")),
    file_key=f"sink.kafka-config.{_GLUE}",
    in_uri=False,
    of_client=True,
    sinks=(SinkKind.KAFKA,),
    effect="Messages name their schemas as with AWS Glue, by UUIDs. This tool assigns them: it does not ask "
    "Glue.",
)


SPEC = ProtocolSpec(
    name="avro",
    title="Avro",
    aliases=("flat-avro",),
    options=AvroOptions,
    encoder=_encoder,
    decoder=_decoder,
    parameters=(
        DECIMAL_MODE,
        BIGINT_UNSIGNED_MODE,
        ENABLE_WATERMARK,
        Parameter(
            name="avro-include-before-value",
            value=Boolean(),
            default=False,
            file_key=CODEC + "avro-include-before-value",
            profiles=("new",),
            ignored_elsewhere=True,
            effect="Values have the old image and the operation, and deletes have values.",
        ),
        SCHEMA_REGISTRY,
        GLUE_REGISTRY,
    ),
    sends_ddl=sends_ddl,
    schemas=RegisteredSchemas(of_tables=_schemas, id_in=id_in),
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
            {"profile": "new"},
            {"profile": "new", "avro-include-before-value": True},
        ),
    ),
    wire=WireFormat(form_of=_form_of, by_form=True),
    annotate=_annotate,
)
