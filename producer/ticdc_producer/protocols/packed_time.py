"""Dates and times as TiDB stores them in keys: one number. Source: tidb ``Time.ToPackedUint``."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo


def packed_time(value: bytes) -> int:
    """The number of a DATE or DATETIME, or of a TIMESTAMP in UTC.

    :param value: canonical text.
    """
    date, _, clock = value.partition(b" ")
    year, month, day = (int(part) for part in date.split(b"-"))
    hour, minute, seconds = clock.split(b":") if clock else (b"0", b"0", b"0")
    second, _, fraction = seconds.partition(b".")
    days = (year * 13 + month) << 5 | day
    clocks = int(hour) << 12 | int(minute) << 6 | int(second)
    return (days << 17 | clocks) << 24 | int(fraction.ljust(6, b"0") or b"0")


def utc_timestamp(value: bytes, zone: tzinfo) -> bytes:
    """A TIMESTAMP in UTC; zero dates are unchanged.

    :param value: canonical text.
    :param zone: the time zone of the text; an hour that occurs twice counts as the first.
    """
    if value.startswith(b"0000") or zone is UTC:
        return value
    utc = datetime.fromisoformat(value.decode()).replace(tzinfo=zone).astimezone(UTC)
    return utc.strftime("%Y-%m-%d %H:%M:%S.%f").encode()
