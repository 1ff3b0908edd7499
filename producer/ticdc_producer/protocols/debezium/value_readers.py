"""Reads dates, times, members and bits as canonical values.

Messages do not contain the number of fractional digits of a DATETIME or TIME column, so trailing zeros are
omitted.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import TypeAlias

from ticdc_producer.protocols.base import BadValue
from ticdc_producer.protocols.member_text import escaped, member_indexes

JSONValue: TypeAlias = bool | int | float | str | None


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


Reader: TypeAlias = Callable[[JSONValue], bytes]
_MOST_BITS = 64


def enum_reader(parameters: Mapping[str, str]) -> Reader:
    """Make the reader of an ENUM: text to index; the error value, an empty text, to 0."""
    indexes = member_indexes(_allowed(parameters))

    def read(json: JSONValue) -> bytes:
        if not isinstance(json, str):
            raise BadValue("a member's text")
        index = indexes.get(escaped(json), 0 if json == "" else None)
        if index is None:
            raise BadValue("a member of the allowed ones")
        return b"%d" % index

    return read


def set_reader(parameters: Mapping[str, str]) -> Reader:
    """Make the reader of a SET: comma-separated texts to bit mask."""
    bits = {member: 1 << index for index, member in enumerate(_allowed(parameters).split(","))}
    single = {**{member: b"%d" % bit for member, bit in bits.items()}, "": b"0"}

    def read(json: JSONValue) -> bytes:
        if not isinstance(json, str):
            raise BadValue("members' texts")
        if json in single:
            return single[json]
        chosen = json.split(",")
        if len(set(chosen)) < len(chosen) or not bits.keys() >= set(chosen):
            raise BadValue("members of the allowed ones, each once")
        return b"%d" % sum(bits[member] for member in chosen)

    return read


def _allowed(parameters: Mapping[str, str]) -> str:
    if "allowed" not in parameters:
        raise BadValue("the parameter allowed")
    return parameters["allowed"]


def bit_reader(parameters: Mapping[str, str]) -> Reader:
    """Make the reader of a BIT: Base64 of bytes, lowest first, to number."""
    text = parameters.get("length", "")
    if not re.fullmatch(r"[0-9]{1,2}", text) or not 1 <= int(text) <= _MOST_BITS:
        raise BadValue("the parameter length, 1 … 64")
    size, limit = (int(text) + 7) // 8, 1 << int(text)

    def read(json: JSONValue) -> bytes:
        number = int.from_bytes(_decoded(json, size), "little")
        if number >= limit:
            raise BadValue(f"{text} bits")
        return b"%d" % number

    return read


def _decoded(json: JSONValue, size: int) -> bytes:
    try:
        data = b64decode(json, validate=True) if isinstance(json, str) else b""
    except ValueError:
        data = b""
    if len(data) != size:
        raise BadValue(f"Base64 of {size} bytes")
    return data
