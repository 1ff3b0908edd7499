"""Converts the columns and key of a table to JSON, so that a file of its rows can be read on its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

import msgspec

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.table import TableInfo

_DEFAULTS = {field.name: field.default for field in fields(ColumnInfo) if field.default is not MISSING}


def table_json(table: TableInfo) -> dict[str, Any]:
    """``schema``, ``table``, ``columns`` (without default values), ``handle_key`` and ``virtual``."""
    handle = table.handle_index
    offsets = () if handle is None else handle.offsets
    return {
        "schema": table.schema,
        "table": table.name,
        "columns": [_column_json(column) for column in table.sent_columns],
        "handle_key": [table.columns[offset].name for offset in offsets],
        "virtual": [column.name for column in table.columns if column.is_virtual],
    }


def _column_json(column: ColumnInfo) -> dict[str, Any]:
    fields_set = {name: value for name, value in _DEFAULTS.items() if getattr(column, name) != value}
    return {
        "name": column.name,
        "type": int(column.type),
        **{name: msgspec.to_builtins(getattr(column, name)) for name in fields_set},
    }


def column_from_json(content: Mapping[str, Any]) -> ColumnInfo:
    """Convert one of the ``columns`` of ``table_json`` to a column.

    :raises ValueError: if the JSON does not match.
    """
    return msgspec.convert(content, ColumnInfo)
