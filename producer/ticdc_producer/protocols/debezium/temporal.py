"""Dates and times as Debezium's logical types, from their canonical text, one by one.

Source: tiflow ``debezium/codec.go`` (writeDebeziumFieldValue); zero and impossible dates as TiDB's
``types.StrToDateTime`` and Go's ``time.Parse`` take them there.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import lru_cache

REFUSED = b""
"""Stands for a value that TiCDC's encoder refuses; no JSON value is empty."""

EPOCH = b'"1970-01-01T00:00:00Z"'
"""What a zero TIMESTAMP becomes."""

FIRST_TIMESTAMP = b"1970-01-01 00:00:01"
FIRST_FULL_YEAR = b"0100"
"""Smaller years are those of two digits."""

_ZERO_DATE = b"0000-00-00"
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_MICROS = 1_000_000


def day_text(value: bytes, invalid: bytes) -> bytes:
    """A DATE as days since 1970-01-01.

    :param invalid: what a zero or impossible date becomes.
    """
    day = _day(value)
    return invalid if day is None else b"%d" % day


def unit_of(fsp: int) -> str:
    """The unit of DATETIME: milliseconds to three digits of fraction, else microseconds."""
    return "ms" if fsp <= 3 else "us"


def epoch_text(value: bytes, fsp: int, zero: bytes, invalid: bytes) -> bytes:
    """A DATETIME, read as UTC, in its unit since 1970.

    :param zero: what the zero date becomes.
    :param invalid: what a date with zero parts becomes.
    """
    day = _day(value[:10])
    if day is None:
        return zero if value.startswith(_ZERO_DATE) else invalid
    micros = day * 86400 * _MICROS + _micros(value[11:])
    return b"%d" % (micros // 1000 if unit_of(fsp) == "ms" else micros)


def zoned_text(value: bytes, zone: tzinfo) -> bytes:
    """A TIMESTAMP as ISO 8601 in UTC, with the fraction digits of the column.

    :param zone: the one that the value stands in.
    """
    if value[:19] < FIRST_TIMESTAMP:
        return EPOCH
    if _day(value[:10]) is None:
        return REFUSED
    moment = value[:19] if zone is UTC else _to_utc(value[:19], zone)
    return b'"%bT%b%bZ"' % (moment[:10], moment[11:], value[19:])


@lru_cache(maxsize=1 << 16)
def _to_utc(text: bytes, zone: tzinfo) -> bytes:
    """Of a wall time that occurs twice or never, the instant that Go's ``time.Date`` takes."""
    wall = datetime.fromisoformat(text.decode()).replace(tzinfo=UTC)
    guess = wall - _offset(wall, zone)
    return (wall - _offset(guess, zone)).strftime("%Y-%m-%d %H:%M:%S").encode()


def _offset(instant: datetime, zone: tzinfo) -> timedelta:
    return instant.astimezone(zone).utcoffset() or timedelta()


def span_text(value: bytes) -> bytes:
    """A TIME as microseconds; it may be negative, and more than a day."""
    return b"%d" % (-_micros(value[1:]) if value.startswith(b"-") else _micros(value))


def _day(text: bytes) -> int | None:
    """Days since 1970-01-01, None for what is no date; years of one or two digits count from 1970."""
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
