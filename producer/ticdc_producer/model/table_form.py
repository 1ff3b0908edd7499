"""A table's columns and key as JSON, so that a file of its rows can be read without its history."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

import msgspec

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.table import TableInfo

_DEFAULTS = {field.name: field.default for field in fields(ColumnInfo) if field.default is not MISSING}


def table_form(table: TableInfo) -> dict[str, Any]:
    """``schema``, ``table``, ``columns`` (what is not default), ``handle_key`` and ``virtual`` columns."""
    handle = table.handle_index
    offsets = () if handle is None else handle.offsets
    return {
        "schema": table.schema,
        "table": table.name,
        "columns": [_column_form(column) for column in table.sent_columns],
        "handle_key": [table.columns[offset].name for offset in offsets],
        "virtual": [column.name for column in table.columns if column.is_virtual],
    }


def _column_form(column: ColumnInfo) -> dict[str, Any]:
    told = {name: value for name, value in _DEFAULTS.items() if getattr(column, name) != value}
    return {
        "name": column.name,
        "type": int(column.type),
        **{name: msgspec.to_builtins(getattr(column, name)) for name in told},
    }


def column_of(form: Mapping[str, Any]) -> ColumnInfo:
    """The column behind its form.

    :raises ValueError: if it is not of that form.
    """
    return msgspec.convert(form, ColumnInfo)
