"""Converts arguments to dates and times, and makes functions of one date or time."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.coerce_scalar import allowed, as_datetime, as_duration
from ticdc_producer.model.values.coerce_text import to_text
from ticdc_producer.model.values.sql_value import DateTimeValue, Duration, JsonText, SQLMode, SQLValue
from ticdc_producer.model.values.temporal_text import MAX_DURATION, MAX_FSP, time_of_day
from ticdc_producer.scenario.sql.functions.function import Function, reject_value, to_integer

DAY = 24 * 3600 * 1_000_000
"""Microseconds in a day."""

_CLOCK = re.compile(r"\d[T ]+\d|^\d{9,}|:", re.ASCII)


def fraction_digits(value: SQLValue) -> int:
    """The fsp of a string or a number: its digits after the point, at most 6."""
    return min(len(to_text(value).partition(".")[2].rstrip("Z")), MAX_FSP)


def has_time_of_day(value: SQLValue) -> bool:
    """Whether a value has a time of day, even midnight."""
    if isinstance(value, DateTimeValue):
        return value.fsp >= 0
    return isinstance(value, Duration) or _CLOCK.search(to_text(value).strip()) is not None


def datetime_argument(value: SQLValue, mode: SQLMode) -> DateTimeValue | None:
    """An argument as a DATETIME with the argument's own fsp; None if it is not a date or time.

    :raises ScenarioError: in strict mode, instead of None.
    """
    if isinstance(value, DateTimeValue):
        return value if value.fsp >= 0 else replace(value, fsp=0)
    text = _unquoted(value)
    found = as_datetime(text, 0 if isinstance(value, Duration) else fraction_digits(text), mode)
    if found is None or not allowed(found, mode):
        reject_value("datetime", value, mode)
        return None
    return found


def calendar_datetime_argument(value: SQLValue, mode: SQLMode) -> DateTimeValue | None:
    """Like ``datetime_argument``, but rejects dates that no calendar has, such as month 0."""
    found = datetime_argument(value, mode)
    if found is not None and not _is_calendar_date(found):
        reject_value("datetime", value, mode)
        return None
    return found


def _is_calendar_date(found: DateTimeValue) -> bool:
    try:
        found.naive()
    except ValueError:
        return False
    return True


def time_argument(value: SQLValue, mode: SQLMode) -> Duration | None:
    """An argument as a TIME, limited to the range of TIME; None if it is not a time.

    :raises ScenarioError: in strict mode, instead of None.
    """
    if isinstance(value, DateTimeValue):
        return time_of_day(value, max(value.fsp, 0))
    text = _unquoted(value)
    found = value if isinstance(value, Duration) else as_duration(text, fraction_digits(text))
    if found is None:
        reject_value("time", value, mode)
        return None
    return clip_time(found.microseconds, found.fsp)


def clip_time(microseconds: int, fsp: int) -> Duration:
    """A TIME, limited to ±838:59:59.

    :param fsp: digits of its fraction.
    """
    return Duration(min(max(microseconds, -MAX_DURATION), MAX_DURATION), fsp)


def fsp_of(value: SQLValue) -> int:
    """An argument that is an fsp: the number of digits of a fraction.

    :raises ScenarioError: if it is not between 0 and 6.
    """
    digits = to_integer(value)
    if not 0 <= digits <= MAX_FSP:
        raise ScenarioError("a fraction of a second has at most 6 digits", value=str(digits))
    return digits


def date_value(found: date) -> DateTimeValue:
    """A date as an SQL value of type DATE."""
    return DateTimeValue(found.year, found.month, found.day, fsp=-1)


def datetime_function(run: Callable[[DateTimeValue], SQLValue], *, calendar: bool = False) -> Function:
    """A function of one date or datetime.

    :param calendar: whether dates that no calendar has are invalid arguments.
    """
    read = calendar_datetime_argument if calendar else datetime_argument

    def call(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
        found = read(arguments[0], mode)
        return None if found is None else run(found)

    return Function(call, 1, 1)


def time_function(run: Callable[[Duration], SQLValue]) -> Function:
    """A function of one time."""

    def call(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
        found = time_argument(arguments[0], mode)
        return None if found is None else run(found)

    return Function(call, 1, 1)


def _unquoted(value: SQLValue) -> SQLValue:
    return value.strip('"') if isinstance(value, JsonText) else value
