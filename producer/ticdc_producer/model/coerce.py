"""From any value to the canonical bytes of a column, and back to a value to compute with.

This is the one place that knows what a MySQL column makes of what it is given (DESIGN "Value").
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

from ticdc_producer.model.coerce_member import coerce_enum, coerce_json, coerce_set
from ticdc_producer.model.coerce_number import (
    coerce_bit,
    coerce_decimal,
    coerce_float,
    coerce_integer,
    coerce_year,
)
from ticdc_producer.model.coerce_temporal import coerce_moment, coerce_span
from ticdc_producer.model.coerce_text import coerce_text
from ticdc_producer.model.coerce_vector import coerce_vector
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.float_text import narrow
from ticdc_producer.model.mysql_type import CHARSET_BEARING, FLOATS, INTEGERS, STRINGS, MySQLType
from ticdc_producer.model.sql_mode import SQLMode, value_error
from ticdc_producer.model.sql_value import (
    Bits,
    ColumnBytes,
    JsonText,
    Member,
    Moment,
    Span,
    SQLValue,
    Unsigned,
)
from ticdc_producer.model.temporal_text import moment_of, parse_moment, parse_span, shifted

T = MySQLType

STRICT = SQLMode()
"""TiDB's default sql_mode in UTC."""

_COERCIONS: dict[MySQLType, Callable[[ColumnInfo, SQLValue, SQLMode], bytes]] = {
    T.TINY: coerce_integer,
    T.SHORT: coerce_integer,
    T.INT24: coerce_integer,
    T.LONG: coerce_integer,
    T.LONGLONG: coerce_integer,
    T.NEW_DECIMAL: coerce_decimal,
    T.FLOAT: coerce_float,
    T.DOUBLE: coerce_float,
    T.BIT: coerce_bit,
    T.YEAR: coerce_year,
    T.VARCHAR: coerce_text,
    T.VAR_STRING: coerce_text,
    T.STRING: coerce_text,
    T.TINY_BLOB: coerce_text,
    T.MEDIUM_BLOB: coerce_text,
    T.LONG_BLOB: coerce_text,
    T.BLOB: coerce_text,
    T.DATE: coerce_moment,
    T.DATETIME: coerce_moment,
    T.TIMESTAMP: coerce_moment,
    T.DURATION: coerce_span,
    T.ENUM: coerce_enum,
    T.SET: coerce_set,
    T.JSON: coerce_json,
    T.VECTOR_FLOAT32: coerce_vector,
}


def coerce(column: ColumnInfo, value: SQLValue | date | time | timedelta, mode: SQLMode = STRICT) -> Value:
    """The canonical value that a column stores for a value.

    :param value: an SQL value, or a Python date, datetime, time or timedelta; an aware datetime is an
        instant, a naive one is in the session's zone.
    :raises ScenarioError: if the column does not take it; ``column`` and ``value`` are set.
    """
    if value is None:
        return None
    rule = _COERCIONS.get(column.type)
    if rule is None:
        raise value_error(column.name, value, f"Values of type {column.type_name} are not supported")
    return rule(column, _from_python(value, mode), mode)


def read(column: ColumnInfo, value: Value, mode: SQLMode = STRICT) -> SQLValue:
    """The value behind canonical bytes, to compute with; ``coerce`` of it gives the bytes again.

    TIMESTAMP values come in the session's zone.
    """
    if value is None:
        return None
    code = column.type
    if code in INTEGERS:
        return Unsigned(value) if column.unsigned else int(value)
    if code in FLOATS:
        return narrow(float(value), code)
    if code == T.NEW_DECIMAL:
        return Decimal(value.decode())
    if code in STRINGS or code in CHARSET_BEARING:
        return _read_text(column, value)
    return _read_other(column, value, mode)


def _read_text(column: ColumnInfo, value: bytes) -> SQLValue:
    if column.type == T.ENUM:
        number = int(value)
        return Member(column.elements[number - 1] if number else "", number)
    if column.type == T.SET:
        bits = int(value)
        names = [name for place, name in enumerate(column.elements) if bits >> place & 1]
        return Member(",".join(names), bits)
    if column.charset == "binary":
        return ColumnBytes(value, column.type)
    return value.decode("utf-8", "surrogateescape")


def _read_other(column: ColumnInfo, value: bytes, mode: SQLMode) -> SQLValue:
    code = column.type
    if code == T.YEAR:
        return Unsigned(value)
    if code == T.BIT:
        return Bits(int(value).to_bytes((max(column.length, 1) + 7) // 8, "big"))
    if code == T.JSON:
        return JsonText(value.decode("utf-8", "surrogateescape"))
    text = value.decode()
    if code == T.VECTOR_FLOAT32:
        return text
    if code == T.DURATION:
        return parse_span(text, max(column.decimal, 0))
    fsp = -1 if code in (T.DATE, T.NEW_DATE) else max(column.decimal, 0)
    moment = parse_moment(text, fsp, invalid_dates=True)
    if code == T.TIMESTAMP and moment is not None and not moment.is_zero:
        return shifted(moment, UTC, mode.zone)
    return moment


def _from_python(value: SQLValue | date | time | timedelta, mode: SQLMode) -> SQLValue:
    if isinstance(value, datetime):
        local = value.astimezone(mode.zone) if value.tzinfo else value
        return moment_of(local, 6)
    if isinstance(value, date):
        return Moment(value.year, value.month, value.day, fsp=-1)
    if isinstance(value, time):
        value = timedelta(hours=value.hour, minutes=value.minute, seconds=value.second) + timedelta(
            microseconds=value.microsecond
        )
    if isinstance(value, timedelta):
        return Span(value // timedelta(microseconds=1), 6)
    return int(value) if isinstance(value, bool) else value
