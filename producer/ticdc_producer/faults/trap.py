"""The base classes of traps: each trap is one class that describes it in the catalogue.

Traps of this package (``faults.traps``) and of other packages (entry points of the group
``ticdc_producer.traps``) are subclasses of the same classes, see docs/extending/trap.md. How a trap changes a
stream depends on its kind: ``faults.event_traps``, ``faults.illegal_event``, ``faults.message_traps``.

Legal traps are situations that TiCDC may cause: a correct consumer handles them, and ``verify`` reports no
error.
Illegal traps violate a rule of the stream (docs/stream-semantics.md §11), and ``verify`` must name the
invariant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ticdc_producer.model.parameter import PROTOCOLS, Protocol
from ticdc_producer.model.trap_coverage import CoverageRule

Mechanism: TypeAlias = Literal["event", "message", "changefeed", "scenario"]
Profile: TypeAlias = Literal["classic", "new"]
Measure: TypeAlias = Literal["rate", "times"]
Effect: TypeAlias = Literal["idle partitions", "key updates", "large rows"]
"""What a setting of the changefeed causes in a stream, as a run counts it."""

EXPECTED_EVENTS = "EXPECTED-EVENTS"
"""The finding of the comparison with the scenario, for traps that violate no other invariant."""


class Trap:
    """A trap. A subclass with an ``id`` is an entry of the catalogue, which checks its attributes.

    The attributes are described in ``faults.trap.TrapEntry``; those that are not published:

    :cvar measures: the settings of its frequency, the default first; empty: it has none.
    :cvar occurrence: the unit that ``rate`` is a ratio of and that ``times`` counts.
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
    changefeed_settings: ClassVar[Mapping[str, object]] = MappingProxyType({})
    requires: ClassVar[str] = ""
    consumer_action: ClassVar[str]
    kafka_consumer: ClassVar[str] = ""

    measures: ClassVar[tuple[Measure, ...]] = ()
    occurrence: ClassVar[str] = ""
    default_rate: ClassVar[float | None] = None
    coverage: ClassVar[CoverageRule | None] = None


class ScenarioTrap(Trap):
    """A trap that the SQL of a scenario produces."""

    mechanism = "scenario"


class ChangefeedTrap(Trap):
    """A trap that ``changefeed_settings`` produces; an injected one sets them.

    :cvar effect: what its occurrences are; None: they are not counted.
    """

    effect: ClassVar[Effect | None] = None

    mechanism = "changefeed"
    occurrence = "the whole stream: the changefeed's settings produce it"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrapSetting:
    """The frequency of a trap; with neither ``rate`` nor ``times``, the trap's default.

    :param rate: share of the possible positions.
    :param times: number of faults.
    :param window: length of a segment, in commits.
    """

    rate: float | None = None
    times: int | None = None
    window: int | None = None


Invariant: TypeAlias = Annotated[str, Field(pattern=r"^(INV-[A-Z]+(-[A-Z]+)*|EXPECTED-EVENTS)$")]
Issue: TypeAlias = Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+#\d+$")]
Text: TypeAlias = Annotated[str, Field(min_length=1)]


class _StrictModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class TrapEntry(_StrictModel):
    """One entry of the catalogue."""

    id: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", description="Name of the trap.")
    summary: Text = Field(description="What happens in the stream.")
    legal: bool = Field(description="Whether TiCDC does this, or may do it.")
    mechanism: Mechanism = Field(
        description="What produces it: event (events are rewritten before they are encoded), message "
        "(encoded messages are changed), changefeed (a changefeed setting) or scenario (the scenario's SQL)."
    )
    protocols: tuple[Protocol, ...] = Field(
        default=PROTOCOLS, min_length=1, description="Protocols in which it can happen."
    )
    profiles: tuple[Profile, ...] = Field(
        default=("classic", "new"), description="Profiles (TiCDC programs) in which it can happen."
    )
    issues: tuple[Issue, ...] = Field(default=(), description="Public issues of users who were affected.")
    violates: tuple[Invariant, ...] = Field(
        default=(),
        description="Only for illegal traps: the invariants that report it, wherever they can be checked.",
    )
    may_report: tuple[Invariant, ...] = Field(
        default=(),
        description="Further invariants that may report it; for a legal trap never as an error.",
    )
    changefeed_settings: dict[str, object] = Field(
        default_factory=dict,
        description="Only for traps of the mechanism changefeed: keys of the changefeed file, dotted.",
    )
    requires: str = Field(default="", description="What the stream must contain for it to happen.")
    consumer_action: Text = Field(description="What a correct consumer does.")
    kafka_consumer: str = Field(
        default="",
        description="What TiCDC's own kafka-consumer does, in trials with a database.",
    )

    @classmethod
    def of(cls, trap: Trap) -> TrapEntry:
        """Return the entry of a trap.

        :raises pydantic.ValidationError: if an attribute is missing, or attributes contradict each other.
        """
        given = {name: getattr(trap, name) for name in cls.model_fields if hasattr(trap, name)}
        return cls.model_validate({**given, "changefeed_settings": dict(trap.changefeed_settings)})

    @model_validator(mode="after")
    def _consistent(self) -> TrapEntry:
        if self.legal == bool(self.violates):
            raise ValueError(f"{self.id}: illegal traps need `violates`, legal traps must not have it")
        if (self.mechanism == "changefeed") != bool(self.changefeed_settings):
            raise ValueError(
                f"{self.id}: `changefeed_settings` is required for the mechanism changefeed, and only for it"
            )
        return self


class TrapFile(_StrictModel):
    """The catalogue as a file."""

    version: Literal[1] = Field(description="Version of the file format.")
    traps: tuple[TrapEntry, ...] = Field(description="All traps; each id occurs once.")

    @model_validator(mode="after")
    def _ids_differ(self) -> TrapFile:
        ids = [trap.id for trap in self.traps]
        if duplicates := {name for name in ids if ids.count(name) > 1}:
            raise ValueError(f"duplicate trap id: {', '.join(sorted(duplicates))}")
        return self
