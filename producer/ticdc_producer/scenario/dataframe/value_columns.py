"""Converts columns of Spark's values to canonical values (``docs/design.md#values``), in Python.

A task that gets rows from Spark has no expressions of Spark. Every value is converted by
``model.values.coerce``, once per distinct value of a batch. Arrow converts those values of the most frequent
types on which it gives the same text; the others, and all values that are rejected, remain with ``coerce``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.column_functions import float_texts
from ticdc_producer.model.event import Value
from ticdc_producer.model.mysql_type import INTEGERS, LOBS, STRINGS, MySQLType, integer_range
from ticdc_producer.model.values.coerce import PythonValue, coerce
from ticdc_producer.model.values.collation import pads_space
from ticdc_producer.model.values.sql_value import value_error
from ticdc_producer.model.values.temporal_text import MAX_FSP
from ticdc_producer.scenario.dataframe.scalar_text import TIME_PATTERN

T = MySQLType
_MOST_DIGITS = 38
_LARGEST = {T.FLOAT: 3.4028234663852886e38, T.DOUBLE: 1.7976931348623157e308}
_TIMES = {
    T.DATETIME: (datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999_999)),
    T.TIMESTAMP: (datetime(1970, 1, 1, 0, 0, 1), datetime(2038, 1, 19, 3, 14, 7, 999_999)),
}
_EPOCH = datetime(1970, 1, 1)
_SECONDS_LENGTH = len("2021-12-20 13:30:49")


def canonical_column(column: ColumnInfo, values: pa.Array) -> pa.Array:
    """Convert a column to canonical values, as binary; NULL remains NULL.

    :param values: of a Spark type that the column accepts (``canonical.rule_for``), as Spark's Arrow column.
    :raises ScenarioError: for a value that the column rejects.
    """
    if pa.types.is_null(values.type):
        return pa.nulls(len(values), pa.binary())
    plain = _plain(column, values)
    if column.type in (T.DATETIME, T.TIMESTAMP):
        return _datetime_texts(column, plain)
    texts, fits = _quick_texts(column, plain)
    rest = pc.and_(plain.is_valid(), pc.invert(pc.fill_null(fits, False)))
    if not pc.any(rest).as_py():
        return texts.cast(pa.binary())
    return pc.replace_with_mask(texts.cast(pa.binary()), rest, _coerced(column, plain.filter(rest)))


def _plain(column: ColumnInfo, values: pa.Array) -> pa.Array:
    """Convert booleans to numbers, and large or dictionary-encoded texts to plain ones."""
    kind = values.type
    if pa.types.is_boolean(kind):
        return values.cast(pa.int32())
    if pa.types.is_large_binary(kind):
        return values.cast(pa.binary())
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _texts(column, values.cast(pa.string()))
    return values


def _texts(column: ColumnInfo, texts: pa.Array) -> pa.Array:
    """Check that texts are UTF-8: Spark does not."""
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        for value in texts.cast(pa.binary()).to_pylist():
            if value is not None and not _is_text(value):
                text = value.decode("utf-8", "replace")
                raise value_error(column.name, text, f"Incorrect string value ({column.charset})") from None
        raise
    return texts


def _is_text(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def _quick_texts(column: ColumnInfo, values: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Return texts of the values, and which of them are canonical."""
    kind, code = values.type, column.type
    if pa.types.is_integer(kind) and (code in INTEGERS or code == T.BIT):
        return values.cast(pa.string()), _in_range(column, values)
    if pa.types.is_decimal(kind) and code == T.NEW_DECIMAL:
        return _decimal_texts(column, values)
    if pa.types.is_floating(kind) and code in _LARGEST and column.decimal < 0:
        return _real_texts(column, values)
    if pa.types.is_date(kind):
        days = values.cast(pa.int32())
        fits = pc.and_(pc.greater_equal(days, _day(datetime.min)), pc.less_equal(days, _day(datetime.max)))
        return values.cast(pa.string()), fits
    if code in STRINGS or code in LOBS:
        return values, _fitting(column, values)
    return pa.nulls(len(values), pa.binary()), pa.repeat(False, len(values))


def _day(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(days=1)


def _in_range(column: ColumnInfo, values: pa.Array) -> pa.Array:
    low, high = 0, (1 << max(column.length, 1)) - 1
    if column.type in INTEGERS:
        low, high = integer_range(column.type, unsigned=column.unsigned)
    numbers = values.cast(pa.int64())
    signed = (1 << 63) - 1
    return pc.and_(pc.greater_equal(numbers, low), pc.less_equal(numbers, min(high, signed)))


def _decimal_texts(column: ColumnInfo, values: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Print decimals whose digits all have a place in the column."""
    kind, scale = values.type, max(column.decimal, 0)
    whole = kind.precision - kind.scale
    if kind.scale > scale or whole > column.length - scale or whole + scale > _MOST_DIGITS:
        return pa.nulls(len(values), pa.binary()), pa.repeat(False, len(values))
    texts = values.cast(pa.decimal128(_MOST_DIGITS, scale)).cast(pa.string())
    fits = pc.invert(pc.match_substring(texts, "E"))  # Arrow prints the smallest ones with an exponent
    if column.unsigned:
        fits = pc.and_(fits, pc.invert(pc.starts_with(texts, "-")))
    return texts, fits


def _real_texts(column: ColumnInfo, values: pa.Array) -> tuple[pa.Array, pa.Array]:
    numbers = values.cast(pa.float64())
    fits = pc.less_equal(pc.abs(numbers), _LARGEST[column.type])  # false for NaN
    if column.unsigned:
        fits = pc.and_(fits, pc.greater_equal(numbers, 0))
    stored = pc.if_else(fits, numbers, None)
    return float_texts(stored.cast(pa.float32(), safe=False) if column.type == T.FLOAT else stored), fits


def _fitting(column: ColumnInfo, values: pa.Array) -> pa.Array:
    """Return which texts or byte strings remain as they are."""
    is_bytes = column.charset == "binary"
    if not is_bytes and column.charset != "utf8mb4":
        return pa.repeat(False, len(values))
    size = pc.binary_length(values) if is_bytes or column.type in LOBS else pc.utf8_length(values)
    fits = pa.repeat(True, len(values)) if column.length < 0 else pc.less_equal(size, column.length)
    if column.type == T.STRING:  # CHAR loses its trailing spaces, and BINARY is padded
        whole = pc.equal(size, column.length) if is_bytes else pc.invert(pc.ends_with(values, " "))
        fits = pc.and_(fits, whole)
    return fits


def _datetime_texts(column: ColumnInfo, values: pa.Array) -> pa.Array:
    """Print times, rounded to the digits of the column.

    An instant becomes a DATETIME in Spark's session time zone; a wall clock becomes a TIMESTAMP as UTC.
    """
    if values.type.tz is not None:
        local = column.type == T.DATETIME
        values = pc.local_timestamp(values) if local else values.cast(pa.timestamp("us", "UTC"))
    clock = values.cast(pa.timestamp("us")).cast(pa.int64())
    fsp = max(column.decimal, 0)
    unit = 10 ** (MAX_FSP - fsp)
    numbers = pc.fill_null(clock, 0).to_numpy(zero_copy_only=False)
    rounded = (numbers + unit // 2) // unit * unit
    low, high = ((limit - _EPOCH) // timedelta(microseconds=1) for limit in _TIMES[column.type])
    outside = (rounded < low) | (rounded > high)
    wrong = np.flatnonzero(outside & clock.is_valid().to_numpy(zero_copy_only=False))
    if len(wrong):
        text = clock[int(wrong[0])].cast(pa.timestamp("us")).cast(pa.string()).as_py()
        raise value_error(column.name, text, f"Incorrect {column.type_name} value")
    times = pa.array(np.where(outside, low, rounded), mask=clock.is_null().to_numpy(zero_copy_only=False))
    length = _SECONDS_LENGTH + (1 + fsp if fsp else 0)
    texts = times.cast(pa.timestamp("us")).cast(pa.string())
    return pc.utf8_slice_codeunits(texts, 0, length).cast(pa.binary())


def _coerced(column: ColumnInfo, values: pa.Array) -> pa.Array:
    """Convert values one by one, equal ones once."""
    convert = _CHECKED.get(column.type)
    check = None if convert is None or not pa.types.is_string(values.type) else convert

    def converted(value: PythonValue) -> Value:
        if check is not None:
            check(column, str(value))
        return coerce(column, value)

    coded = values.dictionary_encode()
    try:
        distinct: list[PythonValue] = coded.dictionary.to_pylist()
    except (OverflowError, ValueError) as error:  # a date that Python does not have
        raise ScenarioError(f"{error} for column {column.name!r}", column=column.name) from None
    return pa.array([converted(value) for value in distinct], pa.binary()).take(coded.indices)


def _check_time(column: ColumnInfo, text: str) -> None:
    if re.match(TIME_PATTERN, text) is None:
        raise value_error(column.name, text, "Incorrect time value")


def _check_member(column: ColumnInfo, text: str) -> None:
    if _name(column, text) not in column.elements:
        raise value_error(column.name, text, "Data truncated: no such ENUM member")


def _check_members(column: ColumnInfo, text: str) -> None:
    if text and any(_name(column, name) not in column.elements for name in text.split(",")):
        raise value_error(column.name, text, "Data truncated: no such SET member")


def _name(column: ColumnInfo, text: str) -> str:
    return text.rstrip(" ") if pads_space(column.collation) else text


_CHECKED: dict[MySQLType, Callable[[ColumnInfo, str], None]] = {
    T.DURATION: _check_time,
    T.ENUM: _check_member,
    T.SET: _check_members,
}
"""Names of members must be written as in the definition, and times as hours, minutes and seconds: SQL accepts
more."""
