"""DEFAULT values as TiDB stores them in a table's metadata.

Source: tidb ``pkg/meta/model/column.go`` (``GetDefaultValue``).
"""

from __future__ import annotations

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.utf8 import replace_invalid
from ticdc_producer.protocols.member_text import member_text

T = MySQLType


def stored_default(column: ColumnInfo) -> str | None:
    """The text of a DEFAULT, not for BIT (``stored_bits``); None if the column has no DEFAULT."""
    if column.default_expression:
        return column.default_expression
    if column.default is None:
        return None
    if column.type in (T.ENUM, T.SET):
        return member_text(column, column.default)
    if column.type == T.YEAR and column.default_text is None:
        return f"{int(column.default):04d}"
    # TiDB stores the text as JSON, in which bytes that are not UTF-8 have become U+FFFD.
    return replace_invalid(column.metadata_default or b"").decode()


def stored_bits(column: ColumnInfo) -> bytes:
    """The DEFAULT of a BIT column: its bytes, big-endian.

    A literal in binary or hexadecimal digits keeps its leading zero bytes; a number has none.
    """
    if column.default_text is not None:
        return column.default_text
    number = int(column.default or b"0")
    return number.to_bytes(max(1, (number.bit_length() + 7) // 8), "big")
