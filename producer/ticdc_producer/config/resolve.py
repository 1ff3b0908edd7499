"""Combines a sink URI, a changefeed file and a scenario into one changefeed.

The precedence is TiCDC's: a parameter of the URI overrides the file, the file overrides the default. A file
on the command line overrides the scenario key by key; a URI on the command line replaces the scenario's URI
completely.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from ticdc_producer.config.changefeed import Changefeed
from ticdc_producer.config.changefeed_file import ChangefeedFile, DispatchRule
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
from ticdc_producer.config.parameters import (
    BY_NAME,
    COMPRESSION,
    OF_MESSAGES,
    PARAMETERS,
    has_parameter,
    parameter,
)
from ticdc_producer.config.sink_uri import ParsedSinkURI, SinkURI, default_sink_uri, parse_sink_uri
from ticdc_producer.config.storage import storage_limits
from ticdc_producer.errors import ChangefeedError
from ticdc_producer.model.option_type import Plain
from ticdc_producer.model.parameter import SinkKind, State
from ticdc_producer.protocols.registry import protocol_spec
from ticdc_producer.protocols.spec import ProtocolSpec


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
    options = _Options.of(file, uri)
    _check(options, file, uri.target)
    properties = {**security_properties(options.values), **parse_kafka_properties(kafka_properties)}
    warnings = _warnings(options, file, uri, properties)
    changefeed = _changefeed(options, file, uri.target, properties, warnings)
    options.spec.typed(changefeed.codec_options())  # rejects combinations of the codec's options
    return changefeed


@dataclass(frozen=True, repr=False)  # a URI may have passwords
class _Options:
    """The options of a changefeed, by the source of their values and by their effect.

    :param protocol: as the URI or the file names it.
    :param given: those of the file and of the URI.
    :param ignored: those that only the other kind of sink has.
    :param unused: those of a schema registry, if the protocol has none.
    :param of_others: those that only other protocols have.
    :param used: those that have an effect.
    :param values: the value of each option that has an effect, or its default.
    """

    protocol: str
    spec: ProtocolSpec
    kind: SinkKind
    of_file: Mapping[str, Plain]
    of_uri: Mapping[str, Plain]
    given: Mapping[str, Plain]
    ignored: Sequence[str]
    unused: Sequence[str]
    of_others: Sequence[str]
    used: Mapping[str, Plain]
    values: Mapping[str, Plain]

    @classmethod
    def of(cls, file: ChangefeedFile, uri: ParsedSinkURI) -> Self:
        """Return the options of a file and a URI.

        :raises ChangefeedError: for a value that is not valid, and for different values of some options.
        """
        of_uri, kind = uri.parameters, uri.target.kind
        protocol = str(of_uri.get("protocol") or file.protocol or BY_NAME["protocol"].default)
        spec = protocol_spec(protocol)
        of_file = _implied(spec, file.options(protocol, kind))
        _check_same(of_file, of_uri, kind)
        given = {**of_file, **_of_scheduler(of_file), **of_uri}
        ignored, unused = _of_other_sinks(given, kind), _unused_registry(spec, given)
        of_others = [name for name in _of_other_protocols(spec, given) if name not in ignored]
        used = {name: given[name] for name in given if name not in {*ignored, *unused, *of_others}}
        used |= _checked(used, of_uri)
        values = {**_defaults(spec), **used}
        if values["output-ddl"] is None:
            values["output-ddl"] = spec.sends_ddl(values)
        return cls(protocol, spec, kind, of_file, of_uri, given, ignored, unused, of_others, used, values)

    def values_with(self, names: Iterable[str]) -> dict[str, Plain]:
        """Return the values, and those of some options that have no effect."""
        return {**self.values, **{name: self.given[name] for name in names}}

    @property
    def selects_columns(self) -> bool:
        """Whether column selectors apply; to storages in the new architecture (ticdc#5595) only."""
        return self.kind is SinkKind.KAFKA or self.values["profile"] == "new"


def _check(options: _Options, file: ChangefeedFile, target: SinkURI) -> None:
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
    options: _Options,
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
    of_codec = [option.name for option in spec.parameters if option.name not in BY_NAME]
    return Changefeed(
        sink_uri=target,
        dispatchers=_dispatchers(file, kind),
        filter=rules if kind is SinkKind.KAFKA else rules.of_storage(),
        column_selectors=file.column_selectors if options.selects_columns else (),
        client={**_client_id(values), **properties},
        schema_registry=str(values["schema-registry"] or ""),
        sets_partition_num="partition-num" in options.given,
        plugin_options={name: values[name] for name in of_codec},
        warnings=tuple(warnings),
        **of_messages,
    )


def _warnings(
    options: _Options, file: ChangefeedFile, uri: ParsedSinkURI, properties: Mapping[str, str]
) -> Iterator[str]:
    """Yield what has no effect, and what TiCDC accepts with a warning in its log.

    :param properties: of the Kafka clients.
    """
    spec, kind = options.spec, options.kind
    yield from _logged_settings(spec, options.values)
    yield from _ignored_client(uri.target, properties)
    yield from _ignored_options(options.ignored, kind)
    yield from (f"{name} has no effect: {spec.name} has no such option" for name in options.of_others)
    yield from _overridden(options.of_file, options.of_uri)
    yield from _unknown_compression(options.given, options.ignored)
    yield from _unused_switches(options.values)
    if kind is SinkKind.STORAGE:
        yield from _limited(options.values, options.used)
    yield from _ignored_rules(file, kind, selects=options.selects_columns)
    yield from (f"{name} has no effect: {spec.name} registers no schemas" for name in options.unused)
    yield from uri.warnings
    yield from file.warnings(options.protocol)


def _check_same(of_file: Mapping[str, Plain], of_uri: Mapping[str, Plain], kind: SinkKind) -> None:
    """Reject two values of an option (ticdc ``pkg/config/sink.go``, CheckUseTableIDAsPathCompatibility)."""
    name = "use-table-id-as-path"
    values = {source[name] for source in (of_file, of_uri) if name in source}
    if kind is SinkKind.STORAGE and len(values) > 1:
        what = "the sink URI and the changefeed file have different values"
        raise ChangefeedError(what, parameter=name, hint="leave one of them out")


def _implied(spec: ProtocolSpec, of_file: dict[str, Plain]) -> dict[str, Plain]:
    """Return the file's options with those that they imply under other protocols than their own.

    Source: ticdc ``pkg/sink/codec/common/config.go`` (``mergeConfig``).
    """
    set_options = [
        option for option in map(parameter, of_file) if option is not None and of_file[option.name]
    ]
    implied = {
        option.implies: True
        for option in set_options
        if option.implies and not has_parameter(spec, option) and has_parameter(spec, BY_NAME[option.implies])
    }
    return {**of_file, **implied}


def _of_other_protocols(spec: ProtocolSpec, given: Mapping[str, Plain]) -> list[str]:
    """Return the options that are set and that only other protocols have, if TiCDC ignores them.

    ``claim-check-raw-value`` is an error together with claim-check (ticdc ``pkg/config/large_message.go``).
    """
    claims = given.get("large-message-handle-option") == "claim-check"
    names = (name for name in given if not (claims and name == "claim-check-raw-value"))
    options = [option for option in map(parameter, names) if option is not None]
    return [
        option.name
        for option in options
        if option.ignored_elsewhere
        and given[option.name] != option.default
        and not has_parameter(spec, option)
    ]


def _checked(used: Mapping[str, Plain], of_uri: Mapping[str, Plain]) -> dict[str, Plain]:
    """Return the canonical values of the options that are checked only if they have an effect.

    Source: ticdc and tiflow ``pkg/sink/codec/common/config.go`` (``Apply``, ``Validate``).
    """
    values: dict[str, Plain] = {}
    for name, value in used.items():
        option = parameter(name)
        if option is not None and option.admits(value):
            try:
                values[name] = option.value.read(str(value))
            except ValueError as error:
                key = name if name in of_uri else option.file_key
                raise ChangefeedError(f"{key}: {error}", parameter=key) from None
    return values


def _overridden(of_file: Mapping[str, Plain], of_uri: Mapping[str, Plain]) -> Iterator[str]:
    """Yield the options with two values of which TiCDC logs that it takes that of the URI.

    Source: ticdc ``pkg/config/sink.go`` (``applyParameterBySinkURI``).
    """
    for name in ("protocol", "transaction-atomicity"):
        if name in of_file and name in of_uri and of_file[name] != of_uri[name]:
            yield (
                f"{name} is {of_uri[name]}, as in the sink URI; the changefeed file has {of_file[name]}, "
                "which has no effect"
            )


def _unknown_compression(given: Mapping[str, Plain], ignored: Iterable[str]) -> Iterator[str]:
    """Yield a ``compression`` that TiCDC logs as unknown, and takes as none."""
    value = given.get("compression")
    if isinstance(value, str) and "compression" not in ignored and not COMPRESSION.knows(value):
        yield f"compression: {value!r} is not known; TiCDC takes {COMPRESSION.fallback}"


_SWITCHES = {
    "bdr-mode": "no other changefeed wrote rows of a scenario",
}


def _unused_switches(options: Mapping[str, Plain]) -> Iterator[str]:
    for name, reason in _SWITCHES.items():
        if options.get(name):
            yield f"{name} has no effect: {reason}"


def _limited(options: Mapping[str, Plain], given: Mapping[str, Plain]) -> Iterator[str]:
    """Yield the options of a storage that TiCDC replaces by the nearest value that it allows."""
    limits = storage_limits({**options, **given})
    for name in ("file-size", "flush-interval"):
        if given.get(name) is not None and limits[name] != given[name]:
            unit = "bytes" if name == "file-size" else "ms"
            yield f"{name}: {given[name]} {unit} are not allowed; TiCDC takes {limits[name]} {unit}"


_ACROSS_NODES = "enable-table-across-nodes"


def _of_scheduler(of_file: Mapping[str, Plain]) -> dict[str, Plain]:
    """Return the key of the section ``scheduler`` that has an effect."""
    scheduler: object = of_file.get("scheduler")
    if not isinstance(scheduler, Mapping) or _ACROSS_NODES not in scheduler:
        return {}
    value = scheduler[_ACROSS_NODES]
    if not isinstance(value, bool):
        what = f"{value!r} is not valid: allowed are true and false"
        raise ChangefeedError(what, parameter=f"scheduler.{_ACROSS_NODES}")
    return {_ACROSS_NODES: value}


def _of_other_sinks(given: Mapping[str, Plain], kind: SinkKind) -> list[str]:
    """Return the options that are set and that only the other kind of sink has; TiCDC ignores them."""
    options = [option for option in map(parameter, given) if option is not None]
    return [
        option.name
        for option in options
        if option.sinks and kind not in option.sinks and given[option.name] != option.default
    ]


def _ignored_options(ignored: Iterable[str], kind: SinkKind) -> Iterator[str]:
    for name in ignored:
        if kind is SinkKind.STORAGE or BY_NAME[name].in_uri:
            yield f"{name} has no effect: it is an option of {BY_NAME[name].sinks[0]} sinks"


def _dispatchers(file: ChangefeedFile, kind: SinkKind) -> tuple[DispatchRule, ...]:
    """Return the dispatch rules that have an effect; of storages those that give tables other names."""
    if kind is SinkKind.KAFKA:
        return file.dispatchers
    return tuple(_only_target(rule) for rule in file.dispatchers if rule.has_target)


def _only_target(rule: DispatchRule) -> DispatchRule:
    """Return a rule without what has no effect in storages."""
    unused = {"partition": "", "dispatcher": "", "index": "", "columns": (), "topic": ""}
    return rule.model_copy(update=unused)


def _ignored_rules(file: ChangefeedFile, kind: SinkKind, *, selects: bool) -> Iterator[str]:
    dispatchers = _dispatchers(file, kind)
    if dispatchers != file.dispatchers:
        which = "topics and partitions of dispatchers" if dispatchers else "dispatchers"
        yield f"{which} have no effect: a storage has no topics and partitions"
    if (
        kind is SinkKind.STORAGE
        and file.filter
        and any(rule.ignore_update_only_columns for rule in file.filter.event_filters)
    ):
        yield "ignore-update-only-columns has no effect: TiCDC applies it to Kafka sinks only"
    if not selects and file.column_selectors:
        yield "column-selectors have no effect: classic TiCDC applies them to Kafka sinks only"


def _unused_registry(spec: ProtocolSpec, given: Mapping[str, Plain]) -> list[str]:
    """Return the options of a schema registry, if the protocol has none; TiCDC ignores them."""
    names = [
        name for name in ("schema-registry", "glue-schema-registry-config") if given.get(name) is not None
    ]
    return [] if spec.schemas else names


def _client_id(options: Mapping[str, Plain]) -> dict[str, str]:
    name = options["kafka-client-id"]
    return {"client.id": str(name)} if name else {}


def _ignored_client(target: SinkURI, properties: Mapping[str, str]) -> Iterator[str]:
    if target.embedded and properties:
        yield "TLS, SASL and properties of Kafka clients have no effect: the sink URI names no host"


def _defaults(spec: ProtocolSpec) -> dict[str, Plain]:
    options = (*PARAMETERS, *spec.parameters)
    values = {option.name: option.default for option in options if option.state == State.HONOURED}
    return {**values, **spec.defaults}


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


def _logged_settings(spec: ProtocolSpec, options: Mapping[str, Plain]) -> Iterator[str]:
    """Yield the settings that TiCDC accepts with a warning in its log."""
    if options["enable-tidb-extension"] and not spec.has_extension:
        yield f"enable-tidb-extension is ignored: {spec.name} has no extension"
    if options["required-acks"] != "-1":
        yield f"required-acks={options['required-acks']}: this run waits for all replicas anyway"
    if options["output-raw-change-event"] and not options["output-old-value"]:
        yield (
            "output-raw-change-event without output-old-value: an update that changes a key arrives without "
            "the old key, so the consumer cannot remove the old row"
        )


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
