"""Dates and times in MySQL's liberal spellings.

Rules: MySQL manual "Date and Time Literals"; tidb ``pkg/types/time.go`` (``parseDatetime``,
``ParseDuration``).
"""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo

from ticdc_producer.model.sql_value import Moment, Span

MAX_FSP = 6
MAX_SPAN = (838 * 3600 + 59 * 60 + 59) * 1_000_000
"""838:59:59 in microseconds."""

_DELIMITED = re.compile(
    r"(\d{1,4})[^\d\s](\d{1,2})[^\d\s](\d{1,2})"
    r"(?:(?:[T ]|\s+)(\d{1,2})(?:[^\d\s](\d{1,2})(?:[^\d\s](\d{1,2})(?:\.(\d{0,30}))?)?)?)?"
    r"\s*(Z|[+-]\d{1,2}:\d{2})?",
    re.ASCII,
)
_PACKED = re.compile(r"(\d{6}|\d{8}|\d{12}|\d{14})(?:\.(\d{0,30}))?", re.ASCII)
_SPAN = re.compile(r"(-)?(?:(\d{1,3}) +)?(\d{1,3})(?::(\d{1,2})(?::(\d{1,2}))?)?(?:\.(\d{0,30}))?", re.ASCII)
_PACKED_SPAN = re.compile(r"(-)?(\d{1,7})(?:\.(\d{0,30}))?", re.ASCII)
_LONGEST = 100


def parse_moment(text: str, fsp: int, zone: tzinfo = UTC, *, invalid_dates: bool = False) -> Moment | None:
    """A date, with or without time, rounded to ``fsp`` digits; None if it is none.

    Zero parts pass (``2021-00-00``); impossible ones do not (``2021-02-30``).

    :param fsp: digits of the fraction; -1 drops the time.
    :param zone: the session's zone, for text that names an offset of its own.
    :param invalid_dates: ALLOW_INVALID_DATES: every month has 31 days.
    """
    text = text.strip()
    if len(text) > _LONGEST:
        return None
    delimited = _DELIMITED.fullmatch(text)
    if delimited is not None:
        *parts, micro, offset = delimited.groups()
        numbers = [int(part or 0) for part in parts]
        if len(parts[0]) <= 2:
            numbers[0] = two_digit_year(numbers[0]) if any(numbers[:3]) else 0
        moment = _checked(numbers, micro or "", fsp, invalid_dates)
        return shifted(moment, offset_zone(offset), zone) if moment and offset else moment
    packed = _PACKED.fullmatch(text)
    return _from_packed(packed[1], packed[2] or "", fsp, invalid_dates) if packed else None


def moment_of_number(number: int, micro: str, fsp: int, *, invalid_dates: bool = False) -> Moment | None:
    """A date from ``[YY]YYMMDD[hhmmss]`` as a number; 0 is the zero date."""
    digits = str(number)
    if number < 0 or len(digits) > 14:
        return None
    if number == 0:
        return Moment(0, 0, 0, fsp=fsp)
    width = next(width for width in (6, 8, 12, 14) if len(digits) <= width)
    return _from_packed(digits.zfill(width), micro, fsp, invalid_dates)


def _from_packed(digits: str, micro: str, fsp: int, invalid_dates: bool) -> Moment | None:
    year_width = 4 if len(digits) in (8, 14) else 2
    year = int(digits[:year_width])
    if year_width == 2:
        year = two_digit_year(year)
    rest = digits[year_width:]
    parts = [int(rest[place : place + 2]) for place in range(0, len(rest), 2)]
    return _checked([year, *parts, 0, 0, 0][:6], micro, fsp, invalid_dates)


def two_digit_year(year: int) -> int:
    return year + (2000 if year < 70 else 1900) if year < 100 else year


def _checked(numbers: list[int], micro: str, fsp: int, invalid_dates: bool) -> Moment | None:
    year, month, day, hour, minute, second = numbers
    if month > 12 or hour > 23 or minute > 59 or second > 59:
        return None
    if day > (31 if invalid_dates else days_in_month(year, month)):
        return None
    if fsp < 0:
        return Moment(year, month, day, fsp=-1)
    return with_fraction(Moment(year, month, day, hour, minute, second, 0, fsp), micro)


def days_in_month(year: int, month: int) -> int:
    """The longest day that passes: 31 where year or month is zero, but 29 in February of year zero."""
    if month == 2 and year == 0:
        return 29
    return 31 if month == 0 or year == 0 else monthrange(year, month)[1]


def with_fraction(moment: Moment, micro: str) -> Moment | None:
    """The moment with this fraction rounded to its fsp; a full second is carried."""
    fraction = round_fraction(micro, moment.fsp)
    if fraction < 1_000_000:
        return replace(moment, microsecond=fraction)
    try:
        carried = moment.naive() + timedelta(seconds=1)
    except (ValueError, OverflowError):
        return None
    return moment_of(carried, moment.fsp)


def round_fraction(digits: str, fsp: int) -> int:
    """Microseconds of a fraction rounded half up to ``fsp`` digits; 1,000,000 if it fills a second."""
    padded = int(digits[: MAX_FSP + 1].ljust(MAX_FSP + 1, "0"))
    unit: int = 10 ** (MAX_FSP + 1 - fsp)
    return (padded + unit // 2) // unit * unit // 10


def parse_span(text: str, fsp: int) -> Span | None:
    """A TIME in any of its spellings, rounded to ``fsp`` digits; None if it is none.

    What is out of range is returned as it is: the column decides.
    """
    text = text.strip()
    if len(text) > _LONGEST:
        return None
    packed = _PACKED_SPAN.fullmatch(text)
    if packed is not None:
        sign, digits, micro = packed.groups()
        number = int(digits)
        parts = (number // 10000, number // 100 % 100, number % 100)
        return _span(sign, parts, micro, fsp)
    match = _SPAN.fullmatch(text)
    if match is None:
        moment = parse_moment(text, MAX_FSP)
        return None if moment is None else span_of(moment, fsp)
    sign, days, *clock, micro = match.groups()
    hours, minutes, seconds = (int(part or 0) for part in clock)
    return _span(sign, (hours + 24 * int(days or 0), minutes, seconds), micro, fsp)


def span_of(moment: Moment, fsp: int) -> Span:
    """The time of day of a moment."""
    clock = (moment.hour, moment.minute, moment.second)
    span = _span(None, clock, f"{moment.microsecond:06d}", fsp)
    return span or Span(0, fsp)


def _span(sign: str | None, clock: tuple[int, int, int], micro: str | None, fsp: int) -> Span | None:
    hours, minutes, seconds = clock
    if minutes > 59 or seconds > 59:
        return None
    whole = (hours * 3600 + minutes * 60 + seconds) * 1_000_000 + round_fraction(micro or "", fsp)
    return Span(-whole if sign else whole, fsp)


def offset_zone(text: str) -> tzinfo:
    """``Z`` or ``+05:30`` as a zone."""
    if text == "Z":
        return UTC
    hours, minutes = (int(part) for part in text[1:].split(":"))
    delta = timedelta(hours=hours, minutes=minutes)
    return timezone(-delta if text[0] == "-" else delta)


def shifted(moment: Moment, source: tzinfo, target: tzinfo) -> Moment | None:
    """The same instant in another zone; None where the calendar has no such time."""
    try:
        there = moment.naive().replace(tzinfo=source).astimezone(target)
    except (ValueError, OverflowError):
        return None
    return moment_of(there, moment.fsp)


def moment_of(when: datetime, fsp: int) -> Moment:
    """A ``datetime`` as SQL sees it, its fraction cut to ``fsp`` digits."""
    unit = 10 ** (MAX_FSP - max(fsp, 0))
    return Moment(*when.timetuple()[:6], when.microsecond // unit * unit, fsp)
