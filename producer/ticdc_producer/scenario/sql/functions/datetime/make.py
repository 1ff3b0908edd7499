"""Functions that make dates and times, of values or of the time of the commit; ``SYSDATE()`` is ``NOW()``.

Rules: tidb ``pkg/expression/builtin_time.go``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import partial

from sqlglot import exp

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.coerce_text import to_text
from ticdc_producer.model.values.datetime_text import parse_datetime
from ticdc_producer.model.values.duration_text import parse_duration
from ticdc_producer.model.values.number_text import as_number, bigint, check_number, rounded
from ticdc_producer.model.values.sql_value import (
    BinaryLiteral,
    DateTimeValue,
    Duration,
    Quotient,
    SQLMode,
    SQLValue,
)
from ticdc_producer.model.values.temporal_text import (
    MAX_DURATION,
    MAX_FSP,
    convert_zone,
    datetime_from_python,
    time_of_day,
    two_digit_year,
)
from ticdc_producer.scenario.sql.expression.eval_type import E, EvalType, ExpressionType, temporal_type
from ticdc_producer.scenario.sql.functions.datetime.argument import (
    DAY,
    clip_time,
    date_value,
    datetime_argument,
    fraction_digits,
    fsp_of,
    time_argument,
    time_of_text,
)
from ticdc_producer.scenario.sql.functions.datetime.calendar import (
    date_of_number,
    is_complete,
    microseconds_since_zero,
)
from ticdc_producer.scenario.sql.functions.datetime.format import format_datetime
from ticdc_producer.scenario.sql.functions.datetime.zone import time_zone
from ticdc_producer.scenario.sql.functions.function import (
    Arguments,
    Function,
    TypeRule,
    any_arguments,
    reject_value,
    to_integer,
    value_function,
)

_LAST_UNIX_TIME = 32536771199
_SECOND = 1_000_000
_FAR = Decimal(10**15)  # seconds, beyond every valid time


def _make_date(year: SQLValue, day: SQLValue) -> SQLValue:
    number, days = to_integer(year), to_integer(day)
    if not 0 <= number <= 9999 or days <= 0:
        return None
    try:
        return date_value(date(two_digit_year(number), 1, 1) + timedelta(days=days - 1))
    except (ValueError, OverflowError):
        return None


def _make_time(hour: SQLValue, minute: SQLValue, second: SQLValue) -> SQLValue:
    hours, minutes = bigint(hour), to_integer(minute)
    exact, fsp = _seconds(second)
    if not 0 <= minutes < 60 or not 0 <= exact < 60 * _SECOND:
        return None
    length = (abs(hours) * 3600 + minutes * 60) * _SECOND + exact
    return clip_time(-length if hours < 0 else length, fsp)


def _sec_to_time(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    """Return ``SEC_TO_TIME``. Source: tidb ``builtinSecToTimeSig``."""
    length, fsp = _seconds(arguments[0])
    if abs(length) >= MAX_DURATION + _SECOND:
        reject_value("time", arguments[0], mode)
    return clip_time(length, fsp)


def _seconds(value: SQLValue) -> tuple[int, int]:
    """Convert a number of seconds to microseconds and its fsp, which is 6 for text and DOUBLEs."""
    number = as_number(value)[0]
    if isinstance(number, int) and (not isinstance(value, str | bytes) or isinstance(value, BinaryLiteral)):
        return int(number) * _SECOND, 0
    exact = min(max(Decimal(str(number)), -_FAR), _FAR)
    fsp = MAX_FSP
    if isinstance(value, Decimal):
        fsp = value.text_scale if isinstance(value, Quotient) else len(to_text(value).partition(".")[2])
        fsp = min(fsp, MAX_FSP)
    return int(rounded(exact, fsp).scaleb(MAX_FSP)), fsp


def _from_days(days: SQLValue) -> SQLValue:
    day = date_of_number(to_integer(days))
    return None if day is None else DateTimeValue(*day, fsp=-1)


def _from_unixtime(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    """Return ``FROM_UNIXTIME(seconds[, format])`` in the session's zone."""
    check_number(arguments[0], mode)
    length, fsp = _seconds(arguments[0])
    if not 0 <= length < (_LAST_UNIX_TIME + 1) * _SECOND:
        return None
    when = datetime.fromtimestamp(0, UTC) + timedelta(microseconds=length)
    moment = datetime_from_python(when.astimezone(mode.zone), fsp)
    return moment if len(arguments) == 1 else format_datetime(moment, to_text(arguments[1]))


def _parse_tso(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    """Return ``TIDB_PARSE_TSO(ts)``: the time of a time stamp of TiDB, in the session's zone."""
    ts = to_integer(arguments[0])
    if not 0 < ts < 1 << 63:
        return None
    when = datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=ts >> _LOGICAL_BITS)
    return datetime_from_python(when.astimezone(mode.zone), MAX_FSP)


def _parse_tso_logical(value: SQLValue) -> SQLValue:
    """Return ``TIDB_PARSE_TSO_LOGICAL(ts)``: the number within the millisecond of a time stamp of TiDB."""
    ts = to_integer(value)
    return ts & (1 << _LOGICAL_BITS) - 1 if 0 < ts < 1 << 63 else None


_LOGICAL_BITS = 18


def _from_unixtime_type(arguments: Arguments, _: Sequence[ExpressionType]) -> ExpressionType:
    return ExpressionType(E.TEXT if len(arguments) > 1 else E.DATETIME)


def _timestamp(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    """Return ``TIMESTAMP(datetime[, time])``; NULL for a date of the year 0, and if the time is a date.

    Source: tidb ``builtinTimestamp2ArgsSig``.
    """
    moment = datetime_argument(arguments[0], mode)
    if len(arguments) == 1 or moment is None:
        return moment
    if not moment.year or isinstance(arguments[1], DateTimeValue) or _has_date(arguments[1]):
        return None
    addend = time_argument(arguments[1], mode)
    return None if addend is None else _moved(moment, addend.microseconds, addend.fsp, mode)


def _moved(moment: DateTimeValue, microseconds: int, fsp: int, mode: SQLMode) -> DateTimeValue | None:
    """Return a datetime after a length of time, with a zero date in the year 0. Source: tidb ``Time.Add``."""
    days, clock = divmod(abs(microseconds_since_zero(moment) + microseconds), DAY)
    day = date_of_number(days)
    if day is None:
        reject_value("datetime", moment, mode)
        return None
    seconds, micro = divmod(clock, _SECOND)
    fsp = max(moment.fsp, fsp)
    return DateTimeValue(*day, seconds // 3600, seconds // 60 % 60, seconds % 60, micro, fsp)


def _timediff(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    """Return ``TIMEDIFF`` of two datetimes or two times; NULL for one of each.

    :raises ScenarioError: in strict mode, for a length of two datetimes that no TIME has.
    """
    are_dates = [isinstance(argument, DateTimeValue) or _is_long_date(argument) for argument in arguments]
    if are_dates[0] != are_dates[1]:
        for argument, is_date in zip(arguments, are_dates, strict=True):
            if not is_date:
                time_argument(argument, mode)
        return None
    if are_dates[0]:
        left, right = (datetime_argument(argument, mode) for argument in arguments)
        if left is None or right is None:
            return None
        length = microseconds_since_zero(left) - microseconds_since_zero(right)
        if abs(length) > MAX_DURATION:
            reject_value("time", Duration(length), mode)
        return clip_time(length, max(left.fsp, right.fsp))
    first, second = (time_of_text(argument, mode) for argument in arguments)
    if first is None or second is None:
        return None
    return clip_time(first.microseconds - second.microseconds, max(first.fsp, second.fsp))


def _is_long_date(value: SQLValue) -> bool:
    """Return whether TIMEDIFF reads a text or number as a datetime. Source: tidb ``StrToDuration``."""
    if isinstance(value, Duration):
        return False
    text = to_text(value).strip()
    length = len(text.removeprefix("-").partition(".")[0])
    return length >= _SHORTEST_DATETIME and parse_datetime(text, MAX_FSP) is not None


_SHORTEST_DATETIME = 12
_BLANKS = " \t\n\f\r"
_DURATION = re.compile(
    r"-?(?:(?:\d{1,2}[ \t\n\f\r]+)?0*\d{0,3}(?::0*\d{1,2}){0,2}|\d{1,7})?(?:\.\d*)?", re.ASCII
)
"""A text that ADDTIME reads as a TIME; it reads any other as a datetime. Source: tidb ``isDuration``."""


_DATE_START = re.compile(r"[ \t\n\f\r]*\d+-.", re.ASCII | re.DOTALL)


def _has_date(value: SQLValue) -> bool:
    return not isinstance(value, Duration) and _DURATION.fullmatch(to_text(value).strip(_BLANKS)) is None


def _add_signed_time(arguments: Sequence[SQLValue], mode: SQLMode, sign: int) -> SQLValue:
    """Add a time to a datetime or a time; the result of a string or DATE is a string.

    Texts that are not times are NULL, also in strict mode.
    Source: tidb ``getBf4TimeAddSub``, ``builtinAddDateAndStringSig``, ``builtinAddStringAndStringSig``.
    """
    value, addend = arguments
    is_text = not isinstance(value, DateTimeValue | Duration)
    length = addend if isinstance(addend, Duration) else _added_time(addend, is_text)
    start = None if length is None else _start_of_sum(value, mode)
    if start is None or length is None:
        return None
    if isinstance(start, DateTimeValue):
        total: DateTimeValue | Duration | None = _moved(start, sign * length.microseconds, length.fsp, mode)
    else:
        total = clip_time(start.microseconds + sign * length.microseconds, max(start.fsp, length.fsp))
    if total is None or isinstance(value, Duration) or (isinstance(value, DateTimeValue) and value.fsp >= 0):
        return total
    if is_text or not isinstance(addend, Duration):
        is_whole = total.text().partition(".")[2].strip("0") == ""
        total = replace(total, fsp=0 if is_whole else MAX_FSP)
    return total.text()


def _added_time(value: SQLValue, to_text_value: bool) -> Duration | None:
    """Return the time that ADDTIME adds; None if it is a date, or no time.

    :param to_text_value: whether it is added to a text, which takes the time of a date without separators.
    """
    text = to_text(value)
    if isinstance(value, DateTimeValue) or (isinstance(value, bytes) and to_text_value):
        return None
    if _DATE_START.match(text) if to_text_value else _has_date(value):
        return None
    return parse_duration(text, fraction_digits(text))


def _start_of_sum(value: SQLValue, mode: SQLMode) -> DateTimeValue | Duration | None:
    if isinstance(value, DateTimeValue):
        is_zero_date = value.fsp < 0 and value.is_zero
        return None if is_zero_date else replace(value, fsp=max(value.fsp, 0))
    if isinstance(value, Duration):
        return value
    text = to_text(value)
    return (
        datetime_argument(text, replace(mode, strict=False))
        if _has_date(value)
        else parse_duration(text, MAX_FSP)
    )


def _time_sum_type(_: Arguments, types: Sequence[ExpressionType]) -> ExpressionType:
    """Return the type of ADDTIME and SUBTIME: a string, also for a DATE (``getBf4TimeAddSub``)."""
    kind = types[0].kind
    return ExpressionType(kind if kind in (E.DATETIME, E.TIME, E.UNKNOWN) else E.TEXT)


def _convert_tz(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    moment = datetime_argument(arguments[0], replace(mode, strict=False))
    if moment is not None and not is_complete(moment):
        reject_value("datetime", arguments[0], mode)
        return None
    try:
        source, target = (time_zone(to_text(name)) for name in arguments[1:])
    except ScenarioError:
        return None
    return None if moment is None else convert_zone(moment, source, target)


def _period_add(period: SQLValue, months: SQLValue) -> SQLValue:
    total = _months(to_integer(period)) + to_integer(months)
    return total // 12 * 100 + total % 12 + 1


def _period_diff(left: SQLValue, right: SQLValue) -> SQLValue:
    return _months(to_integer(left)) - _months(to_integer(right))


def _months(period: int) -> int:
    year, month = divmod(period, 100)
    if period < 0 or not 1 <= month <= 12:
        raise ScenarioError("Incorrect arguments to period_add or period_diff", value=str(period))
    return two_digit_year(year) * 12 + month - 1


def _local(arguments: Sequence[SQLValue], mode: SQLMode) -> DateTimeValue:
    return datetime_from_python(mode.now.astimezone(mode.zone), fsp_of(arguments[0]) if arguments else 0)


def _utc(arguments: Sequence[SQLValue], mode: SQLMode) -> DateTimeValue:
    return _local(arguments, replace(mode, zone=UTC))


def _date(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    return _day(_local(arguments, mode))


def _utc_date(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    return _day(_utc(arguments, mode))


def _day(now: DateTimeValue) -> DateTimeValue:
    return DateTimeValue(now.year, now.month, now.day, fsp=-1)


def _time(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    now = _local(arguments, mode)
    return time_of_day(now, now.fsp)


def _utc_time(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    now = _utc(arguments, mode)
    return time_of_day(now, now.fsp)


def _precision(arguments: Arguments) -> Arguments:
    """Return the argument of a function of the current time, which TiDB's grammar wants as a number."""
    for node in arguments:
        if not isinstance(node, exp.Literal) or node.is_string or not str(node.this).isdecimal():
            raise ScenarioError("SQL does not parse: the digits of the current time are not a whole number")
    return arguments


def _now_type(kind: EvalType) -> TypeRule:
    """Return the type of the current time, whose fsp is a literal."""

    def rule(arguments: Arguments, _: Sequence[ExpressionType]) -> ExpressionType:
        fsp = str(arguments[0].this) if arguments else "0"
        return temporal_type(kind, int(fsp)) if fsp.isdecimal() else ExpressionType(kind)

    return rule


def unix_seconds(mode: SQLMode) -> int:
    """Return the session's current time in seconds since 1970: ``UNIX_TIMESTAMP()``."""
    return (mode.now - mode.now.fromtimestamp(0, UTC)) // timedelta(seconds=1)


FUNCTIONS = {
    "ADDTIME": Function(partial(_add_signed_time, sign=1), 2, 2, type=_time_sum_type),
    "CONVERT_TZ": Function(_convert_tz, 3, 3, full_fraction=True, drops_errors=True, type=E.DATETIME),
    "CURDATE": Function(_date, 0, 0, type=E.DATE, default=any_arguments, clock=True),
    "CURRENT_DATE": Function(_date, 0, 0, type=E.DATE, default=any_arguments, clock=True),
    "CURRENT_TIME": Function(_time, 0, 1, type=_now_type(E.TIME), clock=True, arguments=_precision),
    "CURRENT_TIMESTAMP": Function(_local, 0, 1, type=_now_type(E.DATETIME), clock=True, arguments=_precision),
    "CURTIME": Function(_time, 0, 1, type=_now_type(E.TIME), clock=True, arguments=_precision),
    "FROM_DAYS": value_function(_from_days, 1, integers=(0,), type=E.DATE),
    "TIDB_PARSE_TSO": Function(_parse_tso, 1, 1, integers=(0,), type=E.DATETIME),
    "TIDB_PARSE_TSO_LOGICAL": value_function(_parse_tso_logical, 1, integers=(0,), type=E.INTEGER),
    "FROM_UNIXTIME": Function(_from_unixtime, 1, 2, type=_from_unixtime_type),
    "LOCALTIME": Function(_local, 0, 1, type=_now_type(E.DATETIME), clock=True, arguments=_precision),
    "LOCALTIMESTAMP": Function(_local, 0, 1, type=_now_type(E.DATETIME), clock=True, arguments=_precision),
    "MAKEDATE": value_function(_make_date, 2, integers=(0, 1), type=E.DATE),
    "MAKETIME": value_function(_make_time, 3, numbers=(2,), integers=(0, 1), type=E.TIME),
    "NOW": Function(_local, 0, 1, type=_now_type(E.DATETIME), clock=True, arguments=_precision),
    "PERIOD_ADD": value_function(_period_add, 2, integers=(0, 1), type=E.INTEGER),
    "PERIOD_DIFF": value_function(_period_diff, 2, integers=(0, 1), type=E.INTEGER),
    "SEC_TO_TIME": Function(_sec_to_time, 1, 1, numbers=(0,), type=E.TIME),
    "SUBTIME": Function(partial(_add_signed_time, sign=-1), 2, 2, type=_time_sum_type),
    "SYSDATE": Function(_local, 0, 1, type=_now_type(E.DATETIME), clock=True, arguments=_precision),
    "TIMEDIFF": Function(_timediff, 2, 2, type=E.TIME),
    "TIMESTAMP": Function(_timestamp, 1, 2, type=E.DATETIME, reads=(datetime_argument,)),
    "UTC_DATE": Function(_utc_date, 0, 0, type=E.DATE, clock=True),
    "UTC_TIME": Function(_utc_time, 0, 1, type=_now_type(E.TIME), clock=True, arguments=_precision),
    "UTC_TIMESTAMP": Function(_utc, 0, 1, type=_now_type(E.DATETIME), clock=True, arguments=_precision),
}
