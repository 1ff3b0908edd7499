"""Reads Debezium's dates and times as canonical text.

Messages do not contain the number of fractional digits of a DATETIME or TIME column, so trailing zeros are
omitted.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, tzinfo

from ticdc_producer.protocols.debezium.bad_value import BadValue, JSONValue

_EPOCH = datetime(1970, 1, 1)  # DATETIME has no zone
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_MICRO = timedelta(microseconds=1)
_MAX_TIME = (838 * 3600 + 59 * 60 + 59) * 1_000_000 + 999_999
_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?Z")
_SECONDS = len("2021-12-20T13:30:49")
_ZERO = "1970-01-01T00:00:00Z"
"""The zero TIMESTAMP; the smallest valid one is a second later."""


def date_text(json: JSONValue) -> bytes:
    """``YYYY-MM-DD`` from days since 1970."""
    try:
        return date.fromordinal(_integer(json) + _EPOCH_DAY).isoformat().encode()
    except (ValueError, OverflowError):
        raise BadValue("days since 1970 of the years 1 … 9999") from None


def datetime_text(unit: int, json: JSONValue) -> bytes:
    """``YYYY-MM-DD HH:MM:SS[.f]`` from a number since 1970.

    :param unit: microseconds per unit of the number.
    """
    try:
        moment = _EPOCH + _integer(json) * unit * _MICRO
    except OverflowError:
        raise BadValue("a time since 1970 of the years 1 … 9999") from None
    text = str(moment).encode()
    return text.rstrip(b"0") if moment.microsecond else text


def time_text(json: JSONValue) -> bytes:
    """``[-]HH:MM:SS[.f]`` from microseconds."""
    micros = _integer(json)
    if abs(micros) > _MAX_TIME:
        raise BadValue("microseconds of at most 838:59:59.999999")
    seconds, rest = divmod(abs(micros), 1_000_000)
    clock = b"%02d:%02d:%02d" % (seconds // 3600, seconds // 60 % 60, seconds % 60)
    return (b"-" if micros < 0 else b"") + clock + _fraction(rest)


def timestamp_text(zone: tzinfo, json: JSONValue) -> bytes:
    """``YYYY-MM-DD HH:MM:SS[.f]`` in a time zone, from ISO 8601 in UTC."""
    match = _ISO.fullmatch(json) if isinstance(json, str) else None
    if match is None or not isinstance(json, str):
        raise BadValue("YYYY-MM-DDTHH:MM:SS[.f]Z")
    if json == _ZERO:
        return b"0000-00-00 00:00:00"
    try:
        utc = datetime.fromisoformat(json[:_SECONDS])
        local = utc if zone is UTC else utc.replace(tzinfo=UTC).astimezone(zone).replace(tzinfo=None)
    except (ValueError, OverflowError):
        raise BadValue("a date and time that exist") from None
    return f"{local}{match[1] or ''}".encode()


def _integer(json: JSONValue) -> int:
    if isinstance(json, bool) or not isinstance(json, int):
        raise BadValue("an integer")
    return json


def _fraction(micros: int) -> bytes:
    return b".%b" % (b"%06d" % micros).rstrip(b"0") if micros else b""
