"""Decodes one record to rows of the shape ``DECODED``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.event import DDLEvent, Event, EventColumn, ResolvedEvent, RowEvent
from ticdc_producer.model.record import MAX_EVENTS
from ticdc_producer.protocols.base import Decoder


def event_rows(record: Mapping[str, Any], decoder: Decoder) -> list[dict[str, Any]]:
    """The events of one record, in order, without the columns that do not apply to an event's kind.

    If the record does not decode, the last row has the kind ``error``.

    :param record: ``topic, partition, offset, key, value``.
    """
    common = {name: record[name] for name in ("topic", "partition", "offset")}
    common["size"] = len(record["key"] or b"") + len(record["value"] or b"")
    rows: list[dict[str, Any]] = []
    try:
        for event in decoder.events(record["key"], record["value"]):
            if len(rows) == MAX_EVENTS - 1:
                raise DecodeError("EVENTS-MANY", f"less than {MAX_EVENTS} events", part="value", byte=0)
            rows.append({**common, "index": len(rows), **_fields(event)})
    except DecodeError as error:
        rows.append({**common, "index": len(rows), **_error_fields(error)})
    for row in rows:
        row["events"] = len(rows)
    return rows


def _fields(event: Event) -> dict[str, Any]:
    match event:
        case RowEvent():
            return {
                "kind": "row",
                "commit_ts": event.commit_ts,
                "schema": event.schema,
                "table": event.table,
                "table_id": event.table_id,
                "op": event.op.label,
                "columns": _described(event.columns),
                "before": event.before,
                "after": event.after,
                "handle_key_only": int(event.handle_key_only),
            }
        case DDLEvent():
            return {
                "kind": "ddl",
                "commit_ts": event.commit_ts,
                "schema": event.schema,
                "table": event.table,
                "query": event.query,
                "ddl_type": event.ddl_type,
            }
        case ResolvedEvent():
            return {"kind": "resolved", "commit_ts": event.commit_ts}


@lru_cache(maxsize=256)
def _described(columns: tuple[EventColumn, ...]) -> list[dict[str, Any]]:
    """Column descriptions, created once for all rows of a table. Do not modify the result."""
    return [{"name": column.name, "type": column.type, "flag": column.flag} for column in columns]


def _error_fields(error: DecodeError) -> dict[str, Any]:
    return {
        "kind": "error",
        "error": error.code,
        "error_byte": error.byte,
        "error_expected": f"{error.expected} ({error.part})",
    }
