"""Columns of either side in the Arrow type of their MySQL type, for the digests of rows.

Equal values have equal canonical text (``docs/design.md#values``). A type is a form of this text that Arrow
makes faster: different texts are different values of the type. A column that has another value than those of
the type, such as a zero date, has no such form, and its table is compared row by row.
"""

from __future__ import annotations

from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.column_functions import all_match, decimals, whole_digits
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.model.mysql_type import INTEGERS, MySQLType
from ticdc_producer.verifier.consumer_state.canonical_value import (
    actual_reader,
    is_normalized,
    is_text,
    is_trimmed,
)

_T = MySQLType
MAX_DECIMAL = 18
"""Most digits of a DECIMAL of 64 bits."""
_DIGITS = 38
"""Most digits of a DECIMAL of 128 bits."""
_UNSIGNED = (_T.YEAR, _T.BIT, _T.ENUM, _T.SET)
_TIMES = (_T.DATETIME, _T.TIMESTAMP)
_MICROSECONDS = pa.timestamp("us")
_UTC_TIMES = pa.timestamp("us", "UTC")
_ALL_VALUES = Fidelity()


def column_type(column: ColumnInfo) -> pa.DataType:
    """Return the Arrow type of a column; binary: its values remain canonical text.

    The text of JSON and VECTOR is not normalized: documents whose texts differ may still be equal.
    """
    code = column.type
    if code in INTEGERS or code in _UNSIGNED:
        return pa.uint64() if column.unsigned or code in _UNSIGNED else pa.int64()
    if code == _T.NEW_DECIMAL and 0 < column.length <= _DIGITS and column.decimal >= 0:
        digits = MAX_DECIMAL if column.length <= MAX_DECIMAL else _DIGITS
        return pa.decimal128(digits, column.decimal)
    if code in _TIMES:
        return _MICROSECONDS
    return {_T.DATE: pa.date32(), _T.FLOAT: pa.float32(), _T.DOUBLE: pa.float64()}.get(code, pa.binary())


def typed_texts(column: ColumnInfo, texts: pa.Array) -> pa.Array:
    """Return canonical texts in the type of a column.

    :param texts: binary.
    :raises pa.ArrowInvalid: if a text is not one of a value of the type.
    """
    kind = column_type(column)
    if pa.types.is_decimal(kind):
        return decimals(texts.cast(pa.string()), kind)
    return texts if kind == pa.binary() else texts.cast(pa.string()).cast(kind)


def typed_values(column: ColumnInfo, array: pa.Array, zone: tzinfo) -> pa.Array:
    """Return the values of a consumer in the type of a column.

    Two values have the same result only if their canonical texts are the same, or equal documents.

    :param array: of any type.
    :param zone: TIMESTAMP values with a zone are converted to it.
    :raises pa.ArrowInvalid: if a value is not one of the type, or may be written in several ways.
    :raises pa.ArrowNotImplementedError: if Arrow has no conversion of the array.
    """
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if _is_text(array.type):
        return _typed_text(column, array, zone)
    typed = _converted(column, array, zone)
    return _by_value(column, array, zone) if typed is None else typed


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _converted(column: ColumnInfo, array: pa.Array, zone: tzinfo) -> pa.Array | None:
    """Return values that a kernel converts; None if no kernel converts this type as a whole."""
    target, kind = column_type(column), array.type
    number = pa.types.is_integer(kind) or pa.types.is_decimal(kind)
    if pa.types.is_integer(target):
        return array.cast(target) if number or pa.types.is_boolean(kind) else None
    if pa.types.is_decimal(target):
        if pa.types.is_integer(kind):  # an integer needs as many digits as its type has
            array = array.cast(pa.decimal128(_DIGITS, target.scale))
        return array.cast(target) if number else None
    if pa.types.is_floating(target):
        return array.cast(target) if pa.types.is_floating(kind) else None
    if pa.types.is_timestamp(target):
        return _local_times(column, array, zone) if pa.types.is_timestamp(kind) else None
    if pa.types.is_date(target):
        return array if pa.types.is_date32(kind) else None
    as_is = is_normalized(column) or (is_text(column) and not is_trimmed(column))
    is_bytes = pa.types.is_binary(kind) or pa.types.is_large_binary(kind)
    return array.cast(pa.binary()) if is_bytes and as_is else None


def _local_times(column: ColumnInfo, array: pa.Array, zone: tzinfo) -> pa.Array | None:
    """Return times without a zone; None for a zone that Arrow does not know."""
    if array.type.tz is None:
        return array.cast(_MICROSECONDS)
    if column.type == _T.DATETIME or zone is UTC:
        return array.cast(_UTC_TIMES).cast(_MICROSECONDS)
    if isinstance(zone, ZoneInfo):
        return pc.local_timestamp(array.cast(pa.timestamp("us", zone.key)))
    return None


def _typed_text(column: ColumnInfo, texts: pa.Array, zone: tzinfo) -> pa.Array:
    """Return texts of a consumer in the type of a column; those in canonical form are converted at once."""
    if column_type(column) == pa.binary():
        return (pc.utf8_rtrim(texts, " ") if is_trimmed(column) else texts).cast(pa.binary())
    if column.type in (_T.ENUM, _T.SET) or not _is_canonical(column, texts):  # a member's name may be digits
        return _by_value(column, texts, zone)
    return texts.cast(pa.string()).cast(column_type(column))


def _by_value(column: ColumnInfo, array: pa.Array, zone: tzinfo) -> pa.Array:
    """Convert each different value by its canonical text.

    :raises pa.ArrowInvalid: if a text is not one of a value of the type.
    """
    if is_normalized(column):
        raise pa.ArrowInvalid("a document that is not text")
    encoded = array.dictionary_encode()
    read = actual_reader(column, zone, _ALL_VALUES)
    texts = pa.array(map(read, encoded.dictionary.to_pylist()), pa.binary(), size=len(encoded.dictionary))
    if pa.types.is_floating(column_type(column)) or _is_canonical(column, texts):
        return typed_texts(column, texts).take(encoded.indices)
    raise pa.ArrowInvalid("a text that is not canonical")


def _is_canonical(column: ColumnInfo, texts: pa.Array) -> bool:
    """Return whether all texts have the form of canonical text; Arrow's parsers take other forms as well."""
    kind, code = column_type(column), column.type
    fraction = rf"\.\d{{{column.decimal}}}" if column.decimal > 0 else ""
    if pa.types.is_floating(kind):
        return False
    if pa.types.is_integer(kind):
        pattern = r"^-?\d+$"
    elif pa.types.is_decimal(kind):
        # Arrow reads a number with more digits as another one.
        pattern = rf"^-?{whole_digits(kind)}{fraction}$"
    elif code in _TIMES:
        pattern = rf"^\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d{fraction}$"
    elif code == _T.DATE:
        pattern = r"^\d{4}-\d\d-\d\d$"
    else:
        return True
    return all_match(texts, pattern)
