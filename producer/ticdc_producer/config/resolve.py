"""Combines a sink URI, a changefeed file and a scenario into one changefeed.

The precedence is TiCDC's: a parameter of the URI overrides the file, the file overrides the default. A file
on the command line overrides the scenario key by key; a URI on the command line replaces the scenario's URI
completely.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ticdc_producer.config.avro_rules import check_avro
from ticdc_producer.config.changefeed import Changefeed
from ticdc_producer.config.changefeed_file import ChangefeedFile
from ticdc_producer.config.filter_section import FilterSection
from ticdc_producer.config.kafka_properties import parse_kafka_properties
from ticdc_producer.config.load_file import check_changefeed_file
from ticdc_producer.config.option_type import Plain
from ticdc_producer.config.parameter import SinkKind, State
from ticdc_producer.config.parameters import (
    BY_NAME,
    NOT_IN_NEW,
    OF_MESSAGES,
    PARAMETERS,
    PROTOCOLS_OF,
)
from ticdc_producer.config.security import security_properties
from ticdc_producer.config.sink_uri import SinkURI, default_sink_uri, parse_sink_uri
from ticdc_producer.config.storage_limits import storage_limits
from ticdc_producer.errors import ChangefeedError

_NOT_SIMULATED_WITH_SIMPLE = {
    "integrity": "rows carry no checksums here: leave integrity-check-level at none",
    "send-bootstrap-to-all-partition": "a table's schema is sent to the partitions of its rows",
    "send-all-bootstrap-at-start": "a table's schema is sent before its first row",
}


def resolve(
    sink_uri: str | None = None,
    config: Mapping[str, Any] | None = None,
    *,
    scenario: Mapping[str, Any] | None = None,
    name: str = "scenario",
    kafka_properties: Iterable[str] = (),
) -> Changefeed:
    """The changefeed of a run.

    :param sink_uri: from the command line; replaces the scenario's.
    :param config: content of a changefeed file, as ``load_changefeed_toml`` returns it; its keys override
        the scenario's.
    :param scenario: the scenario's ``changefeed:``, including its ``sink-uri``.
    :param name: name of the scenario; the default topic if neither source has a URI.
    :param kafka_properties: ``name=value`` each: properties of the Kafka clients, as librdkafka spells them.
    :raises ChangefeedError: for anything that TiCDC or this tool does not accept.
    """
    _check_each(config, scenario)
    merged = _merge(scenario or {}, config or {})
    file = check_changefeed_file(merged, "changefeed")
    named = (uri for uri in (sink_uri, file.sink_uri) if uri is not None)
    uri = parse_sink_uri(next(named, default_sink_uri(name)))
    protocol = str(uri.parameters.get("protocol") or file.protocol or BY_NAME["protocol"].default)
    kind = uri.target.kind
    given = {**file.options(protocol, kind), **uri.parameters}
    ignored = _of_other_sinks(given, kind)
    options = {**_defaults(protocol), **{name: given[name] for name in given if name not in ignored}}
    _check_sink(protocol, kind)
    if options["output-ddl"] is None:
        options["output-ddl"] = _sends_ddl(options)
    _check_protocol(protocol, options)
    _check_together(options)
    _check_large_messages(options)
    _check_simple(options)
    check_avro(options, file.dispatchers, reaches_kafka=not uri.target.embedded)
    _check_profile(options)
    properties = {**security_properties(options), **parse_kafka_properties(kafka_properties)}
    if kind is SinkKind.STORAGE:
        options.update(storage_limits(options))
    values: dict[str, Any] = {field: options[option] for field, option in _fields().items()}
    return Changefeed(
        sink_uri=uri.target,
        dispatchers=file.dispatchers if kind is SinkKind.KAFKA else (),
        filter=file.filter or FilterSection(),
        column_selectors=file.column_selectors if kind is SinkKind.KAFKA else (),
        client={**_client_id(options), **properties},
        schema_registry=str(options["schema-registry"] or ""),
        warnings=(
            *_warnings(options),
            *_ignored_client(uri.target, properties),
            *_ignored_options(ignored, kind),
            *_ignored_rules(file, kind),
        ),
        **values,
    )


def _sends_ddl(options: Mapping[str, Plain]) -> bool:
    """Whether TiCDC sends DDL events with this protocol, by its code or its documentation."""
    if options["protocol"] == "avro":
        return bool(options["enable-tidb-extension"] and options["avro-enable-watermark"])
    return options["protocol"] != "debezium"


def _of_other_sinks(given: Mapping[str, Plain], kind: SinkKind) -> list[str]:
    """Options that are set and that only the other kind of sink has; TiCDC ignores them."""
    return [
        name
        for name, value in given.items()
        if BY_NAME[name].sinks and kind not in BY_NAME[name].sinks and value != BY_NAME[name].default
    ]


def _ignored_options(ignored: Iterable[str], kind: SinkKind) -> Iterator[str]:
    for name in ignored:
        if kind is SinkKind.STORAGE or BY_NAME[name].in_uri:
            yield f"{name} has no effect: it is an option of {BY_NAME[name].sinks[0]} sinks"


def _ignored_rules(file: ChangefeedFile, kind: SinkKind) -> Iterator[str]:
    if kind is SinkKind.STORAGE and file.dispatchers:
        yield "dispatchers have no effect: a storage has no topics and partitions"
    if kind is SinkKind.STORAGE and file.column_selectors:
        yield "column-selectors have no effect: TiCDC applies them to Kafka sinks only"


def _check_sink(protocol: str, kind: SinkKind) -> None:
    """Refuse a protocol that TiCDC does not write to this kind of sink."""
    other = SinkKind.STORAGE if kind is SinkKind.KAFKA else SinkKind.KAFKA
    if protocol in PROTOCOLS_OF[kind] or (kind is SinkKind.KAFKA and protocol not in PROTOCOLS_OF[other]):
        return
    raise ChangefeedError(
        f"protocol {protocol} is incompatible with {kind} sinks",
        parameter="protocol",
        hint="storage sinks write csv and canal-json"
        if kind is SinkKind.STORAGE
        else "csv is for storage sinks: file:///DIR?protocol=csv",
    )


def _client_id(options: Mapping[str, Plain]) -> dict[str, str]:
    name = options["kafka-client-id"]
    return {"client.id": str(name)} if name else {}


def _ignored_client(target: SinkURI, properties: Mapping[str, str]) -> Iterator[str]:
    if target.embedded and properties:
        yield "TLS, SASL and -X have no effect: the sink URI names no host"


def _fields() -> dict[str, str]:
    """Attribute of ``Changefeed`` → option, for the options that a manifest holds."""
    return {option.field: option.name for option in OF_MESSAGES}


def _defaults(protocol: str) -> dict[str, Plain]:
    values = {option.name: option.default for option in PARAMETERS if option.state == State.HONOURED}
    return {**values, "output-old-value": protocol != "csv"}


def _check_each(config: Mapping[str, Any] | None, scenario: Mapping[str, Any] | None) -> None:
    """Check both sources separately, so that an error names its source and no override hides an error."""
    if scenario:
        check_changefeed_file(scenario, "changefeed of the scenario")
    if config:
        check_changefeed_file(config, "changefeed file")


def _merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Both mappings merged: ``over`` overrides, nested mappings key by key, lists as a whole."""
    merged = dict(base)
    for key, value in over.items():
        below = merged.get(key)
        if isinstance(value, Mapping) and isinstance(below, Mapping):
            merged[key] = _merge(below, value)
        else:
            merged[key] = value
    return merged


def _check_together(options: Mapping[str, Plain]) -> None:
    """Refuse combinations of options that TiCDC refuses (``pkg/sink/codec/common/config.go``)."""
    if options["force-replicate"] and options["delete-only-output-handle-key-columns"]:
        raise ChangefeedError(
            "force-replicate must be off when delete-only-output-handle-key-columns is on",
            parameter="force-replicate",
            hint="a table without a handle key has no handle key columns",
        )


def _check_large_messages(options: Mapping[str, Plain]) -> None:
    """Check TiCDC's conditions (``pkg/config/large_message.go``, ``pkg/sink/codec/common/config.go``)."""
    chosen = options["large-message-handle-option"]
    if chosen == "none":
        return
    if options["protocol"] == "canal-json" and not options["enable-tidb-extension"]:
        raise ChangefeedError(
            f"large-message-handle-option {chosen} of canal-json needs the TiDB extension",
            parameter="large-message-handle-option",
            hint="set enable-tidb-extension=true",
        )
    if options["force-replicate"]:
        raise ChangefeedError(
            f"force-replicate must be off when large-message-handle-option is {chosen}",
            parameter="force-replicate",
            hint="a table without a handle key has no handle key to send",
        )
    if chosen == "claim-check" and not options["claim-check-storage-uri"]:
        raise ChangefeedError(
            "large-message-handle-option claim-check needs a storage",
            parameter="claim-check-storage-uri",
            hint="such as file:///var/claims",
        )


def _check_protocol(protocol: str, options: Mapping[str, Plain]) -> None:
    """Refuse options of other protocols that are set to something else than their default."""
    for option in PARAMETERS:
        is_set = option.state == State.HONOURED and options[option.name] != option.default
        if is_set and option.protocols and protocol not in option.protocols:
            raise ChangefeedError(
                f"protocol {protocol} has no option {option.name}",
                parameter=option.name,
                hint=f"these have it: {', '.join(option.protocols)}",
            )


def _check_simple(options: Mapping[str, Plain]) -> None:
    """Refuse options that have no effect with other protocols but change the messages of Simple."""
    enabled = {name for name in _NOT_SIMULATED_WITH_SIMPLE if options.get(name)}
    integrity = options.get("integrity")
    if isinstance(integrity, Mapping) and integrity.get("integrity-check-level", "none") == "none":
        enabled.discard("integrity")
    for name in sorted(enabled) if options["protocol"] == "simple" else ():
        what = f"protocol simple with {name} is not simulated"
        raise ChangefeedError(what, parameter=name, hint=_NOT_SIMULATED_WITH_SIMPLE[name])


def _check_profile(options: Mapping[str, Plain]) -> None:
    """Refuse protocols and options that the chosen profile does not have."""
    profile = options["profile"]
    if profile == "new" and options["protocol"] in NOT_IN_NEW:
        raise ChangefeedError(
            f"TiCDC new architecture has no protocol {options['protocol']}",
            parameter="protocol",
            hint="leave profile=new out, or use open-protocol, canal-json, debezium or simple",
        )
    for option in PARAMETERS:
        is_set = option.profiles and options[option.name] != option.default
        if is_set and profile not in option.profiles:
            raise ChangefeedError(
                f"profile {profile} has no option {option.name}",
                parameter=option.name,
                hint=f"set profile={option.profiles[0]}",
            )


def _warnings(options: Mapping[str, Plain]) -> Iterator[str]:
    """Settings that TiCDC accepts with a warning in its log."""
    if options["enable-tidb-extension"] and options["protocol"] in ("open-protocol", "craft"):
        yield f"enable-tidb-extension is ignored: {options['protocol']} has no extension"
    if options["required-acks"] != "-1":
        yield f"required-acks={options['required-acks']}: this run waits for all replicas anyway"
    if options["output-raw-change-event"] and not options["output-old-value"]:
        yield (
            "output-raw-change-event without output-old-value: an update that changes a key arrives without "
            "the old key, so the consumer cannot remove the old row"
        )
