"""Masks dates and times: each part is permuted in its range, or all days are shifted by one number."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.masks.cipher import CipherKey, Words, permuted_in
from ticdc_producer.model.column_functions import Flags, Numbers
from ticdc_producer.model.mysql_type import MySQLType

_SECONDS = 86400
_DAY_TWEAK, _CLOCK_TWEAK, _FRACTION_TWEAK = range(1, 4)
_LOWER_TWEAK, _UPPER_TWEAK = 16, 17
_EDGES = "1969-12-31", "1970-01-01", "1970-01-02", "2038-01-18", "2038-01-19", "2038-01-20"
"""The days on which the range of TIMESTAMP may begin and end, and the days after these."""
_QUARTER = 900
_FIRST_SECOND, _LAST_SECOND = 1, 3 * 3600 + 14 * 60 + 7  # 1970-01-01 00:00:01, 2038-01-19 03:14:07
_DATE_WIDTH = len("2024-01-01")


@lru_cache(maxsize=32)
def _day(text: str) -> int:
    """Return the number of a day, from the year 0."""
    return int((np.datetime64(text, "D") - np.datetime64("0000-01-01", "D")).astype(np.int64))


def masked_times(key: CipherKey, texts: pa.StringArray, kind: MySQLType, *, shift: int = 0) -> pa.StringArray:
    """Mask values of DATE, DATETIME, TIMESTAMP or TIME.

    The zero date stays, and days that do not exist become the zero date. Days that TIMESTAMP holds become
    such days.

    >>> texts = pa.array(["2024-02-29", "0000-00-00", "2024-02-30"])
    >>> masked_times(CipherKey(bytes(16)), texts, MySQLType.DATE).to_pylist()
    ['2007-10-18', '0000-00-00', '0000-00-00']

    :param texts: canonical, without NULLs.
    :param shift: number of days that are added, in the range of the type; 0: all parts are permuted.
    """
    if kind == MySQLType.DURATION:
        return _durations(key, texts)
    days, exist = _days(texts)
    if shift:
        first, last = (
            ("1970-01-02", "2038-01-18") if kind == MySQLType.TIMESTAMP else ("1000-01-01", "9999-12-31")
        )
        inside = exist & (days >= _day(first)) & (days < _day(last))
        size = _day(last) - _day(first)
        masked = np.where(inside, (days - _day(first) + shift) % size + _day(first), days)
        return _joined(masked, exist, pc.utf8_slice_codeunits(texts, _DATE_WIDTH, None))
    bounds = (
        0,
        *map(_day, ("1000-01-01", *_EDGES, "9999-12-31")),
    )
    numbers = np.where(exist, days, 0).astype(np.uint64)
    masked = permuted_in(key, numbers, (*bounds, _day("9999-12-31") + 1), _DAY_TWEAK).astype(np.int64)
    if kind in (MySQLType.DATE, MySQLType.NEW_DATE):
        return _joined(masked, exist, pa.repeat("", len(texts)))
    clocks = _clocks(key, days, _clock(pc.utf8_slice_codeunits(texts, 11, 19)))
    fractions = _fractions(key, pc.utf8_slice_codeunits(texts, 19, None), np.zeros(len(texts), np.bool_))
    rest = pc.binary_join_element_wise(" ", _clock_text(clocks), fractions, "")
    same = pc.utf8_slice_codeunits(texts, _DATE_WIDTH, None)
    return _joined(masked, exist, pc.if_else(pa.array(_is_zero(texts)), same, rest))


def become_zero(texts: pa.StringArray, kind: MySQLType) -> Flags:
    """Return which values become the zero date, and are not: days that do not exist."""
    if kind == MySQLType.DURATION:
        return np.zeros(len(texts), np.bool_)
    return ~_days(texts)[1] & ~_is_zero(texts)


def _clocks(key: CipherKey, days: Numbers, clocks: Words) -> Words:
    """Permute the times of a day: on the first and last days of TIMESTAMP within a quarter of an hour.

    Where its range ends depends on the time zone, by quarters of an hour.
    """
    results = clocks.copy()
    lower, upper = (np.isin(days, [*map(_day, ends)]) for ends in (_EDGES[:2], _EDGES[3:5]))
    for side, bounds, tweak in (
        (~lower & ~upper, (0, _SECONDS), _CLOCK_TWEAK),
        (lower, (0, *range(_FIRST_SECOND, _SECONDS, _QUARTER), _SECONDS), _LOWER_TWEAK),
        (upper, (0, *range(_LAST_SECOND % _QUARTER + 1, _SECONDS, _QUARTER), _SECONDS), _UPPER_TWEAK),
    ):
        results[side] = permuted_in(key, clocks[side], bounds, tweak)
    return results


def _is_zero(texts: pa.StringArray) -> Flags:
    zero: Flags = pc.starts_with(texts, "0000-00-00").to_numpy(zero_copy_only=False)
    return zero


def _days(texts: pa.StringArray) -> tuple[Numbers, Flags]:
    """Return the days of dates, and which dates exist.

    >>> days, exist = _days(pa.array(["2020-07-29", "2020-02-30"]))
    >>> days.tolist(), exist.tolist()
    ([738000, 737850], [True, False])
    """
    years, months, days = (
        pc.utf8_slice_codeunits(texts, *span).cast(pa.int64()).to_numpy()
        for span in ((0, 4), (5, 7), (8, 10))
    )
    month = (years - 1970).astype("M8[Y]").astype("M8[M]") + (months - 1)
    day = month.astype("M8[D]") + (days - 1)
    exist = (months >= 1) & (months <= 12) & (days >= 1) & (day.astype("M8[M]") == month)
    return (day - np.datetime64("0000-01-01", "D")).astype(np.int64), exist


def _joined(days: Numbers, exist: Flags, rest: pa.StringArray) -> pa.StringArray:
    """Return days and what follows them as texts; a day that does not exist is the zero date.

    >>> _joined(np.array([738000, 0]), np.array([True, False]), pa.array([" 10:30:00", ""])).to_pylist()
    ['2020-07-29 10:30:00', '0000-00-00']
    """
    texts = np.datetime_as_string(np.datetime64("0000-01-01", "D") + np.where(exist, days, 0))
    dates = np.where(exist, texts, "0000-00-00")
    return pc.binary_join_element_wise(pa.array(dates.tolist(), pa.string()), rest, "")


def _clock(texts: pa.StringArray) -> Words:
    """Return the seconds of ``HH:MM:SS``; hours may have three digits."""
    parts = pc.split_pattern(texts, ":")
    hours, minutes, seconds = (
        pc.list_element(parts, number).cast(pa.uint64()).to_numpy() for number in range(3)
    )
    clock: Words = hours * 3600 + minutes * 60 + seconds
    return clock


def _clock_text(seconds: Words) -> pa.StringArray:
    parts = (seconds // 3600, seconds // 60 % 60, seconds % 60)
    texts = (pc.utf8_lpad(pa.array(part).cast(pa.string()), 2, "0") for part in parts)
    return pc.binary_join_element_wise(*texts, ":")


def _fractions(key: CipherKey, texts: pa.StringArray, keeps_zero: Flags) -> pa.StringArray:
    """Permute fractions such as ``.25`` among those with as many digits.

    >>> texts, keeps_zero = pa.array([".25", ".250", ".0", ".0", ""]), np.array([0, 0, 0, 1, 0], bool)
    >>> _fractions(CipherKey(bytes(16)), texts, keeps_zero).to_pylist()
    ['.31', '.723', '.2', '.0', '']

    :param keeps_zero: where zero stays, and nothing else becomes zero.
    """
    widths = pc.binary_length(texts).to_numpy()
    results = pc.fill_null(texts, "").to_numpy(zero_copy_only=False)
    for width in np.unique(widths[widths > 1]).tolist():
        for zero in (False, True):
            own = np.flatnonzero((widths == width) & (keeps_zero == zero))
            digits = width - 1
            numbers = pc.utf8_slice_codeunits(texts.take(pa.array(own)), 1, None).cast(pa.uint64()).to_numpy()
            bounds = (0, 1, 10**digits) if zero else (0, 10**digits)
            masked = permuted_in(key, numbers, bounds, _FRACTION_TWEAK + digits)
            padded = pc.utf8_lpad(pa.array(masked).cast(pa.string()), digits, "0")
            results[own] = pc.binary_join_element_wise("", padded, ".").to_numpy(zero_copy_only=False)
    return pa.array(results, pa.string())


def _durations(key: CipherKey, texts: pa.StringArray) -> pa.StringArray:
    negative: Flags = pc.starts_with(texts, "-").to_numpy(zero_copy_only=False)
    plain = pc.utf8_ltrim(texts, "-")
    points = pc.find_substring(plain, ".")
    whole = pc.list_element(pc.split_pattern(plain, "."), 0)
    seconds = _clock(whole)
    results = seconds.copy()
    last = 838 * 3600 + 59 * 60 + 59
    for side, first in ((~negative, (0,)), (negative, (0, 1))):  # there is no -00:00:00
        bounds = (*first, _SECONDS, 100 * 3600, last, last + 1)
        results[side] = permuted_in(key, seconds[side], bounds, _CLOCK_TWEAK)
    has_fraction = pc.greater_equal(points, 0)
    fraction = pc.if_else(
        has_fraction,
        pc.binary_join_element_wise(
            "", pc.list_element(pc.split_pattern(pc.binary_join_element_wise(plain, ".", ""), "."), 1), "."
        ),
        "",
    )
    at_end = seconds == last  # TIME ends here, without a fraction
    fractions = _fractions(key, fraction, negative | at_end)
    return pc.binary_join_element_wise(
        pc.if_else(pa.array(negative), "-", ""), _clock_text(results), fractions, ""
    )
