"""The members of ENUM and SET columns: those that a value names, and the lists in schemas.

Source: tidb ``types.ParseEnumValue``, ``types.ParseSetValue``; tiflow ``pkg/sink/codec/common/helper.go``
(EscapeEnumAndSetOptions).
"""

from __future__ import annotations

from producer.model.mysql_type import MySQLType
from producer.model.table import ColumnInfo


def member_text(column: ColumnInfo, value: bytes) -> str:
    """The text of an ENUM index or SET mask; empty where it points outside of the members."""
    number = int(value)
    if column.type == MySQLType.ENUM:
        return column.elements[number - 1] if 1 <= number <= len(column.elements) else ""
    if number >> len(column.elements):
        return ""
    return ",".join(name for place, name in enumerate(column.elements) if number >> place & 1)


def allowed(column: ColumnInfo) -> str:
    """The schema's list of members; a comma is escaped in those of an ENUM (a SET's cannot hold one)."""
    if column.type == MySQLType.ENUM:
        return ",".join(map(escaped, column.elements))
    return ",".join(column.elements)


def escaped(member: str) -> str:
    """A member of an ENUM as it stands in the list."""
    return member.replace(",", "\\,").replace("\\'", "'").replace("''", "'")
