"""The golden message files, and the golden events that they encode."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import TypeAlias

from tests.golden_events import GoldenDDL, GoldenEvent, GoldenResolved, GoldenRow, load_events
from tests.new_events import as_new, classic_file, is_new
from tests.protocols.encoding import framed, row_batch
from ticdc_producer.model.event import DDLEvent, Message
from ticdc_producer.model.table import PartitionInfo, TableInfo
from ticdc_producer.protocols.base import Encoder
from ticdc_producer.protocols.encoded_rows import EncodedRows

Compared: TypeAlias = Callable[[str, int], None]
"""The fixture ``compared``: a function that takes a label and the number of compared messages."""


@dataclass(frozen=True)
class GoldenMessage:
    """One line of a message file; ``error`` is TiCDC's error if it rejected the events."""

    events: tuple[int, ...]
    key: bytes | None
    value: bytes | None
    error: str


@cache
def load_messages(path: Path) -> tuple[GoldenMessage, ...]:
    """All lines of a file in order; read once for all tests."""
    return tuple(_message(json.loads(line)) for line in path.read_text("utf-8").splitlines())


def _message(raw: dict[str, object]) -> GoldenMessage:
    events = raw["events"]
    assert isinstance(events, list)
    return GoldenMessage(
        tuple(events), _b64(raw.get("key")), _b64(raw.get("value")), str(raw.get("error", ""))
    )


def _b64(text: object) -> bytes | None:
    return base64.b64decode(text) if isinstance(text, str) else None


@cache
def events_of(messages_file: Path) -> Mapping[int, GoldenEvent]:
    """Golden events by their number, for a message file of any variant."""
    if is_new(messages_file):
        return as_new(messages_file, events_of(classic_file(messages_file)))
    stem = messages_file.name.split(".")[0]
    path = messages_file.with_name(f"{stem}.events.jsonl")
    return {event.seq: event for event in load_events(path) if hasattr(event, "seq")}


def table_of(row: GoldenRow) -> TableInfo:
    partitions = (PartitionInfo(id=row.table_id, name=""),) if row.is_partitioned else ()
    return replace(row.table, partitions=partitions)


def encode_rows(encoder: Encoder, rows: Sequence[GoldenRow]) -> list[EncodedRows]:
    """Encode rows; each run of one table version and operation in one call."""
    encoded = []
    for (table, op), same in groupby(rows, key=lambda row: (table_of(row), row.op)):
        run = list(same)
        batch = row_batch(
            op,
            [row.before or () for row in run],
            [row.after or () for row in run],
            commit_ts=[row.commit_ts for row in run],
            table_id=[row.table_id for row in run],
            row_id=[row.row_id for row in run],
        )
        encoded.append(encoder.rows(table, batch))
    return encoded


def row_messages(encoder: Encoder, rows: Sequence[GoldenRow]) -> list[Message]:
    """The messages of consecutive rows."""
    return framed(encoder, encode_rows(encoder, rows))


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
