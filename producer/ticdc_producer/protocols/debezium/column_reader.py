"""Reads column values from Debezium's JSON as canonical text, by the schema of the column.

With ``tidb_type`` the SQL type is known. Without it the type is derived from Kafka Connect's type and
Debezium's name of the logical type; ``fidelity`` lists what remains ambiguous.
"""

from __future__ import annotations

import math
import re
from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass
from datetime import tzinfo
from functools import partial
from typing import TypeAlias

import msgspec

from ticdc_producer.model.event import Value
from ticdc_producer.model.mysql_type import (
    CHARSET_BEARING,
    INTEGERS,
    TYPES,
    MySQLType,
    bare_name,
    integer_range,
)
from ticdc_producer.model.number_text import plain_text
from ticdc_producer.protocols.base import BadValue
from ticdc_producer.protocols.debezium import value_readers
from ticdc_producer.protocols.debezium.value_readers import JSONValue

T = MySQLType
digits = msgspec.json.Encoder().encode  # for integers: three times as fast as %d
Reader: TypeAlias = Callable[[JSONValue], bytes]

_MAX_FLOAT32 = 3.4028235677973366e38  # the first number that rounds to infinity
_DEBEZIUM = "io.debezium."

# SQL type for a schema without ``tidb_type``, by Connect's type and Debezium's name: the smallest that fits.
_CONNECT_TYPES = {
    ("int16", ""): "smallint", ("int32", ""): "int", ("int64", ""): "bigint", ("float", ""): "float",
    ("double", ""): "double", ("boolean", ""): "bit", ("string", ""): "varchar",
    ("bytes", "data.Bits"): "bit", ("string", "data.Enum"): "enum", ("string", "data.EnumSet"): "set",
    ("string", "data.Json"): "json", ("string", "data.TiDBVectorFloat32"): "vector",
    ("int32", "time.Date"): "date", ("int64", "time.MicroTime"): "time", ("int32", "time.Year"): "year",
    ("int64", "time.Timestamp"): "datetime", ("int64", "time.MicroTimestamp"): "datetime",
    ("string", "time.ZonedTimestamp"): "timestamp",
}  # fmt: skip


def _codes() -> dict[str, tuple[MySQLType, bool, bool]]:
    """SQL type name to code, binary, unsigned."""
    known = [T(code) for code in TYPES if code not in (T.NEW_DATE, T.VAR_STRING)]
    named = {
        bare_name(code, binary=binary, unsigned=unsigned): (code, binary, unsigned)
        for code in known
        for unsigned in (False, True)
        for binary in (True, False)
    }
    return {**named, "var_string": (T.VAR_STRING, False, False)}


_CODES = _codes()


class FieldSchema(msgspec.Struct, frozen=True):
    """The schema of one column: Kafka Connect's type, and Debezium's name of the logical type."""

    field: str
    type: str
    name: str = ""
    optional: bool = False
    tidb_type: str = ""
    parameters: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class ColumnReader:
    """Reads the values of one column.

    :param type: SQL type name, as exact as the schema allows.
    """

    type: str
    optional: bool
    read: Reader

    def null(self) -> Value:
        """Read NULL.

        :raises BadValue: if the column is not optional.
        """
        if not self.optional:
            raise BadValue("a value, for the column is not optional")
        return None


def column_reader(schema: FieldSchema, zone: tzinfo) -> ColumnReader:
    """Make the reader of a column.

    :param zone: time zone of the changefeed; TIMESTAMP values are returned in it.
    :raises BadValue: for a type that Debezium does not know.
    """
    connect = (schema.type, schema.name.removeprefix(_DEBEZIUM))
    type_name = schema.tidb_type or _CONNECT_TYPES.get(connect, "")
    if type_name not in _CODES:
        raise BadValue(f"a known type, not {schema.tidb_type or schema.name or schema.type!r}")
    code, binary, unsigned = _CODES[type_name]
    return ColumnReader(type_name, schema.optional, _reader(schema, code, binary, unsigned, zone))


def _reader(schema: FieldSchema, code: MySQLType, binary: bool, unsigned: bool, zone: tzinfo) -> Reader:
    if code in INTEGERS:
        return _integer_reader(code, unsigned)
    match code:
        case T.FLOAT | T.DOUBLE:
            return number_reader(code)
        case T.NEW_DECIMAL:
            return number_reader(T.DOUBLE)
        case T.YEAR:
            return _year
        case T.DATE:
            return value_readers.date_text
        case T.DATETIME:
            return partial(value_readers.datetime_text, 1000 if schema.name.endswith(".Timestamp") else 1)
        case T.TIMESTAMP:
            return partial(value_readers.timestamp_text, zone)
        case T.DURATION:
            return value_readers.time_text
        case T.BIT:
            return value_readers.bit_reader(schema.parameters) if schema.type == "bytes" else _boolean
        case T.ENUM:
            return value_readers.enum_reader(schema.parameters)
        case T.SET:
            return value_readers.set_reader(schema.parameters)
        case T.VECTOR_FLOAT32:
            return _vector
    return _bytes if binary and code in CHARSET_BEARING else _text


def _integer_reader(code: MySQLType, unsigned: bool) -> Reader:
    low, high = integer_range(code, unsigned=unsigned)
    if unsigned and code == T.LONGLONG:  # sent as the signed number with the same 64 bits
        low, high = integer_range(code, unsigned=False)

    def read(json: JSONValue) -> bytes:
        if type(json) is not int or not low <= json <= high:
            raise BadValue(f"an integer, {low} … {high}")
        return digits(json + (1 << 64) if unsigned and json < 0 else json)

    return read


def number_reader(code: MySQLType) -> Reader:
    """Make the reader of a FLOAT or DOUBLE column."""
    limit = _MAX_FLOAT32 if code == T.FLOAT else math.inf

    def read(json: JSONValue) -> bytes:
        number = json if isinstance(json, float) else _whole_number(json)
        if not -limit < number < limit:
            raise BadValue("a finite number of the column's width")
        return plain_text(number, code)

    return read


def _whole_number(json: JSONValue) -> float:
    if type(json) is not int:
        raise BadValue("a number")
    try:
        return float(json)
    except OverflowError:
        raise BadValue("a 64-bit float") from None


_YEAR = _integer_reader(T.YEAR, unsigned=False)


def _year(json: JSONValue) -> bytes:
    if isinstance(json, str) and re.fullmatch(r"[0-9]{1,4}", json):  # a DEFAULT that replaces NULL
        json = int(json)
    return _YEAR(json)


def _boolean(json: JSONValue) -> bytes:
    if not isinstance(json, bool):
        raise BadValue("true or false")
    return b"1" if json else b"0"


def _text(json: JSONValue) -> bytes:
    if not isinstance(json, str):
        raise BadValue("a string")
    return json.encode()


def _vector(json: JSONValue) -> bytes:
    text, form = _text(json), TYPES[T.VECTOR_FLOAT32].form
    if form and re.fullmatch(form.pattern, text.decode()) is None:
        raise BadValue(form.expected)
    return text


def _bytes(json: JSONValue) -> bytes:
    try:
        return b64decode(_text(json), validate=True)
    except ValueError:
        raise BadValue("Base64 with padding") from None
