"""The changefeed's time zone, by name or offset."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ticdc_producer.errors import ChangefeedError
from ticdc_producer.model.event import Value
from ticdc_producer.model.temporal_text import offset_zone

_SECONDS = len("2021-12-20 13:30:49")


@cache
def zone_of(name: str) -> tzinfo:
    """The zone of an IANA name or of an offset such as ``+08:00``; ``datetime.UTC`` itself for UTC.

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
