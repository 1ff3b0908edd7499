"""Functions that take dates and times apart.

Rules: tidb ``pkg/expression/builtin_time.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC
from decimal import Decimal

from ticdc_producer.errors import UnsupportedSQL
from ticdc_producer.model.coerce_text import to_text
from ticdc_producer.model.sql_mode import SQLMode
from ticdc_producer.model.sql_value import Moment, Span, SQLValue
from ticdc_producer.model.temporal_text import days_in_month, shifted
from ticdc_producer.scenario.sql.functions.clock import unix_seconds
from ticdc_producer.scenario.sql.functions.datetime_argument import (
    moment,
    on_moment,
    on_span,
    real_moment,
    span,
)
from ticdc_producer.scenario.sql.functions.function import Function, whole
from ticdc_producer.scenario.sql.functions.week import MONTHS, WEEKDAYS, week_of

_YEAR_ZERO = 365
"""Days of year 0, which Python's calendar does not count."""

_SECOND, _MINUTE, _HOUR = 1_000_000, 60_000_000, 3_600_000_000


def _date(found: Moment) -> SQLValue:
    return Moment(found.year, found.month, found.day, fsp=-1)


def _month_name(found: Moment) -> SQLValue:
    return MONTHS[found.month - 1] if found.month else None


def _last_day(found: Moment) -> SQLValue:
    return Moment(found.year, found.month, days_in_month(found.year, found.month), fsp=-1)


def to_days(found: Moment) -> int:
    """Days since year 0."""
    return found.naive().toordinal() + _YEAR_ZERO


def _to_seconds(found: Moment) -> SQLValue:
    return to_days(found) * 86400 + found.hour * 3600 + found.minute * 60 + found.second


def _week(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    found = real_moment(arguments[0], mode)
    return None if found is None else week_of(found.naive().date(), _week_mode(arguments))[1]


def _year_week(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    found = real_moment(arguments[0], mode)
    if found is None:
        return None
    year, week = week_of(found.naive().date(), _week_mode(arguments) | 2)
    return year * 100 + week


def _week_mode(arguments: Sequence[SQLValue]) -> int:
    return whole(arguments[1]) & 7 if len(arguments) > 1 else 0


def _datediff(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    left, right = (real_moment(argument, mode) for argument in arguments)
    return None if left is None or right is None else to_days(left) - to_days(right)


def _unix_timestamp(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    """Seconds, with the fraction that the argument has; 0 for what is out of range."""
    if not arguments:
        return unix_seconds(mode)
    found = moment(arguments[0], mode)
    if found is None:
        return None
    utc = shifted(found, mode.zone, UTC)
    if utc is None or not 1970 <= utc.year <= 3001:
        return 0 if found.fsp <= 0 else Decimal(0).scaleb(-found.fsp)
    seconds = int(utc.naive().replace(tzinfo=UTC, microsecond=0).timestamp())
    if found.fsp <= 0:
        return seconds
    exact = Decimal(seconds) + Decimal(utc.microsecond).scaleb(-6)
    return exact.quantize(Decimal(1).scaleb(-found.fsp))


def _extract(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    """``EXTRACT(unit FROM value)``: parts of the clock come from times too, and have their sign."""
    unit, value = to_text(arguments[0]), arguments[1]
    if unit in _CLOCK_DIVISORS:
        clock = span(value, mode)
        if clock is None:
            return None
        number = _clock_number(abs(clock.microseconds), unit)
        return -number if clock.microseconds < 0 else number
    if isinstance(value, Span):
        raise UnsupportedSQL(f"EXTRACT({unit} FROM a time) is not supported")
    found = moment(value, mode)
    if found is None:
        return None
    if unit == "WEEK":
        return week_of(found.naive().date(), 0)[1]
    if unit in _DAY_AND_CLOCK:
        clock_unit, width = _DAY_AND_CLOCK[unit]
        return found.day * width + _clock_number(_time_of_day(found), clock_unit)
    if unit not in _DATE_PARTS:
        raise UnsupportedSQL(f"EXTRACT({unit} FROM …) is not supported")
    return _DATE_PARTS[unit](found)


def _time_of_day(found: Moment) -> int:
    return ((found.hour * 60 + found.minute) * 60 + found.second) * _SECOND + found.microsecond


def _clock_number(microseconds: int, unit: str) -> int:
    """The digits of the parts from the larger to the smaller, one after the other."""
    parts = (
        microseconds // _HOUR,
        microseconds // _MINUTE % 60,
        microseconds // _SECOND % 60,
        microseconds % _SECOND,
    )
    first, last = _CLOCK_DIVISORS[unit]
    number = 0
    for place in range(first, last + 1):
        number = number * (1_000_000 if place == 3 else 100) + parts[place]
    return number


_CLOCK_DIVISORS = {
    "HOUR": (0, 0), "HOUR_MINUTE": (0, 1), "HOUR_SECOND": (0, 2), "HOUR_MICROSECOND": (0, 3),
    "MINUTE": (1, 1), "MINUTE_SECOND": (1, 2), "MINUTE_MICROSECOND": (1, 3),
    "SECOND": (2, 2), "SECOND_MICROSECOND": (2, 3), "MICROSECOND": (3, 3),
}  # fmt: skip
_DAY_AND_CLOCK = {
    "DAY_HOUR": ("HOUR", 100),
    "DAY_MINUTE": ("HOUR_MINUTE", 10_000),
    "DAY_SECOND": ("HOUR_SECOND", 1_000_000),
    "DAY_MICROSECOND": ("HOUR_MICROSECOND", 1_000_000_000_000),
}
_DATE_PARTS: dict[str, Callable[[Moment], int]] = {
    "YEAR": lambda found: found.year,
    "QUARTER": lambda found: (found.month + 2) // 3,
    "MONTH": lambda found: found.month,
    "DAY": lambda found: found.day,
    "YEAR_MONTH": lambda found: found.year * 100 + found.month,
}

FUNCTIONS = {
    "DATE": on_moment(_date),
    "DATEDIFF": Function(_datediff, 2, 2),
    "DAY": on_moment(lambda found: found.day),
    "DAYNAME": on_moment(lambda found: WEEKDAYS[found.naive().weekday()], real=True),
    "DAYOFMONTH": on_moment(lambda found: found.day),
    "DAYOFWEEK": on_moment(lambda found: found.naive().isoweekday() % 7 + 1, real=True),
    "DAYOFYEAR": on_moment(lambda found: found.naive().timetuple().tm_yday, real=True),
    "EXTRACT": Function(_extract, 2, 2),
    "HOUR": on_span(lambda found: abs(found.microseconds) // _HOUR),
    "LAST_DAY": on_moment(_last_day, real=True),
    "MICROSECOND": on_span(lambda found: abs(found.microseconds) % _SECOND),
    "MINUTE": on_span(lambda found: abs(found.microseconds) // _MINUTE % 60),
    "MONTH": on_moment(lambda found: found.month),
    "MONTHNAME": on_moment(_month_name),
    "QUARTER": on_moment(lambda found: (found.month + 2) // 3),
    "SECOND": on_span(lambda found: abs(found.microseconds) // _SECOND % 60),
    "TIME": on_span(lambda found: found),
    "TIME_TO_SEC": on_span(lambda found: int(found.microseconds / _SECOND)),
    "TO_DAYS": on_moment(to_days, real=True),
    "TO_SECONDS": on_moment(_to_seconds, real=True),
    "UNIX_TIMESTAMP": Function(_unix_timestamp, 0, 1),
    "WEEK": Function(_week, 1, 2),
    "WEEKDAY": on_moment(lambda found: found.naive().weekday(), real=True),
    "WEEKOFYEAR": on_moment(lambda found: week_of(found.naive().date(), 3)[1], real=True),
    "YEAR": on_moment(lambda found: found.year),
    "YEARWEEK": Function(_year_week, 1, 2),
}
