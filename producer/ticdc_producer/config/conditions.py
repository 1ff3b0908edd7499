"""The conditions on combinations of options: what TiCDC rejects for a kind of sink, protocol or profile.

Source: tiflow ``pkg/config/sink.go``, ``cdc/sink/validator``; ticdc ``pkg/config/replica_config.go``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ticdc_producer.config.changefeed_file import CSVSection, DispatchRule
from ticdc_producer.config.config_section import FilterSection
from ticdc_producer.config.parameters import PARAMETERS, has_parameter, protocols_with
from ticdc_producer.errors import ChangefeedError
from ticdc_producer.model.option_type import Plain
from ticdc_producer.model.parameter import SinkKind, State
from ticdc_producer.protocols.registry import protocol_specs
from ticdc_producer.protocols.spec import ProtocolSpec

_PROGRAMS = {"classic": "classic (tiflow)", "new": "new architecture"}


def check_sink(spec: ProtocolSpec, kind: SinkKind) -> None:
    """Reject a protocol that TiCDC does not write to this kind of sink (tiflow ``pkg/config/sink.go``)."""
    if kind in spec.sinks:
        return
    written = " and ".join(sorted(protocol.name for protocol in protocol_specs() if kind in protocol.sinks))
    raise ChangefeedError(
        f"protocol {spec.name} is incompatible with {kind} sinks",
        parameter="protocol",
        hint=f"{kind} sinks write {written}"
        if kind is not SinkKind.KAFKA
        else f"{spec.name} is for storage sinks: file:///DIR?protocol={spec.name}",
    )


def check_atomicity(options: Mapping[str, Plain], kind: SinkKind) -> None:
    """Reject what TiCDC rejects (``pkg/config/sink.go``, ``AtomicityLevel.validate``)."""
    if options.get("transaction-atomicity") == "table" and kind.has_topics:
        raise ChangefeedError(
            f"table level atomicity is not supported by {kind.lower()} scheme",
            parameter="transaction-atomicity",
            hint="it is for storages and databases; leave it out",
        )


def check_together(options: Mapping[str, Plain]) -> None:
    """Reject combinations of options that TiCDC rejects (``pkg/sink/codec/common/config.go``)."""
    if options["force-replicate"] and options["delete-only-output-handle-key-columns"]:
        raise ChangefeedError(
            "force-replicate must be off when delete-only-output-handle-key-columns is on",
            parameter="force-replicate",
            hint="a table without a handle key has no handle key columns",
        )


def check_large_messages(spec: ProtocolSpec, options: Mapping[str, Plain], kind: SinkKind) -> None:
    """Check TiCDC's conditions (``pkg/config/large_message.go``, ``pkg/sink/codec/common/config.go``).

    TiCDC checks them for storages, too, where the option has no effect.
    """
    handling = options["large-message-handle-option"]
    if handling == "none":
        return
    if kind is SinkKind.STORAGE and not (spec.has_extension and options["enable-tidb-extension"]):
        raise ChangefeedError(
            f"large-message-handle-option {handling} is not supported with {spec.name}"
            + (" without enable-tidb-extension" if spec.has_extension else ""),
            parameter="large-message-handle-option",
            hint="leave it out: rows of files may have any size",
        )
    if options["force-replicate"]:
        raise ChangefeedError(
            f"force-replicate must be off when large-message-handle-option is {handling}",
            parameter="force-replicate",
            hint="a table without a handle key has no handle key to send",
        )
    if handling == "claim-check" and not options["claim-check-storage-uri"]:
        raise ChangefeedError(
            "large-message-handle-option claim-check needs a storage",
            parameter="claim-check-storage-uri",
            hint="such as file:///var/claims",
        )


def check_protocol(spec: ProtocolSpec, options: Mapping[str, Plain]) -> None:
    """Reject options of other protocols that TiCDC rejects, or that are set and that only this tool has."""
    for option in (*PARAMETERS, *spec.parameters):
        is_set = option.state == State.HONOURED and options[option.name] != option.default
        if is_set and not has_parameter(spec, option):
            raise ChangefeedError(
                f"protocol {spec.name} has no option {option.name}",
                parameter=option.name,
                hint=f"supported by {', '.join(protocols_with(option))}",
            )
    for name in options.keys() - {option.name for option in (*PARAMETERS, *spec.parameters)}:
        raise ChangefeedError(f"protocol {spec.name} has no option {name}", parameter=name)


def check_profile(spec: ProtocolSpec, options: Mapping[str, Plain]) -> None:
    """Reject protocols and options that the profile does not have."""
    profile = options["profile"]
    if profile not in spec.profiles:
        others = [
            protocol.name
            for protocol in protocol_specs()
            if profile in protocol.profiles and protocol.signature
        ]
        raise ChangefeedError(
            f"TiCDC {_PROGRAMS[str(profile)]} has no protocol {spec.name}",
            parameter="protocol",
            hint=f"set profile={spec.profiles[0]}, or use {', '.join(others[:-1])} or {others[-1]}",
        )
    for option in PARAMETERS:
        is_set = option.profiles and options.get(option.name, option.default) != option.default
        if is_set and profile not in option.profiles:
            raise ChangefeedError(
                f"profile {profile} has no option {option.name}",
                parameter=option.name,
                hint=f"set profile={option.profiles[0]}",
            )


def check_active_active(options: Mapping[str, Plain], kind: SinkKind) -> None:
    """Reject ``enable-active-active`` where TiCDC does."""
    if not options.get("enable-active-active"):
        return
    consistent: object = options.get("consistent")
    level = consistent.get("level", "none") if isinstance(consistent, Mapping) else "none"
    what = ""
    if kind.has_topics:
        what = "enable-active-active only supports tidb sink and storage sink"
    elif level not in ("none", ""):
        what = "enable-active-active is incompatible with redo logs"
    if what:
        raise ChangefeedError(what, parameter="enable-active-active", hint="leave it out")


def check_integrity(given: Mapping[str, Plain], kind: SinkKind, *, selects: bool) -> None:
    """Reject checksums together with column selectors (``pkg/config/replica_config.go``).

    TiCDC turns checksums off for storages.

    :param given: the options that are set, whether or not the protocol has them.
    :param selects: whether there are column selectors.
    """
    name = "integrity-check-level"
    if kind.has_topics and selects and given.get(name) == "correctness":
        what = "integrity check enabled and column selector set, not allowed"
        raise ChangefeedError(what, parameter=name, hint="leave one of them out")


def check_targets(rules: Sequence[DispatchRule], profile: Plain) -> None:
    """Reject ``target-schema`` and ``target-table`` in classic TiCDC, which does not know the keys."""
    for index, rule in enumerate(rules):
        if rule.has_target and profile != "new":
            key = f"sink.dispatchers[{index}].{'target-schema' if rule.target_schema else 'target-table'}"
            what = f"profile {profile} does not send tables under other names"
            raise ChangefeedError(what, parameter=key, where=key, hint="set profile=new")


def check_selected_targets(dispatchers: Sequence[DispatchRule], *, selects: bool, kind: SinkKind) -> None:
    """Reject column selectors of storages with other names of tables: a reader could not apply them."""
    if kind is SinkKind.STORAGE and selects and any(rule.has_target for rule in dispatchers):
        what = "column selectors of a storage together with target-schema or target-table are not simulated"
        raise ChangefeedError(what, parameter="sink.column-selectors", hint="leave one of them out")


def check_csv_section(section: CSVSection | None) -> None:
    """Check ``[sink.csv]`` of a storage sink, which TiCDC checks under each protocol."""
    if section is None:
        return
    from ticdc_producer.protocols.csv.options import check_separators  # only files of storages need it

    check_separators("," if section.delimiter is None else section.delimiter, section.quote or "")
    method = section.binary_encoding_method
    if method not in (None, "hex", "base64"):
        what = "csv config binary-encoding-method can only be hex or base64"
        raise ChangefeedError(what, parameter="binary-encoding-method")


def check_updated_columns(section: FilterSection, profile: Plain) -> None:
    """Reject ``ignore-update-only-columns`` in classic TiCDC, which does not know the key."""
    for index, rule in enumerate(section.event_filters):
        if rule.ignore_update_only_columns and profile != "new":
            key = f"filter.event-filters[{index}].ignore-update-only-columns"
            what = f"profile {profile} has no option ignore-update-only-columns"
            raise ChangefeedError(what, parameter=key, where=key, hint="set profile=new")
