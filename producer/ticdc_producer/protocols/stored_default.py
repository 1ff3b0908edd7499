"""DEFAULTs as TiDB keeps them with a table.

Source: tidb ``pkg/meta/model/column.go`` (``GetDefaultValue``).
"""

from __future__ import annotations

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.utf8 import repaired
from ticdc_producer.protocols.member_text import member_text

T = MySQLType


def stored_default(column: ColumnInfo) -> str | None:
    """The text of a DEFAULT, which for BIT is not kept so; None where there is none."""
    if column.default_expression:
        return column.default_expression
    if column.default is None:
        return None
    if column.type in (T.ENUM, T.SET):
        return member_text(column, column.default)
    if column.type == T.YEAR:
        return f"{int(column.default):04d}"
    # TiDB keeps the text in JSON, where bytes that are not UTF-8 have become U+FFFD.
    return repaired(column.default_text or column.default).decode()


def stored_bits(value: bytes) -> bytes:
    """The DEFAULT of a BIT column: its bytes, the highest first, without those that are zero.

    :param value: the canonical value, in decimal.
    """
    number = int(value)
    return number.to_bytes(max(1, (number.bit_length() + 7) // 8), "big")
