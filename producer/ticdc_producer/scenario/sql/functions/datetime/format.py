"""Functions that format and parse dates and times.

Rules: MySQL manual, ``DATE_FORMAT()``; tidb ``pkg/types/time.go`` (``DateFormat``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlglot import exp

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.coerce_text import to_text
from ticdc_producer.model.values.sql_value import DateTimeValue, SQLMode, SQLValue
from ticdc_producer.scenario.sql.expression.eval_type import E, ExpressionType
from ticdc_producer.scenario.sql.functions.datetime.argument import datetime_argument, time_argument
from ticdc_producer.scenario.sql.functions.datetime.calendar import (
    MONTHS,
    WEEKDAYS,
    day_of_year,
    is_complete,
    week_of,
    weekday,
)
from ticdc_producer.scenario.sql.functions.datetime.interval import unit_arguments
from ticdc_producer.scenario.sql.functions.datetime.parse import (
    parse_by_format,
    parts_of_format,
)
from ticdc_producer.scenario.sql.functions.function import Arguments, Function, reject_value, value_function


def format_datetime(moment: DateTimeValue, layout: str) -> str | None:
    """Format a datetime as ``DATE_FORMAT`` does; None if it lacks a month or weekday of the format."""
    parts = []
    letters = iter(layout)
    for letter in letters:
        if letter == "%":
            letter = next(letters, "")
            rule = _RULES.get(letter)
            try:
                parts.append(letter if rule is None else rule(moment))
            except (ValueError, IndexError):
                return None
        else:
            parts.append(letter)
    return "".join(parts)


def _date_format(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    """Return ``DATE_FORMAT``; NULL for a date without month or day. Source: tidb ``builtinDateFormatSig``."""
    moment, layout = datetime_argument(arguments[0], mode), to_text(arguments[1])
    if moment is None or layout == "0":
        return None if moment is None else layout
    if not is_complete(moment):
        if not moment.is_zero or moment.fsp > 0 or isinstance(arguments[0], str | bytes):
            reject_value("datetime", arguments[0], mode)
        return None
    return format_datetime(moment, layout)


def _time_format(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    """Return ``TIME_FORMAT``: the format of a time without its sign, whose hours may exceed 23.

    The letters of parts of a date mean themselves. A text that is a time in part is no error.
    Source: tidb ``Duration.convertDateFormat``, ``builtinTimeFormatSig``.
    """
    duration = time_argument(arguments[0], replace(mode, strict=False)) or time_argument(arguments[0], mode)
    if duration is None:
        return None
    layout = re.sub("%(.)", _part_of_time, to_text(arguments[1]), flags=re.DOTALL)
    seconds, micro = divmod(abs(duration.microseconds), 1_000_000)
    return format_datetime(
        DateTimeValue(0, 0, 0, seconds // 3600, seconds // 60 % 60, seconds % 60, micro, 6), layout
    )


def _part_of_time(specifier: re.Match[str]) -> str:
    return specifier[1] if specifier[1] in _DATE_SPECIFIERS else specifier[0]


def _str_to_date(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    """Return ``STR_TO_DATE``: a DATE, TIME or DATETIME, depending on the specifiers of the format."""
    text, layout = to_text(arguments[0]), to_text(arguments[1])
    parsed = parse_by_format(text, layout, mode)
    if parsed is None:
        reject_value("datetime", text, mode)
    return parsed


def _parsed_type(arguments: Arguments, _: Sequence[ExpressionType]) -> ExpressionType:
    """Return the type of STR_TO_DATE: that of a literal format, DATETIME if the format is computed."""
    layout = arguments[1]
    if not isinstance(layout, exp.Literal):
        return ExpressionType(E.DATETIME)
    has_date, has_time = parts_of_format(str(layout.this))
    return ExpressionType(E.DATETIME if has_date == has_time else E.DATE if has_date else E.TIME)


def _are_literals(arguments: Arguments) -> bool:
    return all(isinstance(argument, exp.Literal) for argument in arguments)


def _is_date_of_now(arguments: Arguments) -> bool:
    """Return whether the arguments of DATE_FORMAT are ``NOW()`` and one of a few formats."""
    now, layout = arguments if len(arguments) == 2 else (None, None)
    is_now = isinstance(now, exp.Anonymous) and str(now.this).upper() == "NOW"
    layout = layout.expression if isinstance(layout, exp.Introducer) else layout
    return is_now and isinstance(layout, exp.Literal) and layout.this in _FORMATS_OF_DEFAULT


_FORMATS_OF_DEFAULT = {"%Y-%m", "%Y-%m-%d", "%Y-%m-%d %H.%i.%s", "%Y-%m-%d %H:%i:%s"}


def _month(moment: DateTimeValue) -> str:
    if moment.month == 0:
        raise ValueError("the month is 0")
    return MONTHS[moment.month - 1]


def _weekday(moment: DateTimeValue) -> str:
    return WEEKDAYS[weekday(moment)]


def _ordinal(moment: DateTimeValue) -> str:
    endings = {1: "st", 2: "nd", 3: "rd"}
    return f"{moment.day}{'th' if 11 <= moment.day <= 13 else endings.get(moment.day % 10, 'th')}"


def _twelve_hour(moment: DateTimeValue) -> int:
    return moment.hour % 12 or 12


def _am_pm(moment: DateTimeValue) -> str:
    return "PM" if moment.hour % 24 >= 12 else "AM"


def _minute_second(moment: DateTimeValue) -> str:
    return f"{moment.minute:02d}:{moment.second:02d}"


def _week(mode: int) -> Callable[[DateTimeValue], str]:
    return lambda moment: f"{week_of(moment, mode)[1]:02d}"


_LARGEST_UINT32 = (1 << 32) - 1
"""Also the year before the year 0."""


def _year_of_week(mode: int) -> Callable[[DateTimeValue], str]:
    return lambda moment: f"{week_of(moment, mode)[0] & _LARGEST_UINT32:04d}"


_RULES: dict[str, Callable[[DateTimeValue], str]] = {
    "a": lambda moment: _weekday(moment)[:3],
    "b": lambda moment: _month(moment)[:3],
    "c": lambda moment: str(moment.month),
    "D": _ordinal,
    "d": lambda moment: f"{moment.day:02d}",
    "e": lambda moment: str(moment.day),
    "f": lambda moment: f"{moment.microsecond:06d}",
    "H": lambda moment: f"{moment.hour:02d}",
    "h": lambda moment: f"{_twelve_hour(moment):02d}",
    "I": lambda moment: f"{_twelve_hour(moment):02d}",
    "i": lambda moment: f"{moment.minute:02d}",
    "j": lambda moment: f"{day_of_year(moment):03d}",
    "k": lambda moment: str(moment.hour),
    "l": lambda moment: str(_twelve_hour(moment)),
    "M": _month,
    "m": lambda moment: f"{moment.month:02d}",
    "p": _am_pm,
    "r": lambda moment: f"{_twelve_hour(moment):02d}:{_minute_second(moment)} {_am_pm(moment)}",
    "S": lambda moment: f"{moment.second:02d}",
    "s": lambda moment: f"{moment.second:02d}",
    "T": lambda moment: f"{moment.hour:02d}:{_minute_second(moment)}",
    "U": _week(0),
    "u": _week(1),
    "V": _week(2),
    "v": _week(3),
    "W": _weekday,
    "w": lambda moment: str((weekday(moment) + 1) % 7),
    "X": _year_of_week(2),
    "x": _year_of_week(3),
    "Y": lambda moment: f"{moment.year:04d}",
    "y": lambda moment: f"{moment.year % 100:02d}",
}
_DATE_SPECIFIERS = frozenset(_RULES) - frozenset("fHhIiklprSsT")

_LAYOUTS = {
    "DATE": {
        "USA": "%m.%d.%Y", "JIS": "%Y-%m-%d", "ISO": "%Y-%m-%d", "EUR": "%d.%m.%Y", "INTERNAL": "%Y%m%d",
    },
    "DATETIME": {
        "USA": "%Y-%m-%d %H.%i.%s", "JIS": "%Y-%m-%d %H:%i:%s", "ISO": "%Y-%m-%d %H:%i:%s",
        "EUR": "%Y-%m-%d %H.%i.%s", "INTERNAL": "%Y%m%d%H%i%s",
    },
    "TIME": {
        "USA": "%h:%i:%s %p", "JIS": "%H:%i:%s", "ISO": "%H:%i:%s", "EUR": "%H.%i.%s", "INTERNAL": "%H%i%s",
    },
}  # fmt: skip
"""The results of GET_FORMAT. Source: tidb ``builtin_time.go`` (``getFormat``)."""


def _get_format(kind: SQLValue, standard: SQLValue) -> SQLValue:
    layouts = _LAYOUTS.get(to_text(kind).replace("TIMESTAMP", "DATETIME"))
    if layouts is None:
        raise ScenarioError(f"SQL does not parse: GET_FORMAT has no type {to_text(kind)}")
    return layouts.get(to_text(standard), "")


FUNCTIONS = {
    "GET_FORMAT": value_function(_get_format, 2, type=E.TEXT, arguments=unit_arguments),
    "DATE_FORMAT": Function(
        _date_format, 2, 2, type=E.TEXT, reads=(datetime_argument,), default=_is_date_of_now
    ),
    "STR_TO_DATE": Function(_str_to_date, 2, 2, type=_parsed_type, default=_are_literals),
    "TIME_FORMAT": Function(_time_format, 2, 2, type=E.TEXT),
}
