"""Functions that make dates and times.

Rules: tidb ``pkg/expression/builtin_time.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.coerce_text import to_text
from ticdc_producer.model.number_text import as_number, rounded
from ticdc_producer.model.sql_mode import SQLMode
from ticdc_producer.model.sql_value import Moment, Span, SQLValue
from ticdc_producer.model.temporal_text import MAX_FSP, moment_of, shifted, two_digit_year
from ticdc_producer.scenario.sql.functions.datetime_argument import (
    clipped,
    moment,
    names_clock,
    of_date,
    real_moment,
    span,
)
from ticdc_producer.scenario.sql.functions.datetime_format import formatted
from ticdc_producer.scenario.sql.functions.function import Function, of_values, whole, wrong_value
from ticdc_producer.scenario.sql.zone import time_zone

_LAST_UNIX_TIME = 32536771199
_SECOND = 1_000_000
_FAR = Decimal(10**15)  # seconds, beyond all that can be a time


def _make_date(year: SQLValue, day: SQLValue) -> SQLValue:
    number, days = whole(year), whole(day)
    if not 0 <= number <= 9999 or days <= 0:
        return None
    try:
        return of_date(date(two_digit_year(number), 1, 1) + timedelta(days=days - 1))
    except (ValueError, OverflowError):
        return None


def _make_time(hour: SQLValue, minute: SQLValue, second: SQLValue) -> SQLValue:
    hours, minutes = whole(hour), whole(minute)
    exact, fsp = _seconds(second)
    if not 0 <= minutes < 60 or not 0 <= exact < 60 * _SECOND:
        return None
    length = (abs(hours) * 3600 + minutes * 60) * _SECOND + exact
    return clipped(-length if hours < 0 else length, fsp)


def _sec_to_time(seconds: SQLValue) -> SQLValue:
    return clipped(*_seconds(seconds))


def _seconds(value: SQLValue) -> tuple[int, int]:
    """Microseconds of a number of seconds, and the digits of its fraction: text and DOUBLEs have six."""
    number = as_number(value)[0]
    if isinstance(number, int) and not isinstance(value, str | bytes):
        return int(number) * _SECOND, 0
    exact = min(max(Decimal(str(number)), -_FAR), _FAR)
    fsp = MAX_FSP
    if isinstance(value, Decimal):
        fsp = min(len(to_text(value).partition(".")[2]), MAX_FSP)
    return int(rounded(exact, fsp).scaleb(MAX_FSP)), fsp


def _from_days(days: SQLValue) -> SQLValue:
    number = whole(days)
    if number <= 365:
        return Moment(0, 0, 0, fsp=-1)
    try:
        return of_date(date.fromordinal(number - 365))
    except (ValueError, OverflowError):
        return Moment(0, 0, 0, fsp=-1)


def _from_unixtime(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    """``FROM_UNIXTIME(seconds[, format])`` in the session's zone."""
    length, fsp = _seconds(arguments[0])
    if not 0 <= length < (_LAST_UNIX_TIME + 1) * _SECOND:
        return None
    when = datetime.fromtimestamp(0, UTC) + timedelta(microseconds=length)
    found = moment_of(when.astimezone(mode.zone), fsp)
    return found if len(arguments) == 1 else formatted(found, to_text(arguments[1]))


def _timestamp(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    """``TIMESTAMP(moment[, time])``."""
    found = moment(arguments[0], mode)
    if len(arguments) == 1 or found is None:
        return found
    addend = span(arguments[1], mode)
    return None if addend is None else _moved(found, addend.microseconds, addend.fsp, mode)


def _moved(found: Moment, microseconds: int, fsp: int, mode: SQLMode) -> Moment | None:
    try:
        there = found.naive() + timedelta(microseconds=microseconds)
    except (ValueError, OverflowError):
        wrong_value("datetime", found, mode)
        return None
    return moment_of(there, max(found.fsp, fsp))


def _timediff(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    """Of two moments or of two times; NULL for one of each."""
    dated = [isinstance(one, Moment) or _has_date(one) for one in arguments]
    if dated[0] != dated[1]:
        return None
    if dated[0]:
        left, right = (real_moment(argument, mode) for argument in arguments)
        if left is None or right is None:
            return None
        length = (left.naive() - right.naive()) // timedelta(microseconds=1)
        return clipped(length, max(left.fsp, right.fsp))
    one, other = (span(argument, mode) for argument in arguments)
    if one is None or other is None:
        return None
    return clipped(one.microseconds - other.microseconds, max(one.fsp, other.fsp))


def _has_date(value: SQLValue) -> bool:
    text = "" if isinstance(value, Span) else to_text(value).strip()
    return "-" in text[1:] and names_clock(value)


def _add_time(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    return _time_sum(arguments, mode, 1)


def _sub_time(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    return _time_sum(arguments, mode, -1)


def _time_sum(arguments: Sequence[SQLValue], mode: SQLMode, sign: int) -> SQLValue:
    """A time added to a moment or a time; of a string the result is a string."""
    value = arguments[0]
    if isinstance(arguments[1], Moment) or _has_date(arguments[1]):
        return None
    addend = span(arguments[1], mode)
    if addend is None:
        return None
    is_moment = isinstance(value, Moment) or _has_date(value)
    start = real_moment(value, mode) if is_moment else span(value, mode)
    if start is None:
        return None
    if isinstance(start, Moment):
        total: Moment | Span | None = _moved(start, sign * addend.microseconds, addend.fsp, mode)
    else:
        fsp = max(start.fsp, addend.fsp)
        total = clipped(start.microseconds + sign * addend.microseconds, fsp)
    return total.text() if total is not None and isinstance(value, str) else total


def _convert_tz(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    found = real_moment(arguments[0], mode)
    try:
        source, target = (time_zone(to_text(name)) for name in arguments[1:])
    except ScenarioError:
        return None
    return None if found is None else shifted(found, source, target)


def _period_add(period: SQLValue, months: SQLValue) -> SQLValue:
    total = _months(whole(period)) + whole(months)
    return total // 12 * 100 + total % 12 + 1


def _period_diff(left: SQLValue, right: SQLValue) -> SQLValue:
    return _months(whole(left)) - _months(whole(right))


def _months(period: int) -> int:
    year, month = divmod(period, 100)
    if period < 0 or not 1 <= month <= 12:
        raise ScenarioError("Incorrect arguments to period_add or period_diff", value=str(period))
    return two_digit_year(year) * 12 + month - 1


FUNCTIONS = {
    "ADDTIME": Function(_add_time, 2, 2),
    "CONVERT_TZ": Function(_convert_tz, 3, 3),
    "FROM_DAYS": of_values(_from_days, 1),
    "FROM_UNIXTIME": Function(_from_unixtime, 1, 2),
    "MAKEDATE": of_values(_make_date, 2),
    "MAKETIME": of_values(_make_time, 3),
    "PERIOD_ADD": of_values(_period_add, 2),
    "PERIOD_DIFF": of_values(_period_diff, 2),
    "SEC_TO_TIME": of_values(_sec_to_time, 1),
    "SUBTIME": Function(_sub_time, 2, 2),
    "TIMEDIFF": Function(_timediff, 2, 2),
    "TIMESTAMP": Function(_timestamp, 1, 2),
}
