"""Converts columns of typed values to canonical values (``docs/design.md#values``).

The rule of every type is ``model.values.coerce``. Arrow converts the values on which it gives the same text.
``coerce`` converts the others, equal ones once, and rejects those that do not fit.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.column_functions import float_texts
from ticdc_producer.model.event import Value
from ticdc_producer.model.mysql_type import INTEGERS, LOBS, STRINGS, MySQLType, integer_range
from ticdc_producer.model.values.coerce import PythonValue, coerce
from ticdc_producer.model.values.coerce_scalar import largest_decimal
from ticdc_producer.model.values.collation import pads_space
from ticdc_producer.model.values.sql_value import value_error
from ticdc_producer.scenario.columns.temporal_columns import (
    Texts,
    check_time,
    date_texts,
    datetime_texts,
    duration_texts,
)

T = MySQLType
_MOST_DIGITS, _MOST_EXACT_DIGITS = 38, 76
_LARGEST = {T.FLOAT: 3.4028234663852886e38, T.DOUBLE: 1.7976931348623157e308}
_LARGEST_SIGNED = (1 << 63) - 1


def canonical_column(column: ColumnInfo, values: pa.Array) -> pa.Array:
    """Convert a column to canonical values, as binary; NULL remains NULL.

    An instant becomes a DATETIME in the time zone of its Arrow type, which is Spark's session time zone; a
    wall clock becomes a TIMESTAMP as UTC.

    :param values: of a type that the column accepts (``change_form.check_type``), as Spark's Arrow column.
    :raises ScenarioError: for a value that the column rejects.
    """
    if pa.types.is_null(values.type):
        return pa.nulls(len(values), pa.binary())
    plain = _plain(column, values)
    if column.type in (T.DATETIME, T.TIMESTAMP):
        return datetime_texts(column, plain)
    texts, fits = _quick_texts(column, plain)
    rest = pc.and_(plain.is_valid(), pc.invert(pc.fill_null(fits, False)))
    if not pc.any(rest).as_py():
        return texts.cast(pa.binary())
    return pc.replace_with_mask(texts.cast(pa.binary()), rest, _coerced(column, plain.filter(rest)))


def required_column(column: ColumnInfo, values: pa.Array) -> pa.Array:
    """Convert a column as ``canonical_column``, and reject NULL if the column does.

    :raises ScenarioError: for a value that the column rejects.
    """
    texts = canonical_column(column, values)
    if texts.null_count and not column.nullable:
        raise null_error(column)
    return texts


def null_error(column: ColumnInfo) -> ScenarioError:
    """Return the error of NULL in a NOT NULL column."""
    return ScenarioError(f"Column {column.name!r} cannot be null", column=column.name)


def _plain(column: ColumnInfo, values: pa.Array) -> pa.Array:
    """Convert booleans to numbers, and large texts to plain ones."""
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


def _quick_texts(column: ColumnInfo, values: pa.Array) -> Texts:
    """Return texts of the values, and which of them are canonical."""
    kind, code = values.type, column.type
    is_number = pa.types.is_integer(kind) or pa.types.is_decimal(kind)
    if is_number and (code in INTEGERS or code == T.BIT):
        return values.cast(pa.string()), _in_range(column, values)
    if is_number and code == T.NEW_DECIMAL:
        return _decimal_texts(column, values)
    if code in _LARGEST:
        return _real_texts(column, values)
    if code == T.DATE:
        return date_texts(values)
    if code == T.DURATION:
        return duration_texts(column, values)
    if code in STRINGS or code in LOBS:
        return _fitted(column, values)
    return pa.nulls(len(values), pa.binary()), pa.repeat(False, len(values))


def _in_range(column: ColumnInfo, values: pa.Array) -> pa.Array:
    low, high = 0, (1 << max(column.length, 1)) - 1
    if column.type in INTEGERS:
        low, high = integer_range(column.type, unsigned=column.unsigned)
    if pa.types.is_decimal(values.type):
        return _between(values.cast(pa.decimal128(_MOST_DIGITS, 0)), Decimal(low), Decimal(high))
    if pa.types.is_uint64(values.type):
        return _between(values, max(low, 0), high)
    return _between(values.cast(pa.int64()), low, min(high, _LARGEST_SIGNED))


def _between(values: pa.Array, low: object, high: object) -> pa.Array:
    limits = (pa.scalar(limit, values.type) for limit in (low, high))
    return pc.and_(*(compare(values, limit) for compare, limit in zip(_COMPARISONS, limits, strict=True)))


_COMPARISONS = (pc.greater_equal, pc.less_equal)


def _decimal_texts(column: ColumnInfo, values: pa.Array) -> Texts:
    """Print numbers with the digits of a DECIMAL; halves are rounded away from zero."""
    scale = max(column.decimal, 0)
    if pa.types.is_integer(values.type):
        values = values.cast(pa.decimal128(20, 0))
    kind = values.type
    if kind.scale <= scale and kind.precision - kind.scale + scale <= _MOST_DIGITS:
        exact = values.cast(pa.decimal128(_MOST_DIGITS, scale))
    else:
        wide = values.cast(pa.decimal256(_MOST_EXACT_DIGITS, kind.scale))
        if kind.scale > scale:
            wide = pc.round(wide, scale, round_mode="half_towards_infinity")
        exact = wide.cast(pa.decimal256(_MOST_EXACT_DIGITS, scale))
    texts = exact.cast(pa.string())
    fits = pc.invert(pc.match_substring(texts, "E"))  # Arrow prints the smallest ones with an exponent
    if kind.precision - kind.scale >= column.length - scale:
        largest = largest_decimal(column.length, max(column.decimal, 0))
        fits = pc.and_(fits, _between(exact, largest.copy_negate(), largest))
    if column.unsigned:
        fits = pc.and_(fits, pc.invert(pc.starts_with(texts, "-")))
    return texts, fits


def _real_texts(column: ColumnInfo, values: pa.Array) -> Texts:
    numbers, largest = _doubles(values), _LARGEST[column.type]
    if column.decimal >= 0:
        numbers = _rounded(numbers, column.decimal)
        largest = min(largest, float(Decimal(10**column.length - 1).scaleb(-column.decimal)))
    fits = pc.less_equal(pc.abs(numbers), largest)  # false for NaN
    if column.unsigned:
        fits = pc.and_(fits, pc.greater_equal(numbers, 0))
    stored = pc.if_else(fits, numbers, None)
    return float_texts(stored.cast(pa.float32(), safe=False) if column.type == T.FLOAT else stored), fits


def _doubles(values: pa.Array) -> pa.Array:
    """Convert numbers to the nearest doubles, which Arrow's cast of a decimal can miss."""
    plain = values.cast(pa.string()) if pa.types.is_decimal(values.type) else values
    return plain.cast(pa.float64(), safe=False)


def _rounded(numbers: pa.Array, digits: int) -> pa.Array:
    """Scale up, round half to even, scale down. Source: tidb ``types.Round``.

    >>> _rounded(pa.array([2.25, -0.35, None]), 1).to_pylist()
    [2.2, -0.4, None]
    """
    unit = 10.0**digits
    given = numbers.to_numpy(zero_copy_only=False)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = given * unit
        rounded = np.where(np.isfinite(scaled), np.rint(scaled) / unit, given)
    return pa.array(rounded, mask=numbers.is_null().to_numpy(zero_copy_only=False))


def _fitted(column: ColumnInfo, values: pa.Array) -> Texts:
    """Return texts or byte strings as the column stores them, and which of them fit."""
    if column.charset == "binary":
        size = pc.binary_length(values)
        compare = pc.equal if column.type == T.STRING else pc.less_equal  # BINARY is padded
        return values, pa.repeat(True, len(values)) if column.length < 0 else compare(size, column.length)
    if column.type == T.STRING:  # CHAR loses its trailing spaces
        values = pc.utf8_rtrim(values, " ")
    fits = _in_charset(column.charset, values)
    if column.length >= 0:
        size = pc.binary_length(values) if column.type in LOBS else pc.utf8_length(values)
        fits = pc.and_(fits, pc.less_equal(size, column.length))
    return values, fits


def _in_charset(charset: str, values: pa.Array) -> pa.Array:
    """Return which texts a charset surely has."""
    return pa.repeat(True, len(values)) if charset == "utf8mb4" else pc.string_is_ascii(values)


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


def _check_member(column: ColumnInfo, text: str) -> None:
    if _name(column, text) not in column.elements:
        raise value_error(column.name, text, "Data truncated: no such ENUM member")


def _check_members(column: ColumnInfo, text: str) -> None:
    if text and any(_name(column, name) not in column.elements for name in text.split(",")):
        raise value_error(column.name, text, "Data truncated: no such SET member")


def _name(column: ColumnInfo, text: str) -> str:
    return text.rstrip(" ") if pads_space(column.collation) else text


_CHECKED: dict[MySQLType, Callable[[ColumnInfo, str], None]] = {
    T.DURATION: check_time,
    T.ENUM: _check_member,
    T.SET: _check_members,
}
"""Names of members must be written as in the definition, and times as hours, minutes and seconds: SQL accepts
more."""
