"""The golden events of TiCDC's new architecture.

Its event files do not describe tables completely. The table of a row is taken from a classic row of the same
table and transaction.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from tests.golden_events import GOLDEN, GoldenDDL, GoldenResolved, GoldenRow, image_of
from ticdc_producer.model.event import Op

E = TypeVar("E")
_RECORD_KEY_OF_INTEGER = 19  # t, table id, _r, handle


def is_new(path: Path) -> bool:
    """Whether a file is of the new architecture."""
    return path.parent.name == "new"


def classic_file(path: Path) -> Path:
    """The classic file with the same SQL as a file of the new architecture."""
    return GOLDEN / "visible" / path.name.replace(".new-", ".", 1)


def raw_events(path: Path) -> Iterator[dict[str, Any]]:
    """The numbered lines of the event file that belongs to a message file."""
    events = path.with_name(f"{path.name.split('.')[0]}.new-events.jsonl")
    lines = map(json.loads, events.read_text("utf-8").splitlines())
    return (line for line in lines if "seq" in line)


def as_new(path: Path, classic: Mapping[int, E]) -> dict[int, E]:
    """The events of a message file of the new architecture, by number.

    :param classic: the classic events of the same SQL.
    """
    rows = [event for event in classic.values() if isinstance(event, GoldenRow)]
    samples = {(row.commit_ts, row.table.qualified_name, row.table_id): row for row in rows}
    events: dict[int, Any] = {}
    for raw in raw_events(path):
        if raw["kind"] == "row":
            name = f"{raw['schema']}.{raw['table']}"
            events[raw["seq"]] = _row(samples[raw["commit_ts"], name, raw["table_id"]], raw)
        else:
            events[raw["seq"]] = _other(classic[raw["seq"]], raw)
    return events


def _row(sample: GoldenRow, raw: dict[str, Any]) -> GoldenRow:
    return replace(
        sample,
        seq=raw["seq"],
        row_id=_row_id(raw["row_key"]),
        op=Op[raw["row_type"].upper()],
        table=replace(sample.table, profile="new", update_ts=raw["table_update_ts"]),
        before=image_of(raw["before"]),
        after=image_of(raw["after"]),
    )


def _row_id(row_key: str) -> int:
    key = base64.b64decode(row_key)
    return int.from_bytes(key[-8:], "big") - (1 << 63) if len(key) == _RECORD_KEY_OF_INTEGER else 0


def _other(classic: Any, raw: dict[str, Any]) -> Any:
    if isinstance(classic, GoldenResolved):
        assert classic.commit_ts == raw["commit_ts"]
        return classic
    fields = {name: raw[name] for name in ("schema", "table", "query", "ddl_type", "commit_ts")}
    if isinstance(classic, GoldenDDL):
        return replace(classic, **fields)
    assert is_dataclass(classic)  # a DDL with its tables
    return replace(classic, event=msgspec.structs.replace(classic.event, **fields))
