"""The members of ENUM and SET columns as schemas list them.

Source: tiflow ``pkg/sink/codec/common/helper.go`` (EscapeEnumAndSetOptions).
"""

from __future__ import annotations

from producer.model.mysql_type import MySQLType
from producer.model.table import ColumnInfo


def allowed(column: ColumnInfo) -> str:
    """The schema's list of members; a comma is escaped in those of an ENUM (a SET's cannot hold one)."""
    if column.type == MySQLType.ENUM:
        return ",".join(map(escaped, column.elements))
    return ",".join(column.elements)


def escaped(member: str) -> str:
    """A member of an ENUM as it stands in the list."""
    return member.replace(",", "\\,").replace("\\'", "'").replace("''", "'")
