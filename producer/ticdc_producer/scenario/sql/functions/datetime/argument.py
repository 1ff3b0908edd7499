"""Converts arguments to dates and times, and makes functions of one date or time."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.coerce_scalar import as_datetime, as_duration, duration_of_integer, readable
from ticdc_producer.model.values.coerce_text import to_text
from ticdc_producer.model.values.duration_text import read_duration
from ticdc_producer.model.values.sql_value import DateTimeValue, Duration, JsonText, SQLMode, SQLValue, Year
from ticdc_producer.model.values.temporal_text import MAX_DURATION, MAX_FSP, time_of_day
from ticdc_producer.scenario.sql.expression.eval_type import EvalType
from ticdc_producer.scenario.sql.functions.datetime.calendar import is_complete
from ticdc_producer.scenario.sql.functions.function import Function, reject_value, to_integer

DAY = 24 * 3600 * 1_000_000
"""Microseconds in a day."""

_CLOCK = re.compile(r"\d[T ]+\d|^\d{9,}|:", re.ASCII)


def fraction_digits(value: SQLValue) -> int:
    """Return the fsp of a string or a number: its digits after the point, at most 6."""
    return min(len(to_text(value).partition(".")[2].rstrip("Z")), MAX_FSP)


def has_time_of_day(value: SQLValue) -> bool:
    """Return whether a value has a time of day, even midnight."""
    if isinstance(value, DateTimeValue):
        return value.fsp >= 0
    return isinstance(value, Duration) or _CLOCK.search(to_text(value).strip()) is not None


def datetime_argument(value: SQLValue, mode: SQLMode) -> DateTimeValue | None:
    """Convert an argument to a DATETIME with the argument's own fsp; None if it is not a date or time.

    :raises ScenarioError: in strict mode, instead of None.
    """
    if isinstance(value, DateTimeValue):
        return value if value.fsp >= 0 else replace(value, fsp=0)
    if isinstance(value, Year):
        return DateTimeValue(int(value), 0, 0)
    text = _unquoted(value)
    moment = as_datetime(text, value.fsp if isinstance(value, Duration) else fraction_digits(text), mode)
    if isinstance(value, int | Decimal | float) and 0 <= value < 1:
        return moment  # the number 0 is no error: ParseTimeFromNum
    if moment is None or not readable(moment, mode):
        reject_value("datetime", value, mode)
        return None
    return moment


def calendar_datetime_argument(value: SQLValue, mode: SQLMode) -> DateTimeValue | None:
    """Convert like ``datetime_argument``, but reject dates without month or day."""
    moment = datetime_argument(value, mode)
    if moment is not None and not is_complete(moment):
        reject_value("datetime", value, mode)
        return None
    return moment


def time_argument(value: SQLValue, mode: SQLMode) -> Duration | None:
    """Convert an argument to a TIME, limited to the range of TIME; None if it is not a time.

    :raises ScenarioError: in strict mode, instead of None.
    """
    if isinstance(value, DateTimeValue):
        return time_of_day(value, max(value.fsp, 0))
    text = _unquoted(value)
    if isinstance(text, int):
        duration = duration_of_integer(text, 0)
    else:
        duration = value if isinstance(value, Duration) else as_duration(text, fraction_digits(text))
    if duration is None:
        reject_value("time", value, mode)
        is_text = isinstance(text, str | bytes)
        duration = read_duration(to_text(text), fraction_digits(text))[0] if is_text else None
    if duration is None:
        return None
    return clip_time(duration.microseconds, duration.fsp)


def time_of_text(value: SQLValue, mode: SQLMode) -> Duration | None:
    """Convert an argument that TiDB reads as a text to a TIME; without strict mode any other text is 0.

    Source: tidb ``builtinTimeSig``, ``convertStringToDuration``.
    """
    if isinstance(value, Duration) or (isinstance(value, DateTimeValue) and value.fsp >= 0):
        return time_argument(value, mode)
    text = to_text(value)
    return time_argument(text, mode) or Duration(0, fraction_digits(text))


def clip_time(microseconds: int, fsp: int) -> Duration:
    """Return a TIME, limited to ±838:59:59.

    :param fsp: digits of its fraction.
    """
    return Duration(min(max(microseconds, -MAX_DURATION), MAX_DURATION), fsp)


def fsp_of(value: SQLValue) -> int:
    """Convert an argument that is an fsp: the number of digits of a fraction.

    :raises ScenarioError: if it is not between 0 and 6.
    """
    digits = to_integer(value)
    if not 0 <= digits <= MAX_FSP:
        raise ScenarioError("a fraction of a second has at most 6 digits", value=str(digits))
    return digits


def date_value(day: date) -> DateTimeValue:
    """Convert a date to an SQL value of type DATE."""
    return DateTimeValue(day.year, day.month, day.day, fsp=-1)


def datetime_function(
    run: Callable[[DateTimeValue], SQLValue],
    *,
    calendar: bool = False,
    result: EvalType = EvalType.INTEGER,
) -> Function:
    """Make a function of one date or datetime.

    :param calendar: whether dates without month or day are invalid arguments.
    :param result: the type of its result.
    """
    read = calendar_datetime_argument if calendar else datetime_argument

    def call(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
        moment = read(arguments[0], mode)
        return None if moment is None else run(moment)

    return Function(call, 1, 1, type=result)


def time_function(run: Callable[[Duration], SQLValue], *, drops_errors: bool = False) -> Function:
    """Make a function of one time, whose result is a number.

    :param drops_errors: whether it is NULL for an argument that is not a time.
    """

    def call(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
        try:
            duration = time_argument(arguments[0], mode)
        except ScenarioError:
            if not drops_errors:
                raise
            return None
        return None if duration is None else run(duration)

    return Function(call, 1, 1, type=EvalType.INTEGER, drops_errors=drops_errors)


def _unquoted(value: SQLValue) -> SQLValue:
    return value.strip('"') if isinstance(value, JsonText) else value
