"""Functions that format and parse dates and times.

Rules: MySQL manual, ``DATE_FORMAT()``; tidb ``pkg/types/time.go`` (``DateFormat``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ticdc_producer.errors import UnsupportedSQL
from ticdc_producer.model.values.coerce_text import to_text
from ticdc_producer.model.values.sql_value import DateTimeValue, SQLMode, SQLValue
from ticdc_producer.scenario.sql.functions.datetime_argument import datetime_argument, time_argument
from ticdc_producer.scenario.sql.functions.datetime_parse import MONTHS, WEEKDAYS, parse_by_format, week_of
from ticdc_producer.scenario.sql.functions.function import Function, reject_value


def format_datetime(found: DateTimeValue, layout: str) -> str | None:
    """A datetime in a format of ``DATE_FORMAT``; None if it lacks a month or weekday of the format."""
    parts = []
    letters = iter(layout)
    for letter in letters:
        if letter == "%":
            letter = next(letters, "")
            rule = _RULES.get(letter)
            try:
                parts.append(letter if rule is None else rule(found))
            except (ValueError, IndexError):
                return None
        else:
            parts.append(letter)
    return "".join(parts)


def _date_format(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    found = datetime_argument(arguments[0], mode)
    return None if found is None else format_datetime(found, to_text(arguments[1]))


def _time_format(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    """``TIME_FORMAT``: the format of a time, whose hours may exceed 23."""
    found = time_argument(arguments[0], mode)
    if found is None:
        return None
    layout = to_text(arguments[1])
    specifiers = set(re.findall("%(.)", layout, re.DOTALL))
    if specifiers & _DATE_SPECIFIERS or found.microseconds < 0:
        raise UnsupportedSQL("TIME_FORMAT of negative times, or with parts of a date, is not supported")
    seconds, micro = divmod(found.microseconds, 1_000_000)
    return format_datetime(
        DateTimeValue(0, 0, 0, seconds // 3600, seconds // 60 % 60, seconds % 60, micro, 6), layout
    )


def _str_to_date(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    """``STR_TO_DATE``: a DATE, TIME or DATETIME, depending on the specifiers of the format."""
    text, layout = to_text(arguments[0]), to_text(arguments[1])
    found = parse_by_format(text, layout, mode)
    if found is None:
        reject_value("datetime", text, mode)
    return found


def _month(found: DateTimeValue) -> str:
    if found.month == 0:
        raise ValueError("the month is 0")
    return MONTHS[found.month - 1]


def _weekday(found: DateTimeValue) -> str:
    return WEEKDAYS[found.naive().weekday()]


def _ordinal(found: DateTimeValue) -> str:
    endings = {1: "st", 2: "nd", 3: "rd"}
    return f"{found.day}{'th' if 11 <= found.day <= 13 else endings.get(found.day % 10, 'th')}"


def _twelve_hour(found: DateTimeValue) -> int:
    return found.hour % 12 or 12


def _am_pm(found: DateTimeValue) -> str:
    return "PM" if found.hour % 24 >= 12 else "AM"


def _minute_second(found: DateTimeValue) -> str:
    return f"{found.minute:02d}:{found.second:02d}"


def _week(mode: int) -> Callable[[DateTimeValue], str]:
    return lambda found: f"{week_of(found.naive().date(), mode)[1]:02d}"


def _year_of_week(mode: int) -> Callable[[DateTimeValue], str]:
    return lambda found: f"{week_of(found.naive().date(), mode)[0]:04d}"


_RULES: dict[str, Callable[[DateTimeValue], str]] = {
    "a": lambda found: _weekday(found)[:3],
    "b": lambda found: _month(found)[:3],
    "c": lambda found: str(found.month),
    "D": _ordinal,
    "d": lambda found: f"{found.day:02d}",
    "e": lambda found: str(found.day),
    "f": lambda found: f"{found.microsecond:06d}",
    "H": lambda found: f"{found.hour:02d}",
    "h": lambda found: f"{_twelve_hour(found):02d}",
    "I": lambda found: f"{_twelve_hour(found):02d}",
    "i": lambda found: f"{found.minute:02d}",
    "j": lambda found: f"{found.naive().timetuple().tm_yday:03d}",
    "k": lambda found: str(found.hour),
    "l": lambda found: str(_twelve_hour(found)),
    "M": _month,
    "m": lambda found: f"{found.month:02d}",
    "p": _am_pm,
    "r": lambda found: f"{_twelve_hour(found):02d}:{_minute_second(found)} {_am_pm(found)}",
    "S": lambda found: f"{found.second:02d}",
    "s": lambda found: f"{found.second:02d}",
    "T": lambda found: f"{found.hour:02d}:{_minute_second(found)}",
    "U": _week(0),
    "u": _week(1),
    "V": _week(2),
    "v": _week(3),
    "W": _weekday,
    "w": lambda found: str(found.naive().isoweekday() % 7),
    "X": _year_of_week(2),
    "x": _year_of_week(3),
    "Y": lambda found: f"{found.year:04d}",
    "y": lambda found: f"{found.year % 100:02d}",
}
_DATE_SPECIFIERS = frozenset(_RULES) - frozenset("fHhIiklprSsT")

FUNCTIONS = {
    "DATE_FORMAT": Function(_date_format, 2, 2),
    "STR_TO_DATE": Function(_str_to_date, 2, 2),
    "TIME_FORMAT": Function(_time_format, 2, 2),
}
