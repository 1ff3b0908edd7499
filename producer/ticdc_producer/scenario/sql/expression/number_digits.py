"""The digits of a type, which decide the scale of a DECIMAL and the type of CEIL and UNIX_TIMESTAMP."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import INTEGERS, MySQLType

_TEMPORAL = frozenset({MySQLType.DATETIME, MySQLType.TIMESTAMP, MySQLType.DURATION})


class Digits(NamedTuple):
    """The digits of a type; those of the fraction of a second are decimals, too.

    :param whole: digits before the decimal point.
    :param decimals: digits after it.
    """

    whole: int
    decimals: int


OF_INTEGER = Digits(20, 0)
_OF_DATE = Digits(8, 0)
_WHOLE_OF_DATETIME = 14


def digits_of_column(column: ColumnInfo) -> Digits | None:
    """Return the digits of a column's type; None for a type without them, such as a text or DOUBLE."""
    if column.type == MySQLType.NEW_DECIMAL:
        return Digits(column.length - column.decimal, column.decimal)
    if column.type in INTEGERS:
        return Digits(column.length, 0) if column.length > 0 else OF_INTEGER
    if column.type == MySQLType.DATE:
        return _OF_DATE
    return Digits(_WHOLE_OF_DATETIME, max(column.decimal, 0)) if column.type in _TEMPORAL else None


def merged_digits(types: Iterable[Digits | None]) -> Digits | None:
    """Return the digits of a type that holds the values of several types; None if any are unknown."""
    whole, decimals = [], []
    for digits in types:
        if digits is None:
            return None
        whole.append(digits.whole)
        decimals.append(digits.decimals)
    return Digits(max(whole), max(decimals)) if whole else None
