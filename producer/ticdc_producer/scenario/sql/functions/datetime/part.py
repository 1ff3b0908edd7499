"""Functions that extract parts of dates and times.

Rules: tidb ``pkg/expression/builtin_time.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC
from decimal import Decimal
from functools import partial

from sqlglot import exp

from ticdc_producer.errors import UnsupportedSQL
from ticdc_producer.model.values.coerce_text import to_text
from ticdc_producer.model.values.sql_value import DateTimeValue, Duration, Member, SQLMode, SQLValue
from ticdc_producer.model.values.temporal_text import MAX_FSP, convert_zone, days_in_month
from ticdc_producer.scenario.sql.expression.eval_type import UNKNOWN, E, ExpressionType
from ticdc_producer.scenario.sql.functions.datetime.argument import (
    calendar_datetime_argument,
    datetime_argument,
    datetime_function,
    time_argument,
    time_function,
    time_of_text,
)
from ticdc_producer.scenario.sql.functions.datetime.calendar import (
    MONTHS,
    WEEKDAYS,
    day_number,
    day_of_year,
    microseconds_since_zero,
    week_of,
    week_of_any,
    weekday,
)
from ticdc_producer.scenario.sql.functions.datetime.make import unix_seconds
from ticdc_producer.scenario.sql.functions.function import Arguments, Function, reject_value, to_integer, word

_SECOND, _MINUTE, _HOUR = 1_000_000, 60_000_000, 3_600_000_000


def _date(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    moment = datetime_argument(arguments[0], mode)
    if moment is None or (moment.is_zero and not mode.zero_dates):
        reject_value("datetime", arguments[0], mode)
        return None
    return DateTimeValue(moment.year, moment.month, moment.day, fsp=-1)


def _month_name(moment: DateTimeValue) -> SQLValue:
    return MONTHS[moment.month - 1] if moment.month else None


def _day_name(moment: DateTimeValue) -> SQLValue:
    """Return the name of the weekday, which is 0 for Monday where a number is needed.

    Source: tidb ``CanImplicitEvalInt``.
    """
    number = weekday(moment)
    return Member(WEEKDAYS[number], number)


def _last_day(moment: DateTimeValue) -> SQLValue:
    return DateTimeValue(moment.year, moment.month, days_in_month(moment.year, moment.month), fsp=-1)


def _to_days(moment: DateTimeValue) -> int:
    return day_number(moment.year, moment.month, moment.day)


def _to_seconds(moment: DateTimeValue) -> SQLValue:
    return microseconds_since_zero(moment) // _SECOND


def _week(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    moment = calendar_datetime_argument(arguments[0], mode)
    return None if moment is None else week_of(moment, _week_mode(arguments))[1]


def _year_week(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    """Return ``YEARWEEK``; a mode that is NULL is 0. Source: tidb ``builtinYearWeekWithModeSig``."""
    moment = None if arguments[0] is None else calendar_datetime_argument(arguments[0], mode)
    if moment is None:
        return None
    year, week = week_of(moment, _week_mode(arguments) | 2)
    return year * 100 + week if year >= 0 else _BEFORE_YEAR_ZERO


_BEFORE_YEAR_ZERO = (1 << 32) - 1


def _week_mode(arguments: Sequence[SQLValue]) -> int:
    return to_integer(arguments[1]) & 7 if len(arguments) > 1 and arguments[1] is not None else 0


def _datediff(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    left, right = (calendar_datetime_argument(argument, mode) for argument in arguments)
    return None if left is None or right is None else _to_days(left) - _to_days(right)


def _time(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    return time_of_text(arguments[0], mode)


def _unix_timestamp(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    """Return ``UNIX_TIMESTAMP``: seconds with the argument's fsp; 0 if out of range.

    A text that is not a date is NULL, but 0 in strict mode: TiDB drops the error.
    """
    if not arguments:
        return unix_seconds(mode)
    moment = datetime_argument(arguments[0], replace(mode, strict=False))
    if moment is None:
        zero = Decimal(0) if isinstance(arguments[0], float) else 0
        return zero if mode.strict else None
    if isinstance(arguments[0], float):
        moment = replace(moment, fsp=MAX_FSP)
    utc = convert_zone(moment, mode.zone, UTC)
    if utc is None or not _FIRST_UNIX_TIME <= utc.fields < _AFTER_UNIX_TIMES:
        return 0 if moment.fsp <= 0 else Decimal(0).scaleb(-moment.fsp)
    seconds = int(utc.naive().replace(tzinfo=UTC, microsecond=0).timestamp())
    if moment.fsp <= 0:
        return seconds
    exact = Decimal(seconds) + Decimal(utc.microsecond).scaleb(-6)
    return exact.quantize(Decimal(1).scaleb(-moment.fsp))


_FIRST_UNIX_TIME, _AFTER_UNIX_TIMES = (1970, 1, 1, 0, 0, 1), (3001, 1, 19)
"""Source: tidb ``goTimeToMysqlUnixTimestamp``."""


def _unix_timestamp_type(arguments: Arguments, types: Sequence[ExpressionType]) -> ExpressionType:
    """Return the type of UNIX_TIMESTAMP: DECIMAL if the argument's type has a fraction of a second.

    A computed string and a DOUBLE have one.
    """
    if not arguments:
        return ExpressionType(E.INTEGER)
    literal, (kind, digits) = arguments[0], types[0]
    if isinstance(literal, exp.Literal) and literal.is_string:
        has_fraction = "." in str(literal.this)
    elif kind in (E.TEXT, E.BYTES, E.DOUBLE):
        has_fraction = True
    elif digits is None:
        return UNKNOWN
    else:
        has_fraction = digits.decimals > 0
    return ExpressionType(E.DECIMAL if has_fraction else E.INTEGER)


def _extract_operands(node: exp.Expr) -> Arguments:
    return word(node.this), node.expression


def _extract(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    """Return ``EXTRACT(unit FROM value)``.

    Units of a time of day also apply to a TIME, and have its sign.
    """
    unit, value = to_text(arguments[0]), arguments[1]
    if unit in _CLOCK_UNITS:
        clock = time_argument(value, mode)
        if clock is None:
            return None
        number = _clock_number(abs(clock.microseconds), unit)
        return -number if clock.microseconds < 0 else number
    if unit in _DAY_UNITS:
        return _days_and_clock(unit, value, mode)
    moment = datetime_argument(value, mode)
    if moment is None:
        return None
    if unit == "WEEK":
        return week_of_any(moment)
    if unit not in _DATE_PARTS:
        raise UnsupportedSQL(f"EXTRACT({unit} FROM …) is not supported")
    return _DATE_PARTS[unit](moment)


def _days_and_clock(unit: str, value: SQLValue, mode: SQLMode) -> int | None:
    """Return the day and parts of the time of a date, or the hours and parts of a TIME, which has no days.

    A text or number is a date if its time of day is that of the TIME that it also is.
    Source: tidb ``builtinExtractDatetimeFromStringSig``, ``ExtractDurationNum``.

    :raises ScenarioError: for a text that is not a TIME, whatever the sql_mode.
    """
    clock_unit, width = _DAY_UNITS[unit]
    if isinstance(value, DateTimeValue):
        return value.day * width + _clock_number(_time_of_day(value), clock_unit)
    clock = time_argument(
        value if isinstance(value, Duration) else to_text(value), replace(mode, strict=True)
    )
    if clock is None:
        return None
    length = abs(clock.microseconds)
    if not isinstance(value, Duration):
        moment = datetime_argument(to_text(value), replace(mode, strict=False))
        if moment and moment.year and _time_of_day(moment) // _SECOND == length // _SECOND:
            return moment.day * width + _clock_number(_time_of_day(moment), clock_unit)
    number = _clock_number(length, clock_unit)
    return -number if clock.microseconds < 0 else number


def _time_of_day(moment: DateTimeValue) -> int:
    return ((moment.hour * 60 + moment.minute) * 60 + moment.second) * _SECOND + moment.microsecond


def _clock_number(microseconds: int, unit: str) -> int:
    """Return the parts of a unit as one decimal number, largest part first: ``1:02`` is 102."""
    parts = (
        microseconds // _HOUR,
        microseconds // _MINUTE % 60,
        microseconds // _SECOND % 60,
        microseconds % _SECOND,
    )
    first, last = _CLOCK_UNITS[unit]
    number = 0
    for index in range(first, last + 1):
        number = number * (1_000_000 if index == 3 else 100) + parts[index]
    return number


_CLOCK_UNITS = {  # first and last index of the parts hour, minute, second, microsecond
    "HOUR": (0, 0), "HOUR_MINUTE": (0, 1), "HOUR_SECOND": (0, 2), "HOUR_MICROSECOND": (0, 3),
    "MINUTE": (1, 1), "MINUTE_SECOND": (1, 2), "MINUTE_MICROSECOND": (1, 3),
    "SECOND": (2, 2), "SECOND_MICROSECOND": (2, 3), "MICROSECOND": (3, 3),
}  # fmt: skip
_DAY_UNITS = {
    "DAY_HOUR": ("HOUR", 100),
    "DAY_MINUTE": ("HOUR_MINUTE", 10_000),
    "DAY_SECOND": ("HOUR_SECOND", 1_000_000),
    "DAY_MICROSECOND": ("HOUR_MICROSECOND", 1_000_000_000_000),
}
_DATE_PARTS: dict[str, Callable[[DateTimeValue], int]] = {
    "YEAR": lambda moment: moment.year,
    "QUARTER": lambda moment: (moment.month + 2) // 3,
    "MONTH": lambda moment: moment.month,
    "DAY": lambda moment: moment.day,
    "YEAR_MONTH": lambda moment: moment.year * 100 + moment.month,
}

_CLOCK_PART = partial(time_function, drops_errors=True)

FUNCTIONS = {
    "DATE": Function(_date, 1, 1, type=E.DATE),
    "DATEDIFF": Function(_datediff, 2, 2, type=E.INTEGER, reads=(calendar_datetime_argument,)),
    "DAY": datetime_function(lambda moment: moment.day),
    "DAYNAME": datetime_function(_day_name, calendar=True, result=E.TEXT),
    "DAYOFMONTH": datetime_function(lambda moment: moment.day),
    "DAYOFWEEK": datetime_function(lambda moment: (weekday(moment) + 1) % 7 + 1, calendar=True),
    "DAYOFYEAR": datetime_function(day_of_year, calendar=True),
    "EXTRACT": Function(_extract, 2, 2, type=E.INTEGER, syntax={exp.Extract: _extract_operands}),
    "HOUR": _CLOCK_PART(lambda duration: abs(duration.microseconds) // _HOUR),
    "LAST_DAY": datetime_function(_last_day, calendar=True, result=E.DATE),
    "MICROSECOND": _CLOCK_PART(lambda duration: abs(duration.microseconds) % _SECOND),
    "MINUTE": _CLOCK_PART(lambda duration: abs(duration.microseconds) // _MINUTE % 60),
    "MONTH": datetime_function(lambda moment: moment.month),
    "MONTHNAME": datetime_function(_month_name, result=E.TEXT),
    "QUARTER": datetime_function(lambda moment: (moment.month + 2) // 3),
    "SECOND": _CLOCK_PART(lambda duration: abs(duration.microseconds) // _SECOND % 60),
    "TIME": Function(_time, 1, 1, type=E.TIME),
    "TIME_TO_SEC": time_function(lambda duration: int(duration.microseconds / _SECOND)),
    "TO_DAYS": datetime_function(_to_days, calendar=True),
    "TO_SECONDS": datetime_function(_to_seconds, calendar=True),
    "UNIX_TIMESTAMP": Function(_unix_timestamp, 0, 1, type=_unix_timestamp_type, clock=True),
    "WEEK": Function(_week, 1, 2, integers=(1,), reads=(calendar_datetime_argument,), type=E.INTEGER),
    "WEEKDAY": datetime_function(weekday, calendar=True),
    "WEEKOFYEAR": datetime_function(lambda moment: week_of(moment, 3)[1], calendar=True),
    "YEAR": datetime_function(lambda moment: moment.year),
    "YEARWEEK": Function(_year_week, 1, 2, integers=(1,), type=E.INTEGER, accepts_null=True),
}
