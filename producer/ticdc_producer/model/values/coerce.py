"""Coerces values to the canonical bytes of a column, and reads canonical bytes as SQL values.

This is the only module that implements MySQL's conversion to column types (``docs/design.md#values``).
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import TypeAlias

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.mysql_type import CHARSET_BEARING, FLOATS, INTEGERS, STRINGS, MySQLType
from ticdc_producer.model.values.coerce_scalar import (
    coerce_bit,
    coerce_datetime,
    coerce_decimal,
    coerce_duration,
    coerce_float,
    coerce_integer,
    coerce_year,
)
from ticdc_producer.model.values.coerce_text import coerce_enum, coerce_json, coerce_set, coerce_text, to_text
from ticdc_producer.model.values.datetime_text import parse_datetime
from ticdc_producer.model.values.duration_text import parse_duration
from ticdc_producer.model.values.number_text import narrow
from ticdc_producer.model.values.sql_value import (
    Bits,
    ColumnBytes,
    DateTimeValue,
    Duration,
    ErrorMember,
    JsonText,
    Member,
    Single,
    SQLMode,
    SQLValue,
    TypedJson,
    Unsigned,
    VectorText,
    Year,
    value_error,
)
from ticdc_producer.model.values.temporal_text import convert_zone, datetime_from_python
from ticdc_producer.model.values.vector import parse_vector


def coerce_vector(column: ColumnInfo, value: SQLValue, _: SQLMode) -> bytes:
    """Coerce to VECTOR and VECTOR(n). An invalid vector is an error in every sql_mode."""
    if not isinstance(value, str | bytes):
        raise value_error(column.name, value, "Incorrect vector value")
    try:
        vector = value if isinstance(value, VectorText) else parse_vector(to_text(value))
    except ValueError as error:
        raise value_error(column.name, value, f"Incorrect vector value ({error})") from error
    if column.length >= 0 and len(vector.elements) != column.length:
        what = f"vector has {len(vector.elements)} dimensions, does not fit VECTOR({column.length})"
        raise value_error(column.name, value, what)
    return vector.encode()


T = MySQLType

STRICT = SQLMode()
"""TiDB's default sql_mode, with the session time zone UTC."""
PythonValue: TypeAlias = SQLValue | date | time | timedelta
"""An SQL value, or Python's date, datetime, time or timedelta."""

_COERCIONS: dict[MySQLType, Callable[[ColumnInfo, SQLValue, SQLMode], Value]] = {
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
    T.DATE: coerce_datetime,
    T.DATETIME: coerce_datetime,
    T.TIMESTAMP: coerce_datetime,
    T.DURATION: coerce_duration,
    T.ENUM: coerce_enum,
    T.SET: coerce_set,
    T.JSON: coerce_json,
    T.VECTOR_FLOAT32: coerce_vector,
}


def coerce(column: ColumnInfo, value: PythonValue, mode: SQLMode = STRICT) -> Value:
    """Return the canonical bytes that a column stores for a value.

    :param value: an aware datetime is an instant; a naive one is in the session's time zone.
    :raises ScenarioError: if the column does not accept the value; ``column`` and ``value`` are set.
    """
    if value is None:
        return None
    rule = _COERCIONS.get(column.type)
    if rule is None:
        raise value_error(column.name, value, f"Values of type {column.type_name} are not supported")
    return rule(column, sql_value(value, mode), mode)


def read(column: ColumnInfo, value: Value, mode: SQLMode = STRICT) -> SQLValue:
    """Return the SQL value of canonical bytes; ``coerce`` converts it to the same bytes.

    TIMESTAMP values are returned in the session's time zone.
    """
    if value is None:
        return None
    code = column.type
    if code in INTEGERS:
        return Unsigned(value) if column.unsigned else int(value)
    if code in FLOATS:
        return Single(narrow(float(value), code)) if code == T.FLOAT else float(value)
    if code == T.NEW_DECIMAL:
        return Decimal(value.decode())
    if code in STRINGS or code in CHARSET_BEARING:
        return _read_text(column, value)
    return _read_other(column, value, mode)


def _read_text(column: ColumnInfo, value: bytes) -> SQLValue:
    if column.type == T.ENUM:
        number = int(value)
        return Member(column.elements[number - 1], number) if number else ErrorMember("", 0)
    if column.type == T.SET:
        bits = int(value)
        names = [name for bit, name in enumerate(column.elements) if bits >> bit & 1]
        return Member(",".join(names), bits)
    if column.charset == "binary":
        return ColumnBytes(value, column.type)
    return value.decode("utf-8", "surrogateescape")


def _read_other(column: ColumnInfo, value: bytes, mode: SQLMode) -> SQLValue:
    code = column.type
    if code == T.YEAR:
        return Year(value)
    if code == T.BIT:
        return Bits(int(value).to_bytes((max(column.length, 1) + 7) // 8, "big"))
    if code == T.JSON:
        document = value.document if isinstance(value, TypedJson) else None
        return JsonText(value.decode("utf-8", "surrogateescape"), document)
    text = value.decode()
    if code == T.VECTOR_FLOAT32:
        return parse_vector(text)
    if code == T.DURATION:
        return parse_duration(text, max(column.decimal, 0))
    fsp = -1 if code in (T.DATE, T.NEW_DATE) else max(column.decimal, 0)
    date_time = parse_datetime(text, fsp, invalid_dates=True)
    if code == T.TIMESTAMP and date_time is not None and not date_time.is_zero:
        return convert_zone(date_time, UTC, mode.zone)
    return date_time


_OF_PYTHON = (date, time, timedelta, bool)


def sql_value(value: PythonValue, mode: SQLMode) -> SQLValue:
    """Return the SQL value of a Python value; see ``coerce``."""
    if not isinstance(value, _OF_PYTHON):
        return value
    if isinstance(value, datetime):
        local = value.astimezone(mode.zone) if value.tzinfo else value
        return datetime_from_python(local, 6)
    if isinstance(value, date):
        return DateTimeValue(value.year, value.month, value.day, fsp=-1)
    if isinstance(value, time):
        value = timedelta(hours=value.hour, minutes=value.minute, seconds=value.second) + timedelta(
            microseconds=value.microsecond
        )
    if isinstance(value, timedelta):
        return Duration(value // timedelta(microseconds=1), 6)
    return int(value)
