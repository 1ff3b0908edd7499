"""Coerces values of number, BIT, YEAR, date and time columns.

Rules: tidb ``pkg/types/convert.go``, ``datum.go`` (``ConvertTo``), ``time.go``; zero dates: sql_mode
NO_ZERO_DATE and NO_ZERO_IN_DATE.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from datetime import UTC, timedelta
from decimal import Decimal
from functools import cache

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.mysql_type import MySQLType, integer_range
from ticdc_producer.model.values.datetime_text import parse_datetime
from ticdc_producer.model.values.duration_text import parse_duration, read_duration
from ticdc_producer.model.values.json_document import unquoted
from ticdc_producer.model.values.number_text import (
    as_number,
    is_text,
    narrow,
    nearest_integer,
    plain_text,
    rounded,
)
from ticdc_producer.model.values.sql_value import (
    BinaryLiteral,
    DateTimeValue,
    Duration,
    JsonText,
    Member,
    SQLMode,
    SQLValue,
    Unsigned,
    Year,
    stored_number,
    value_error,
)
from ticdc_producer.model.values.temporal_text import (
    FIRST_NUMBER,
    MAX_DURATION,
    MAX_FSP,
    convert_zone,
    datetime_from_number,
    datetime_from_python,
    round_duration,
    time_of_day,
    whole_seconds,
    with_fraction,
)

T = MySQLType

_MAX_FLOAT = 3.4028234663852886e38


def coerce_integer(column: ColumnInfo, value: SQLValue, mode: SQLMode) -> bytes:
    """Coerce to TINYINT … BIGINT.

    Exact halves round away from zero, halves of a float to the even neighbour. A time is rounded to a second,
    but for an unsigned column its digits are. Source: tidb ``Datum.toInt64``, ``Datum.convertToUint``.
    """
    if isinstance(value, DateTimeValue | Duration) and not column.unsigned:
        value = whole_seconds(value)
    number = value if type(value) is int else _complete_number(column, value, mode, "Incorrect integer value")
    low, high = integer_range(column.type, unsigned=column.unsigned)
    if column.unsigned and isinstance(number, Decimal) and number < 0:
        return mode.reject(column.name, value, "Out of range value", b"0")  # also if it rounds to 0
    whole = nearest_integer(number)
    if isinstance(number, float) and not column.unsigned and whole == int(float(high)):
        whole = high  # the DOUBLE nearest to the largest value counts as this value: ConvertFloatToInt
    return _in_range(column, value, mode, whole, low, high)


def coerce_decimal(column: ColumnInfo, value: SQLValue, mode: SQLMode) -> bytes:
    """Coerce to DECIMAL(m,d): exactly d fractional digits; halves round away from zero."""
    number = _complete_number(column, value, mode, "Incorrect decimal value")
    if is_text(value) and (b"\0" in value if isinstance(value, bytes) else "\0" in value):
        # The byte is not part of a DECIMAL, and ends numbers of other types.
        mode.reject(column.name, value, "Incorrect decimal value", b"")
    scale = max(column.decimal, 0)
    lowest, largest = _decimal_range(column.length, scale, unsigned=column.unsigned)
    try:
        exact = rounded(number, scale)
    except ArithmeticError:
        return mode.reject(
            column.name, value, "Out of range value", _plain(largest if number > 0 else lowest)
        )
    if not lowest <= exact <= largest:
        return mode.reject(
            column.name, value, "Out of range value", _plain(largest if exact > largest else lowest)
        )
    return _plain(exact)


def largest_decimal(length: int, scale: int) -> Decimal:
    """Return the largest value of DECIMAL(length, scale)."""
    # From text: the results of Decimal's methods, such as scaleb, are rounded to 28 digits.
    return Decimal(f"{'9' * length}E-{scale}")


@cache
def _decimal_range(length: int, scale: int, *, unsigned: bool) -> tuple[Decimal, Decimal]:
    largest = largest_decimal(length, scale)
    return Decimal(0).scaleb(-scale) if unsigned else largest.copy_negate(), largest


def coerce_float(column: ColumnInfo, value: SQLValue, mode: SQLMode) -> bytes:
    """Coerce to FLOAT and DOUBLE; FLOAT(m,d) and DOUBLE(m,d) are rounded to d fractional digits."""
    number = _complete_number(column, stored_number(value), mode, "Incorrect double value")
    real = _to_double(number)
    largest = _MAX_FLOAT if column.type == T.FLOAT else math.inf
    if column.decimal >= 0 and math.isfinite(real):
        largest = min(largest, _largest_of_digits(column))
        real = _round_double(real, column.decimal)
    if column.unsigned and real < 0:
        return mode.reject(column.name, value, "Out of range value", b"0")
    if math.isnan(real):
        raise value_error(column.name, value, "Out of range value")
    if abs(real) > largest or math.isinf(real):
        ceiling = min(largest, 1.7976931348623157e308)
        return mode.reject(
            column.name, value, "Out of range value", plain_text(math.copysign(ceiling, real), column.type)
        )
    return plain_text(narrow(real, column.type), column.type)


def coerce_bit(column: ColumnInfo, value: SQLValue, mode: SQLMode) -> bytes:
    """Coerce to BIT(n): a number, or a string whose bytes are a big-endian number.

    JSON and the members of ENUM and SET are numbers, which are not negative. Source: tidb
    ``Datum.convertToMysqlBit``.
    """
    if isinstance(value, JsonText | Member | Duration):
        whole = nearest_integer(_complete_number(column, value, mode, "Incorrect bit value"))
        value = whole if whole >= 0 else int(mode.reject(column.name, value, "Out of range value", b"0"))
    elif isinstance(value, str):
        value = BinaryLiteral(value.encode("utf-8", "surrogateescape"))
    elif isinstance(value, bytes):
        value = BinaryLiteral(value)
    given = as_number(value)[0]
    if isinstance(given, Decimal | float) and given < 0:  # also if it rounds to 0
        return mode.reject(column.name, value, "Out of range value", b"0")
    number = nearest_integer(given)
    high = (1 << max(column.length, 1)) - 1
    if -(1 << 63) <= number < 0:
        number += 1 << 64  # as Go converts an int64
    if not 0 <= number <= high:
        return mode.reject(column.name, value, "Data too long", str(high).encode())
    return str(number).encode()


def coerce_year(column: ColumnInfo, value: SQLValue, mode: SQLMode) -> bytes:
    """Coerce to YEAR: 1901 … 2155, 0, or two digits; the text ``'0'`` is 2000 and the number 0 is 0.

    Source: tidb ``convertToMysqlYear``, ``AdjustYear``.
    """
    if isinstance(value, Duration):
        value = as_datetime(value, 0, mode)
    if isinstance(value, DateTimeValue):
        value = value.year
    from_text = isinstance(value, str | bytes) and not isinstance(value, BinaryLiteral)
    number = nearest_integer(_complete_number(column, value, mode, "Incorrect year value"))
    digits = len(value.strip()) if isinstance(value, str | bytes) and value[:1] in ("0", b"0") else 4
    if 0 < number < 100 or (number == 0 and from_text and digits < 4):
        number += 2000 if number < 70 else 1900
    if number != 0 and not 1901 <= number <= 2155:
        nearest = b"0" if number < 0 else b"1901" if number < 1901 else b"2155"
        return mode.reject(column.name, value, "Out of range value", nearest)
    return str(number).encode()


def _complete_number(column: ColumnInfo, value: SQLValue, mode: SQLMode, what: str) -> int | Decimal | float:
    number, complete = as_number(value)
    if not complete:
        mode.reject(column.name, value, what, b"")
    return number


def _in_range(column: ColumnInfo, value: SQLValue, mode: SQLMode, number: int, low: int, high: int) -> bytes:
    if low <= number <= high:
        return str(number).encode()
    nearest = high if number > high else low
    return mode.reject(column.name, value, "Out of range value", str(nearest).encode())


def _plain(number: Decimal) -> bytes:
    text = f"{number:f}"
    return (text.lstrip("-") if number == 0 else text).encode()


def _to_double(number: int | Decimal | float) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _largest_of_digits(column: ColumnInfo) -> float:
    return float(Decimal(10**column.length - 1).scaleb(-column.decimal))


def _round_double(number: float, digits: int) -> float:
    """Scale up, round half to even, scale down. Source: tidb ``types.Round``."""
    scaled = number * 10.0**digits
    return round(scaled) / 10.0**digits if math.isfinite(scaled) else number


_STORED = re.compile(
    r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8]) (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?", re.ASCII
).fullmatch
"""Matches most texts of a DATETIME that columns store as they are."""
_LENGTHS = [len("2000-01-01 00:00:00")] + [len("2000-01-01 00:00:00.") + fsp for fsp in range(1, MAX_FSP + 1)]
"""The length of the text of a DATETIME, by its fsp."""
_FIRST_TIMESTAMP = (1970, 1, 1, 0, 0, 1, 0)
_LAST_TIMESTAMP = (2038, 1, 19, 3, 14, 7, 999_999)


def coerce_datetime(column: ColumnInfo, value: SQLValue, mode: SQLMode) -> Value:
    """Coerce to DATE, DATETIME(fsp), TIMESTAMP(fsp). TIMESTAMP values are stored in UTC.

    Unsigned and floating point numbers, bits and members become no TIMESTAMP, in whatever sql_mode; INSERT
    IGNORE stores NULL. Source: tidb ``Datum.convertToMysqlTimestamp``.
    """
    fsp = -1 if column.type in (T.DATE, T.NEW_DATE) else max(column.decimal, 0)
    if column.type == T.DATETIME and type(value) is str and len(value) == _LENGTHS[fsp] and _STORED(value):
        return value.encode()
    if column.type == T.TIMESTAMP and _is_no_timestamp(value):
        if mode.insert_ignore:
            return None
        raise value_error(column.name, value, "Cannot convert the type of the value to TIMESTAMP")
    _check_time(column, value)
    value = unquoted(value) if isinstance(value, JsonText) else value
    date_time = as_datetime(value, fsp, mode)
    if date_time is None or not allowed(date_time, mode):
        return _reject_datetime(column, value, mode, DateTimeValue(0, 0, 0, fsp=fsp))
    if column.type == T.TIMESTAMP and not date_time.is_zero:
        utc = convert_zone(date_time, mode.zone, UTC)
        if utc is None or not _FIRST_TIMESTAMP <= utc.fields <= _LAST_TIMESTAMP:
            return _reject_datetime(column, value, mode, DateTimeValue(0, 0, 0, fsp=fsp))
        if not isinstance(value, DateTimeValue) and convert_zone(utc, UTC, mode.zone) != date_time:
            return _reject_datetime(column, value, mode, utc)  # clocks skip this time
        date_time = utc
    return date_time.text().encode()


def _check_time(column: ColumnInfo, value: SQLValue) -> None:
    """Check a value of a date or time column. Source: tidb ``Datum.convertToMysqlTime``, ``invalidConv``.

    :raises ScenarioError: for a BIT, ENUM, SET and ``x'..'``, whatever the sql_mode.
    """
    if isinstance(value, BinaryLiteral | Member):
        raise value_error(column.name, value, f"Incorrect {column.type_name} value")


def _is_no_timestamp(value: SQLValue) -> bool:
    if isinstance(value, int):
        return value > _MAX_INT64 or (isinstance(value, Unsigned) and not isinstance(value, Year))
    return isinstance(value, float | BinaryLiteral | Member)


_MAX_INT64 = (1 << 63) - 1


def _reject_datetime(column: ColumnInfo, value: SQLValue, mode: SQLMode, instead: DateTimeValue) -> bytes:
    return mode.reject(column.name, value, f"Incorrect {column.type_name} value", instead.text().encode())


def coerce_duration(column: ColumnInfo, value: SQLValue, mode: SQLMode) -> Value:
    """Coerce to TIME(fsp), -838:59:59 … 838:59:59."""
    fsp = max(column.decimal, 0)
    _check_time(column, value)
    value = unquoted(value) if isinstance(value, JsonText) else value
    duration = as_duration(value, fsp)
    if duration is None:
        instead = _nearest_duration(value, fsp)
        mode.reject(column.name, value, "Incorrect time value", b"")
        return None if instead is None else instead.text().encode()
    if abs(duration.microseconds) > MAX_DURATION:
        largest = Duration(MAX_DURATION if duration.microseconds > 0 else -MAX_DURATION, fsp)
        return mode.reject(column.name, value, "Incorrect time value", largest.text().encode())
    return duration.text().encode()


def _nearest_duration(value: SQLValue, fsp: int) -> Duration | None:
    """Return the TIME that TiDB stores without strict mode for a value that is not a TIME; None for NULL.

    Source: tidb ``convertToMysqlDuration``, ``matchDuration``.
    """
    if isinstance(value, str | bytes) and not isinstance(value, BinaryLiteral):
        text = value if isinstance(value, str) else value.decode("utf-8", "replace")
        return read_duration(text, fsp)[0] or Duration(0, fsp)
    number = nearest_integer(as_number(value)[0])
    if _LARGEST_TIME < number < FIRST_DATETIME:
        return Duration(MAX_DURATION, fsp)
    return Duration(0, fsp) if abs(number) <= _LARGEST_TIME else None


_LARGEST_TIME, FIRST_DATETIME = 8385959, 10_000_000_000


def as_datetime(value: SQLValue, fsp: int, mode: SQLMode) -> DateTimeValue | None:
    """Convert any value to a datetime with this fsp in the session's time zone; None if it is none."""
    if isinstance(value, DateTimeValue):
        return _refit(value, fsp)
    if isinstance(value, Duration):
        midnight = mode.now.astimezone(mode.zone).replace(
            hour=0, minute=0, second=0, microsecond=0, tzinfo=None
        )
        try:
            moment = midnight + timedelta(microseconds=value.microseconds)
        except OverflowError:  # a timedelta of Python may be longer than a TIME
            return None
        return _refit(datetime_from_python(moment, MAX_FSP), fsp)
    if isinstance(value, BinaryLiteral):
        value = value.number
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str):
        return parse_datetime(value, fsp, mode.zone, invalid_dates=mode.invalid_dates)
    number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value or 0)
    if not number.is_finite() or number.adjusted() > 20:
        return None
    whole, _, micro = f"{number:f}".partition(".")
    if 0 < int(whole) < FIRST_NUMBER:
        return None
    if len(whole) not in _DIGITS_WITH_SECONDS:
        micro = ""  # the fraction of a date is not a time: ParseTimeFromFloatString
    return datetime_from_number(int(whole), micro, fsp, invalid_dates=mode.invalid_dates)


_DIGITS_WITH_SECONDS = range(9, 15)


def as_duration(value: SQLValue, fsp: int) -> Duration | None:
    """Convert any value to a TIME with this fsp; None if it is not a time."""
    if isinstance(value, Duration):
        return round_duration(value, fsp)
    if isinstance(value, DateTimeValue):
        return time_of_day(value, fsp)
    if isinstance(value, bytes) and not isinstance(value, BinaryLiteral):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str):
        return parse_duration(value, fsp)
    number, _ = as_number(value)
    exact = Decimal(repr(number)) if isinstance(number, float) else Decimal(number)
    if not exact.is_finite() or exact.adjusted() > 20:
        return None
    if exact < -_LARGEST_TIME - 1 or _LARGEST_TIME + 1 <= exact < FIRST_DATETIME:
        return None
    return parse_duration(f"{exact:f}", fsp)


def duration_of_integer(value: int | BinaryLiteral, fsp: int) -> Duration | None:
    """Return the TIME that expressions read in an integer, which may be a date and time; None if it is none.

    Source: tidb ``NumberToDuration``.
    """
    number = value.number if isinstance(value, BinaryLiteral) else int(value)
    if number < FIRST_DATETIME:
        return as_duration(number, fsp)
    moment = datetime_from_number(number, "", 0)
    return time_of_day(moment, fsp) if moment and moment.month and moment.day else None


def _refit(date_time: DateTimeValue, fsp: int) -> DateTimeValue | None:
    if fsp < 0:
        return DateTimeValue(date_time.year, date_time.month, date_time.day, fsp=-1)
    return with_fraction(replace(date_time, microsecond=0, fsp=fsp), f"{date_time.microsecond:06d}")


def allowed(date_time: DateTimeValue, mode: SQLMode) -> bool:
    """Return whether sql_mode allows the value, which may be the zero date or have zero parts."""
    if date_time.month and date_time.day:
        return True
    return mode.zero_dates if date_time.is_zero else mode.zero_in_date


def readable(date_time: DateTimeValue, mode: SQLMode) -> bool:
    """Return whether expressions read a value, which may be the zero date or have zero parts.

    More sql_modes allow zero parts than in columns. Source: tidb ``ResetContextOfStmt``.
    """
    if (date_time.month and date_time.day) or date_time.is_zero:
        return allowed(date_time, mode)
    return not mode.strict or mode.zero_dates or mode.zero_in_date or mode.invalid_dates
