"""Dates and times of whole columns.

Arrow reads usual dates. Those of years below 100, the zero date among them, go one by one, as does a
column with a date that does not exist.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, tzinfo
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.protocols.arrow_text import (
    Numbers,
    Pieces,
    contents,
    each_distinct,
    integers,
    joined,
    lengths,
    numbers,
    surrounded,
    text_array,
    with_nulls_of,
)
from ticdc_producer.protocols.debezium import temporal
from ticdc_producer.protocols.debezium.zone_offsets import to_utc

_EPOCH = temporal.EPOCH.removeprefix(b'"').removesuffix(b'Z"')
_MICROS = 1_000_000
_DATE = len("YYYY-MM-DD")
_MOMENT = len("YYYY-MM-DD HH:MM:SS")


def days(values: pa.Array, invalid: bytes) -> Pieces:
    """DATE; see ``temporal.day_text``."""
    return (_numbered(values, pa.date32(), pa.int32(), partial(temporal.day_text, invalid=invalid)),)


def epochs(values: pa.Array, fsp: int, zero: bytes, invalid: bytes) -> Pieces:
    """DATETIME; see ``temporal.epoch_text``."""
    one = partial(temporal.epoch_text, fsp=fsp, zero=zero, invalid=invalid)
    return (_numbered(values, pa.timestamp(temporal.unit_of(fsp)), pa.int64(), one),)


def _numbered(
    values: pa.Array, moment: pa.DataType, number: pa.DataType, one: Callable[[bytes], bytes]
) -> pa.Array:
    """Moments as numbers.

    :param moment: Arrow's type of them, which is a ``number`` inside.
    :param one: what makes the text of a single value.
    """
    early = pc.less(values, temporal.FIRST_FULL_YEAR)
    some = pc.any(early).as_py()
    usual = pc.if_else(early, None, values) if some else values
    try:
        texts = integers(usual.cast(pa.string()).cast(moment).view(number))
    except pa.ArrowInvalid:
        return each_distinct(values, one)
    return pc.if_else(early, each_distinct(pc.if_else(early, values, None), one), texts) if some else texts


def zoned(values: pa.Array, zone: tzinfo) -> Pieces:
    """TIMESTAMP; see ``temporal.zoned_text``."""
    early = pc.less(values, temporal.FIRST_TIMESTAMP)
    some = pc.any(early).as_py()
    usual = pc.if_else(early, None, values) if some else values
    if not _are_dates(usual):
        return (each_distinct(values, partial(temporal.zoned_text, zone=zone)),)
    there = usual if zone is UTC else _in_utc(usual, zone)
    texts = pc.binary_replace_slice(there, _DATE, _DATE + 1, b"T")
    return surrounded(b'"', pc.if_else(early, _EPOCH, texts) if some else texts, b'Z"')


def _in_utc(values: pa.Array, zone: tzinfo) -> pa.Array:
    """The same instants, whose digits of fraction stay."""
    moments = pc.binary_slice(values, 0, _MOMENT).cast(pa.string()).cast(pa.timestamp("s"))
    instants = pa.array(to_utc(numbers(moments.view(pa.int64())), zone)).view(pa.timestamp("s"))
    fractions = pc.binary_replace_slice(values, 0, _MOMENT, b"")
    return joined((instants.cast(pa.string()).cast(pa.binary()), fractions), len(values), null=None)


def _are_dates(values: pa.Array) -> bool:
    try:
        values.cast(pa.string()).cast(pa.timestamp("us"))
    except pa.ArrowInvalid:
        return False
    return True


def spans(values: pa.Array, fsp: int) -> Pieces:
    """TIME; see ``temporal.span_text``.

    :param fsp: digits of fraction; a column with another number of them goes one by one.
    """
    filled = pc.fill_null(values, b"00:00:00.%b" % (b"0" * fsp) if fsp > 0 else b"00:00:00")
    clocks, sizes = contents(filled), lengths(filled)
    if not _have_fraction(clocks, sizes, fsp):
        return (each_distinct(values, temporal.span_text),)
    digits = text_array(clocks.translate(None, b":."), sizes - (3 if fsp > 0 else 2))
    micros = _micros(digits.cast(pa.string()).cast(pa.int64()).to_numpy(), max(fsp, 0))
    return (with_nulls_of(values, integers(pa.array(micros))),)


def _have_fraction(clocks: bytes, sizes: Numbers, fsp: int) -> bool:
    """Whether each of the texts has so many digits of fraction."""
    if fsp <= 0:
        return b"." not in clocks
    points = np.frombuffer(clocks, np.uint8)[np.cumsum(sizes) - fsp - 1]
    return clocks.count(b".") == len(sizes) and bool((points == ord(".")).all())


def _micros(digits: Numbers, fsp: int) -> Numbers:
    """Microseconds of the number whose digits are hours, two each of minutes and seconds, fraction."""
    clock, fraction = np.divmod(np.abs(digits), 10**fsp)
    minutes, seconds = np.divmod(clock, 100)
    hours, minutes = np.divmod(minutes, 100)
    whole = (hours * 60 + minutes) * 60 + seconds
    micros: Numbers = np.sign(digits) * (whole * _MICROS + fraction * 10 ** (6 - fsp))
    return micros
