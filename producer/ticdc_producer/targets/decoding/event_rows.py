"""Decodes one record to rows of the shape ``DECODED``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.event import MAX_EVENTS, DDLEvent, Event, EventColumn, RowEvent
from ticdc_producer.protocols.base import Decoder

COLUMNS = (
    "topic", "partition", "offset", "index", "events", "size", "kind", "commit_ts", "schema", "table",
    "table_id", "op", "columns", "before", "after", "handle_key_only", "query", "ddl_type", "error",
    "error_byte", "error_expected",
)  # fmt: skip
"""The columns of the shape ``DECODED``, which needs Arrow."""
_NOTHING: Mapping[str, Any] = dict.fromkeys(COLUMNS)


def event_rows(record: Mapping[str, Any], decoder: Decoder) -> list[dict[str, Any]]:
    """The events of one record, in order, with all columns in the order of ``COLUMNS``.

    If the record does not decode, the last row has the kind ``error``.

    :param record: ``topic, partition, offset, key, value``.
    """
    message = {**_NOTHING, **{name: record[name] for name in ("topic", "partition", "offset")}}
    message["size"] = len(record["key"] or b"") + len(record["value"] or b"")
    rows: list[dict[str, Any]] = []
    try:
        for event in decoder.events(record["key"], record["value"]):
            if len(rows) == MAX_EVENTS - 1:
                raise DecodeError("EVENTS-MANY", f"less than {MAX_EVENTS} events", part="value", byte=0)
            rows.append(_with_event(message.copy(), event))
    except DecodeError as error:
        rows.append(_with_error(message.copy(), error))
    for index, row in enumerate(rows):
        row["index"] = index
        row["events"] = len(rows)
    return rows


def _with_event(row: dict[str, Any], event: Event) -> dict[str, Any]:
    row["commit_ts"] = event.commit_ts
    if isinstance(event, RowEvent):
        row["kind"] = "row"
        row["schema"] = event.schema
        row["table"] = event.table
        row["table_id"] = event.table_id
        row["op"] = event.op.label
        row["columns"] = _described(event.columns)
        row["before"] = event.before
        row["after"] = event.after
        row["handle_key_only"] = int(event.handle_key_only)
    elif isinstance(event, DDLEvent):
        row["kind"] = "ddl"
        row["schema"] = event.schema
        row["table"] = event.table
        row["query"] = event.query
        row["ddl_type"] = event.ddl_type
    else:
        row["kind"] = "resolved"
    return row


@lru_cache(maxsize=256)
def _described(columns: tuple[EventColumn, ...]) -> list[dict[str, Any]]:
    """Column descriptions, created once for all rows of a table. Do not modify the result."""
    return [{"name": column.name, "type": column.type, "flag": column.flag} for column in columns]


def _with_error(row: dict[str, Any], error: DecodeError) -> dict[str, Any]:
    row["kind"] = "error"
    row["error"] = error.code
    row["error_byte"] = error.byte
    row["error_expected"] = f"{error.expected} ({error.part})"
    return row
