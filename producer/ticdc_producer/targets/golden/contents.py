"""The files of a small golden folder as bytes (``docs/design.md#commands-and-files``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ticdc_producer.model.json_value import json_line, to_json
from ticdc_producer.model.table import TableInfo


def lines(objects: Iterable[Mapping[str, Any]]) -> bytes:
    """A ``.jsonl`` file: one object per line."""
    return "".join(json_line(one) + "\n" for one in objects).encode()


def schema_lines(schemas: Mapping[int, str]) -> bytes:
    """``schemas.jsonl``, the Avro schemas.

    :param schemas: by the schema id in the messages.
    """
    return lines({"id": number, "schema": schema} for number, schema in sorted(schemas.items()))


def state_lines(table: TableInfo, rows: Iterable[tuple[bytes | None, ...]]) -> bytes:
    """The rows of a table, one object of columns and values each."""
    names = [column.name for column in table.sent_columns]
    return lines(dict(zip(names, map(to_json, row), strict=True)) for row in rows)
