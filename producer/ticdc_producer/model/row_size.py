"""How many bytes a row may have, as far as its table says."""

from __future__ import annotations

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import LOBS, STRINGS, MySQLType
from ticdc_producer.model.table import TableInfo

_OTHER = 400
"""More than the longest number or time has: a DOUBLE of 308 digits and sign."""
_MOST_BYTES_PER_CHARACTER = 4
_UNBOUNDED = LOBS | {MySQLType.JSON, MySQLType.VECTOR_FLOAT32, MySQLType.GEOMETRY}


def most_bytes(table: TableInfo) -> int | None:
    """The most bytes that a row image may have; None where a column has no bound worth the name."""
    sizes = [_most(column) for column in table.sent_columns]
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None


def _most(column: ColumnInfo) -> int | None:
    if column.type in _UNBOUNDED:
        return None
    if column.type not in STRINGS:
        return _OTHER
    return None if column.length < 0 else column.length * _MOST_BYTES_PER_CHARACTER
