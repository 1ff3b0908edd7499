"""The trap catalogue, ``schemas/traps.yaml``; its JSON Schema is generated from these models.

Legal traps are what TiCDC does or may do, so a right consumer copes with them and ``verify`` reports no
error. Illegal ones break a rule of the stream (stream-semantics §11), so ``verify`` must name it.
"""

from __future__ import annotations

import json
import sys
from functools import cache
from typing import Annotated, Any, Literal, TypeAlias

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator

from ticdc_producer.errors import FaultError, nearest
from ticdc_producer.resources import shipped_folder

Means: TypeAlias = Literal["event", "message", "changefeed", "scenario"]
Protocol: TypeAlias = Literal["open-protocol", "craft", "canal-json", "debezium", "simple"]
EXPECTED_EVENTS = "EXPECTED-EVENTS"
"""What finds a trap that breaks no rule of its own: the comparison with the scenario."""

Invariant: TypeAlias = Annotated[str, Field(pattern=r"^(INV-[A-Z]+(-[A-Z]+)*|EXPECTED-EVENTS)$")]
Issue: TypeAlias = Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+#\d+$")]
Sentence: TypeAlias = Annotated[str, Field(min_length=1)]
_ALL: tuple[Protocol, ...] = ("open-protocol", "craft", "canal-json", "debezium", "simple")


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Trap(_Part):
    """One trap: what happens, where, and who has to notice."""

    id: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", description="Name of the trap.")
    sentence: Sentence = Field(description="What happens.")
    legal: bool = Field(description="Whether TiCDC does this, or may do it.")
    means: Means = Field(
        description="How it comes about: event (events are rewritten before they are encoded), message "
        "(encoded messages are), changefeed (a setting does it) or scenario (the SQL does it)."
    )
    protocols: tuple[Protocol, ...] = Field(default=_ALL, description="Protocols in which it can happen.")
    profiles: tuple[Literal["classic", "new"], ...] = Field(
        default=("classic", "new"), description="Programs that do it, or whose rules it breaks."
    )
    issues: tuple[Issue, ...] = Field(default=(), description="Public issues in which users met it.")
    breaks: tuple[Invariant, ...] = Field(
        default=(),
        description="Of an illegal trap: the invariants that name it, wherever they can be checked.",
    )
    also: tuple[Invariant, ...] = Field(
        default=(),
        description="Further invariants that may speak of it; of a legal trap never as an error.",
    )
    sets: dict[str, Any] = Field(
        default_factory=dict, description="Of a changefeed trap: the keys of the changefeed file, dotted."
    )
    needs: str = Field(default="", description="What the stream must have for it to happen.")
    copes: Sentence = Field(description="What a right consumer does.")

    @model_validator(mode="after")
    def _consistent(self) -> Trap:
        if self.legal == bool(self.breaks):
            raise ValueError(f"{self.id}: an illegal trap breaks something, a legal one nothing")
        if (self.means == "changefeed") != bool(self.sets):
            raise ValueError(f"{self.id}: sets is what a changefeed trap has, and no other")
        return self


class TrapFile(_Part):
    """The catalogue as a file."""

    version: Literal[1] = Field(description="Version of this form.")
    traps: tuple[Trap, ...] = Field(description="Every trap, each id once.")

    @model_validator(mode="after")
    def _ids_differ(self) -> TrapFile:
        ids = [one.id for one in self.traps]
        if twice := {name for name in ids if ids.count(name) > 1}:
            raise ValueError(f"more than one trap is called {', '.join(sorted(twice))}")
        return self


@cache
def catalogue() -> dict[str, Trap]:
    """Every trap by its id, in the order of the file. The dictionary is shared: do not change it."""
    text = shipped_folder("schemas").joinpath("traps.yaml").read_text(encoding="utf-8")
    return {one.id: one for one in TrapFile.model_validate(yaml.safe_load(text)).traps}


def trap(name: str) -> Trap:
    """The trap of that id.

    :raises FaultError: if there is none; the hint has the nearest id.
    """
    found = catalogue().get(name)
    if found is None:
        hint = nearest(name, catalogue(), listed="ticdc-producer traps list")
        raise FaultError(f"unknown trap {name!r}", trap=name, hint=hint)
    return found


def catalogue_schema() -> dict[str, Any]:
    """JSON Schema (draft 7, which editors read) of the catalogue's file."""
    schema = TrapFile.model_json_schema(ref_template="#/definitions/{model}")
    definitions = schema.pop("$defs")
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Traps of ticdc-producer",
        **_untitled(schema),
        "definitions": _untitled(definitions),
    }


def _untitled(schema: Any) -> Any:
    """Without the titles that only repeat the keys."""
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
