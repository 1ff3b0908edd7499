"""Combines a sink URI, a changefeed file and a scenario into one changefeed.

The precedence is TiCDC's: a parameter of the URI overrides the file, the file overrides the default. A file
on the command line overrides the scenario key by key; a URI on the command line replaces the scenario's URI
completely.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ticdc_producer.config.changefeed import Changefeed
from ticdc_producer.config.changefeed_file import ChangefeedFile
from ticdc_producer.config.changefeed_options import ChangefeedOptions
from ticdc_producer.config.changefeed_toml import ConfigSource, changefeed_content, check_changefeed_file
from ticdc_producer.config.conditions import (
    check_active_active,
    check_atomicity,
    check_csv_section,
    check_integrity,
    check_large_messages,
    check_profile,
    check_protocol,
    check_selected_targets,
    check_sink,
    check_targets,
    check_together,
    check_updated_columns,
)
from ticdc_producer.config.config_section import FilterSection
from ticdc_producer.config.kafka_properties import parse_kafka_properties, security_properties
from ticdc_producer.config.option_warnings import option_warnings
from ticdc_producer.config.parameters import BY_NAME, OF_MESSAGES
from ticdc_producer.config.pulsar import pulsar_section
from ticdc_producer.config.sink_uri import SinkURI, default_sink_uri, parse_sink_uri
from ticdc_producer.config.storage import storage_limits
from ticdc_producer.model.option_type import Plain
from ticdc_producer.model.parameter import SinkKind


def resolve(
    sink_uri: str | None = None,
    config: Mapping[str, object] | None = None,
    *,
    scenario: Mapping[str, object] | None = None,
    name: str = "scenario",
    kafka_properties: Iterable[str] = (),
) -> Changefeed:
    """Return the changefeed of a run.

    :param sink_uri: from the command line; replaces the scenario's.
    :param config: content of a changefeed file, as ``load_changefeed_toml`` returns it; its keys override
        the scenario's.
    :param scenario: the scenario's ``changefeed:``, including its ``sink-uri``.
    :param name: name of the scenario; the default topic if neither source has a URI.
    :param kafka_properties: ``name=value`` each: properties of the Kafka clients, as librdkafka spells them.
    :raises ChangefeedError: for anything that TiCDC or this tool does not accept.
    """
    _check_each(config, scenario)
    file = check_changefeed_file(_merge(scenario or {}, config or {}), "changefeed")
    named = (uri for uri in (sink_uri, file.sink_uri) if uri is not None)
    uri = parse_sink_uri(next(named, default_sink_uri(name)))
    options = ChangefeedOptions.of(file, uri)
    _check(options, file, uri.target)
    properties = {**security_properties(options.values), **parse_kafka_properties(kafka_properties)}
    warnings = option_warnings(options, file, uri, properties)
    changefeed = _changefeed(options, file, uri.target, properties, warnings)
    options.spec.typed(changefeed.codec_options())  # rejects combinations of the codec's options
    return changefeed


def _check(options: ChangefeedOptions, file: ChangefeedFile, target: SinkURI) -> None:
    """Reject the combinations that TiCDC or this tool does not accept."""
    spec, kind, values = options.spec, options.kind, options.values
    selects = bool(file.column_selectors)
    check_sink(spec, kind)
    check_atomicity(values, kind)
    check_protocol(spec, values)
    check_together(options.values_with(options.of_others))
    check_large_messages(spec, options.values_with(options.ignored), kind)
    check_active_active({**values, **options.given}, kind)
    check_integrity(options.given, kind, selects=selects)
    if kind is SinkKind.STORAGE and file.sink is not None:
        check_csv_section(file.sink.csv)
    check_updated_columns(file.filter or FilterSection(), values["profile"])
    check_targets(file.dispatchers, values["profile"])
    check_selected_targets(file.dispatchers, selects=selects, kind=kind)
    topics = [rule.topic for rule in file.dispatchers]
    spec.check(options.values_with(options.unused), topics, not target.embedded)
    check_profile(spec, options.values_with(options.of_others))


def _changefeed(
    options: ChangefeedOptions,
    file: ChangefeedFile,
    target: SinkURI,
    properties: Mapping[str, str],
    warnings: Iterable[str],
) -> Changefeed:
    """Return the changefeed with the values that TiCDC gives its options.

    :param properties: of the Kafka clients.
    """
    spec, kind = options.spec, options.kind
    limits = storage_limits(options.values) if kind is SinkKind.STORAGE else {}
    values = {**options.values, **limits}
    rules = file.filter or FilterSection()
    of_messages: dict[str, Any] = {option.field: values[option.name] for option in OF_MESSAGES}
    pulsar = pulsar_section(file) if kind is SinkKind.PULSAR else None
    if pulsar is not None:
        # The producer hashes the partition key, so the event router has one partition (ticdc
        # ``downstreamadapter/sink/topicmanager/pulsar_topic_manager.go``).
        of_messages |= {"partition_num": 1, "output_raw_change_event": pulsar.output_raw_change_event}
    of_codec = [option.name for option in spec.parameters if option.name not in BY_NAME]
    return Changefeed(
        sink_uri=target,
        dispatchers=options.dispatchers(file),
        filter=rules if kind.has_topics else rules.of_storage(),
        column_selectors=file.column_selectors if options.selects_columns else (),
        client={**_client_id(values), **properties},
        pulsar=pulsar,
        schema_registry=str(values["schema-registry"] or ""),
        glue_registry=str(values["glue-schema-registry-config"] or ""),
        sets_partition_num="partition-num" in options.given,
        plugin_options={name: values[name] for name in of_codec},
        warnings=tuple(warnings),
        **of_messages,
    )


def _client_id(options: Mapping[str, Plain]) -> dict[str, str]:
    name = options["kafka-client-id"]
    return {"client.id": str(name)} if name else {}


def _check_each(config: Mapping[str, object] | None, scenario: Mapping[str, object] | None) -> None:
    """Check both sources separately, so that an error names its source and no override hides an error."""
    if scenario:
        check_changefeed_file(scenario, "changefeed of the scenario")
    if config:
        check_changefeed_file(config, "changefeed file")


def _merge(base: Mapping[str, object], over: Mapping[str, object]) -> dict[str, object]:
    """Merge two mappings: ``over`` overrides, nested mappings key by key, lists as a whole."""
    merged = dict(base)
    for key, value in over.items():
        below = merged.get(key)
        if isinstance(value, Mapping) and isinstance(below, Mapping):
            merged[key] = _merge(below, value)
        else:
            merged[key] = value
    return merged


def changefeed_of(
    sink_uri: str | None,
    config: ConfigSource | None,
    *,
    scenario: Mapping[str, object] | None = None,
    name: str = "scenario",
    kafka_properties: Sequence[str] = (),
) -> Changefeed:
    """Return the changefeed that results from a command's options and the scenario's section."""
    content = None if config is None else changefeed_content(config)
    return resolve(sink_uri, content, scenario=scenario, name=name, kafka_properties=kafka_properties)
