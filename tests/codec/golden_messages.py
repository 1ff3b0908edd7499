"""The golden message files, and the golden events that went into them."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from producer.codec.base import EncodedRow, Encoder, RowBatch
from producer.model.event import DDLEvent, Message, Op
from producer.model.table import PartitionInfo, TableInfo
from tests.golden_events import GoldenDDL, GoldenEvent, GoldenResolved, GoldenRow, load_events
from tests.new_events import as_new, classic_file, is_new

Compared: TypeAlias = Callable[[str, int], None]
"""What the fixture ``compared`` gives: it takes what was compared, and how many messages."""


@dataclass(frozen=True)
class GoldenMessage:
    """One line of a message file; ``error`` is TiCDC's own where it refused the events."""

    events: tuple[int, ...]
    key: bytes | None
    value: bytes | None
    error: str


def load_messages(path: Path) -> list[GoldenMessage]:
    return [_message(json.loads(line)) for line in path.read_text("utf-8").splitlines()]


def _message(raw: dict[str, object]) -> GoldenMessage:
    events = raw["events"]
    assert isinstance(events, list)
    return GoldenMessage(
        tuple(events), _b64(raw.get("key")), _b64(raw.get("value")), str(raw.get("error", ""))
    )


def _b64(text: object) -> bytes | None:
    return base64.b64decode(text) if isinstance(text, str) else None


def events_of(messages_file: Path) -> dict[int, GoldenEvent]:
    """Golden events by their number, for a message file of whatever variant."""
    if is_new(messages_file):
        return as_new(messages_file, events_of(classic_file(messages_file)))
    stem = messages_file.name.split(".")[0]
    path = messages_file.with_name(f"{stem}.events.jsonl")
    return {event.seq: event for event in load_events(path) if hasattr(event, "seq")}


def table_of(row: GoldenRow) -> TableInfo:
    partitions = (PartitionInfo(id=row.table_id, name=""),) if row.is_partitioned else ()
    return replace(row.table, partitions=partitions)


def batch_of(rows: Sequence[GoldenRow]) -> RowBatch:
    """Rows of one table version, as the columns that an encoder takes."""
    return RowBatch(
        op=[row.op for row in rows],
        commit_ts=[row.commit_ts for row in rows],
        table_id=[row.table_id for row in rows],
        row_id=[row.row_id for row in rows],
        before=_columns([row.before for row in rows if row.op != Op.INSERT], rows[0]),
        after=_columns([row.after for row in rows if row.op != Op.DELETE], rows[0]),
    )


def _columns(images: Sequence[object], row: GoldenRow) -> list[list[bytes | None]]:
    width = len(row.table.sent)
    return [[image[place] for image in images] for place in range(width)]  # type: ignore[index]


def encode_rows(encoder: Encoder, rows: Sequence[GoldenRow]) -> list[EncodedRow]:
    """All rows, each run of one table version in one call."""
    encoded: list[EncodedRow] = []
    for table, run in _runs(rows):
        encoded += encoder.rows(table, batch_of(run))
    return encoded


def _runs(rows: Sequence[GoldenRow]) -> Iterator[tuple[TableInfo, list[GoldenRow]]]:
    run: list[GoldenRow] = []
    for row in rows:
        if run and table_of(run[-1]) != table_of(row):
            yield table_of(run[0]), run
            run = []
        run.append(row)
    if run:
        yield table_of(run[0]), run


def encode_other(encoder: Encoder, event: GoldenDDL | GoldenResolved) -> Message | None:
    if isinstance(event, GoldenResolved):
        return encoder.resolved(event.commit_ts)
    return encoder.ddl(
        DDLEvent(
            commit_ts=event.commit_ts,
            schema=event.schema,
            table=event.table,
            query=event.query,
            ddl_type=event.ddl_type,
        )
    )
