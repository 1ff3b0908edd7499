"""Messages to decoded events: record by record, or as a DataFrame."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

from producer.codec import registry
from producer.codec.base import Decoder
from producer.codec.registry import Options
from producer.errors import DecodeError
from producer.model.event import DDLEvent, Event, ResolvedEvent, RowEvent
from producer.model.shapes import DECODED

_IMAGE = pa.map_(pa.string(), pa.binary())
_COLUMNS = pa.list_(pa.struct([("name", pa.string()), ("type", pa.string()), ("flag", pa.int32())]))
_ARROW = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("index", pa.int32()),
        ("events", pa.int32()),
        ("size", pa.int64()),
        ("kind", pa.string()),
        ("commit_ts", pa.int64()),
        ("schema", pa.string()),
        ("table", pa.string()),
        ("table_id", pa.int64()),
        ("op", pa.string()),
        ("columns", _COLUMNS),
        ("before", _IMAGE),
        ("after", _IMAGE),
        ("handle_key_only", pa.int8()),
        ("query", pa.string()),
        ("ddl_type", pa.int32()),
        ("error", pa.string()),
        ("error_byte", pa.int64()),
        ("error_expected", pa.string()),
    ]
)
_CHUNK = 1024


def decoded(messages: DataFrame, protocol: str, options: Options) -> DataFrame:
    """The events of a DataFrame of messages (shape ``DECODED``).

    A message that does not decode is one row of kind ``error``, after the events that did.
    """

    def decode(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        decoder = registry.decoder(protocol, options)
        for batch in batches:
            for start in range(0, batch.num_rows, _CHUNK):
                records = batch.slice(start, _CHUNK).to_pylist()
                rows = [row for record in records for row in _rows(record, decoder)]
                yield pa.RecordBatch.from_pylist(rows, schema=_ARROW)

    needed = messages.select("topic", "partition", "offset", "key", "value")
    return needed.mapInArrow(decode, DECODED)


def _rows(record: dict[str, Any], decoder: Decoder) -> list[dict[str, Any]]:
    place = {name: record[name] for name in ("topic", "partition", "offset")}
    place["size"] = len(record["key"] or b"") + len(record["value"] or b"")
    rows: list[dict[str, Any]] = []
    try:
        for event in decoder.events(record["key"], record["value"]):
            rows.append({**place, "index": len(rows), **_fields(event)})
    except DecodeError as error:
        rows.append({**place, "index": len(rows), **_error_fields(error)})
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
                "op": event.op.word,
                "columns": [{"name": c.name, "type": c.type, "flag": c.flag} for c in event.columns],
                "before": None if event.before is None else list(event.before.items()),
                "after": None if event.after is None else list(event.after.items()),
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


def _error_fields(error: DecodeError) -> dict[str, Any]:
    return {
        "kind": "error",
        "error": error.code,
        "error_byte": error.byte,
        "error_expected": f"{error.expected} ({error.part})",
    }
