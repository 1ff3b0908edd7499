"""Codecs by protocol name: the built-in ones first, then those of other packages.

A codec is imported on first use, since short commands need only one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import fields
from typing import Any, TypeAlias

from ticdc_producer.errors import ChangefeedError, nearest
from ticdc_producer.model.entry_points import installed_codecs
from ticdc_producer.protocols.base import Decoder, Encoder

Options: TypeAlias = Mapping[str, Any]
"""Maps option names, as in the codecs' option classes, to plain values. A codec ignores unknown ones."""


def known(kind: type, options: Options) -> dict[str, Any]:
    """The options that an option class knows."""
    names = {field.name for field in fields(kind)}
    return {name: value for name, value in options.items() if name in names}


def _open_encoder(options: Options) -> Encoder:
    from ticdc_producer.protocols.open_protocol.encoder import OpenEncoder
    from ticdc_producer.protocols.open_protocol.options import OpenOptions

    return OpenEncoder(OpenOptions(**known(OpenOptions, options)))


def _craft_encoder(options: Options) -> Encoder:
    from ticdc_producer.protocols.craft.encoder import CraftEncoder
    from ticdc_producer.protocols.craft.options import CraftOptions

    return CraftEncoder(CraftOptions(**known(CraftOptions, options)))


def _canal_json_encoder(options: Options) -> Encoder:
    from ticdc_producer.protocols.canal_json.encoder import CanalJSONEncoder
    from ticdc_producer.protocols.canal_json.options import CanalJSONOptions

    return CanalJSONEncoder(CanalJSONOptions(**known(CanalJSONOptions, options)))


def _debezium_encoder(options: Options) -> Encoder:
    from ticdc_producer.protocols.debezium.encoder import DebeziumEncoder
    from ticdc_producer.protocols.debezium.options import DebeziumOptions

    given = known(DebeziumOptions, options)
    for name in ("disable_schema", "include_start_ts"):
        given[name] = bool(options.get(f"debezium_{name}"))
    return DebeziumEncoder(DebeziumOptions(**given))


def _simple_encoder(options: Options) -> Encoder:
    from ticdc_producer.protocols.simple.encoder import SimpleEncoder
    from ticdc_producer.protocols.simple.options import SimpleOptions

    return SimpleEncoder(SimpleOptions(**known(SimpleOptions, options)))


def _csv_encoder(options: Options) -> Encoder:
    from ticdc_producer.protocols.csv.encoder import CSVEncoder
    from ticdc_producer.protocols.csv.options import CSVOptions

    return CSVEncoder(CSVOptions(**known(CSVOptions, options)))


def _avro_encoder(options: Options) -> Encoder:
    from ticdc_producer.protocols.avro.encoder import AvroEncoder
    from ticdc_producer.protocols.avro.options import AvroOptions
    from ticdc_producer.protocols.avro.schemas import schema_id_lookup

    return AvroEncoder(
        AvroOptions(**known(AvroOptions, options)), schema_id=schema_id_lookup(options.get("schema_ids", {}))
    )


def _open_decoder(options: Options) -> Decoder:
    from ticdc_producer.protocols.open_protocol.decoder import OpenDecoder

    return OpenDecoder(legacy_varchar_base64=bool(options.get("legacy_varchar_base64")))


def _craft_decoder(_: Options) -> Decoder:
    from ticdc_producer.protocols.craft.decoder import CraftDecoder

    return CraftDecoder()


def _canal_json_decoder(_: Options) -> Decoder:
    from ticdc_producer.protocols.canal_json.decoder import CanalJSONDecoder

    return CanalJSONDecoder()


def _debezium_decoder(options: Options) -> Decoder:
    from ticdc_producer.protocols.debezium.decoder import DebeziumDecoder

    return DebeziumDecoder(time_zone=str(options.get("time_zone", "UTC")))


def _simple_decoder(options: Options) -> Decoder:
    from ticdc_producer.protocols.simple.decoder import SimpleDecoder

    return SimpleDecoder(options.get("table_descriptions"))


def _csv_decoder(options: Options) -> Decoder:
    from ticdc_producer.protocols.csv.decoder import CSVDecoder
    from ticdc_producer.protocols.csv.options import CSVOptions

    return CSVDecoder(CSVOptions(**known(CSVOptions, options)), options.get("csv_tables", {}))


def _avro_decoder(options: Options) -> Decoder:
    from ticdc_producer.protocols.avro.decoder import AvroDecoder

    return AvroDecoder(options.get("schema_of") or options.get("schemas", {}).get)


ENCODERS: dict[str, Callable[[Options], Encoder]] = {
    "open-protocol": _open_encoder,
    "craft": _craft_encoder,
    "canal-json": _canal_json_encoder,
    "debezium": _debezium_encoder,
    "simple": _simple_encoder,
    "csv": _csv_encoder,
    "avro": _avro_encoder,
}
DECODERS: dict[str, Callable[[Options], Decoder]] = {
    "open-protocol": _open_decoder,
    "craft": _craft_decoder,
    "canal-json": _canal_json_decoder,
    "debezium": _debezium_decoder,
    "simple": _simple_decoder,
    "avro": _avro_decoder,
}

_FILE_DECODERS: dict[str, Callable[[Options], Decoder]] = {"csv": _csv_decoder}
"""Decoders of formats that exist in files only; they need the tables (option ``csv_tables``)."""


def encoder(protocol: str, options: Options) -> Encoder:
    """The encoder of a protocol.

    :raises ChangefeedError: if the protocol has none.
    :raises PluginError: if the codec belongs to another package and fails.
    """
    if protocol in ENCODERS or protocol not in installed_codecs():
        make: Callable[[Options], Encoder] = _found(ENCODERS, protocol)
        return make(options)
    from ticdc_producer.protocols.plugin import plugin_encoder

    return plugin_encoder(protocol, options)


def decoder(protocol: str, options: Options) -> Decoder:
    """The decoder of a protocol.

    :raises ChangefeedError: if the protocol has none.
    :raises PluginError: if the codec belongs to another package and fails.
    """
    if protocol in DECODERS or protocol not in installed_codecs():
        make: Callable[[Options], Decoder] = _found({**DECODERS, **_FILE_DECODERS}, protocol)
        return make(options)
    from ticdc_producer.protocols.plugin import plugin_decoder

    return plugin_decoder(protocol, options)


def schema_message_reader(protocol: str) -> Callable[[bytes], frozenset[Hashable]] | None:
    """The function that returns the table versions described by a message value.

    None for protocols whose row messages describe their own columns. A decoder takes the values of such
    messages as the option ``table_descriptions``.
    """
    if protocol != "simple":
        return None
    from ticdc_producer.protocols.simple.decoder import schema_versions

    return schema_versions


def _found(codecs: Mapping[str, Any], protocol: str) -> Any:
    if protocol not in codecs:
        raise ChangefeedError(
            f"unknown protocol {protocol!r}", parameter="protocol", hint=nearest(protocol, codecs)
        )
    return codecs[protocol]
