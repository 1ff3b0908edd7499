"""The warnings about options: what has no effect, and what TiCDC accepts with a warning in its log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ticdc_producer.config.changefeed_file import ChangefeedFile
from ticdc_producer.config.changefeed_options import ChangefeedOptions
from ticdc_producer.config.parameters import BY_NAME, COMPRESSION
from ticdc_producer.config.sink_uri import ParsedSinkURI, SinkURI
from ticdc_producer.config.storage import storage_limits
from ticdc_producer.model.option_type import Plain
from ticdc_producer.model.parameter import SinkKind
from ticdc_producer.protocols.spec import ProtocolSpec


def option_warnings(
    options: ChangefeedOptions, file: ChangefeedFile, uri: ParsedSinkURI, properties: Mapping[str, str]
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
    yield from _ignored_rules(file, options)
    yield from (f"{name} has no effect: {spec.name} registers no schemas" for name in options.unused)
    yield from uri.warnings
    yield from file.warnings(options.protocol)


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


def _ignored_options(ignored: Iterable[str], kind: SinkKind) -> Iterator[str]:
    for name in ignored:
        if kind is not SinkKind.KAFKA or BY_NAME[name].in_uri:
            yield f"{name} has no effect: it is an option of {BY_NAME[name].sinks[0]} sinks"


def _ignored_rules(file: ChangefeedFile, options: ChangefeedOptions) -> Iterator[str]:
    dispatchers = options.dispatchers(file)
    if dispatchers != file.dispatchers:
        which = "topics and partitions of dispatchers" if dispatchers else "dispatchers"
        yield f"{which} have no effect: a storage has no topics and partitions"
    if (
        options.kind is SinkKind.STORAGE
        and file.filter
        and any(rule.ignore_update_only_columns for rule in file.filter.event_filters)
    ):
        yield "ignore-update-only-columns has no effect: TiCDC applies it to Kafka sinks only"
    if not options.selects_columns and file.column_selectors:
        yield "column-selectors have no effect: classic TiCDC applies them to Kafka sinks only"


def _ignored_client(target: SinkURI, properties: Mapping[str, str]) -> Iterator[str]:
    if target.embedded and properties:
        yield "TLS, SASL and properties of Kafka clients have no effect: the sink URI names no host"
