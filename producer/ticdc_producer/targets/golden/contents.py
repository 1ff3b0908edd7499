"""The files of a small golden folder as bytes (``docs/design.md#commands-and-files``)."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from ticdc_producer.model.event_line import event_line
from ticdc_producer.model.json_value import json_line, to_json
from ticdc_producer.model.table import TableInfo


def lines(objects: Iterable[Mapping[str, Any]]) -> bytes:
    """A ``.jsonl`` file: one object per line."""
    return "".join(json_line(one) + "\n" for one in objects).encode()


def message_lines(messages: pa.Table) -> bytes:
    """``messages.jsonl``.

    :param messages: shape ``MESSAGES``, in order.
    """
    return lines(map(message_line, messages.to_pylist()))


def event_lines(events: pa.Table) -> bytes:
    """``events.jsonl``, the expected decode.

    :param events: shape ``EXPECTED_EVENTS``, in order.
    """
    return lines(map(event_line, events.to_pylist()))


def schema_lines(schemas: Mapping[int, str]) -> bytes:
    """``schemas.jsonl``, the Avro schemas.

    :param schemas: by the schema id in the messages.
    """
    return lines({"id": number, "schema": schema} for number, schema in sorted(schemas.items()))


def state_lines(table: TableInfo, rows: Iterable[tuple[bytes | None, ...]]) -> bytes:
    """The rows of a table, one object of columns and values each."""
    names = [column.name for column in table.sent_columns]
    return lines(dict(zip(names, map(to_json, row), strict=True)) for row in rows)


def message_line(row: Mapping[str, Any]) -> dict[str, Any]:
    """A line of ``messages.jsonl``.

    :param row: a message with the fields of the shape ``MESSAGES``.
    """
    return {
        "topic": row["topic"],
        "partition": row["partition"],
        "offset": row["offset"],
        "type": row["type"],
        "key": _base64(row["key"]),
        "value": _base64(row["value"]),
        "timestamp": row["timestamp"],
        "headers": [[header["key"], _base64(header["value"])] for header in row["headers"] or ()],
    }


def _base64(data: bytes | None) -> str | None:
    return None if data is None else b64encode(data).decode("ascii")
