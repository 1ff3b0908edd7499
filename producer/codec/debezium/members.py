"""ENUM, SET and BIT values, which TiCDC holds as numbers, and the lists of members in schemas.

Source: tidb ``types.ParseEnumValue``, ``types.ParseSetValue``; tiflow ``pkg/sink/codec/common/helper.go``
(EscapeEnumAndSetOptions), ``debezium/helper.go`` (getBitFromUint64).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from producer.codec.debezium import text
from producer.codec.go_json import NULL
from producer.model.event import Value
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


def member_strings(column: ColumnInfo) -> Callable[[Sequence[Value]], list[bytes]]:
    """A renderer that knows the members of one column."""

    @lru_cache(maxsize=4096)
    def literal(value: bytes) -> bytes:
        return text.string(member_text(column, value))

    return lambda values: [NULL if value is None else literal(value) for value in values]


def allowed(column: ColumnInfo) -> str:
    """The schema's list of members; a comma is escaped in those of an ENUM (a SET's cannot hold one)."""
    if column.type == MySQLType.ENUM:
        return ",".join(map(escaped, column.elements))
    return ",".join(column.elements)


def escaped(member: str) -> str:
    """A member of an ENUM as it stands in the list."""
    return member.replace(",", "\\,").replace("\\'", "'").replace("''", "'")


def bits(values: Sequence[Value], length: int) -> list[bytes]:
    """BIT(1) as a boolean, a longer one as its bytes, the lowest first."""
    if length == 1:
        return [NULL if value is None else b"false" if int(value) == 0 else b"true" for value in values]
    size, mask = (length + 7) // 8, (1 << (length + 7) // 8 * 8) - 1
    return text.base64_strings(
        [None if value is None else (int(value) & mask).to_bytes(size, "little") for value in values]
    )
