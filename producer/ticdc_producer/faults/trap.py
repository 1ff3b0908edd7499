"""A trap is one class: what happens, who does it, how it is injected, who finds it, when a stream has it.

Traps of this package (``faults.traps``) and of other packages (entry points of the group
``ticdc_producer.traps``) are subclasses of the same classes, see docs/extending/trap.md. How a trap changes a
stream depends on its kind: ``faults.event_traps``, ``faults.illegal_event``, ``faults.message_traps``.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Literal, TypeAlias

from ticdc_producer.model.protocol_names import PROTOCOLS, Protocol
from ticdc_producer.model.trap_coverage import CoverageRule

Mechanism: TypeAlias = Literal["event", "message", "changefeed", "scenario"]
Profile: TypeAlias = Literal["classic", "new"]
Measure: TypeAlias = Literal["rate", "times"]

EXPECTED_EVENTS = "EXPECTED-EVENTS"
"""The finding of the comparison with the scenario, for traps that violate no other invariant."""


class Trap:
    """A trap. A subclass with an ``id`` is an entry of the catalogue, which checks its attributes.

    The attributes are described in ``faults.entry.TrapEntry``; those that are not published:

    :cvar measures: how it is set how often the trap occurs, the default first; empty: not at all.
    :cvar occurrence: what ``rate`` is a ratio of, and what ``times`` counts.
    :cvar default_rate: the rate of a trap that is not set by number.
    :cvar coverage: when a stream exercises it; None for illegal traps, which ``verify`` finds.
    """

    id: ClassVar[str] = ""
    summary: ClassVar[str]
    legal: ClassVar[bool] = True
    mechanism: ClassVar[Mechanism]
    protocols: ClassVar[tuple[Protocol, ...]] = PROTOCOLS
    profiles: ClassVar[tuple[Profile, ...]] = ("classic", "new")
    issues: ClassVar[tuple[str, ...]] = ()
    violates: ClassVar[tuple[str, ...]] = ()
    may_report: ClassVar[tuple[str, ...]] = ()
    changefeed_settings: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    requires: ClassVar[str] = ""
    consumer_action: ClassVar[str]
    kafka_consumer: ClassVar[str] = ""

    measures: ClassVar[tuple[Measure, ...]] = ()
    occurrence: ClassVar[str] = ""
    default_rate: ClassVar[float | None] = None
    coverage: ClassVar[CoverageRule | None] = None


class ScenarioTrap(Trap):
    """Produced by the SQL of a scenario."""

    mechanism = "scenario"


class ChangefeedTrap(Trap):
    """Produced by ``changefeed_settings``, which an injected trap sets."""

    mechanism = "changefeed"
    occurrence = "the whole stream: the changefeed's settings produce it"
