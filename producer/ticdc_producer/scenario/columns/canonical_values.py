"""Canonical values, which messages have, as they are stored in the rows of a table."""

from __future__ import annotations

from datetime import UTC

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.mysql_type import FLOATS, INTEGERS, LOBS, STRINGS, MySQLType, integer_range
from ticdc_producer.model.values.coerce import coerce, read
from ticdc_producer.model.values.sql_value import SQLMode, value_error

T = MySQLType
_NUMBERS = INTEGERS | {T.ENUM, T.SET, T.BIT, T.YEAR}
_DAY = "(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31"
_DATE = rf"^(19[7-9][1-9]|19[89]0|20[0-2][0-9]|203[0-7])-({_DAY})"
"""Dates that every year has, in the years of TIMESTAMP."""
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1


def stored_values(column: ColumnInfo, values: pa.Array, mode: SQLMode) -> pa.Array:
    """Return canonical values as they are stored.

    Arrow's functions check most values of most types; the others are checked one by one, equal ones once.

    :param mode: with the time zone of TIMESTAMP values.
    :raises ScenarioError: for a value that is none of its column's.
    """
    if column.type in STRINGS or column.type in LOBS or values.null_count == len(values):
        return values.cast(pa.binary())
    plain = _are_plain(column, values, mode)
    others = values.filter(pc.invert(plain)).dictionary_encode()
    if not len(others):
        return values
    stored = [stored_value(column, value, mode) for value in others.dictionary.to_pylist()]
    return pc.replace_with_mask(values, pc.invert(plain), pa.array(stored, pa.binary()).take(others.indices))


def _are_plain(column: ColumnInfo, values: pa.Array, mode: SQLMode) -> pa.BooleanArray:
    """Return which values are known to be stored as they are, such as NULL."""
    form = _plain_form(column, mode)
    if form is None:
        return values.is_null()
    if column.type in _NUMBERS and (numbers := _integers(values)) is not None:
        return _in_range(column, numbers)
    plain = pc.fill_null(pc.match_substring_regex(values, form), True)
    if column.type not in _NUMBERS:
        return plain
    numbers = pc.if_else(plain, values, None).cast(pa.string()).cast(pa.int64())
    return pc.and_(plain, _in_range(column, numbers))


def _in_range(column: ColumnInfo, numbers: pa.Array) -> pa.BooleanArray:
    """Return which numbers are in the range of a column, such as NULL."""
    low, high = _range(column)
    within = pc.and_(pc.less_equal(max(low, _LEAST), numbers), pc.less_equal(numbers, min(high, _MOST)))
    return pc.fill_null(within, True)


def _integers(texts: pa.Array) -> pa.Array | None:
    """Return the integers that some texts are; None if one is not the shortest text of an integer of 64 bits.

    >>> _integers(pa.array([b"-5", None])).to_pylist(), _integers(pa.array([b"-5", b"05"]))
    ([-5, None], None)
    """
    try:
        strings = texts.cast(pa.string())
        integers = strings.cast(pa.int64())
    except pa.ArrowInvalid:
        return None
    return integers if integers.cast(pa.string()).equals(strings) else None


def _plain_form(column: ColumnInfo, mode: SQLMode) -> str | None:
    """Return a pattern of values that are stored as they are, if they are in the range of their type.

    None: no value is known to be without a check.
    """
    code, digits = column.type, max(column.decimal, 0)
    fraction = rf"\.[0-9]{{{digits}}}" if digits else ""
    sign = "" if column.unsigned else "-?"
    if code in _NUMBERS:
        return r"^(0|-?[1-9][0-9]{0,17}|-?[1-8][0-9]{18})$"
    if code == T.NEW_DECIMAL and column.length > digits:
        whole = rf"[1-9][0-9]{{0,{column.length - digits - 1}}}"
        return rf"^({sign}{whole}{fraction}|0{fraction})$"
    if code in FLOATS and column.decimal < 0:  # the shortest text of a number with so few digits
        most = 2 if code == T.FLOAT else 6
        return rf"^(0|{sign}[1-9][0-9]{{0,{most}}}(\.[0-9]{{0,{most}}}[1-9])?)$"
    if code == T.DATE:
        return f"{_DATE}$"
    if code == T.DATETIME or (code == T.TIMESTAMP and mode.zone is UTC):
        return rf"{_DATE} ([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]{fraction}$"
    return None


def _range(column: ColumnInfo) -> tuple[int, int]:
    """Return the lowest and the highest number of a column."""
    if column.type in INTEGERS:
        return integer_range(column.type, unsigned=column.unsigned)
    if column.type in (T.SET, T.BIT):
        return 0, (1 << (len(column.elements) if column.type == T.SET else max(column.length, 1))) - 1
    return (1901, 2155) if column.type == T.YEAR else (0, len(column.elements))


def stored_value(column: ColumnInfo, value: Value, mode: SQLMode) -> Value:
    """Return a canonical value as it is stored.

    :param mode: with the time zone of TIMESTAMP values.
    :raises ScenarioError: for a value that is none of the column's.
    """
    if value is None or column.type in STRINGS | LOBS:
        return value
    try:
        if column.type == T.TIMESTAMP:
            return coerce(column, value.decode(), mode)
        stored = coerce(column, read(column, value, mode), mode)
    except (ScenarioError, ValueError, ArithmeticError, LookupError):
        stored = None
    if stored is None or _without_zeros(stored) != _without_zeros(value):
        text = value.decode("utf-8", "backslashreplace")
        raise value_error(column.name, text, f"This is not a value of type {column.type_name}")
    return stored


def _without_zeros(value: bytes) -> bytes:
    """Return the text of a value without the zeros at the end of a fraction, which some protocols leave out.

    >>> _without_zeros(b"1.50"), _without_zeros(b"10")
    (b'1.5', b'10')
    """
    return value.rstrip(b"0").rstrip(b".") if b"." in value else value
