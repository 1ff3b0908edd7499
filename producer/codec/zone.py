"""The changefeed's time zone, by name or offset."""

from __future__ import annotations

from datetime import UTC, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from producer.errors import ChangefeedError
from producer.model.temporal_text import offset_zone


@cache
def zone_of(name: str) -> tzinfo:
    """The zone of an IANA name or of an offset such as ``+08:00``; ``datetime.UTC`` itself for UTC.

    :raises ChangefeedError: if there is none of that name.
    """
    if name.upper() in ("UTC", "Z", "+00:00"):
        return UTC
    try:
        return offset_zone(name) if name.startswith(("+", "-")) else ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ChangefeedError(f"unknown time zone {name!r}", parameter="time-zone") from None
