"""Findings of the checks, with the events that show them, as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ticdc_producer.model.column import ColumnFlag
from ticdc_producer.model.event_line import DecodedRow, RowImage

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

    def to_json(self) -> dict[str, object]:
        """Return the reference with its fields as keys."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Example:
    """One example of a violation: the events concerned in stream order, and a description."""

    events: tuple[EventRef, ...]
    detail: str

    def to_json(self) -> dict[str, object]:
        """Return the keys ``events`` and ``detail``."""
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

    def to_json(self) -> dict[str, object]:
        """Return the finding with its fields as keys."""
        return {
            "id": self.id,
            "severity": self.severity,
            "count": self.count,
            "statement": self.statement,
            "hint": self.hint,
            "examples": [example.to_json() for example in self.examples],
        }


_MAX_VALUE, _MAX_QUERY = 40, 120


def readable(value: bytes | None) -> str:
    """Return a value for display: its text, or hex if it is not UTF-8, cut to 40 characters."""
    if value is None:
        return "NULL"
    try:
        text = bytes(value).decode()
    except UnicodeDecodeError:
        text = f"0x{bytes(value).hex().upper()}"
    return text[:_MAX_VALUE]


def readable_pairs(image: Mapping[str, bytes | None]) -> str:
    """Return names and values for display, by name: ``id=3, name=ann``."""
    return ", ".join(f"{name}={readable(image[name])}" for name in sorted(image))


def image_of(
    pairs: RowImage | None,
) -> dict[str, bytes | None]:
    """Return an image as a dict; Arrow represents it as a list of pairs."""
    return dict(pairs or ())


def event_summary(row: DecodedRow) -> str:
    """Return an event in one line: handle key, query, or error code of a message that does not decode."""
    if row["kind"] == "ddl":
        return str(row["query"] or "")[:_MAX_QUERY]
    if row["kind"] != "row":
        return str(row.get("error") or "")
    image = image_of(row["before"] if row["op"] == "delete" else row["after"])
    handle = [column["name"] for column in row["columns"] or () if column["flag"] & ColumnFlag.HANDLE_KEY]
    return readable_pairs({name: image.get(name) for name in handle})
