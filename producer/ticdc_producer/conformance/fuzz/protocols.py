"""The protocols of random histories, with the options and the legal traps that they may have."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from ticdc_producer.conformance.wire import ProtocolName
from ticdc_producer.faults.catalogue import Trap, catalogue
from ticdc_producer.model.parameter import PROTOCOLS as PROTOCOL_NAMES
from ticdc_producer.protocols.registry import BUILT_IN, fidelity

BASE_OPTIONS: Mapping[ProtocolName, Mapping[str, object]] = {
    name: options for name in PROTOCOL_NAMES if (options := BUILT_IN[name].conformance.histories) is not None
}
"""Options of the changefeeds of random histories, by protocol."""
PROTOCOLS = tuple(BASE_OPTIONS)
"""Protocols of random histories."""
_OF_SOFT_DELETES = ("update-after-delete",)
"""Traps of tables with SOFTDELETE, which random histories do not have."""


def drawn_traps(protocol: ProtocolName) -> list[str]:
    """Return the legal traps that random histories of a protocol may have, in the order of the catalogue."""
    return [name for name, trap in catalogue().items() if _may_have(trap, protocol)]


def _may_have(trap: Trap, protocol: ProtocolName) -> bool:
    supports = {*trap.profiles} & {*BUILT_IN[protocol].profiles}
    if not trap.legal or protocol not in trap.protocols or not supports or trap.id in _OF_SOFT_DELETES:
        return False
    # A trap lists protocols that have resolved events under some options, or never.
    of_resolved = trap.coverage is not None and "resolved" in trap.coverage.needs
    return not of_resolved or _has_resolved(protocol)


@cache
def _has_resolved(protocol: ProtocolName) -> bool:
    options = {name.replace("-", "_"): value for name, value in BASE_OPTIONS[protocol].items()}
    return fidelity(protocol, options).resolved
