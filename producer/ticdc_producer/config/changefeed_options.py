"""The options of a sink URI and a changefeed file: which have an effect, and their values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from ticdc_producer.config.changefeed_file import ChangefeedFile, DispatchRule
from ticdc_producer.config.parameters import BY_NAME, PARAMETERS, has_parameter, parameter
from ticdc_producer.config.sink_uri import ParsedSinkURI
from ticdc_producer.errors import ChangefeedError
from ticdc_producer.model.option_type import Plain
from ticdc_producer.model.parameter import SinkKind, State
from ticdc_producer.protocols.registry import protocol_spec
from ticdc_producer.protocols.spec import ProtocolSpec


@dataclass(frozen=True, repr=False)  # a URI may have passwords
class ChangefeedOptions:
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
        return self.kind.has_topics or self.values["profile"] == "new"

    def dispatchers(self, file: ChangefeedFile) -> tuple[DispatchRule, ...]:
        """Return the dispatch rules that have an effect; of storages those that give tables other names."""
        if self.kind.has_topics:
            return file.dispatchers
        return tuple(_only_target(rule) for rule in file.dispatchers if rule.has_target)


def _only_target(rule: DispatchRule) -> DispatchRule:
    """Return a rule without what has no effect in storages."""
    unused = {"partition": "", "dispatcher": "", "index": "", "columns": (), "topic": ""}
    return rule.model_copy(update=unused)


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


def _unused_registry(spec: ProtocolSpec, given: Mapping[str, Plain]) -> list[str]:
    """Return the options of a schema registry, if the protocol has none; TiCDC ignores them."""
    names = [
        name for name in ("schema-registry", "glue-schema-registry-config") if given.get(name) is not None
    ]
    return [] if spec.schemas else names


def _defaults(spec: ProtocolSpec) -> dict[str, Plain]:
    options = (*PARAMETERS, *spec.parameters)
    values = {option.name: option.default for option in options if option.state == State.HONOURED}
    return {**values, **spec.defaults}
