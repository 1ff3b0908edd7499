"""Values of columns as JSON: strings, numbers, members and bits; ``temporal`` has dates and times.

They are written like TiCDC's value conversion followed by json-iterator. Source: tiflow
``debezium/codec.go`` (writeDebeziumFieldValue), ``debezium/helper.go`` (getBitFromUint64); tidb
``types.ParseEnumValue``, ``types.ParseSetValue``.
"""

from __future__ import annotations

from decimal import Decimal
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.fidelity import replace_invalid
from ticdc_producer.model.mysql_type import FLOATS, INTEGERS, LOBS, STRINGS, MySQLType
from ticdc_producer.model.values.temporal_text import zone_of
from ticdc_producer.protocols import go_json
from ticdc_producer.protocols.arrow_text import (
    NULL,
    Fragments,
    Renderer,
    base64_texts,
    contents,
    fixed_width,
    integers,
    map_distinct,
    map_values_where,
    plain,
    quoted,
    with_nulls_of,
)
from ticdc_producer.protocols.debezium.temporal import REFUSED, dates, datetimes, times, timestamps
from ticdc_producer.protocols.go_json import JSONStrings
from ticdc_producer.protocols.member_text import member_text
from ticdc_producer.protocols.row_options import DebeziumOptions, InvalidUTF8

T = MySQLType

_STRINGS: dict[InvalidUTF8, JSONStrings] = {
    "raw": go_json.JSONITER_STRINGS,
    "replace": go_json.JSONITER_VALID_STRINGS,
}
_SURELY_SIGNED = 18  # every number with so few digits fits a signed 64-bit integer
_EXACT_DIGITS = 15  # with at most 15 digits, a decimal is the shortest text of its float64


def renderer(column: ColumnInfo, options: DebeziumOptions) -> Renderer:
    """Return the function that renders a column to JSON; values that TiCDC refuses become ``REFUSED``.

    Classic TiCDC (tiflow) refuses a DATETIME with a zero month or day.
    """
    match column.type:
        case T.BIT:
            return partial(bits, length=column.length)
        case T.ENUM | T.SET:
            return partial(member_strings, column=column)
        case T.NEW_DECIMAL:
            return decimals
        case T.DATE | T.NEW_DATE:
            return partial(dates, invalid=_zero(column))
        case T.DATETIME:
            zero, refused = _zero(column), options.profile == "classic"
            return partial(datetimes, fsp=column.decimal, zero=zero, invalid=REFUSED if refused else zero)
        case T.TIMESTAMP:
            return partial(timestamps, zone=zone_of(options.time_zone))
        case T.DURATION:
            return partial(times, fsp=column.decimal)
        case T.LONGLONG if column.unsigned:
            return wrapped_integers
    if column.type in FLOATS:
        return go_json.jsoniter_floats
    if column.type in INTEGERS or column.type == T.YEAR:
        return plain
    if column.type in STRINGS | LOBS and column.binary:
        return base64_strings
    return partial(strings, invalid_utf8=options.invalid_utf8)


def _zero(column: ColumnInfo) -> bytes:
    """Return the JSON of a zero DATE or DATETIME."""
    return NULL if column.nullable else b"0"


def string(text: str) -> bytes:
    """Return one string literal."""
    return go_json.JSONITER_STRINGS.literal(text)


def default_string(value: bytes) -> bytes:
    """Return the string literal of a DEFAULT as TiDB stores it: bytes that are not UTF-8 become U+FFFD."""
    return string(replace_invalid(value).decode())


def strings(values: pa.Array, invalid_utf8: InvalidUTF8 = "raw") -> Fragments:
    """Return the string literals of a column."""
    return _STRINGS[invalid_utf8].literals(values)


def base64_strings(values: pa.Array) -> Fragments:
    """Return byte strings as Base64 with padding, quoted."""
    return quoted(base64_texts(values))


def decimals(values: pa.Array) -> Fragments:
    """Return DECIMAL values converted to float64, as TiCDC sends them.

    Digits beyond 15 to 17 are lost, and so are trailing zeros of the fraction.

    >>> from ticdc_producer.protocols.arrow_text import concat
    >>> concat(decimals(pa.array([b"-1.50", b"0.12345678901234567890"])), 2).to_pylist()
    [b'-1.5', b'0.12345678901234568']
    """
    points = contents(values).count(b".")
    if points == len(values) - values.null_count:
        long = pc.greater(pc.binary_length(values), _EXACT_DIGITS + 1)
        digits = pc.ascii_rtrim(pc.ascii_rtrim(values.cast(pa.string()), "0"), ".").cast(pa.binary())
    else:  # columns without a fraction
        long, digits = pc.greater(pc.binary_length(values), 0 if points else _EXACT_DIGITS), values
    return plain(map_values_where(pc.or_(long, go_json.may_need_exponent(digits)), digits, float64))


def float64(text: bytes) -> bytes:
    """Return the JSON number of the float64 nearest to a decimal number."""
    digits = repr(float(text))
    if "e" in digits:
        return go_json.jsoniter_number(format(Decimal(digits), "f").encode())
    return digits.removesuffix(".0").encode()


def wrapped_integers(values: pa.Array) -> Fragments:
    """Return BIGINT UNSIGNED values as the signed numbers with the same 64 bits: Debezium has no larger type.

    >>> from ticdc_producer.protocols.arrow_text import concat
    >>> concat(wrapped_integers(pa.array([b"1", b"18446744073709551615"])), 2).to_pylist()
    [b'1', b'-1']
    """
    if (pc.max(pc.binary_length(values)).as_py() or 0) <= _SURELY_SIGNED:
        return plain(values)
    return plain(integers(values.cast(pa.string()).cast(pa.uint64()).view(pa.int64())))


def member_strings(values: pa.Array, column: ColumnInfo) -> Fragments:
    """Return ENUM and SET values as the texts of their members."""
    return (map_distinct(values, lambda value: string(member_text(column, value))),)


def bits(values: pa.Array, length: int) -> Fragments:
    """Return BIT(1) values as booleans, longer BIT values as Base64 of their bytes, lowest byte first.

    The bytes of 258 are 2 and 1:

    >>> from ticdc_producer.protocols.arrow_text import concat
    >>> concat(bits(pa.array([b"258"]), length=16), 1).to_pylist()
    [b'"AgE="']
    """
    if length == 1:
        return (map_distinct(values, lambda value: b"true" if int(value) else b"false"),)
    size = (length + 7) // 8
    numbers = pc.fill_null(values, b"0").cast(pa.string()).cast(pa.uint64()).to_numpy()
    all_bytes = numbers.astype("<u8").view(np.uint8).reshape(-1, 8)
    return base64_strings(with_nulls_of(values, fixed_width(all_bytes[:, :size].tobytes(), size)))
