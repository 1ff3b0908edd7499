"""Parses dates and times in all formats that MySQL accepts, and moves them between time zones.

Rules: MySQL manual "Date and Time Literals"; tidb ``pkg/types/time.go`` (``parseDatetime``,
``ParseDuration``).
"""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ticdc_producer.errors import ChangefeedError
from ticdc_producer.model.event import Value
from ticdc_producer.model.values.sql_value import DateTimeValue, Duration

MAX_FSP = 6
MAX_DURATION = (838 * 3600 + 59 * 60 + 59) * 1_000_000
"""The largest TIME, 838:59:59, in microseconds."""

_DELIMITED = re.compile(
    r"(\d{1,4})[^\d\s](\d{1,2})[^\d\s](\d{1,2})"
    r"(?:(?:[T ]|\s+)(\d{1,2})(?:[^\d\s](\d{1,2})(?:[^\d\s](\d{1,2})(?:\.(\d{0,30}))?)?)?)?"
    r"\s*(Z|[+-]\d{1,2}:\d{2})?",
    re.ASCII,
)
_PACKED = re.compile(r"(\d{6}|\d{8}|\d{12}|\d{14})(?:\.(\d{0,30}))?", re.ASCII)
_TIME = re.compile(r"(-)?(?:(\d{1,3}) +)?(\d{1,3})(?::(\d{1,2})(?::(\d{1,2}))?)?(?:\.(\d{0,30}))?", re.ASCII)
_PACKED_TIME = re.compile(r"(-)?(\d{1,7})(?:\.(\d{0,30}))?", re.ASCII)
_TIME_PREFIX = re.compile(
    r"-?(?:\d{1,3} +\d{1,3}(?::\d{1,2}){0,2}|\d{1,3}(?::\d{1,2}){1,2}|\d{1,7})(?:\.\d{0,30})?", re.ASCII
)
_WITH_CLOCK = re.compile(r"\d+[^\d\s]\d+[^\d\s]\d+[T ]|(?:\d{12}|\d{14})(?!\d)", re.ASCII)
"""The start of a text that a TIME reads as a DATETIME. Source: tidb ``canFallbackToDateTime``."""
_MAX_LENGTH = 100


def parse_datetime(
    text: str, fsp: int, zone: tzinfo = UTC, *, invalid_dates: bool = False
) -> DateTimeValue | None:
    """Parse a date, with or without time, rounded to ``fsp`` digits; None if the text is not a date.

    Zero parts are accepted (``2021-00-00``), impossible dates are not (``2021-02-30``).

    :param fsp: number of fractional digits; -1 drops the time.
    :param zone: the session's time zone, to which text with an offset is converted.
    :param invalid_dates: ALLOW_INVALID_DATES: every month has 31 days.
    """
    text = text.strip()
    if len(text) > _MAX_LENGTH:
        return None
    delimited = _DELIMITED.fullmatch(text)
    if delimited is not None:
        *parts, micro, offset = delimited.groups()
        numbers = [int(part or 0) for part in parts]
        if len(parts[0]) <= 2:
            numbers[0] = two_digit_year(numbers[0]) if any(numbers[:3]) else 0
        value = _checked(numbers, micro or "", fsp, invalid_dates)
        return convert_zone(value, offset_zone(offset), zone) if value and offset else value
    packed = _PACKED.fullmatch(text)
    return _from_packed(packed[1], packed[2] or "", fsp, invalid_dates) if packed else None


FIRST_NUMBER = 101
"""January 1, 2000; smaller integers are the zero date. Source: tidb ``parseDateTimeFromNum``."""


def datetime_from_number(
    number: int, micro: str, fsp: int, *, invalid_dates: bool = False
) -> DateTimeValue | None:
    """Parse a number ``[YY]YYMMDD[hhmmss]``; 0 is the zero date. None if it is not a date."""
    digits = str(number)
    if number < 0 or len(digits) > 14:
        return None
    if number < FIRST_NUMBER:
        return DateTimeValue(0, 0, 0, fsp=fsp)
    width = next(width for width in (6, 8, 12, 14) if len(digits) <= width)
    return _from_packed(digits.zfill(width), micro, fsp, invalid_dates)


def _from_packed(digits: str, micro: str, fsp: int, invalid_dates: bool) -> DateTimeValue | None:
    year_width = 4 if len(digits) in (8, 14) else 2
    year = int(digits[:year_width])
    if year_width == 2:
        year = two_digit_year(year)
    rest = digits[year_width:]
    parts = [int(rest[start : start + 2]) for start in range(0, len(rest), 2)]
    return _checked([year, *parts, 0, 0, 0][:6], micro, fsp, invalid_dates)


def two_digit_year(year: int) -> int:
    return year + (2000 if year < 70 else 1900) if year < 100 else year


def _checked(numbers: list[int], micro: str, fsp: int, invalid_dates: bool) -> DateTimeValue | None:
    year, month, day, hour, minute, second = numbers
    if month > 12 or hour > 23 or minute > 59 or second > 59:
        return None
    if day > _SHORTEST_MONTH and day > (31 if invalid_dates else days_in_month(year, month)):
        return None
    if fsp < 0:
        return DateTimeValue(year, month, day, fsp=-1)
    fraction = round_fraction(micro, fsp)
    value = DateTimeValue(year, month, day, hour, minute, second, fraction % 1_000_000, fsp)
    return value if fraction < 1_000_000 else _next_second(value)


_SHORTEST_MONTH = 28


def days_in_month(year: int, month: int) -> int:
    """Return the last day of a month; 31 if year or month is zero, but 29 for February of year zero."""
    if month == 2 and year == 0:
        return 29
    return 31 if month == 0 or year == 0 else monthrange(year, month)[1]


def with_fraction(value: DateTimeValue, micro: str) -> DateTimeValue | None:
    """Set the fraction, rounded to the fsp of the value; a full second is carried."""
    fraction = round_fraction(micro, value.fsp)
    if fraction < 1_000_000:
        return replace(value, microsecond=fraction)
    return _next_second(value)


def _next_second(value: DateTimeValue) -> DateTimeValue | None:
    """Return the value a second later; None after the last second of the calendar."""
    try:
        next_second = value.naive() + timedelta(seconds=1)
    except (ValueError, OverflowError):
        return None
    return datetime_from_python(next_second, value.fsp)


def round_fraction(digits: str, fsp: int) -> int:
    """Round fractional digits half up to ``fsp`` digits; the result is in microseconds, at most 1,000,000."""
    if not digits:
        return 0
    padded = int(digits[: MAX_FSP + 1].ljust(MAX_FSP + 1, "0"))
    unit: int = 10 ** (MAX_FSP + 1 - fsp)
    return (padded + unit // 2) // unit * unit // 10


def parse_duration(text: str, fsp: int) -> Duration | None:
    """Parse a TIME, rounded to ``fsp`` digits; None if the text is not a time.

    Values outside of the range of TIME are returned unchanged; the caller checks the range.
    """
    text = text.strip()
    if len(text) > _MAX_LENGTH:
        return None
    packed = _PACKED_TIME.fullmatch(text)
    if packed is not None:
        sign, digits, micro = packed.groups()
        number = int(digits)
        parts = (number // 10000, number // 100 % 100, number % 100)
        return _duration(sign, parts, micro, fsp)
    match = _TIME.fullmatch(text)
    if match is None:
        value = parse_datetime(text, MAX_FSP) if _WITH_CLOCK.match(text) else None
        return None if value is None else time_of_day(value, fsp)
    sign, days, *clock, micro = match.groups()
    hours, minutes, seconds = (int(part or 0) for part in clock)
    return _duration(sign, (hours + 24 * int(days or 0), minutes, seconds), micro, fsp)


def duration_prefix(text: str, fsp: int) -> Duration | None:
    """Return the TIME that a text starts with, which is how TiDB reads a text that is no TIME.

    None if it starts with no digit. Minutes or seconds above 59 give 00:00:00.

    >>> duration_prefix("2021-03-04", 0)
    Duration(microseconds=1221000000, fsp=0)
    """
    match = _TIME_PREFIX.match(text.strip())
    if match is None:
        return None
    return parse_duration(match[0].rstrip(":"), fsp) or Duration(0, fsp)


def time_of_day(value: DateTimeValue, fsp: int) -> Duration:
    """Return the time of day of a date and time."""
    clock = (value.hour, value.minute, value.second)
    duration = _duration(None, clock, f"{value.microsecond:06d}", fsp)
    return duration or Duration(0, fsp)


def _duration(sign: str | None, clock: tuple[int, int, int], micro: str | None, fsp: int) -> Duration | None:
    hours, minutes, seconds = clock
    if minutes > 59 or seconds > 59:
        return None
    whole = (hours * 3600 + minutes * 60 + seconds) * 1_000_000 + round_fraction(micro or "", fsp)
    return Duration(-whole if sign else whole, fsp)


def offset_zone(text: str) -> tzinfo:
    """Return the time zone of an offset: ``Z`` or ``+05:30``."""
    if text == "Z":
        return UTC
    hours, minutes = (int(part) for part in text[1:].split(":"))
    delta = timedelta(hours=hours, minutes=minutes)
    return timezone(-delta if text[0] == "-" else delta)


def convert_zone(value: DateTimeValue, source: tzinfo, target: tzinfo) -> DateTimeValue | None:
    """Convert to another time zone; None if the result is not a valid date.

    A local time that clocks skip becomes the moment of the change, and of two moments of a local time the
    one is taken that Go's library takes. Source: Go ``time.Date``; tidb ``CoreTime.AdjustedGoTime``.

    :return: None if the result is not a valid date, and for a day that the clocks of some islands skipped.
    """
    try:
        moment = _instant(value.naive().replace(tzinfo=UTC), source)
        return datetime_from_python(moment.astimezone(target), value.fsp)
    except (ValueError, OverflowError):
        return None


def _instant(local: datetime, zone: tzinfo) -> datetime:
    """Return the moment of a local time.

    :param local: the local time as if it were UTC.
    :raises ValueError: for a local time that is skipped, and far from the change.
    """
    if isinstance(zone, timezone):
        return local - zone.utcoffset(None)
    first = local - _offset(local, zone)
    moment = local - _offset(first, zone)
    if moment + _offset(moment, zone) == local:
        return moment
    before, after = sorted((first, moment))
    while after - before > timedelta(seconds=1):
        middle = before + (after - before) // 2
        middle = middle.replace(microsecond=0)
        if _offset(middle, zone) == _offset(before, zone):
            before = middle
        else:
            after = middle
    change = after.replace(microsecond=0)
    if abs(moment - change) > _MAX_SKIPPED:
        raise ValueError(f"{local} is skipped")
    return change


_MAX_SKIPPED = timedelta(hours=4)
"""The longest time from the change of the clocks at which TiDB takes the change for a skipped time."""


def _offset(moment: datetime, zone: tzinfo) -> timedelta:
    return moment.astimezone(zone).utcoffset() or timedelta()


def datetime_from_python(when: datetime, fsp: int) -> DateTimeValue:
    """Convert a ``datetime``; its fraction is cut to ``fsp`` digits."""
    unit = 10 ** (MAX_FSP - max(fsp, 0))
    return DateTimeValue(*when.timetuple()[:6], when.microsecond // unit * unit, fsp)


_SECONDS = len("2021-12-20 13:30:49")


@cache
def zone_of(name: str) -> tzinfo:
    """Return the zone of an IANA name or of an offset such as ``+08:00``; ``datetime.UTC`` itself for UTC.

    :raises ChangefeedError: for an unknown name.
    """
    if name.upper() in ("UTC", "Z", "+00:00"):
        return UTC
    try:
        return offset_zone(name) if name.startswith(("+", "-")) else ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ChangefeedError(f"unknown time zone {name!r}", parameter="time-zone") from None


def local_timestamp(value: Value, zone: tzinfo) -> Value:
    """Convert a TIMESTAMP from UTC, as the change log stores it, to a zone; zero dates are unchanged."""
    if value is None or value.startswith(b"0000-"):
        return value
    utc = datetime.fromisoformat(value[:_SECONDS].decode()).replace(tzinfo=UTC)
    local = utc.astimezone(zone).replace(tzinfo=None)
    return local.isoformat(" ").encode() + value[_SECONDS:]


def utc_timestamp(value: bytes, zone: tzinfo) -> bytes:
    """Return a TIMESTAMP in UTC; zero dates are unchanged.

    :param value: canonical text.
    :param zone: the time zone of the text; an hour that occurs twice counts as the first.
    """
    if value.startswith(b"0000") or zone is UTC:
        return value
    utc = datetime.fromisoformat(value.decode()).replace(tzinfo=zone).astimezone(UTC)
    return utc.strftime("%Y-%m-%d %H:%M:%S.%f").encode()
