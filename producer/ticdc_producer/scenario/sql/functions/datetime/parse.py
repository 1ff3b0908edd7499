"""Parses dates and times by format: ``STR_TO_DATE``; names of months and weekdays, and week numbers.

Source: MySQL manual, ``WEEK()``; tidb ``pkg/types/mytime.go`` (``calcWeek``).

Rules: tidb ``pkg/types/time.go`` (``StrToDate``, ``GetFormatType``). Text after the format is ignored.
"""

from __future__ import annotations

import re
from calendar import isleap
from dataclasses import dataclass, field
from datetime import date, timedelta

from ticdc_producer.errors import UnsupportedSQL
from ticdc_producer.model.values.sql_value import DateTimeValue, Duration, SQLMode
from ticdc_producer.model.values.temporal_text import MAX_FSP, days_in_month, two_digit_year

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONDAY_FIRST, WEEK_OF_YEAR, FULL_FIRST_WEEK = 1, 2, 4


def week_of(day: date, mode: int) -> tuple[int, int]:
    """Return the year and the week of a day; days before the first week of a year are in week 0.

    :param mode: 0 to 7, as in the manual's table.

    >>> week_of(date(2008, 2, 20), 0), week_of(date(2008, 2, 20), 1), week_of(date(2000, 1, 1), 2)
    ((2008, 7), (2008, 8), (1999, 52))
    """
    of_year = bool(mode & WEEK_OF_YEAR)
    full_week = bool(mode & FULL_FIRST_WEEK) == bool(mode & MONDAY_FIRST)
    first = date(day.year, 1, 1).toordinal()
    weekday = (first + (6 if mode & MONDAY_FIRST else 0)) % 7
    year = day.year
    if day.month == 1 and day.day <= 7 - weekday:
        if not of_year and _starts_late(weekday, full_week):
            return year, 0
        of_year, year = True, year - 1  # count the weeks from the previous January 1
        length = _days(year)
        first -= length
        weekday = (weekday + 53 * 7 - length) % 7
    passed = day.toordinal() - first + weekday - (7 if _starts_late(weekday, full_week) else 0)
    if of_year and passed >= 52 * 7 and not _starts_late((weekday + _days(year)) % 7, full_week):
        return year + 1, 1
    return year, passed // 7 + 1


def week_of_any(moment: DateTimeValue) -> int:
    """Return the week of a date that a calendar need not have; 0 without month or day.

    Source: tidb ``CoreTime.Week``.
    """
    if not moment.month or not moment.day:
        return 0
    first = date(moment.year or _CALENDAR_CYCLE, moment.month, 1)
    return week_of(first + timedelta(days=moment.day - 1), 0)[1]


_CALENDAR_CYCLE = 400
"""A year like 0, which Python does not have."""


def _starts_late(weekday: int, full_week: bool) -> bool:
    """Return whether the week of January 1 belongs to the previous year.

    :param weekday: of January 1.
    """
    return weekday != 0 if full_week else weekday >= 4


def _days(year: int) -> int:
    return 366 if isleap(year) else 365


_MONTHS = [name.lower() for name in MONTHS]
_WEEKDAYS = [name.lower() for name in WEEKDAYS]


def _names(names: list[str], length: int | None = None) -> str:
    return "(" + "|".join(name[:length] for name in names) + ")"


_PATTERNS = {
    "a": _names(_WEEKDAYS, 3), "b": _names(_MONTHS, 3), "c": r"(\d{1,2})", "D": r"(\d{1,2})(?:st|nd|rd|th)",
    "d": r"(\d{1,2})", "e": r"(\d{1,2})", "f": r"(\d{1,6})", "H": r"(\d{1,2})", "h": r"(\d{1,2})",
    "I": r"(\d{1,2})", "i": r"(\d{1,2})", "j": r"(\d{1,3})", "k": r"(\d{1,2})", "l": r"(\d{1,2})",
    "M": _names(_MONTHS), "m": r"(\d{1,2})", "p": r"(am|pm)", "r": r"(\d{1,2}:\d{1,2}:\d{1,2} ?[ap]m)",
    "S": r"(\d{1,2})", "s": r"(\d{1,2})", "T": r"(\d{1,2}:\d{1,2}:\d{1,2})", "W": _names(_WEEKDAYS),
    "Y": r"(\d{1,4})", "y": r"(\d{1,2})", "#": r"(\d*)", "@": r"([a-z]*)", ".": r"([!-/:-@\[-`{-~]*)",
}  # fmt: skip
_DATE_SPECIFIERS = frozenset("abcDdejMmWYy")
_TIME_SPECIFIERS = frozenset("fHhIiklprSsT")


@dataclass(slots=True)
class _Parts:
    """The numbers parsed so far.

    :param values: by the name of the part: ``year``, ``twelve`` (an hour of a 12-hour clock) …
    :param half: ``am``, ``pm`` or empty.
    """

    values: dict[str, int] = field(default_factory=dict)
    half: str = ""

    def as_datetime(self, fsp: int) -> DateTimeValue | None:
        get = self.values.get
        hour = get("hour", 0)
        if "twelve" in self.values:
            if not 1 <= self.values["twelve"] <= 12:
                return None
            hour = self.values["twelve"] % 12 + (12 if self.half == "pm" else 0)
        elif self.half and hour > 12:
            return None
        year, month, day = get("year", 0), get("month", 0), get("day", 0)
        if "day_of_year" in self.values and year:
            try:
                calendar_day = date(year, 1, 1) + timedelta(days=self.values["day_of_year"] - 1)
            except OverflowError:  # outside of Python's calendar
                return None
            year, month, day = calendar_day.year, calendar_day.month, calendar_day.day
        return DateTimeValue(
            year, month, day, hour, get("minute", 0), get("second", 0), get("microsecond", 0), fsp
        )


def parse_by_format(text: str, layout: str, mode: SQLMode) -> DateTimeValue | Duration | None:
    """Parse a DATE, TIME or DATETIME, depending on the specifiers of the format.

    The result is None if the text does not match the format.

    :raises UnsupportedSQL: for a specifier that this tool does not parse.
    """
    letters = _specifiers(layout)
    has_date, has_time = parts_of_format(layout)
    parts = _read(text, layout)
    fsp = MAX_FSP if "f" in letters else 0
    moment = None if parts is None else parts.as_datetime(fsp)
    if moment is None or moment.hour > 23 or moment.minute > 59 or moment.second > 59:
        return None
    if not has_date:
        seconds = moment.hour * 3600 + moment.minute * 60 + moment.second
        return Duration(seconds * 1_000_000 + moment.microsecond, fsp)
    longest = 31 if mode.invalid_dates else days_in_month(moment.year, min(moment.month, 12))
    if moment.month > 12 or moment.day > longest:
        return None
    if not mode.zero_dates and not (moment.year and moment.month and moment.day):
        return None  # NO_ZERO_DATE alone decides: builtinStrToDateDatetimeSig
    return moment if has_time else DateTimeValue(moment.year, moment.month, moment.day, fsp=-1)


def parts_of_format(layout: str) -> tuple[bool, bool]:
    """Return whether a format has parts of a date, and whether it has parts of a time of day."""
    letters = _letters(layout)
    return bool(letters & _DATE_SPECIFIERS), bool(letters & _TIME_SPECIFIERS)


def _letters(layout: str) -> set[str]:
    return set(re.findall(r"%(.)", layout, re.DOTALL))


def _specifiers(layout: str) -> set[str]:
    letters = _letters(layout)
    unknown = sorted(letters - set(_PATTERNS) - {"%"})
    if unknown:
        raise UnsupportedSQL(f"%{unknown[0]} in STR_TO_DATE is not supported", value=unknown[0])
    return letters


def _read(text: str, layout: str) -> _Parts | None:
    """Read the parts of a text; None if it does not match the format."""
    parts, position = _Parts(), 0
    for letter, plain in re.findall(r"%(.)|([^%])", layout, re.DOTALL):
        position += len(text[position:]) - len(text[position:].lstrip())
        if plain.isspace():
            continue
        pattern = _PATTERNS.get(letter, re.escape(plain or letter))
        match = re.compile(pattern, re.IGNORECASE | re.ASCII).match(text, position)
        if match is None:
            return parts if position == len(text) and parts.values else None
        position = match.end()
        if match.re.groups:
            _store(parts, letter, match[1].lower())
    return parts


def _store(parts: _Parts, letter: str, word: str) -> None:
    values = parts.values
    if letter in _NUMBERS:
        values[_NUMBERS[letter]] = int(word)
    elif letter in ("Y", "y"):
        values["year"] = two_digit_year(int(word)) if len(word) <= 2 else int(word)
    elif letter in ("M", "b"):
        values["month"] = next(n for n, name in enumerate(_MONTHS, 1) if name.startswith(word))
    elif letter == "f":
        values["microsecond"] = int(word.ljust(MAX_FSP, "0"))
    elif letter == "p":
        parts.half = word
    elif letter in ("r", "T"):
        hour, minute, second = (int(number) for number in re.findall(r"\d+", word))
        values |= {"twelve" if letter == "r" else "hour": hour, "minute": minute, "second": second}
        parts.half = word[-2:] if letter == "r" else parts.half


_NUMBERS = {
    "c": "month", "m": "month", "d": "day", "e": "day", "D": "day", "j": "day_of_year", "H": "hour",
    "k": "hour", "h": "twelve", "I": "twelve", "l": "twelve", "i": "minute", "S": "second", "s": "second",
}  # fmt: skip
