"""Encodes the values of a column, its NULL and its DEFAULT.

Source: tidb ``types.ParseEnumValue``, ``types.ParseSetValue``; tiflow ``debezium/helper.go``
(getBitFromUint64).

TiCDC writes the DEFAULT of a column if the row contains NULL. Source: tiflow ``debezium/codec.go``
(writeDebeziumFieldValue, writeDebeziumFieldSchema), ``debezium/helper.go`` (getValue).
"""

from __future__ import annotations

from datetime import UTC
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import CHARSET_BEARING, FLOATS, INTEGERS, LOBS, STRINGS, MySQLType
from ticdc_producer.model.number_text import plain_text
from ticdc_producer.protocols import go_json
from ticdc_producer.protocols.arrow_text import (
    NULL,
    Fragments,
    Renderer,
    concat,
    fixed_width,
    map_distinct,
    plain,
    with_nulls_of,
)
from ticdc_producer.protocols.debezium import temporal, text
from ticdc_producer.protocols.debezium import temporal as temporal_columns
from ticdc_producer.protocols.debezium.options import DebeziumOptions
from ticdc_producer.protocols.member_text import member_text, stored_default
from ticdc_producer.protocols.zone import zone_of


def member_strings(values: pa.Array, column: ColumnInfo) -> Fragments:
    """ENUM and SET values as the texts of their members."""
    return (map_distinct(values, lambda value: text.string(member_text(column, value))),)


def bits(values: pa.Array, length: int) -> Fragments:
    """BIT(1) as booleans, longer BIT values as Base64 of their bytes, lowest byte first."""
    if length == 1:
        return (map_distinct(values, lambda value: b"true" if int(value) else b"false"),)
    size = (length + 7) // 8
    numbers = pc.fill_null(values, b"0").cast(pa.string()).cast(pa.uint64()).to_numpy()
    all_bytes = numbers.astype("<u8").view(np.uint8).reshape(-1, 8)
    return text.base64_strings(with_nulls_of(values, fixed_width(all_bytes[:, :size].tobytes(), size)))


T = MySQLType

_NOW = "CURRENT_TIMESTAMP"
_FIRST_TIMESTAMP = b"1970-01-01 00:00:01"


def renderer(column: ColumnInfo, options: DebeziumOptions) -> Renderer:
    """The function that renders a column to JSON; values that TiCDC refuses become ``temporal.REFUSED``."""
    match column.type:
        case T.BIT:
            return partial(bits, length=column.length)
        case T.ENUM | T.SET:
            return partial(member_strings, column=column)
        case T.NEW_DECIMAL:
            return text.decimals
        case T.DATE | T.NEW_DATE:
            return partial(temporal_columns.dates, invalid=_zero(column))
        case T.DATETIME:
            return partial(
                temporal_columns.datetimes,
                fsp=column.decimal,
                zero=_zero(column),
                invalid=_invalid(column, options),
            )
        case T.TIMESTAMP:
            return partial(temporal_columns.timestamps, zone=zone_of(options.time_zone))
        case T.DURATION:
            return partial(temporal_columns.times, fsp=column.decimal)
        case T.LONGLONG if column.unsigned:
            return text.wrapped_integers
    if column.type in FLOATS:
        return go_json.jsoniter_floats
    if column.type in INTEGERS or column.type == T.YEAR:
        return plain
    if column.type in STRINGS | LOBS and column.binary:
        return text.base64_strings
    return partial(text.strings, invalid_utf8=options.invalid_utf8)


def _single_value(column: ColumnInfo, options: DebeziumOptions, value: bytes) -> bytes:
    """Render a single value to JSON."""
    (json,) = concat(renderer(column, options)(pa.array([value], pa.binary())), 1).to_pylist()
    return bytes(json)


def null_text(column: ColumnInfo, options: DebeziumOptions) -> bytes:
    """The JSON for NULL: the DEFAULT of the column, if it has one."""
    if column.default_expression == _NOW:
        return _now_for_null(column)
    if column.default_expression and replaces_null_by_expression(column):
        return text.string(column.default_expression)
    default = text_default(column)
    if default is None:
        return NULL
    if options.profile == "new" and reads_as_zero(column):
        return b"0"
    if options.profile == "classic":
        if column.type == T.YEAR:  # the DEFAULT is written as text, unlike the values
            return text.string(stored_default(column) or "")
        if column.type in FLOATS:
            return text.float64(default)
    if column.type == T.NEW_DECIMAL:  # the digits of the DEFAULT as the user wrote them
        return text.float64(default)
    if column.type in FLOATS:
        default = plain_text(float(default), column.type)
    if column.type == T.TIMESTAMP and default[:19] < _FIRST_TIMESTAMP:
        return NULL
    return _single_value(column, options, default)


def text_default(column: ColumnInfo) -> bytes | None:
    """The DEFAULT that TiCDC converts: for strings, DECIMAL and YEAR the text in TiDB's metadata."""
    of_metadata = column.type in STRINGS | {T.NEW_DECIMAL, T.YEAR}
    return column.metadata_default if of_metadata else column.default


def _now_for_null(column: ColumnInfo) -> bytes:
    if column.type == T.DATETIME:
        return b"0"
    return NULL if column.nullable else temporal.EPOCH


def default_text(column: ColumnInfo, options: DebeziumOptions) -> bytes | None:
    """The ``default`` in the schema of a column; None if it has none."""
    if column.default_expression == _NOW:
        return _now_in_schema(column)
    if column.default_expression:
        return _expression_in_schema(column)
    default = text_default(column)
    if default is None:
        return None
    if column.type in CHARSET_BEARING - {T.ENUM, T.SET}:  # including byte strings, which are not Base64 here
        return text.default_string(default)
    if column.type in (T.DATE, T.NEW_DATE, T.DATETIME):
        json = _single_value(column, options, default)
        return b"0" if json == temporal.REFUSED else None if json == NULL else json
    if column.type == T.TIMESTAMP:
        return _timestamp_in_schema(column, default)
    if column.type == T.YEAR:
        return b"%d" % _full_year(int(default))
    if column.type in INTEGERS | FLOATS | {T.NEW_DECIMAL}:
        return text.float64(default)
    return _single_value(column, options, default)


def reads_as_zero(column: ColumnInfo) -> bool:
    """Whether TiCDC new architecture reads 0 from a DEFAULT: from every TIME, and from numbers from 2^63.

    Source: ticdc ``getValueFromDefault``.
    """
    if column.default is None:
        return False
    return column.type == T.DURATION or (column.type == T.LONGLONG and int(column.default) >= 1 << 63)


def replaces_null_by_expression(column: ColumnInfo) -> bool:
    """Whether NULL becomes the SQL text of the DEFAULT; numbers and dates cannot be read from it."""
    return column.type == T.JSON or (column.type in STRINGS | LOBS and not column.binary)


def _expression_in_schema(column: ColumnInfo) -> bytes | None:
    """The DEFAULT that TiDB computes per row; TiCDC takes its SQL text for a value."""
    if column.type == T.TIMESTAMP or (column.type in (T.DATE, T.DATETIME) and not column.nullable):
        return b"0"
    if column.type in CHARSET_BEARING | {T.JSON, T.BIT}:
        return text.string(column.default_expression)
    return None


def _now_in_schema(column: ColumnInfo) -> bytes | None:
    if column.type == T.DATETIME:
        return b"0"
    return None if column.nullable else temporal.EPOCH


def _timestamp_in_schema(column: ColumnInfo, default: bytes) -> bytes | None:
    """The DEFAULT of a TIMESTAMP: TiDB stores it in UTC, and TiCDC reads it as UTC here."""
    if default[:19] < _FIRST_TIMESTAMP:
        return None if column.nullable else temporal.EPOCH
    return temporal.timestamp_json(default, UTC) or b"0"


def _full_year(year: int) -> int:
    return year + 2000 if year < 70 else year + 1900 if year < 100 else year


def _invalid(column: ColumnInfo, options: DebeziumOptions) -> bytes:
    """The JSON of a DATETIME with a zero month or day. Classic TiCDC (tiflow) refuses it."""
    return temporal.REFUSED if options.profile == "classic" else _zero(column)


def _zero(column: ColumnInfo) -> bytes:
    """The JSON of a zero DATE or DATETIME."""
    return NULL if column.nullable else b"0"
