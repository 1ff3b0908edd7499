"""Encodes columns of dates and times.

Arrow parses valid dates. Values with a year below 100, including the zero date, are converted one by one, as
are all values of a column that contains a date that does not exist.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, tzinfo
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.protocols.arrow_text import (
    Fragments,
    Numbers,
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
from ticdc_producer.protocols.debezium import temporal
from ticdc_producer.protocols.debezium.zone_offsets import to_utc

_EPOCH = temporal.EPOCH.removeprefix(b'"').removesuffix(b'Z"')
_MICROS = 1_000_000
_DATE = len("YYYY-MM-DD")
_DATETIME = len("YYYY-MM-DD HH:MM:SS")


def dates(values: pa.Array, invalid: bytes) -> Fragments:
    """DATE; see ``temporal.date_json``."""
    return (_as_numbers(values, pa.date32(), pa.int32(), partial(temporal.date_json, invalid=invalid)),)


def datetimes(values: pa.Array, fsp: int, zero: bytes, invalid: bytes) -> Fragments:
    """DATETIME; see ``temporal.datetime_json``."""
    one = partial(temporal.datetime_json, fsp=fsp, zero=zero, invalid=invalid)
    return (_as_numbers(values, pa.timestamp(temporal.unit_of(fsp)), pa.int64(), one),)


def _as_numbers(
    values: pa.Array, arrow_type: pa.DataType, number: pa.DataType, one: Callable[[bytes], bytes]
) -> pa.Array:
    """Dates or times as numbers.

    :param arrow_type: Arrow's type of the values.
    :param number: the integer type by which Arrow stores ``arrow_type``.
    :param one: converts a single value.
    """
    before_range = pc.less(values, temporal.FIRST_FULL_YEAR)
    any_before = pc.any(before_range).as_py()
    usual = pc.if_else(before_range, None, values) if any_before else values
    try:
        texts = integers(usual.cast(pa.string()).cast(arrow_type).view(number))
    except pa.ArrowInvalid:
        return map_distinct(values, one)
    return (
        pc.if_else(before_range, map_distinct(pc.if_else(before_range, values, None), one), texts)
        if any_before
        else texts
    )


def timestamps(values: pa.Array, zone: tzinfo) -> Fragments:
    """TIMESTAMP; see ``temporal.timestamp_json``."""
    before_range = pc.less(values, temporal.FIRST_TIMESTAMP)
    any_before = pc.any(before_range).as_py()
    usual = pc.if_else(before_range, None, values) if any_before else values
    if not _are_dates(usual):
        return (map_distinct(values, partial(temporal.timestamp_json, zone=zone)),)
    utc = usual if zone is UTC else _in_utc(usual, zone)
    texts = pc.binary_replace_slice(utc, _DATE, _DATE + 1, b"T")
    return surrounded(b'"', pc.if_else(before_range, _EPOCH, texts) if any_before else texts, b'Z"')


def _in_utc(values: pa.Array, zone: tzinfo) -> pa.Array:
    """Convert to UTC; the fractional digits stay unchanged."""
    local = pc.binary_slice(values, 0, _DATETIME).cast(pa.string()).cast(pa.timestamp("s"))
    instants = pa.array(to_utc(as_int64(local.view(pa.int64())), zone)).view(pa.timestamp("s"))
    fractions = pc.binary_replace_slice(values, 0, _DATETIME, b"")
    return concat((instants.cast(pa.string()).cast(pa.binary()), fractions), len(values), null=None)


def _are_dates(values: pa.Array) -> bool:
    try:
        values.cast(pa.string()).cast(pa.timestamp("us"))
    except pa.ArrowInvalid:
        return False
    return True


def times(values: pa.Array, fsp: int) -> Fragments:
    """TIME; see ``temporal.time_json``.

    :param fsp: fractional digits; if a value has a different number, all values are converted one by one.
    """
    filled = pc.fill_null(values, b"00:00:00.%b" % (b"0" * fsp) if fsp > 0 else b"00:00:00")
    clocks, sizes = contents(filled), lengths(filled)
    if not _have_fraction(clocks, sizes, fsp):
        return (map_distinct(values, temporal.time_json),)
    digits = text_array(clocks.translate(None, b":."), sizes - (3 if fsp > 0 else 2))
    micros = _micros(digits.cast(pa.string()).cast(pa.int64()).to_numpy(), max(fsp, 0))
    return (with_nulls_of(values, integers(pa.array(micros))),)


def _have_fraction(clocks: bytes, sizes: Numbers, fsp: int) -> bool:
    """Whether every text has exactly ``fsp`` fractional digits."""
    if fsp <= 0:
        return b"." not in clocks
    points = np.frombuffer(clocks, np.uint8)[np.cumsum(sizes) - fsp - 1]
    return clocks.count(b".") == len(sizes) and bool((points == ord(".")).all())


def _micros(digits: Numbers, fsp: int) -> Numbers:
    """Microseconds of numbers whose digits are hours, two of minutes, two of seconds, ``fsp`` of fraction."""
    clock, fraction = np.divmod(np.abs(digits), 10**fsp)
    minutes, seconds = np.divmod(clock, 100)
    hours, minutes = np.divmod(minutes, 100)
    whole = (hours * 60 + minutes) * 60 + seconds
    micros: Numbers = np.sign(digits) * (whole * _MICROS + fraction * 10 ** (6 - fsp))
    return micros
