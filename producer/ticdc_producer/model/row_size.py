"""The maximum size of a row, derived from its table."""

from __future__ import annotations

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import LOBS, STRINGS, MySQLType
from ticdc_producer.model.table import TableInfo

_OTHER = 400
"""Upper bound in bytes for numbers and times; the longest is a DOUBLE with 308 digits and sign."""
_MOST_BYTES_PER_CHARACTER = 4
_UNBOUNDED = LOBS | {MySQLType.JSON, MySQLType.VECTOR_FLOAT32, MySQLType.GEOMETRY}


def max_row_bytes(table: TableInfo) -> int | None:
    """The maximum size of a row image in bytes; None if a column has no useful bound."""
    sizes = [_max_bytes(column) for column in table.sent_columns]
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None


def _max_bytes(column: ColumnInfo) -> int | None:
    if column.type in _UNBOUNDED:
        return None
    if column.type not in STRINGS:
        return _OTHER
    return None if column.length < 0 else column.length * _MOST_BYTES_PER_CHARACTER
