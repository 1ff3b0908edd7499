"""The domain of a column's type as integer ordinals; drawing a value means drawing an ordinal.

Integers, YEAR, BIT, ENUM and SET are their own ordinals. The ordinal of a DECIMAL is the number without its
point, that of a DATE the days since 1970, that of a DATETIME, TIMESTAMP or TIME the units of the column's
last digit since 1970 or midnight. FLOAT and DOUBLE values lie on a fine grid between two numbers. The
ordinals of strings are their lengths.
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.mysql_type import (
    FLOATS,
    INTEGERS,
    LOBS,
    NUMBERED,
    STRINGS,
    TEMPORALS,
    TYPES,
    MySQLType,
    integer_range,
)
from ticdc_producer.model.values.coerce import coerce

T = MySQLType

_LONGEST = 1000
"""Characters of the longest boundary text; LONGTEXT could hold 4 GiB."""


def boundary_texts(column: ColumnInfo) -> tuple[str, ...]:
    """Return the boundary values of the column's type."""
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


REAL_STEPS = 1 << 53
"""Points on the grid of a FLOAT or DOUBLE: the resolution of a double."""
DECIMAL_DIGITS = 18
"""Maximum number of drawn digits of a DECIMAL; further digits are 0."""
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_FROM, _TO = date(2000, 1, 1), date(2029, 12, 31)
_LARGEST_REAL = 1e6
_DEFAULT_LENGTH = 32
_MIDNIGHT = 24 * 3600
_ORDINAL_TYPES = INTEGERS | NUMBERED | TEMPORALS | {T.NEW_DECIMAL}


def is_string(column: ColumnInfo) -> bool:
    """Return whether values are texts or byte strings."""
    return column.type in STRINGS or column.type in LOBS


def has_ordinals(column: ColumnInfo) -> bool:
    """Return whether the column supports ``min`` and ``max``."""
    return column.type in _ORDINAL_TYPES or column.type in FLOATS


def reject_type(column: ColumnInfo) -> None:
    """Check that values of the column's type can be generated.

    :raises UnsupportedSQL: for a type whose values cannot be generated.
    """
    if not (has_ordinals(column) or is_string(column) or column.type == T.JSON):
        what = f"values of type {column.type_name} cannot be generated"
        raise UnsupportedSQL(what, column=column.name)


def default_range(column: ColumnInfo) -> tuple[int, int]:
    """Return the smallest and largest ordinal if the scenario sets none."""
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
        return _default_times(column)
    return (0, REAL_STEPS - 1) if code in FLOATS else (0, 999_999)


def _default_times(column: ColumnInfo) -> tuple[int, int]:
    first, last = _FROM.toordinal() - _EPOCH_DAY, _TO.toordinal() - _EPOCH_DAY
    if column.type in (T.DATE, T.NEW_DATE):
        return first, last
    unit = _units(column)
    if column.type == T.DURATION:
        return 0, _MIDNIGHT * unit - 1
    return first * _MIDNIGHT * unit, (last + 1) * _MIDNIGHT * unit - 1


def _units(column: ColumnInfo) -> int:
    """Return the units of the last digit per second."""
    return int(10 ** max(column.decimal, 0))


def default_reals(column: ColumnInfo) -> tuple[float, float]:
    """Return the bounds of a FLOAT or DOUBLE if the scenario sets none."""
    largest = _LARGEST_REAL
    if column.type in FLOATS and column.decimal >= 0:
        largest = min(largest, float(10 ** (column.length - column.decimal) - 1))
    return (0.0 if column.unsigned else -largest), largest


def default_length(column: ColumnInfo) -> tuple[int, int]:
    """Return the minimum and maximum length of a string if the scenario sets none."""
    longest = _DEFAULT_LENGTH if column.length < 0 else min(column.length, _DEFAULT_LENGTH)
    return min(1, longest), longest


def canonical_of(column: ColumnInfo, text: str | None) -> Value:
    """Convert a value in the scenario file to its canonical value.

    :raises ScenarioError: if the column cannot hold it.
    """
    if text is not None and column.type == T.BIT:
        return coerce(column, _whole(column, text))  # text would be read as the bits of its characters
    return coerce(column, text)


def ordinal_of(column: ColumnInfo, value: bytes) -> int:
    """Return the ordinal of a canonical value.

    :raises ScenarioError: for a date that does not exist, such as a zero date.
    """
    text = value.decode()
    if column.type == T.NEW_DECIMAL:
        return int(Decimal(text).scaleb(min(max(column.decimal, 0), DECIMAL_DIGITS)))
    if column.type == T.DURATION:
        return _duration_ordinal(column, text)
    if column.type not in TEMPORALS:
        return int(text)
    try:
        datetime_value = datetime.fromisoformat(text)
    except ValueError:
        raise ScenarioError(f"{text} is not a valid date", column=column.name, value=text) from None
    days = datetime_value.toordinal() - _EPOCH_DAY
    if column.type in (T.DATE, T.NEW_DATE):
        return days
    seconds = (
        days * _MIDNIGHT + datetime_value.hour * 3600 + datetime_value.minute * 60 + datetime_value.second
    )
    return seconds * _units(column) + datetime_value.microsecond * _units(column) // 1_000_000


def _duration_ordinal(column: ColumnInfo, text: str) -> int:
    hours, minutes, seconds = text.lstrip("-").split(":")
    whole = int((int(hours) * 3600 + int(minutes) * 60 + Decimal(seconds)) * _units(column))
    return -whole if text.startswith("-") else whole


def _whole(column: ColumnInfo, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ScenarioError(f"{text!r} is not an integer", column=column.name, value=text) from None


def boundary_values_of(column: ColumnInfo) -> tuple[Value, ...]:
    """Return the canonical boundary values of a column's type, each once."""
    values: dict[Value, None] = {}
    for text in boundary_texts(column):
        try:
            values[canonical_of(column, text)] = None
        except ScenarioError:
            continue  # the list serves several types
    return tuple(values)
