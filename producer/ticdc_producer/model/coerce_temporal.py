"""Coerces values of DATE, DATETIME, TIMESTAMP and TIME columns.

Rules: tidb ``pkg/types/time.go``; zero dates: sql_mode NO_ZERO_DATE and NO_ZERO_IN_DATE.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC
from decimal import Decimal

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.number_text import as_number
from ticdc_producer.model.sql_mode import SQLMode
from ticdc_producer.model.sql_value import BinaryLiteral, DateTimeValue, Duration, SQLValue
from ticdc_producer.model.temporal_text import (
    MAX_DURATION,
    MAX_FSP,
    convert_zone,
    datetime_from_number,
    datetime_from_python,
    parse_datetime,
    parse_duration,
    time_of_day,
    with_fraction,
)

T = MySQLType

_FIRST_TIMESTAMP = (1970, 1, 1, 0, 0, 1, 0)
_LAST_TIMESTAMP = (2038, 1, 19, 3, 14, 7, 999_999)


def coerce_datetime(column: ColumnInfo, value: SQLValue, mode: SQLMode) -> bytes:
    """DATE, DATETIME(fsp), TIMESTAMP(fsp). TIMESTAMP values are stored in UTC."""
    fsp = -1 if column.type in (T.DATE, T.NEW_DATE) else max(column.decimal, 0)
    zero = DateTimeValue(0, 0, 0, fsp=fsp)
    what = f"Incorrect {column.type_name} value"
    date_time = as_datetime(value, fsp, mode)
    if date_time is None or not allowed(date_time, mode):
        return mode.reject(column.name, value, what, zero.text().encode())
    if column.type == T.TIMESTAMP and not date_time.is_zero:
        utc = convert_zone(date_time, mode.zone, UTC)
        if utc is None or not _exists(date_time, utc, mode):
            return mode.reject(column.name, value, what, zero.text().encode())
        date_time = utc
    return date_time.text().encode()


def coerce_duration(column: ColumnInfo, value: SQLValue, mode: SQLMode) -> bytes:
    """TIME(fsp), -838:59:59 … 838:59:59."""
    fsp = max(column.decimal, 0)
    duration = as_duration(value, fsp)
    if duration is None:
        return mode.reject(column.name, value, "Incorrect time value", Duration(0, fsp).text().encode())
    if abs(duration.microseconds) > MAX_DURATION:
        largest = Duration(MAX_DURATION if duration.microseconds > 0 else -MAX_DURATION, fsp)
        return mode.reject(column.name, value, "Incorrect time value", largest.text().encode())
    return duration.text().encode()


def as_datetime(value: SQLValue, fsp: int, mode: SQLMode) -> DateTimeValue | None:
    """Any value as a datetime with this fsp in the session's time zone; None if it is not a datetime."""
    if isinstance(value, DateTimeValue):
        return _refit(value, fsp)
    if isinstance(value, Duration):
        today = datetime_from_python(mode.now.astimezone(mode.zone), 0)
        clock = parse_datetime(f"{today.date_text()} {value.text()}", MAX_FSP) if _of_one_day(value) else None
        return None if clock is None else _refit(clock, fsp)
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
    return datetime_from_number(int(whole), micro, fsp, invalid_dates=mode.invalid_dates)


def as_duration(value: SQLValue, fsp: int) -> Duration | None:
    """Any value as a TIME with this fsp; None if it is not a time."""
    if isinstance(value, Duration):
        return parse_duration(value.text(), fsp)
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
    return parse_duration(f"{exact:f}", fsp)


def _refit(date_time: DateTimeValue, fsp: int) -> DateTimeValue | None:
    if fsp < 0:
        return DateTimeValue(date_time.year, date_time.month, date_time.day, fsp=-1)
    return with_fraction(replace(date_time, microsecond=0, fsp=fsp), f"{date_time.microsecond:06d}")


def _exists(local: DateTimeValue, utc: DateTimeValue, mode: SQLMode) -> bool:
    """Whether the time is in the range of TIMESTAMP and not in an hour that daylight saving skips."""
    local_again = convert_zone(utc, UTC, mode.zone)
    in_range = _FIRST_TIMESTAMP <= utc.fields <= _LAST_TIMESTAMP
    return in_range and local_again is not None and local_again.fields == local.fields


def _of_one_day(duration: Duration) -> bool:
    return 0 <= duration.microseconds < 24 * 3600 * 1_000_000


def allowed(date_time: DateTimeValue, mode: SQLMode) -> bool:
    """Whether sql_mode allows the value, which may be the zero date or have zero parts."""
    if date_time.is_zero:
        return mode.zero_dates
    if date_time.month == 0 or date_time.day == 0:
        return mode.zero_in_date
    return True
