"""The text of ENUM and SET values.

Source: tidb ``types.ParseEnumValue``, ``types.ParseSetValue``.
"""

from __future__ import annotations

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import MySQLType


def member_text(column: ColumnInfo, value: bytes) -> str:
    """The text of an ENUM index or SET mask; empty if it is out of range."""
    number = int(value)
    if column.type == MySQLType.ENUM:
        return column.elements[number - 1] if 1 <= number <= len(column.elements) else ""
    if number >> len(column.elements):
        return ""
    return ",".join(name for bit, name in enumerate(column.elements) if number >> bit & 1)
