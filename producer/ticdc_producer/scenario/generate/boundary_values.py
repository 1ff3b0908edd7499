"""Boundary values by type, as SQL literals; values that a column cannot hold are left out."""

from __future__ import annotations

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import INTEGERS, LOBS, STRINGS, TYPES, MySQLType, integer_range

T = MySQLType

_LONGEST = 1000
"""Characters of the longest boundary text; LONGTEXT could hold 4 GiB."""


def boundary_texts(column: ColumnInfo) -> tuple[str, ...]:
    """The boundary values of the column's type."""
    code = column.type
    if code in INTEGERS:
        low, high = integer_range(code, unsigned=column.unsigned)
        return tuple(str(number) for number in (low, -1, 0, 1, high))
    if code == T.NEW_DECIMAL:
        return _decimals(column)
    if code == T.BIT:
        return "0", str((1 << max(column.length, 1)) - 1)
    if code == T.ENUM:
        return column.elements[0], column.elements[-1]
    if code == T.SET:
        return "", ",".join(column.elements)
    if code in (T.DATETIME, T.TIMESTAMP):
        first, last = TYPES[code].edges
        return first, last + _nines(column)
    if code in STRINGS or code in LOBS:
        return _texts(column)
    return TYPES[code].edges


def _decimals(column: ColumnInfo) -> tuple[str, ...]:
    scale = max(column.decimal, 0)
    digits = "9" * (column.length - scale) or "0"
    largest = digits + ("." + "9" * scale if scale else "")
    smallest = "0." + "0" * (scale - 1) + "1" if scale else "1"
    return "0", smallest, f"-{smallest}", largest, f"-{largest}"


def _nines(column: ColumnInfo) -> str:
    return "." + "9" * column.decimal if column.decimal > 0 else ""


def _texts(column: ColumnInfo) -> tuple[str, ...]:
    longest = _LONGEST if column.length < 0 else min(column.length, _LONGEST)
    return "", " a", "z" * longest, "\U0001f600", "\u00e9", "'\"\\\n\t\0"
