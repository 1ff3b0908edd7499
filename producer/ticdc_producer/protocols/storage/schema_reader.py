"""Parses schema files, so that their checksum can be verified."""

from __future__ import annotations

import json
from typing import Any

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.tso import MAX_TS
from ticdc_producer.protocols.go_json import STRINGS
from ticdc_producer.protocols.storage.schema_file import MAX_COLUMNS, Members, SchemaFile, array

_REPLACEMENT = "\ufffd".encode()
_NAMES = {
    "Table": str, "Schema": str, "TableVersion": int, "Query": str, "Type": int, "TableColumnsTotal": int,
}  # fmt: skip


def read_schema_file(content: bytes) -> SchemaFile:
    """Parse a schema file.

    :raises DecodeError: if this is not a schema file, or ``TableColumnsTotal`` is wrong.
    """
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        raise _error("JSON") from None
    if not isinstance(document, dict):
        raise _error("a JSON object")
    for name, kind in _NAMES.items():
        value = document.get(name)
        if not isinstance(value, kind) or isinstance(value, bool):
            raise _error(f"{name} as {kind.__name__}")
    columns = document.get("TableColumns") or []
    if not isinstance(columns, list) or len(columns) != document["TableColumnsTotal"]:
        raise _error("as many TableColumns as TableColumnsTotal says")
    if len(columns) > MAX_COLUMNS or not 0 <= document["TableVersion"] <= MAX_TS:
        raise _error(f"up to {MAX_COLUMNS} columns, and a TSO")
    return SchemaFile(
        schema=document["Schema"],
        table=document["Table"],
        version=document["TableVersion"],
        query=document["Query"],
        type=document["Type"],
        columns=tuple(map(_column, columns)),
    )


def _column(column: Any) -> tuple[str, Members]:
    if not isinstance(column, dict) or not isinstance(column.get("ColumnName"), str):
        raise _error("a ColumnName in each of TableColumns")
    if not isinstance(column.get("ColumnType"), str):
        raise _error(f"the ColumnType of {column['ColumnName']!r}")
    members = [(name, _member(value)) for name, value in column.items()]
    if column["ColumnType"].startswith("BIT"):  # its DEFAULT is bytes, and U+FFFD represents an invalid one
        members = [(name, value.replace(_REPLACEMENT, b"\\ufffd")) for name, value in members]
    return column["ColumnName"], members


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
