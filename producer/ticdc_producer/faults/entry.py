"""The published form of a trap, ``schemas/traps.yaml``; its JSON Schema is generated from these models.

Legal traps are what TiCDC does or may do: a correct consumer handles them, and ``verify`` reports no error.
Illegal traps violate a rule of the stream (docs/stream-semantics.md §11), and ``verify`` must name the
invariant.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ticdc_producer.faults.trap import Mechanism, Profile, Trap
from ticdc_producer.model.protocol_names import PROTOCOLS, Protocol

Invariant: TypeAlias = Annotated[str, Field(pattern=r"^(INV-[A-Z]+(-[A-Z]+)*|EXPECTED-EVENTS)$")]
Issue: TypeAlias = Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+#\d+$")]
Text: TypeAlias = Annotated[str, Field(min_length=1)]


class _StrictModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


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
    changefeed_settings: dict[str, Any] = Field(
        default_factory=dict,
        description="Only for traps of the mechanism changefeed: keys of the changefeed file, dotted.",
    )
    requires: str = Field(default="", description="What the stream must contain for it to happen.")
    consumer_action: Text = Field(description="What a correct consumer does.")
    kafka_consumer: str = Field(
        default="",
        description="What TiCDC's own kafka-consumer does, as far as it was tried with a database behind it.",
    )

    @classmethod
    def of(cls, trap: Trap) -> TrapEntry:
        """The entry of a trap.

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
        ids = [one.id for one in self.traps]
        if duplicates := {name for name in ids if ids.count(name) > 1}:
            raise ValueError(f"duplicate trap id: {', '.join(sorted(duplicates))}")
        return self
