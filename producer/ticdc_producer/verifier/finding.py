"""Findings of the checks, with the events that show them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Severity: TypeAlias = Literal["error", "warning", "info", "not checked"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRef:
    """One event and its location.

    :param offset: Kafka offset of its message; None for an expected event that was not delivered.
    :param index: index of the event in its message.
    :param text: handle key of a row, query of a DDL, error code of a message that does not decode.
    """

    topic: str
    partition: int
    offset: int | None
    index: int | None
    kind: str
    commit_ts: int | None
    schema: str
    table: str
    op: str
    text: str

    @property
    def location(self) -> str:
        """``topic/partition@offset[index]``."""
        where = f"{self.topic}/{self.partition}"
        return where if self.offset is None else f"{where}@{self.offset}[{self.index}]"

    def __str__(self) -> str:
        name = ".".join(part for part in (self.schema, self.table) if part)
        words = (
            self.op or self.kind,
            name,
            self.text,
            "" if self.commit_ts is None else f"ts={self.commit_ts}",
        )
        return f"{self.location} {' '.join(word for word in words if word)}"

    def to_json(self) -> dict[str, Any]:
        """The reference with its fields as keys."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Example:
    """One example of a violation: the events concerned in stream order, and a description."""

    events: tuple[EventRef, ...]
    detail: str

    def to_json(self) -> dict[str, Any]:
        """Keys ``events`` and ``detail``."""
        return {"events": [event.to_json() for event in self.events], "detail": self.detail}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One invariant that does not hold at one severity, or that could not be checked.

    :param count: violations in the whole stream; for ``not checked`` the rows concerned, 0 for all.
    :param statement: the invariant, as a sentence.
    :param hint: usual cause of a violation, or the reason why nothing was checked.
    """

    id: str
    severity: Severity
    count: int
    statement: str
    hint: str
    examples: tuple[Example, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The finding with its fields as keys."""
        return {
            "id": self.id,
            "severity": self.severity,
            "count": self.count,
            "statement": self.statement,
            "hint": self.hint,
            "examples": [example.to_json() for example in self.examples],
        }
