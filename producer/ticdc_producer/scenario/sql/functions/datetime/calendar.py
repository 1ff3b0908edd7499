"""Days, weekdays and weeks of dates, also of the year 0, which Python's calendar does not have.

Rules: tidb ``pkg/types/core_time.go`` (``calcDaynr``, ``calcWeek``); MySQL manual, ``WEEK()``.
"""

from __future__ import annotations

from calendar import isleap
from datetime import date

from ticdc_producer.model.values.sql_value import DateTimeValue

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONDAY_FIRST, WEEK_OF_YEAR, FULL_FIRST_WEEK = 1, 2, 4

DAYS_OF_YEAR_ZERO = 365
"""Days before the first one of Python's calendar."""
CALENDAR_CYCLE = 400
"""Years after which the calendar repeats; the year 0 has the weekdays of this one."""
_DAY = 24 * 3600 * 1_000_000
_AFTER_LAST_YEAR = 3652500
"""From this number on TiDB has the zero date; those between the year 9999 and it have no date."""


def is_complete(moment: DateTimeValue) -> bool:
    """Return whether a date has a month and a day. Source: tidb ``Time.InvalidZero``."""
    return moment.month > 0 and moment.day > 0


def day_number(year: int, month: int, day: int) -> int:
    """Return the days since 0000-00-00; a month of 0 is a month before January.

    >>> day_number(0, 1, 1), day_number(2007, 10, 7), day_number(2016, 12, 0), day_number(2016, 11, 30)
    (1, 733321, 736663, 736663)
    """
    if not year and not month:
        return 0
    days = 365 * year + 31 * (month - 1) + day
    if month <= 2:
        year = max(year - 1, 0)
    else:
        days -= (month * 4 + 23) // 10
    return days + year // 4 - (year // 100 + 1) * 3 // 4


def microseconds_since_zero(moment: DateTimeValue) -> int:
    """Return the time since 0000-00-00 00:00:00."""
    seconds = (moment.hour * 60 + moment.minute) * 60 + moment.second
    days = day_number(moment.year, moment.month, moment.day)
    return days * _DAY + seconds * 1_000_000 + moment.microsecond


def date_of_number(days: int) -> tuple[int, int, int] | None:
    """Return year, month and day of a number of a day; zeros for the year 0, None after the year 9999.

    Source: tidb ``getDateFromDaynr``.
    """
    if days <= DAYS_OF_YEAR_ZERO or days >= _AFTER_LAST_YEAR:
        return 0, 0, 0
    try:
        day = date.fromordinal(days - DAYS_OF_YEAR_ZERO)
    except ValueError:
        return None
    return day.year, day.month, day.day


def weekday(moment: DateTimeValue) -> int:
    """Return the weekday of a complete date, 0 for Monday. A day after the end of a month is in the next."""
    first = date(moment.year or CALENDAR_CYCLE, moment.month, 1).weekday()
    return (first + moment.day - 1) % 7


def day_of_year(moment: DateTimeValue) -> int:
    """Return the number of a complete date in its year."""
    return day_number(moment.year, moment.month, moment.day) - day_number(moment.year, 1, 1) + 1


def week_of(moment: DateTimeValue, mode: int) -> tuple[int, int]:
    """Return the year and the week of a complete date; days before the first week of a year are in week 0.

    :param mode: 0 to 7, as in the manual's table.

    >>> date = DateTimeValue(2008, 2, 20)
    >>> week_of(date, 0), week_of(date, 1), week_of(DateTimeValue(2000, 1, 1), 2)
    ((2008, 7), (2008, 8), (1999, 52))
    """
    of_year = bool(mode & WEEK_OF_YEAR)
    full_week = bool(mode & FULL_FIRST_WEEK) == bool(mode & MONDAY_FIRST)
    year = moment.year
    first = day_number(year, 1, 1)
    start = (first + (5 if mode & MONDAY_FIRST else 6)) % 7
    if moment.month == 1 and moment.day <= 7 - start:
        if not of_year and _starts_late(start, full_week):
            return year, 0
        of_year, year = True, year - 1  # count the weeks from the previous January 1
        length = _days(year)
        first -= length
        start = (start + 53 * 7 - length) % 7
    number = day_number(moment.year, moment.month, moment.day)
    passed = number - first + start - (7 if _starts_late(start, full_week) else 0)
    if of_year and passed >= 52 * 7 and not _starts_late((start + _days(year)) % 7, full_week):
        return year + 1, 1
    return year, passed // 7 + 1


def week_of_any(moment: DateTimeValue) -> int:
    """Return the week of a date that need not be complete; 0 without month or day.

    Source: tidb ``CoreTime.Week``.
    """
    return week_of(moment, 0)[1] if is_complete(moment) else 0


def _starts_late(weekday: int, full_week: bool) -> bool:
    """Return whether the week of January 1 belongs to the previous year.

    :param weekday: of January 1.
    """
    return weekday != 0 if full_week else weekday >= 4


def _days(year: int) -> int:
    return 366 if isleap(year) and year else 365
