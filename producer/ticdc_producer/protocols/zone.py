"""The changefeed's time zone, and times as TiDB stores them in keys."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ticdc_producer.errors import ChangefeedError
from ticdc_producer.model.event import Value
from ticdc_producer.model.values.temporal_text import offset_zone

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


def packed_time(value: bytes) -> int:
    """Return the number of a DATE or DATETIME, or of a TIMESTAMP in UTC.

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
    """Return a TIMESTAMP in UTC; zero dates are unchanged.

    :param value: canonical text.
    :param zone: the time zone of the text; an hour that occurs twice counts as the first.
    """
    if value.startswith(b"0000") or zone is UTC:
        return value
    utc = datetime.fromisoformat(value.decode()).replace(tzinfo=zone).astimezone(UTC)
    return utc.strftime("%Y-%m-%d %H:%M:%S.%f").encode()
