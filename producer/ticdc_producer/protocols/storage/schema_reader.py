"""Schema files back, so that their checksum can be looked at."""

from __future__ import annotations

import json
from typing import Any

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.tso import MAX_TS
from ticdc_producer.protocols.go_json import STRINGS
from ticdc_producer.protocols.storage.schema_file import MOST_COLUMNS, Members, SchemaFile, array

_REPLACEMENT = "\ufffd".encode()
_NAMES = {
    "Table": str, "Schema": str, "TableVersion": int, "Query": str, "Type": int, "TableColumnsTotal": int,
}  # fmt: skip


def read_schema_file(content: bytes) -> SchemaFile:
    """A schema file.

    :raises DecodeError: if it is none, or its columns are not as many as it says.
    """
    try:
        told = json.loads(content)
    except (ValueError, RecursionError):
        raise _error("JSON") from None
    if not isinstance(told, dict):
        raise _error("a JSON object")
    for name, kind in _NAMES.items():
        value = told.get(name)
        if not isinstance(value, kind) or isinstance(value, bool):
            raise _error(f"{name} as {kind.__name__}")
    columns = told.get("TableColumns") or []
    if not isinstance(columns, list) or len(columns) != told["TableColumnsTotal"]:
        raise _error("as many TableColumns as TableColumnsTotal says")
    if len(columns) > MOST_COLUMNS or not 0 <= told["TableVersion"] <= MAX_TS:
        raise _error(f"up to {MOST_COLUMNS} columns, and a TSO")
    return SchemaFile(
        schema=told["Schema"],
        table=told["Table"],
        version=told["TableVersion"],
        query=told["Query"],
        type=told["Type"],
        columns=tuple(map(_column, columns)),
    )


def _column(told: Any) -> tuple[str, Members]:
    if not isinstance(told, dict) or not isinstance(told.get("ColumnName"), str):
        raise _error("a ColumnName in each of TableColumns")
    if not isinstance(told.get("ColumnType"), str):
        raise _error(f"the ColumnType of {told['ColumnName']!r}")
    members = [(name, _member(value)) for name, value in told.items()]
    if told["ColumnType"].startswith("BIT"):  # whose DEFAULT is bytes, and U+FFFD stands for such a one
        members = [(name, value.replace(_REPLACEMENT, b"\\ufffd")) for name, value in members]
    return told["ColumnName"], members


def _member(value: Any) -> bytes:
    if isinstance(value, list):
        return array([_text(element) for element in value], 3)
    return _text(value)


def _text(value: Any) -> bytes:
    if not isinstance(value, str):
        raise _error("texts in columns")
    try:
        return STRINGS.literal(value)
    except UnicodeEncodeError:
        raise _error("texts of whole characters") from None


def _error(expected: str) -> DecodeError:
    return DecodeError("SCHEMA-FILE", expected, part="value", byte=0)
