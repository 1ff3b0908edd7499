"""What a reader gets of a column's values: canonical text again, as far as Debezium carries it.

With a schema a value is read by its type; without one (``debezium-disable-schema``) it is whatever text
or number stands in the JSON.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from datetime import datetime, timedelta, tzinfo
from functools import partial

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.fidelity import Reduction
from ticdc_producer.model.float_text import plain_text
from ticdc_producer.model.mysql_type import LOBS, STRINGS, MySQLType
from ticdc_producer.protocols.allowed_members import escaped
from ticdc_producer.protocols.debezium import temporal
from ticdc_producer.protocols.debezium.options import DebeziumOptions
from ticdc_producer.protocols.member_text import member_text
from ticdc_producer.protocols.zone import zone_of

T = MySQLType
_Told = Callable[[bytes], Value]
_EPOCH = datetime(1970, 1, 1)
_ZERO = b"0000"
_EPOCH_TEXT = {T.DATE: b"1970-01-01", T.DATETIME: b"1970-01-01 00:00:00"}


def told_value(column: ColumnInfo, options: DebeziumOptions) -> Reduction | None:
    """What becomes of the values of one column; None if all of them arrive as they are."""
    told = _told(column, options)
    null = _null(column, options, told)
    if told is None and null is None:
        return None

    def reduce(value: Value) -> Value:
        if value is None:
            return null
        return told(value) if told else value

    return reduce


def _null(column: ColumnInfo, options: DebeziumOptions, told: _Told | None) -> Value:
    """NULL arrives as the DEFAULT."""
    if column.default_expression:
        if column.type != T.DATETIME:
            return None
        return b"0" if options.disable_schema else _EPOCH_TEXT[T.DATETIME]
    if column.default is None:
        return None
    if column.type == T.TIMESTAMP and column.default.startswith(_ZERO):
        return None
    if column.type == T.YEAR and options.disable_schema and options.profile == "classic":
        return b"%04d" % int(column.default)
    return told(column.default) if told else column.default


def _told(column: ColumnInfo, options: DebeziumOptions) -> _Told | None:
    if column.type == T.NEW_DECIMAL:
        return lambda value: plain_text(float(value), T.DOUBLE)
    return _untyped(column, zone_of(options.time_zone)) if options.disable_schema else _typed(column, options)


def _typed(column: ColumnInfo, options: DebeziumOptions) -> _Told | None:
    exact = options.enable_tidb_extension
    match column.type:
        case T.DATE | T.NEW_DATE:
            return partial(_date, column)
        case T.DATETIME:
            return partial(_datetime, column)
        case T.DURATION:
            return _without_zeros
        case T.TIMESTAMP:
            return lambda value: b"0000-00-00 00:00:00" if value.startswith(_ZERO) else value
        case T.ENUM:
            return partial(_member, column)
        case T.SET:
            return lambda value: value if member_text(column, value) else b"0"
        case T.LONGLONG if column.unsigned and not exact:
            return _wrapped
    return b64encode if _is_bytes(column) and not exact else None


def _untyped(column: ColumnInfo, zone: tzinfo) -> _Told | None:
    match column.type:
        case T.DATE | T.NEW_DATE | T.DATETIME:
            return partial(_since_1970, column)
        case T.DURATION:
            return temporal.span_text
        case T.TIMESTAMP:
            return lambda value: temporal.zoned_text(value, zone).strip(b'"')
        case T.ENUM | T.SET:
            return lambda value: member_text(column, value).encode()
        case T.BIT if column.length > 1:
            return lambda value: b64encode(int(value).to_bytes((column.length + 7) // 8, "little"))
        case T.LONGLONG if column.unsigned:
            return _wrapped
    return b64encode if _is_bytes(column) else None


def _is_bytes(column: ColumnInfo) -> bool:
    return column.type in STRINGS | LOBS and column.binary


def _date(column: ColumnInfo, value: bytes) -> Value:
    moment = _moment(value)
    return _of_invalid(column) if moment is None else moment.strftime("%Y-%m-%d").zfill(10).encode()


def _datetime(column: ColumnInfo, value: bytes) -> Value:
    moment = _moment(value)
    if moment is None:
        return _of_invalid(column)
    return _without_zeros(moment.isoformat(" ", "microseconds").encode())


def _since_1970(column: ColumnInfo, value: bytes) -> Value:
    moment = _moment(value)
    if moment is None:
        return None if column.nullable else b"0"
    if column.type != T.DATETIME:
        return b"%d" % (moment - _EPOCH).days
    unit = timedelta(milliseconds=1) if column.decimal <= 3 else timedelta(microseconds=1)
    return b"%d" % ((moment - _EPOCH) // unit)


def _moment(value: bytes) -> datetime | None:
    """The date and time, years of two digits full; None for what is none."""
    year = int(value[:4])
    full = year + 2000 if year < 70 else year + 1900 if year < 100 else year
    try:
        return datetime.fromisoformat(f"{full:04d}{value[4:].decode()}")
    except ValueError:
        return None


def _of_invalid(column: ColumnInfo) -> Value:
    if column.nullable:
        return None
    return _EPOCH_TEXT[T.DATETIME if column.type == T.DATETIME else T.DATE]


def _without_zeros(value: bytes) -> bytes:
    return value.rstrip(b"0").rstrip(b".") if b"." in value else value


def _member(column: ColumnInfo, value: bytes) -> bytes:
    """The first member that reads alike; the error value is an empty text."""
    number = int(value)
    texts = [_unescaped(member) for member in column.elements]
    shown = _unescaped(column.elements[number - 1]) if 1 <= number <= len(texts) else ""
    return b"%d" % (texts.index(shown) + 1 if shown in texts else 0)


def _unescaped(member: str) -> str:
    return escaped(member).replace("\\,", ",")


def _wrapped(value: bytes) -> bytes:
    """An unsigned number of 64 bits as a signed one; one that reads as negative already stays."""
    number = int(value)
    return b"%d" % (number - (1 << 64) if number >= 1 << 63 else number)
