"""DATE, DATETIME, TIMESTAMP and TIME as JSON: of single values, and of columns.

Zero and impossible dates follow TiDB's ``types.StrToDateTime`` and Go's ``time.Parse``, which TiCDC calls.
Source: tiflow ``debezium/codec.go`` (writeDebeziumFieldValue).

Arrow parses valid dates. Values with a year below 100, including the zero date, are converted one by one, as
are all values of a column that contains a date that does not exist.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import lru_cache, partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.column_functions import Numbers
from ticdc_producer.model.values.temporal_text import two_digit_year
from ticdc_producer.protocols.arrow_text import (
    Fragments,
    as_int64,
    concat,
    contents,
    integers,
    lengths,
    map_distinct,
    surrounded,
    text_array,
    with_nulls_of,
)

REFUSED = b""
"""Marks a value that TiCDC's encoder refuses; no JSON value is empty."""
EPOCH = b'"1970-01-01T00:00:00Z"'
"""The zero TIMESTAMP is sent as this value."""
FIRST_TIMESTAMP = b"1970-01-01 00:00:01"
_FIRST_FULL_YEAR = b"0100"
"""Years before this one are read as two-digit years."""
_ZERO_DATE = b"0000-00-00"
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_EPOCH_CLOCK = EPOCH.removeprefix(b'"').removesuffix(b'Z"')
_MICROS = 1_000_000
_DATE, _DATETIME = len("YYYY-MM-DD"), len("YYYY-MM-DD HH:MM:SS")
_STEP = 900
"""Seconds in a span for which an offset is looked up. Most zones change their offset between two spans."""


def date_json(value: bytes, invalid: bytes) -> bytes:
    """Return a DATE as days since 1970-01-01.

    :param invalid: the result for a zero or impossible date.
    """
    day = _day(value)
    return invalid if day is None else b"%d" % day


def _unit_of(fsp: int) -> str:
    """Return the unit of DATETIME: milliseconds for up to three fractional digits, else microseconds."""
    return "ms" if fsp <= 3 else "us"


def datetime_json(value: bytes, fsp: int, zero: bytes, invalid: bytes) -> bytes:
    """Return a DATETIME, read as UTC, as milliseconds or microseconds since 1970.

    :param zero: the result for the zero date.
    :param invalid: the result for any other invalid date.
    """
    day = _day(value[:10])
    if day is None:
        return zero if value.startswith(_ZERO_DATE) else invalid
    micros = day * 86400 * _MICROS + _micros(value[11:])
    return b"%d" % (micros // 1000 if _unit_of(fsp) == "ms" else micros)


def timestamp_json(value: bytes, zone: tzinfo) -> bytes:
    """Return a TIMESTAMP as ISO 8601 in UTC, with the fractional digits of the column.

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
    wall = int(datetime.fromisoformat(text.decode()).replace(tzinfo=UTC).timestamp())
    instant = wall - _zone_offset(wall - _zone_offset(wall, zone), zone)
    return datetime.fromtimestamp(instant, UTC).strftime("%Y-%m-%d %H:%M:%S").encode()


def time_json(value: bytes) -> bytes:
    """Return a TIME as microseconds; it may be negative or longer than a day."""
    return b"%d" % (-_micros(value[1:]) if value.startswith(b"-") else _micros(value))


def _day(text: bytes) -> int | None:
    """Return the days since 1970-01-01, or None for an invalid date; two-digit years are in 1970 … 2069."""
    try:
        year, month, day = int(text[:4]), int(text[5:7]), int(text[8:10])
        return date(two_digit_year(year), month, day).toordinal() - _EPOCH_DAY
    except ValueError:
        return None


def _micros(clock: bytes) -> int:
    """Return the microseconds of ``HH:MM:SS[.f]``."""
    whole, _, fraction = clock.partition(b".")
    hours, minutes, seconds = map(int, whole.split(b":"))
    return (hours * 3600 + minutes * 60 + seconds) * _MICROS + int(fraction.ljust(6, b"0"))


def dates(values: pa.Array, invalid: bytes) -> Fragments:
    """Return DATE values as ``date_json`` does."""
    return (_as_numbers(values, pa.date32(), pa.int32(), partial(date_json, invalid=invalid)),)


def datetimes(values: pa.Array, fsp: int, zero: bytes, invalid: bytes) -> Fragments:
    """Return DATETIME values as ``datetime_json`` does."""
    convert = partial(datetime_json, fsp=fsp, zero=zero, invalid=invalid)
    return (_as_numbers(values, pa.timestamp(_unit_of(fsp)), pa.int64(), convert),)


def _as_numbers(
    values: pa.Array, arrow_type: pa.DataType, number: pa.DataType, convert: Callable[[bytes], bytes]
) -> pa.Array:
    """Return dates or times as numbers.

    Arrow converts the values of years from 100 on. The year 70 means 1970.

    >>> days = pa.array([b"1970-01-02", b"0070-01-03", None])
    >>> _as_numbers(days, pa.date32(), pa.int32(), partial(date_json, invalid=b"0")).to_pylist()
    [b'1', b'2', None]

    :param arrow_type: Arrow's type of the values.
    :param number: the integer type by which Arrow stores ``arrow_type``.
    :param convert: converts a single value.
    """
    before_range = pc.less(values, _FIRST_FULL_YEAR)
    any_before = pc.any(before_range).as_py()
    usual = pc.if_else(before_range, None, values) if any_before else values
    try:
        texts = integers(usual.cast(pa.string()).cast(arrow_type).view(number))
    except pa.ArrowInvalid:
        return map_distinct(values, convert)
    return (
        pc.if_else(before_range, map_distinct(pc.if_else(before_range, values, None), convert), texts)
        if any_before
        else texts
    )


def timestamps(values: pa.Array, zone: tzinfo) -> Fragments:
    """Return TIMESTAMP values as ``timestamp_json`` does.

    >>> from ticdc_producer.model.values.temporal_text import zone_of
    >>> concat(timestamps(pa.array([b"1970-01-02 09:00:00.5"]), zone_of("Asia/Tokyo")), 1).to_pylist()
    [b'"1970-01-02T00:00:00.5Z"']
    """
    before_range = pc.less(values, FIRST_TIMESTAMP)
    any_before = pc.any(before_range).as_py()
    usual = pc.if_else(before_range, None, values) if any_before else values
    if not _are_dates(usual):
        return (map_distinct(values, partial(timestamp_json, zone=zone)),)
    utc = usual if zone is UTC else _in_utc(usual, zone)
    texts = pc.binary_replace_slice(utc, _DATE, _DATE + 1, b"T")
    return surrounded(b'"', pc.if_else(before_range, _EPOCH_CLOCK, texts) if any_before else texts, b'Z"')


def _in_utc(values: pa.Array, zone: tzinfo) -> pa.Array:
    """Convert to UTC; the fractional digits stay unchanged.

    >>> from ticdc_producer.model.values.temporal_text import zone_of
    >>> _in_utc(pa.array([b"1970-01-02 09:00:00.50"]), zone_of("Asia/Tokyo")).to_pylist()
    [b'1970-01-02 00:00:00.50']
    """
    local = pc.binary_slice(values, 0, _DATETIME).cast(pa.string()).cast(pa.timestamp("s"))
    instants = pa.array(_all_to_utc(as_int64(local.view(pa.int64())), zone)).view(pa.timestamp("s"))
    fractions = pc.binary_replace_slice(values, 0, _DATETIME, b"")
    return concat((instants.cast(pa.string()).cast(pa.binary()), fractions), len(values), null=None)


def _are_dates(values: pa.Array) -> bool:
    try:
        values.cast(pa.string()).cast(pa.timestamp("us"))
    except pa.ArrowInvalid:
        return False
    return True


def times(values: pa.Array, fsp: int) -> Fragments:
    """Return TIME values as ``time_json`` does.

    The digits of all values are parsed at once: ``-00:00:01.5`` as -15.

    >>> concat(times(pa.array([b"-00:00:01.5", b"01:00:00.0"]), fsp=1), 2).to_pylist()
    [b'-1500000', b'3600000000']

    :param fsp: fractional digits; if a value has a different number, all values are converted one by one.
    """
    filled = pc.fill_null(values, b"00:00:00.%b" % (b"0" * fsp) if fsp > 0 else b"00:00:00")
    clocks, sizes = contents(filled), lengths(filled)
    if not _have_fraction(clocks, sizes, fsp):
        return (map_distinct(values, time_json),)
    digits = text_array(clocks.translate(None, b":."), sizes - (3 if fsp > 0 else 2))
    micros = _column_micros(digits.cast(pa.string()).cast(pa.int64()).to_numpy(), max(fsp, 0))
    return (with_nulls_of(values, integers(pa.array(micros))),)


def _have_fraction(clocks: bytes, sizes: Numbers, fsp: int) -> bool:
    """Return whether every text has exactly ``fsp`` fractional digits.

    >>> _have_fraction(b"00:00:01.500:00:02", np.array([10, 8]), 1)
    False
    """
    if fsp <= 0:
        return b"." not in clocks
    points = np.frombuffer(clocks, np.uint8)[np.cumsum(sizes) - fsp - 1]
    return clocks.count(b".") == len(sizes) and bool((points == ord(".")).all())


def _column_micros(digits: Numbers, fsp: int) -> Numbers:
    """Return the microseconds of numbers whose digits are hours, minutes, seconds and fraction.

    Minutes and seconds have two digits, the fraction has ``fsp``. ``01:02:03.5`` is 102035:

    >>> _column_micros(np.array([102035]), 1).tolist()
    [3723500000]
    """
    clock, fraction = np.divmod(np.abs(digits), 10**fsp)
    minutes, seconds = np.divmod(clock, 100)
    hours, minutes = np.divmod(minutes, 100)
    whole = (hours * 60 + minutes) * 60 + seconds
    micros: Numbers = np.sign(digits) * (whole * _MICROS + fraction * 10 ** (6 - fsp))
    return micros


def _all_to_utc(walls: Numbers, zone: tzinfo) -> Numbers:
    """Convert wall times to UTC, both in seconds since 1970.

    A wall time that occurs twice or never becomes the instant that Go's ``time.Date`` returns.

    >>> from ticdc_producer.model.values.temporal_text import zone_of
    >>> _all_to_utc(np.array([9 * 3600]), zone_of("Asia/Tokyo")).tolist()
    [0]
    """
    return walls - _offsets(walls - _offsets(walls, zone), zone)


def _offsets(instants: Numbers, zone: tzinfo) -> Numbers:
    """Return the zone's offset from UTC at each instant, in seconds.

    >>> from ticdc_producer.model.values.temporal_text import zone_of
    >>> _offsets(np.array([0, 1]), zone_of("Asia/Tokyo")).tolist()
    [32400, 32400]
    """
    spans, inverse = np.unique(instants // _STEP, return_inverse=True)
    known = [_offset_of_span(span, zone) for span in spans.tolist()]
    if None not in known:
        return np.array(known, np.int64)[inverse]
    offsets = (
        known[span_index] if known[span_index] is not None else _zone_offset(instant, zone)
        for instant, span_index in zip(instants.tolist(), inverse.tolist(), strict=True)
    )
    return np.fromiter(offsets, np.int64, len(instants))


@lru_cache(maxsize=1 << 16)
def _offset_of_span(span: int, zone: tzinfo) -> int | None:
    """Return the offset during a span; None if it changes within the span."""
    first, last = (_zone_offset(instant, zone) for instant in (span * _STEP, span * _STEP + _STEP - 1))
    return first if first == last else None


def _zone_offset(instant: int, zone: tzinfo) -> int:
    moment = datetime.fromtimestamp(instant, UTC)
    return (moment.astimezone(zone).utcoffset() or timedelta()) // timedelta(seconds=1)
