"""Parses dates and times by format: ``STR_TO_DATE``.

Rules: tidb ``pkg/types/time.go`` (``StrToDate``, ``GetFormatType``). Text after the format is ignored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ticdc_producer.model.values.sql_value import DateTimeValue, Duration, SQLMode
from ticdc_producer.model.values.temporal_text import MAX_FSP, days_in_month, two_digit_year
from ticdc_producer.scenario.sql.functions.datetime.calendar import MONTHS

_MONTHS = [name.lower() for name in MONTHS]


def _names(names: list[str], length: int | None = None) -> str:
    return "(" + "|".join(name[:length] for name in names) + ")"


def _clock(end: str) -> str:
    """Return the pattern of hours, minutes and seconds, which the end of the text may cut short."""
    number, colon = r"\d{1,2}", r"\s*(?:\Z|:\s*(?:\Z|"
    return f"({number}{colon}{number}{colon}{number}{end})))))"


_PATTERNS = {
    "b": _names(_MONTHS, 3), "c": r"(\d{1,2})",
    "d": r"(\d{1,2})", "e": r"(\d{1,2})", "f": r"(\d{0,6})", "H": r"(\d{1,2})", "h": r"(\d{1,2})",
    "I": r"(\d{1,2})", "i": r"(\d{1,2})",
    "j": r"(\d{1,3})", "k": r"(\d{1,2})", "l": r"(\d{1,2})",
    "M": _names(_MONTHS), "m": r"(\d{1,2})", "p": r"(am|pm)",
    "r": _clock(r"\s*(?:[ap]m|\Z)"),
    "S": r"(\d{1,2})", "s": r"(\d{1,2})", "T": _clock(""),
    "Y": r"(\d{1,4})", "y": r"(\d{1,2})", "#": r"(\d*)", "@": r"([a-z]*)", ".": r"([!-/:-@\[-`{-~]*)",
}  # fmt: skip
"""What specifiers read. Text must contain any other one as it is. Source: tidb ``dateFormatParserTable``."""
_DATE_SPECIFIERS = frozenset("bcDdeMmYy")
_TIME_SPECIFIERS = frozenset("fHhIiklrSsT")
"""Source: tidb ``GetFormatType``."""


@dataclass(slots=True)
class _Parts:
    """The numbers parsed so far.

    :param values: by the name of the part: ``year``, ``twelve`` (an hour of a 12-hour clock) …
    :param half: ``am``, ``pm`` or empty; a space if the text ends before it.
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
        elif self.half:
            if "of_day" in self.values or not hour:
                return None  # mysqlTimeFix
            hour = (0 if hour == 12 else hour) + (12 if self.half == "pm" else 0)
        if not get("day_of_year", 1):
            return None  # TiDB reads the day of the year, and does not use it
        clock = (hour, get("minute", 0), get("second", 0), get("microsecond", 0))
        return DateTimeValue(get("year", 0), get("month", 0), get("day", 0), *clock, fsp)


def parse_by_format(text: str, layout: str, mode: SQLMode) -> DateTimeValue | Duration | None:
    """Parse a DATE, TIME or DATETIME, depending on the specifiers of the format.

    The result is None if the text does not match the format.
    """
    has_date, has_time = parts_of_format(layout)
    parts = _read(text, layout)
    fsp = MAX_FSP if "%f" in layout else 0
    moment = None if parts is None else parts.as_datetime(fsp)
    if moment is None or moment.hour > 23 or moment.minute > 59 or moment.second > 59:
        return None
    if has_time and not has_date:
        seconds = moment.hour * 3600 + moment.minute * 60 + moment.second
        return Duration(seconds * 1_000_000 + moment.microsecond, fsp)
    longest = 31 if mode.invalid_dates else days_in_month(moment.year, min(moment.month, 12))
    if moment.month > 12 or moment.day > longest:
        return None
    if not mode.zero_dates and not (moment.year and moment.month and moment.day):
        return None  # NO_ZERO_DATE alone decides: builtinStrToDateDatetimeSig
    return (
        moment if has_time or not has_date else DateTimeValue(moment.year, moment.month, moment.day, fsp=-1)
    )


def parts_of_format(layout: str) -> tuple[bool, bool]:
    """Return whether a format has parts of a date, and whether it has parts of a time of day."""
    letters = _letters(layout)
    return bool(letters & _DATE_SPECIFIERS), bool(letters & _TIME_SPECIFIERS)


def _letters(layout: str) -> set[str]:
    return set(re.findall(r"%(.)", layout, re.DOTALL))


def _read(text: str, layout: str) -> _Parts | None:
    """Read the parts of a text; None if it does not match the format."""
    parts, position = _Parts(), 0
    for letter, plain in re.findall(r"%(.)|([^%])", layout, re.DOTALL):
        position += len(text[position:]) - len(text[position:].lstrip())
        if plain.isspace():
            continue
        pattern = _PATTERNS.get(letter, re.escape(plain or f"%{letter}"))
        match = re.compile(pattern, re.IGNORECASE | re.ASCII).match(text, position)
        if match is None:
            parts.half = " " if letter == "p" else parts.half
            return parts if position == len(text) else None
        position = match.end()
        if match.re.groups:
            _store(parts, letter, match[1].lower())
    return parts


def _store(parts: _Parts, letter: str, word: str) -> None:
    values = parts.values
    if letter in _NUMBERS:
        values[_NUMBERS[letter]] = int(word)
        if letter in "Hk":
            values["of_day"] = int(word)
    elif letter in ("Y", "y"):
        values["year"] = two_digit_year(int(word)) if len(word) <= 2 else int(word)
    elif letter in ("M", "b"):
        values["month"] = next(n for n, name in enumerate(_MONTHS, 1) if name.startswith(word))
    elif letter == "f":
        values["microsecond"] = int(word.ljust(MAX_FSP, "0"))
    elif letter == "p":
        parts.half = word
    elif letter in ("r", "T"):
        hour, minute, second, *_ = (*(int(number) for number in re.findall(r"\d+", word)), 0, 0)
        values |= {"twelve" if letter == "r" else "hour": hour, "minute": minute, "second": second}
        parts.half = word[-2:] if word.endswith("m") else parts.half


_NUMBERS = {
    "c": "month", "m": "month", "d": "day", "e": "day", "j": "day_of_year", "H": "hour",
    "k": "hour", "h": "twelve", "I": "twelve", "l": "twelve", "i": "minute", "S": "second", "s": "second",
}  # fmt: skip
