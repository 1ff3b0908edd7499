"""How the values of a column are written, and what stands for its NULL and its DEFAULT.

TiCDC writes the DEFAULT of a column where the row holds NULL. Source: tiflow ``debezium/codec.go``
(writeDebeziumFieldValue, writeDebeziumFieldSchema), ``debezium/helper.go`` (getValue).
"""

from __future__ import annotations

from datetime import UTC
from functools import partial

import pyarrow as pa

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.float_text import plain_text
from ticdc_producer.model.mysql_type import CHARSET_BEARING, FLOATS, INTEGERS, LOBS, STRINGS, MySQLType
from ticdc_producer.protocols import jsoniter
from ticdc_producer.protocols.arrow_text import NULL, Renderer, joined, plain
from ticdc_producer.protocols.debezium import member_columns, temporal, temporal_columns, text
from ticdc_producer.protocols.debezium.options import DebeziumOptions
from ticdc_producer.protocols.zone import zone_of

T = MySQLType

_NOW = "CURRENT_TIMESTAMP"
_FIRST_TIMESTAMP = b"1970-01-01 00:00:01"


def renderer(column: ColumnInfo, options: DebeziumOptions) -> Renderer:
    """What turns a column's values into JSON; a value that TiCDC refuses becomes ``temporal.REFUSED``."""
    match column.type:
        case T.BIT:
            return partial(member_columns.bits, length=column.length)
        case T.ENUM | T.SET:
            return partial(member_columns.member_strings, column=column)
        case T.NEW_DECIMAL:
            return text.decimals
        case T.DATE | T.NEW_DATE:
            return partial(temporal_columns.days, invalid=_zero(column))
        case T.DATETIME:
            return partial(
                temporal_columns.epochs,
                fsp=column.decimal,
                zero=_zero(column),
                invalid=_invalid(column, options),
            )
        case T.TIMESTAMP:
            return partial(temporal_columns.zoned, zone=zone_of(options.time_zone))
        case T.DURATION:
            return partial(temporal_columns.spans, fsp=column.decimal)
        case T.LONGLONG if column.unsigned:
            return text.wrapped_integers
    if column.type in FLOATS:
        return jsoniter.floats
    if column.type in INTEGERS or column.type == T.YEAR:
        return plain
    if column.type in STRINGS | LOBS and column.binary:
        return text.base64_strings
    return partial(text.strings, invalid_utf8=options.invalid_utf8)


def _one(column: ColumnInfo, options: DebeziumOptions, value: bytes) -> bytes:
    """The JSON of a single value."""
    (shown,) = joined(renderer(column, options)(pa.array([value], pa.binary())), 1).to_pylist()
    return bytes(shown)


def null_text(column: ColumnInfo, options: DebeziumOptions) -> bytes:
    """What is written for NULL: the column's DEFAULT if it has one."""
    if column.default_expression == _NOW:
        return _now_for_null(column)
    default = column.default
    if default is None:
        return NULL
    if options.profile == "classic":
        if column.type == T.YEAR:  # the text of the DEFAULT, where a value is a number
            return b'"%04d"' % int(default)
        if column.type in FLOATS:
            return text.float64(default)
    if column.type == T.NEW_DECIMAL:  # its digits stand as the user wrote them
        return text.float64(default)
    if column.type in FLOATS:
        default = plain_text(float(default), column.type)
    if column.type == T.TIMESTAMP and default[:19] < _FIRST_TIMESTAMP:
        return NULL
    return _one(column, options, default)


def _now_for_null(column: ColumnInfo) -> bytes:
    if column.type == T.DATETIME:
        return b"0"
    return NULL if column.nullable else temporal.EPOCH


def default_text(column: ColumnInfo, options: DebeziumOptions) -> bytes | None:
    """The ``default`` of a column's schema, None where it has none."""
    if column.default_expression == _NOW:
        return _now_in_schema(column)
    default = column.default
    if default is None:
        return None
    if column.type in CHARSET_BEARING - {T.ENUM, T.SET}:  # byte strings too, and not as Base64
        return text.default_string(default)
    if column.type in (T.DATE, T.NEW_DATE, T.DATETIME):
        shown = _one(column, options, default)
        return b"0" if shown == temporal.REFUSED else None if shown == NULL else shown
    if column.type == T.TIMESTAMP:
        return _timestamp_in_schema(column, default)
    if column.type == T.YEAR:
        return b"%d" % _full_year(int(default))
    if column.type in INTEGERS | FLOATS | {T.NEW_DECIMAL}:
        return text.float64(default)
    return _one(column, options, default)


def _now_in_schema(column: ColumnInfo) -> bytes | None:
    if column.type == T.DATETIME:
        return b"0"
    return None if column.nullable else temporal.EPOCH


def _timestamp_in_schema(column: ColumnInfo, default: bytes) -> bytes | None:
    """TiDB keeps this DEFAULT in UTC, and here TiCDC takes it so."""
    if default[:19] < _FIRST_TIMESTAMP:
        return None if column.nullable else temporal.EPOCH
    return temporal.zoned_text(default, UTC) or b"0"


def _full_year(year: int) -> int:
    return year + 2000 if year < 70 else year + 1900 if year < 100 else year


def _invalid(column: ColumnInfo, options: DebeziumOptions) -> bytes:
    """What a DATETIME with a zero month or day becomes: the classic program refuses it."""
    return temporal.REFUSED if options.profile == "classic" else _zero(column)


def _zero(column: ColumnInfo) -> bytes:
    """What a zero DATE or DATETIME becomes."""
    return NULL if column.nullable else b"0"
