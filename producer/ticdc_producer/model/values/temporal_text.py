"""Makes dates and times of their numbers, and moves them between time zones.

Rules: tidb ``pkg/types/time.go``.
"""

from __future__ import annotations

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
    return checked_datetime([year, *parts, 0, 0, 0][:6], micro, fsp, invalid_dates)


def two_digit_year(year: int) -> int:
    return year + (2000 if year < 70 else 1900) if year < 100 else year


def checked_datetime(numbers: list[int], micro: str, fsp: int, invalid_dates: bool) -> DateTimeValue | None:
    """Return the date and time of six numbers and the digits of a fraction; None if there is none.

    :param fsp: -1 for a date: the fraction is rounded to seconds, which may begin the next day.
    """
    year, month, day, hour, minute, second = numbers
    if month > 12 or hour > 23 or minute > 59 or second > 59:
        return None
    if day > _SHORTEST_MONTH and day > (31 if invalid_dates else days_in_month(year, month)):
        return None
    if fsp < 0:
        if round_fraction(micro, 0):
            last = _next_second(DateTimeValue(year, month, day, hour, minute, second))
            return None if last is None else DateTimeValue(last.year, last.month, last.day, fsp=-1)
        return DateTimeValue(year, month, day, fsp=-1)
    fraction = round_fraction(micro, fsp)
    value = DateTimeValue(year, month, day, hour, minute, second, fraction % 1_000_000, fsp)
    return value if fraction < 1_000_000 else _next_second(value)


_SHORTEST_MONTH = 28


def days_in_month(year: int, month: int) -> int:
    """Return the last day of a month; 31 if the month is zero. The year zero is a leap year."""
    return 31 if month == 0 else monthrange(year or 400, month)[1]


def with_fraction(value: DateTimeValue, micro: str) -> DateTimeValue | None:
    """Set the fraction, rounded to the fsp of the value; a full second is carried."""
    fraction = round_fraction(micro, value.fsp)
    if fraction < 1_000_000:
        return replace(value, microsecond=fraction)
    return _next_second(value)


def _next_second(value: DateTimeValue) -> DateTimeValue | None:
    """Return the value a second later; None after the last second of the calendar.

    Python has no year 0, which has the days of the year 400.
    """
    years = 0 if value.year else 400
    try:
        next_second = replace(value, year=value.year + years).naive() + timedelta(seconds=1)
    except (ValueError, OverflowError):
        return None
    later = datetime_from_python(next_second, value.fsp)
    return replace(later, year=later.year - years)


def round_fraction(digits: str, fsp: int) -> int:
    """Round fractional digits half up to ``fsp`` digits; the result is in microseconds, at most 1,000,000."""
    if not digits:
        return 0
    padded = int(digits[: MAX_FSP + 1].ljust(MAX_FSP + 1, "0"))
    unit: int = 10 ** (MAX_FSP + 1 - fsp)
    return (padded + unit // 2) // unit * unit // 10


def time_of_day(value: DateTimeValue, fsp: int) -> Duration:
    """Return the time of day of a date and time."""
    seconds = value.hour * 3600 + value.minute * 60 + value.second
    return Duration(seconds * 1_000_000 + round_fraction(f"{value.microsecond:06d}", fsp), fsp)


def round_duration(value: Duration, fsp: int) -> Duration:
    """Round a TIME to another fsp. Halves are rounded up, also below zero. Source: tidb ``RoundFrac``."""
    unit: int = 10 ** (MAX_FSP - fsp)
    return Duration((value.microseconds + unit // 2) // unit * unit, fsp)


def whole_seconds(value: DateTimeValue | Duration) -> DateTimeValue | Duration:
    """Round to seconds, which TiDB does before it casts a date or time to an integer.

    Source: tidb ``builtinCastTimeAsIntSig``, ``Datum.toInt64``.

    >>> whole_seconds(Duration(59_600_000, 1)).text()
    '00:01:00'
    """
    if isinstance(value, Duration):
        return round_duration(value, 0)
    micro = f"{value.microsecond:06d}"
    return value if value.fsp < 1 else with_fraction(replace(value, microsecond=0, fsp=0), micro) or value


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
