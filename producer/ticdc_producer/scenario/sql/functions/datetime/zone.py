"""Time zones by their names in SQL."""

from __future__ import annotations

from datetime import UTC, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ticdc_producer.errors import ScenarioError


def time_zone(name: str) -> tzinfo:
    """Return the time zone of an offset (``+05:30``), ``UTC``, ``SYSTEM`` or a name of the tz database.

    :raises ScenarioError: for any other name.
    """
    if name.upper() in ("SYSTEM", "UTC"):
        return UTC
    if name[:1] in ("+", "-"):
        hours, _, minutes = name[1:].partition(":")
        if hours.isdecimal() and minutes.isdecimal() and len(hours) <= 2 and len(minutes) == 2:
            delta = timedelta(hours=int(hours), minutes=int(minutes))
            if int(minutes) < 60 and delta <= timedelta(hours=14):
                return timezone(-delta if name[0] == "-" else delta)
    else:
        try:
            return ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            pass
    raise ScenarioError(f"Unknown or incorrect time zone: {name!r}", value=name)
