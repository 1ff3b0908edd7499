"""Dates and times by format.

Rules: MySQL manual, ``DATE_FORMAT()``; tidb ``pkg/types/time.go`` (``DateFormat``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ticdc_producer.errors import UnsupportedSQL
from ticdc_producer.model.coerce_text import to_text
from ticdc_producer.model.sql_mode import SQLMode
from ticdc_producer.model.sql_value import Moment, SQLValue
from ticdc_producer.scenario.sql.functions.datetime_argument import moment, span
from ticdc_producer.scenario.sql.functions.datetime_parse import parse_by_format
from ticdc_producer.scenario.sql.functions.function import Function, wrong_value
from ticdc_producer.scenario.sql.functions.week import MONTHS, WEEKDAYS, week_of


def formatted(found: Moment, layout: str) -> str | None:
    """The moment by a format; None where it has no month or weekday to name."""
    pieces = []
    letters = iter(layout)
    for letter in letters:
        if letter == "%":
            letter = next(letters, "")
            rule = _RULES.get(letter)
            try:
                pieces.append(letter if rule is None else rule(found))
            except (ValueError, IndexError):
                return None
        else:
            pieces.append(letter)
    return "".join(pieces)


def _date_format(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    found = moment(arguments[0], mode)
    return None if found is None else formatted(found, to_text(arguments[1]))


def _time_format(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    """The clock alone; hours may be more than 23."""
    found = span(arguments[0], mode)
    if found is None:
        return None
    layout = to_text(arguments[1])
    specifiers = set(re.findall("%(.)", layout, re.DOTALL))
    if specifiers & _OF_DATES or found.microseconds < 0:
        raise UnsupportedSQL("TIME_FORMAT of negative times, or with parts of a date, is not supported")
    seconds, micro = divmod(found.microseconds, 1_000_000)
    return formatted(Moment(0, 0, 0, seconds // 3600, seconds // 60 % 60, seconds % 60, micro, 6), layout)


def _str_to_date(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    """A DATE, TIME or DATETIME, as the format names parts of it."""
    text, layout = to_text(arguments[0]), to_text(arguments[1])
    found = parse_by_format(text, layout, mode)
    if found is None:
        wrong_value("datetime", text, mode)
    return found


def _month(found: Moment) -> str:
    if found.month == 0:
        raise ValueError("no month to name")
    return MONTHS[found.month - 1]


def _weekday(found: Moment) -> str:
    return WEEKDAYS[found.naive().weekday()]


def _ordinal(found: Moment) -> str:
    endings = {1: "st", 2: "nd", 3: "rd"}
    return f"{found.day}{'th' if 11 <= found.day <= 13 else endings.get(found.day % 10, 'th')}"


def _of_twelve(found: Moment) -> int:
    return found.hour % 12 or 12


def _half(found: Moment) -> str:
    return "PM" if found.hour % 24 >= 12 else "AM"


def _clock(found: Moment) -> str:
    return f"{found.minute:02d}:{found.second:02d}"


def _week(mode: int) -> Callable[[Moment], str]:
    return lambda found: f"{week_of(found.naive().date(), mode)[1]:02d}"


def _year_of_week(mode: int) -> Callable[[Moment], str]:
    return lambda found: f"{week_of(found.naive().date(), mode)[0]:04d}"


_RULES: dict[str, Callable[[Moment], str]] = {
    "a": lambda found: _weekday(found)[:3],
    "b": lambda found: _month(found)[:3],
    "c": lambda found: str(found.month),
    "D": _ordinal,
    "d": lambda found: f"{found.day:02d}",
    "e": lambda found: str(found.day),
    "f": lambda found: f"{found.microsecond:06d}",
    "H": lambda found: f"{found.hour:02d}",
    "h": lambda found: f"{_of_twelve(found):02d}",
    "I": lambda found: f"{_of_twelve(found):02d}",
    "i": lambda found: f"{found.minute:02d}",
    "j": lambda found: f"{found.naive().timetuple().tm_yday:03d}",
    "k": lambda found: str(found.hour),
    "l": lambda found: str(_of_twelve(found)),
    "M": _month,
    "m": lambda found: f"{found.month:02d}",
    "p": _half,
    "r": lambda found: f"{_of_twelve(found):02d}:{_clock(found)} {_half(found)}",
    "S": lambda found: f"{found.second:02d}",
    "s": lambda found: f"{found.second:02d}",
    "T": lambda found: f"{found.hour:02d}:{_clock(found)}",
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
_OF_DATES = frozenset(_RULES) - frozenset("fHhIiklprSsT")

FUNCTIONS = {
    "DATE_FORMAT": Function(_date_format, 2, 2),
    "STR_TO_DATE": Function(_str_to_date, 2, 2),
    "TIME_FORMAT": Function(_time_format, 2, 2),
}
