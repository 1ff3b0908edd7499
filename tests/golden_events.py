"""The golden ``*.events.jsonl`` as typed objects: the events that real TiCDC passed to its encoders.

Values are canonical text (docs/design.md#values), so that a test can pass them to a stage or an
encoder and compare the result with the golden messages.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from ticdc_producer.bench.batches import Image, image_of, recorded_row
from ticdc_producer.bench.batches import RecordedRow as GoldenRow

GOLDEN = Path(__file__).parent / "golden"
NOW_OF_GOLDEN = "session.now=2021-12-20T13:30:49Z"
"""Setting of a scenario: the result of NOW() while the golden files were recorded."""
__all__ = ["GOLDEN", "NOW_OF_GOLDEN", "GoldenRow", "Image", "image_of"]


@dataclass(frozen=True, kw_only=True)
class GoldenDDL:
    """A DDL event; ``query`` is the text that is sent, ``query_job`` the text that the user typed."""

    seq: int
    commit_ts: int
    schema: str
    table: str
    query: str
    ddl_type: int
    query_job: str


@dataclass(frozen=True, kw_only=True)
class GoldenResolved:
    seq: int
    commit_ts: int


@dataclass(frozen=True, kw_only=True)
class GoldenLeftOut:
    """An event that TiCDC did not send: a discarded DDL, rows of an ineligible table, a rejected DDL."""

    kind: str
    commit_ts: int
    schema: str
    table: str
    reason: str


GoldenEvent: TypeAlias = GoldenRow | GoldenDDL | GoldenResolved | GoldenLeftOut


def event_files() -> list[Path]:
    """All event files in ``visible`` and ``fuzz``."""
    return sorted(path for part in ("visible", "fuzz") for path in (GOLDEN / part).glob("*.events.jsonl"))


@cache
def load_events(path: Path) -> tuple[GoldenEvent, ...]:
    """All lines of a file in order; read once for all tests."""
    with path.open(encoding="utf-8") as lines:
        return tuple(_event(json.loads(line)) for line in lines)


def load_rows(path: Path) -> Iterator[GoldenRow]:
    """The row events of a file."""
    return (event for event in load_events(path) if isinstance(event, GoldenRow))


def _event(raw: dict[str, Any]) -> GoldenEvent:
    match raw["kind"]:
        case "row":
            return recorded_row(raw)
        case "resolved":
            return GoldenResolved(seq=raw["seq"], commit_ts=raw["commit_ts"])
        case "ddl":
            fields = ("seq", "commit_ts", "schema", "table", "query", "ddl_type", "query_job")
            return GoldenDDL(**{field: raw[field] for field in fields})
    return GoldenLeftOut(
        kind=raw["kind"],
        commit_ts=raw["commit_ts"],
        schema=raw.get("schema", ""),
        table=raw.get("table", ""),
        reason=raw.get("reason", ""),
    )
