"""Boundary values by type, as SQL literals; values that a column cannot hold are left out."""

from __future__ import annotations

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import FLOATS, INTEGERS, LOBS, STRINGS, MySQLType, integer_range

T = MySQLType

_LONGEST = 1000
"""Characters of the longest boundary text; LONGTEXT could hold 4 GiB."""
_PLAIN: dict[MySQLType, tuple[str, ...]] = {
    T.YEAR: ("0", "1901", "2155"),
    T.DATE: ("1000-01-01", "9999-12-31", "2000-02-29"),
    T.DURATION: ("00:00:00", "838:59:59", "-838:59:59", "-00:00:01"),
    T.JSON: ("null", "{}", "[]", '""', "9223372036854775807", "1.5", '{"": [null, true]}'),
}
_DATETIMES = {
    T.DATETIME: ("1000-01-01 00:00:00", "9999-12-31 23:59:59"),
    T.TIMESTAMP: ("1970-01-01 00:00:01", "2038-01-19 03:14:07"),
}
_REALS = {
    T.FLOAT: ("0", "3.4028234663852886e38", "-3.4028234663852886e38", "1.17549435e-38"),
    T.DOUBLE: ("0", "1.7976931348623157e308", "-1.7976931348623157e308", "2.2250738585072014e-308"),
}


def boundary_texts(column: ColumnInfo) -> tuple[str, ...]:
    """The boundary values of the column's type."""
    code = column.type
    if code in INTEGERS:
        low, high = integer_range(code, unsigned=column.unsigned)
        return tuple(str(number) for number in (low, -1, 0, 1, high))
    if code in FLOATS:
        return _REALS[code]
    if code == T.NEW_DECIMAL:
        return _decimals(column)
    if code == T.BIT:
        return "0", str((1 << max(column.length, 1)) - 1)
    if code == T.ENUM:
        return column.elements[0], column.elements[-1]
    if code == T.SET:
        return "", ",".join(column.elements)
    if code in _DATETIMES:
        first, last = _DATETIMES[code]
        return first, last + _nines(column)
    if code in STRINGS or code in LOBS:
        return _texts(column)
    return _PLAIN.get(code, ())


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
