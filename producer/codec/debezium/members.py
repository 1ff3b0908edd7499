"""ENUM, SET and BIT values, which TiCDC holds as numbers, and the lists of members in schemas.

Source: tidb ``types.ParseEnumValue``, ``types.ParseSetValue``; tiflow ``pkg/sink/codec/common/helper.go``
(EscapeEnumAndSetOptions), ``debezium/helper.go`` (getBitFromUint64).
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from producer.codec.debezium import text
from producer.codec.pieces import Pieces, each_distinct, fixed_width, with_nulls_of
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


def member_strings(values: pa.Array, column: ColumnInfo) -> Pieces:
    """The texts of a column's values."""
    return (each_distinct(values, lambda value: text.string(member_text(column, value))),)


def allowed(column: ColumnInfo) -> str:
    """The schema's list of members; a comma is escaped in those of an ENUM (a SET's cannot hold one)."""
    if column.type == MySQLType.ENUM:
        return ",".join(map(escaped, column.elements))
    return ",".join(column.elements)


def escaped(member: str) -> str:
    """A member of an ENUM as it stands in the list."""
    return member.replace(",", "\\,").replace("\\'", "'").replace("''", "'")


def bits(values: pa.Array, length: int) -> Pieces:
    """BIT(1) as a boolean, a longer one as its bytes, the lowest first."""
    if length == 1:
        return (each_distinct(values, lambda value: b"true" if int(value) else b"false"),)
    size = (length + 7) // 8
    numbers = pc.fill_null(values, b"0").cast(pa.string()).cast(pa.uint64()).to_numpy()
    all_bytes = numbers.astype("<u8").view(np.uint8).reshape(-1, 8)
    return text.base64_strings(with_nulls_of(values, fixed_width(all_bytes[:, :size].tobytes(), size)))
