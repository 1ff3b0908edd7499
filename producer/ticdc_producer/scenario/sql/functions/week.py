"""Names of months and weekdays, and week numbers in MySQL's eight modes.

Source: MySQL manual, ``WEEK()``; tidb ``pkg/types/mytime.go`` (``calcWeek``).
"""

from __future__ import annotations

from calendar import isleap
from datetime import date

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONDAY_FIRST, WEEK_OF_YEAR, FULL_FIRST_WEEK = 1, 2, 4


def week_of(day: date, mode: int) -> tuple[int, int]:
    """The year and the week of a day; days before the first week of a year are in week 0.

    :param mode: 0 to 7, as in the manual's table.
    """
    of_year = bool(mode & WEEK_OF_YEAR)
    full_week = bool(mode & FULL_FIRST_WEEK) == bool(mode & MONDAY_FIRST)
    first = date(day.year, 1, 1).toordinal()
    weekday = (first + (6 if mode & MONDAY_FIRST else 0)) % 7
    year = day.year
    if day.month == 1 and day.day <= 7 - weekday:
        if not of_year and _starts_late(weekday, full_week):
            return year, 0
        of_year, year = True, year - 1
        length = _days(year)
        first -= length
        weekday = (weekday + 53 * 7 - length) % 7
    passed = day.toordinal() - first + weekday - (7 if _starts_late(weekday, full_week) else 0)
    if of_year and passed >= 52 * 7 and not _starts_late((weekday + _days(year)) % 7, full_week):
        return year + 1, 1
    return year, passed // 7 + 1


def _starts_late(weekday: int, full_week: bool) -> bool:
    """Whether the week of January 1 belongs to the previous year.

    :param weekday: of January 1.
    """
    return weekday != 0 if full_week else weekday >= 4


def _days(year: int) -> int:
    return 366 if isleap(year) else 365
