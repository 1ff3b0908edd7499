"""Dates and times of a consumer's table as the canonical text of a MySQL column.

Fractions are padded to the column's number of digits; only zeros are cut off. Text in another form is left
unchanged, so that it is reported as different.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from ticdc_producer.model.column import ColumnInfo

_DATETIME = re.compile(
    r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d)?)(?:\.(\d+))?(Z|[+-]\d\d(?::?\d\d)?)?", re.ASCII
)
_DURATION = re.compile(r"(-?)(\d{1,3}):(\d\d)(?::(\d\d))?(?:\.(\d+))?", re.ASCII)
_MIDNIGHT = re.compile(r"(\d{4}-\d\d-\d\d)(?:[ T]00:00:00(?:\.0+)?)?", re.ASCII)


def canonical_date(_: ColumnInfo, value: object) -> bytes:
    """DATE: a date, a datetime at midnight, or text of either."""
    text = str(value) if isinstance(value, date) else _text(value)
    found = _MIDNIGHT.fullmatch(text)
    return (found[1] if found else text).encode()


def canonical_datetime(zone: tzinfo) -> Callable[[ColumnInfo, object], bytes]:
    """Returns the function for DATETIME and TIMESTAMP.

    :param zone: values with a zone are converted to it; for TIMESTAMP the changefeed's time zone.
    """

    def to_text(column: ColumnInfo, value: object) -> bytes:
        if isinstance(value, datetime):
            text = (value.astimezone(zone).replace(tzinfo=None) if value.tzinfo else value).isoformat(" ")
        elif isinstance(value, date):
            text = f"{value.isoformat()} 00:00:00"
        else:
            text = _text(value)
        found = _DATETIME.fullmatch(text)
        if found is None:
            return text.encode()
        day, clock, fraction, offset = found.groups(default="")
        if offset:
            local = datetime.fromisoformat(f"{day} {clock}{offset}").astimezone(zone)
            day, clock = local.date().isoformat(), local.time().isoformat()
        seconds = clock if len(clock) > len("00:00") else f"{clock}:00"
        return f"{day} {seconds}{_fraction(fraction, column)}".encode()

    return to_text


CANONICAL_DATETIME = canonical_datetime(UTC)


def canonical_duration(column: ColumnInfo, value: object) -> bytes:
    """TIME: a duration, a time of day, or text of either."""
    text = _duration(value) if isinstance(value, timedelta) else _text(value)
    found = _DURATION.fullmatch(text)
    if found is None:
        return text.encode()
    sign, hours, minutes, seconds, fraction = found.groups(default="")
    whole = f"{int(hours):02}:{minutes}:{seconds or '00'}{_fraction(fraction, column)}"
    return f"{sign if whole.strip('0:.') else ''}{whole}".encode()


def _duration(value: timedelta) -> str:
    micros = value // timedelta(microseconds=1)
    seconds, fraction = divmod(abs(micros), 1_000_000)
    sign = "-" if micros < 0 else ""
    return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}.{fraction:06}"


def _fraction(digits: str, column: ColumnInfo) -> str:
    padded = digits.rstrip("0").ljust(max(column.decimal, 0), "0")
    return f".{padded}" if padded else ""


def _text(value: object) -> str:
    match value:
        case str():
            return value
        case bytes():
            return value.decode()
        case time():
            return value.replace(tzinfo=None).isoformat()
    raise ValueError(value)
