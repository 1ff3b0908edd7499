"""Canonical texts of columns of dates, times of the day, and dates with a time."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.column_functions import Flags, Numbers
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.values.sql_value import value_error
from ticdc_producer.model.values.temporal_text import MAX_DURATION, MAX_FSP

Texts: TypeAlias = tuple[pa.Array, pa.Array]
"""Texts of values, and which of them are canonical."""

T = MySQLType
_SECOND = 1_000_000
_EPOCH = datetime(1970, 1, 1)
_DAYS_OF_YEAR_0 = 366
_FIRST_DAY = (datetime.min - _EPOCH).days - _DAYS_OF_YEAR_0
_LAST_DAY = (datetime.max - _EPOCH).days
_TIMES = {
    T.DATETIME: (_FIRST_DAY * 86_400 * _SECOND, (_LAST_DAY + 1) * 86_400 * _SECOND - 1),
    T.TIMESTAMP: (_SECOND, (1 << 31) * _SECOND - 1),
}
"""The first and the last microsecond, from 1970 on."""
_SECONDS_LENGTH = len("2021-12-20 13:30:49")
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d\d))?(?::?00)?")
_TIME = r"^(?P<sign>-?)(?P<h>\d{1,3}):(?P<m>[0-5]?\d):(?P<s>[0-5]?\d)(?:\.(?P<f>\d{1,30}))?$"


def date_texts(days: pa.Array) -> Texts:
    """Print dates."""
    numbers = days.cast(pa.int32())
    fits = pc.and_(pc.greater_equal(numbers, _FIRST_DAY), pc.less_equal(numbers, _LAST_DAY))
    return days.cast(pa.string()), fits


def datetime_texts(column: ColumnInfo, values: pa.Array) -> pa.Array:
    """Print times, rounded to the digits of a DATETIME or TIMESTAMP column.

    :param values: instants, which a DATETIME shows in the time zone of their type; or wall clocks.
    :raises ScenarioError: for a time that the column rejects.
    """
    if values.type.tz is not None:
        zone = arrow_zone(values.type.tz) if column.type == T.DATETIME else "UTC"
        values = pc.local_timestamp(values.cast(pa.timestamp("us", zone)))
    clock = values.cast(pa.timestamp("us")).cast(pa.int64())
    fsp = max(column.decimal, 0)
    unit = 10 ** (MAX_FSP - fsp)
    numbers = pc.fill_null(clock, 0).to_numpy(zero_copy_only=False)
    rounded = (numbers + unit // 2) // unit * unit
    low, high = _TIMES[column.type]
    outside = (rounded < low) | (rounded > high)
    wrong = np.flatnonzero(outside & clock.is_valid().to_numpy(zero_copy_only=False))
    if len(wrong):
        text = clock[int(wrong[0])].cast(pa.timestamp("us")).cast(pa.string()).as_py()
        raise value_error(column.name, text, f"Incorrect {column.type_name} value")
    times = pa.array(np.where(outside, low, rounded), mask=clock.is_null().to_numpy(zero_copy_only=False))
    length = _SECONDS_LENGTH + (1 + fsp if fsp else 0)
    texts = times.cast(pa.timestamp("us")).cast(pa.string())
    return pc.utf8_slice_codeunits(texts, 0, length).cast(pa.binary())


def arrow_zone(zone: str) -> str:
    """Return Arrow's name of a time zone of Spark, which also accepts those of Java, such as ``GMT+8``.

    >>> [arrow_zone(zone) for zone in ("Asia/Tokyo", "Z", "GMT+8", "UTC-05:30")]
    ['Asia/Tokyo', 'UTC', '+08:00', '-05:30']
    """
    offset = _OFFSET.fullmatch(zone)
    if offset is None:
        return "UTC" if zone == "Z" else zone
    sign, hours, minutes = offset.groups()
    return f"{sign}{int(hours):02d}:{minutes or '00'}"


def duration_texts(column: ColumnInfo, values: pa.Array) -> Texts:
    """Print texts of times ``[-]H:MM:SS[.f]``, rounded to the digits of a TIME column."""
    fsp = max(column.decimal, 0)
    negative, total, is_time = _durations(values, fsp)
    clock = pc.binary_join_element_wise(
        pc.if_else(pa.array(negative & (total > 0)), "-", ""),
        _digits(total // (3600 * _SECOND), 2),
        ":",
        _digits(total // (60 * _SECOND) % 60, 2),
        ":",
        _digits(total // _SECOND % 60, 2),
        *((".", _digits(total % _SECOND // 10 ** (MAX_FSP - fsp), fsp)) if fsp else ()),
        "",
    )
    fits = pa.array(is_time & (total <= MAX_DURATION))
    return pc.if_else(fits, clock, None), fits


def duration_microseconds(texts: pa.Array) -> pa.Array:
    """Return the lengths of canonical values of a TIME column; NULL remains NULL."""
    negative, total, is_time = _durations(texts, MAX_FSP)
    return pa.array(np.where(negative, -total, total), mask=~is_time)


def _durations(texts: pa.Array, fsp: int) -> tuple[Flags, Numbers, Flags]:
    """Return which texts have a minus sign, their microseconds without it, and which of them are times."""
    parts = pc.extract_regex(texts, _TIME)
    sign, hours, minutes, seconds, fraction = (pc.struct_field(parts, index) for index in range(5))
    whole = (_numbers(hours) * 3600 + _numbers(minutes) * 60 + _numbers(seconds)) * _SECOND
    negative = pc.fill_null(pc.equal(sign, "-"), False).to_numpy(zero_copy_only=False)
    is_time = parts.is_valid().to_numpy(zero_copy_only=False)
    return negative, whole + _round_fractions(fraction, fsp), is_time


def check_time(column: ColumnInfo, text: str) -> None:
    """Check the form of a time.

    :raises ScenarioError: for a text that is not hours, minutes and seconds.
    """
    if re.match(_TIME, text) is None:
        raise value_error(column.name, text, "Incorrect time value")


def _numbers(digits: pa.Array) -> Numbers:
    numbers: Numbers = pc.fill_null(digits, "0").cast(pa.int64()).to_numpy(zero_copy_only=False)
    return numbers


def _round_fractions(digits: pa.Array, fsp: int) -> Numbers:
    """Return the microseconds of fractions, as ``model.values.temporal_text.round_fraction`` does."""
    first = pc.utf8_slice_codeunits(pc.fill_null(digits, ""), 0, MAX_FSP + 1)
    padded = _numbers(pc.utf8_rpad(first, MAX_FSP + 1, "0"))
    unit = 10 ** (MAX_FSP + 1 - fsp)
    rounded: Numbers = (padded + unit // 2) // unit * unit // 10
    return rounded


def _digits(numbers: Numbers, width: int) -> pa.Array:
    return pc.utf8_lpad(pa.array(numbers).cast(pa.string()), width, "0")
