"""Encodes single dates and times as Debezium's logical types, from their canonical text.

Source: tiflow ``debezium/codec.go`` (writeDebeziumFieldValue). Zero and impossible dates follow TiDB's
``types.StrToDateTime`` and Go's ``time.Parse``, which that function calls.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import lru_cache

REFUSED = b""
"""Marks a value that TiCDC's encoder refuses; no JSON value is empty."""

EPOCH = b'"1970-01-01T00:00:00Z"'
"""The zero TIMESTAMP is sent as this value."""

FIRST_TIMESTAMP = b"1970-01-01 00:00:01"
FIRST_FULL_YEAR = b"0100"
"""Years before this one are taken for two-digit years."""

_ZERO_DATE = b"0000-00-00"
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_MICROS = 1_000_000


def date_json(value: bytes, invalid: bytes) -> bytes:
    """A DATE as days since 1970-01-01.

    :param invalid: the result for a zero or impossible date.
    """
    day = _day(value)
    return invalid if day is None else b"%d" % day


def unit_of(fsp: int) -> str:
    """The unit of DATETIME: milliseconds for up to three fractional digits, else microseconds."""
    return "ms" if fsp <= 3 else "us"


def datetime_json(value: bytes, fsp: int, zero: bytes, invalid: bytes) -> bytes:
    """A DATETIME, taken as UTC, as milliseconds or microseconds since 1970.

    :param zero: the result for the zero date.
    :param invalid: the result for any other invalid date.
    """
    day = _day(value[:10])
    if day is None:
        return zero if value.startswith(_ZERO_DATE) else invalid
    micros = day * 86400 * _MICROS + _micros(value[11:])
    return b"%d" % (micros // 1000 if unit_of(fsp) == "ms" else micros)


def timestamp_json(value: bytes, zone: tzinfo) -> bytes:
    """A TIMESTAMP as ISO 8601 in UTC, with the fractional digits of the column.

    :param zone: the time zone of the value.
    """
    if value[:19] < FIRST_TIMESTAMP:
        return EPOCH
    if _day(value[:10]) is None:
        return REFUSED
    moment = value[:19] if zone is UTC else _to_utc(value[:19], zone)
    return b'"%bT%b%bZ"' % (moment[:10], moment[11:], value[19:])


@lru_cache(maxsize=1 << 16)
def _to_utc(text: bytes, zone: tzinfo) -> bytes:
    """Convert to UTC; a wall time that occurs twice or never becomes what Go's ``time.Date`` returns."""
    wall = datetime.fromisoformat(text.decode()).replace(tzinfo=UTC)
    guess = wall - _offset(wall, zone)
    return (wall - _offset(guess, zone)).strftime("%Y-%m-%d %H:%M:%S").encode()


def _offset(instant: datetime, zone: tzinfo) -> timedelta:
    return instant.astimezone(zone).utcoffset() or timedelta()


def time_json(value: bytes) -> bytes:
    """A TIME as microseconds; it may be negative or longer than a day."""
    return b"%d" % (-_micros(value[1:]) if value.startswith(b"-") else _micros(value))


def _day(text: bytes) -> int | None:
    """Days since 1970-01-01, or None for an invalid date; two-digit years are in 1970 … 2069."""
    try:
        year, month, day = int(text[:4]), int(text[5:7]), int(text[8:10])
        full = year + 2000 if year < 70 else year + 1900 if year < 100 else year
        return date(full, month, day).toordinal() - _EPOCH_DAY
    except ValueError:
        return None


def _micros(clock: bytes) -> int:
    """Microseconds of ``HH:MM:SS[.f]``."""
    whole, _, fraction = clock.partition(b".")
    hours, minutes, seconds = map(int, whole.split(b":"))
    return (hours * 3600 + minutes * 60 + seconds) * _MICROS + int(fraction.ljust(6, b"0"))
