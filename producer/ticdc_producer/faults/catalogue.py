"""The trap catalogue, ``schemas/traps.yaml``; its JSON Schema is generated from these models.

Legal traps are what TiCDC does or may do: a correct consumer handles them, and ``verify`` reports no error.
Illegal traps violate a rule of the stream (docs/stream-semantics.md §11), and ``verify`` must name the
invariant.
"""

from __future__ import annotations

import json
import sys
from functools import cache
from typing import Annotated, Any, Literal, TypeAlias

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator

from ticdc_producer.errors import FaultError, nearest
from ticdc_producer.resources import bundled_dir

Mechanism: TypeAlias = Literal["event", "message", "changefeed", "scenario"]
Protocol: TypeAlias = Literal["open-protocol", "craft", "canal-json", "debezium", "simple"]
EXPECTED_EVENTS = "EXPECTED-EVENTS"
"""The finding of the comparison with the scenario, for traps that violate no other invariant."""

Invariant: TypeAlias = Annotated[str, Field(pattern=r"^(INV-[A-Z]+(-[A-Z]+)*|EXPECTED-EVENTS)$")]
Issue: TypeAlias = Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+#\d+$")]
Text: TypeAlias = Annotated[str, Field(min_length=1)]
_ALL: tuple[Protocol, ...] = ("open-protocol", "craft", "canal-json", "debezium", "simple")


class _StrictModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Trap(_StrictModel):
    """One entry of the catalogue."""

    id: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", description="Name of the trap.")
    summary: Text = Field(description="What happens in the stream.")
    legal: bool = Field(description="Whether TiCDC does this, or may do it.")
    mechanism: Mechanism = Field(
        description="What produces it: event (events are rewritten before they are encoded), message "
        "(encoded messages are changed), changefeed (a changefeed setting) or scenario (the scenario's SQL)."
    )
    protocols: tuple[Protocol, ...] = Field(default=_ALL, description="Protocols in which it can happen.")
    profiles: tuple[Literal["classic", "new"], ...] = Field(
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

    @model_validator(mode="after")
    def _consistent(self) -> Trap:
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
    traps: tuple[Trap, ...] = Field(description="All traps; each id occurs once.")

    @model_validator(mode="after")
    def _ids_differ(self) -> TrapFile:
        ids = [one.id for one in self.traps]
        if duplicates := {name for name in ids if ids.count(name) > 1}:
            raise ValueError(f"duplicate trap id: {', '.join(sorted(duplicates))}")
        return self


@cache
def catalogue() -> dict[str, Trap]:
    """All traps by id, in the order of the file. The dictionary is cached and shared: do not modify it."""
    text = bundled_dir("schemas").joinpath("traps.yaml").read_text(encoding="utf-8")
    return {one.id: one for one in TrapFile.model_validate(yaml.safe_load(text)).traps}


def trap(name: str) -> Trap:
    """Look up a trap by id.

    :raises FaultError: for an unknown id; the hint names the nearest one.
    """
    found = catalogue().get(name)
    if found is None:
        hint = nearest(name, catalogue(), listed="ticdc-producer traps list")
        raise FaultError(f"unknown trap {name!r}", trap=name, hint=hint)
    return found


def catalogue_schema() -> dict[str, Any]:
    """JSON Schema of the catalogue file (draft 7, which editors support)."""
    schema = TrapFile.model_json_schema(ref_template="#/definitions/{model}")
    definitions = schema.pop("$defs")
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Traps of ticdc-producer",
        **_untitled(schema),
        "definitions": _untitled(definitions),
    }


def _untitled(schema: Any) -> Any:
    """Remove the titles that pydantic derives from the keys."""
    if isinstance(schema, list):
        return [_untitled(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _untitled(value)
        for key, value in schema.items()
        if not (key == "title" and isinstance(value, str))
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(catalogue_schema(), indent=2, ensure_ascii=False) + "\n")
