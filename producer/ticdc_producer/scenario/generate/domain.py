"""What a column's type holds, as whole numbers: drawing a value is drawing such an ordinal.

Integers, YEAR, BIT, ENUM and SET are their own ordinals; of DECIMAL it is the number without its point, of
DATE the days since 1970, of DATETIME, TIMESTAMP and TIME units of the column's last digit since 1970 or
midnight. FLOAT and DOUBLE lie on a fine grid between two numbers. Strings have the lengths for ordinals.
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.coerce import coerce
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.mysql_type import (
    FLOATS,
    INTEGERS,
    LOBS,
    STRINGS,
    TEMPORALS,
    MySQLType,
    integer_range,
)
from ticdc_producer.scenario.generate.edges import edge_texts

T = MySQLType

REAL_STEPS = 1 << 53
"""Points on the grid of a FLOAT or DOUBLE: as many as a double tells apart."""
DECIMAL_DIGITS = 18
"""Digits of a DECIMAL that are drawn; the digits of longer ones in front stay 0, those behind too."""
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_FROM, _TO = date(2000, 1, 1), date(2029, 12, 31)
_LARGEST_REAL = 1e6
_USUAL_LENGTH = 32
_MIDNIGHT = 24 * 3600
_ORDINAL_TYPES = INTEGERS | TEMPORALS | {T.NEW_DECIMAL, T.BIT, T.YEAR, T.ENUM, T.SET}


def is_string(column: ColumnInfo) -> bool:
    """Whether values are texts or bytes."""
    return column.type in STRINGS or column.type in LOBS


def has_ordinals(column: ColumnInfo) -> bool:
    """Whether smallest and largest value can be named, FLOAT and DOUBLE included."""
    return column.type in _ORDINAL_TYPES or column.type in FLOATS


def refuse_type(column: ColumnInfo) -> None:
    """:raises UnsupportedSQL: for a type whose values cannot be generated."""
    if not (has_ordinals(column) or is_string(column) or column.type == T.JSON):
        what = f"values of type {column.type_name} cannot be generated"
        raise UnsupportedSQL(what, column=column.name)


def usual_range(column: ColumnInfo) -> tuple[int, int]:
    """Smallest and largest ordinal where the scenario names none."""
    code = column.type
    if code == T.YEAR:
        return 1901, 2155
    if code in INTEGERS:
        return integer_range(code, unsigned=column.unsigned)
    if code in (T.BIT, T.SET):
        bits = len(column.elements) if code == T.SET else max(column.length, 1)
        return 0, (1 << bits) - 1
    if code == T.ENUM:
        return 1, len(column.elements)
    if code == T.NEW_DECIMAL:
        highest = 10 ** min(column.length, DECIMAL_DIGITS) - 1
        return (0 if column.unsigned else -highest), highest
    if code in TEMPORALS:
        return _usual_times(column)
    return (0, REAL_STEPS - 1) if code in FLOATS else (0, 999_999)


def _usual_times(column: ColumnInfo) -> tuple[int, int]:
    first, last = _FROM.toordinal() - _EPOCH_DAY, _TO.toordinal() - _EPOCH_DAY
    if column.type in (T.DATE, T.NEW_DATE):
        return first, last
    unit = _units(column)
    if column.type == T.DURATION:
        return 0, _MIDNIGHT * unit - 1
    return first * _MIDNIGHT * unit, (last + 1) * _MIDNIGHT * unit - 1


def _units(column: ColumnInfo) -> int:
    """How many units of the last digit a second has."""
    return int(10 ** max(column.decimal, 0))


def usual_reals(column: ColumnInfo) -> tuple[float, float]:
    """Between which numbers a FLOAT or DOUBLE lies where the scenario does not say."""
    largest = _LARGEST_REAL
    if column.type in FLOATS and column.decimal >= 0:
        largest = min(largest, float(10 ** (column.length - column.decimal) - 1))
    return (0.0 if column.unsigned else -largest), largest


def usual_length(column: ColumnInfo) -> tuple[int, int]:
    """Between how many characters or bytes a string has where the scenario does not say."""
    longest = _USUAL_LENGTH if column.length < 0 else min(column.length, _USUAL_LENGTH)
    return min(1, longest), longest


def canonical_of(column: ColumnInfo, text: str | None) -> Value:
    """What the column makes of a value in the scenario file.

    :raises ScenarioError: if it does not take it.
    """
    if text is not None and column.type == T.BIT:
        return coerce(column, _whole(column, text))  # as text it would be its characters' bits
    return coerce(column, text)


def ordinal_of(column: ColumnInfo, value: bytes) -> int:
    """The ordinal of a canonical value.

    :raises ScenarioError: for a date that is no day.
    """
    text = value.decode()
    if column.type == T.NEW_DECIMAL:
        return int(Decimal(text).scaleb(min(max(column.decimal, 0), DECIMAL_DIGITS)))
    if column.type == T.DURATION:
        return _span_ordinal(column, text)
    if column.type not in TEMPORALS:
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ScenarioError(f"{text} is no day to count from", column=column.name, value=text) from None
    days = moment.toordinal() - _EPOCH_DAY
    if column.type in (T.DATE, T.NEW_DATE):
        return days
    seconds = days * _MIDNIGHT + moment.hour * 3600 + moment.minute * 60 + moment.second
    return seconds * _units(column) + moment.microsecond * _units(column) // 1_000_000


def _span_ordinal(column: ColumnInfo, text: str) -> int:
    hours, minutes, seconds = text.lstrip("-").split(":")
    whole = int((int(hours) * 3600 + int(minutes) * 60 + Decimal(seconds)) * _units(column))
    return -whole if text.startswith("-") else whole


def _whole(column: ColumnInfo, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ScenarioError(f"{text!r} is no number of bits", column=column.name, value=text) from None


def edges_of(column: ColumnInfo) -> tuple[Value, ...]:
    """Canonical boundary values of a column's type, each once."""
    found: dict[Value, None] = {}
    for text in edge_texts(column):
        try:
            found[canonical_of(column, text)] = None
        except ScenarioError:
            continue  # of a list for several types: this one does not have it
    return tuple(found)
