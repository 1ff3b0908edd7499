"""Reads column values from Debezium's JSON as canonical text, by the schema of the column.

With ``tidb_type`` the SQL type is known. Without it the type is derived from Kafka Connect's type and
Debezium's name of the logical type; ``DebeziumFidelity`` lists the ambiguities that remain.

Messages do not contain the number of fractional digits of a DATETIME or TIME column, so trailing zeros are
omitted.
"""

from __future__ import annotations

import math
import re
from base64 import b64decode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import lru_cache, partial
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
from ticdc_producer.model.values.number_text import plain_text
from ticdc_producer.protocols.base import BadValue
from ticdc_producer.protocols.debezium.message_parts import FieldSchema, JSONValue, image_columns
from ticdc_producer.protocols.member_text import escaped, member_indexes

T = MySQLType
digits = msgspec.json.Encoder().encode  # for integers: three times as fast as %d
Reader: TypeAlias = Callable[[JSONValue], bytes]

_MAX_FLOAT32 = 3.4028235677973366e38  # the first number that rounds to infinity
_CONNECT_TYPES = {
    ("int16", ""): "smallint", ("int32", ""): "int", ("int64", ""): "bigint", ("float", ""): "float",
    ("double", ""): "double", ("boolean", ""): "bit", ("string", ""): "varchar",
    ("bytes", "data.Bits"): "bit", ("string", "data.Enum"): "enum", ("string", "data.EnumSet"): "set",
    ("string", "data.Json"): "json", ("string", "data.TiDBVectorFloat32"): "vector",
    ("int32", "time.Date"): "date", ("int64", "time.MicroTime"): "time", ("int32", "time.Year"): "year",
    ("int64", "time.Timestamp"): "datetime", ("int64", "time.MicroTimestamp"): "datetime",
    ("string", "time.ZonedTimestamp"): "timestamp",
}  # fmt: skip


def type_name(connect_type: str, logical_name: str) -> str:
    """Return the smallest SQL type for a schema without ``tidb_type``; empty for unknown types."""
    return _CONNECT_TYPES.get((connect_type, logical_name.removeprefix("io.debezium.")), "")


def _codes() -> dict[str, tuple[MySQLType, bool, bool]]:
    """Return the map from SQL type name to code, binary, unsigned."""
    known = [T(code) for code in TYPES if code not in (T.NEW_DATE, T.VAR_STRING)]
    named = {
        bare_name(code, binary=binary, unsigned=unsigned): (code, binary, unsigned)
        for code in known
        for unsigned in (False, True)
        for binary in (True, False)
    }
    return {**named, "var_string": (T.VAR_STRING, False, False)}


_CODES = _codes()


@dataclass(frozen=True, slots=True)
class ColumnReader:
    """A reader of the values of one column.

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


_MAX_CACHED_SCHEMA_SIZE = 1 << 20  # in bytes; larger schemas are not cached


@dataclass(frozen=True, slots=True, eq=False)
class RowReaders:
    """Readers of the columns by name, virtual columns included."""

    by_name: Mapping[str, ColumnReader]


def row_readers(schema: bytes, zone: tzinfo) -> RowReaders:
    """Return the readers of the columns that a schema describes.

    :raises BadValue: for a schema that is not the schema of a row.
    :raises msgspec.DecodeError: for a schema that does not parse.
    """
    return _cached_readers(schema, zone) if len(schema) <= _MAX_CACHED_SCHEMA_SIZE else _compile(schema, zone)


def _compile(schema: bytes, zone: tzinfo) -> RowReaders:
    entries: dict[str, FieldSchema] = {}  # TiCDC new architecture lists virtual columns twice
    for entry in image_columns(schema):
        if entries.setdefault(entry.field, entry) != entry:
            raise BadValue(f"column {entry.field!r} once")
    return RowReaders({name: column_reader(entry, zone) for name, entry in entries.items()})


_cached_readers = lru_cache(maxsize=256)(_compile)


def column_reader(schema: FieldSchema, zone: tzinfo) -> ColumnReader:
    """Make the reader of a column.

    :param zone: time zone of the changefeed; TIMESTAMP values are returned in it.
    :raises BadValue: for a type that Debezium does not know.
    """
    name = schema.tidb_type or type_name(schema.type, schema.name)
    if name not in _CODES:
        raise BadValue(f"a known type, not {schema.tidb_type or schema.name or schema.type!r}")
    code, binary, unsigned = _CODES[name]
    return ColumnReader(name, schema.optional, _reader(schema, code, binary, unsigned, zone))


def _reader(schema: FieldSchema, code: MySQLType, binary: bool, unsigned: bool, zone: tzinfo) -> Reader:
    if code in INTEGERS:
        return _integer_reader(code, unsigned)
    match code:
        case T.FLOAT | T.DOUBLE:
            return _number_reader(code)
        case T.NEW_DECIMAL:
            return _number_reader(T.DOUBLE)
        case T.YEAR:
            return _year
        case T.DATE:
            return _date_text
        case T.DATETIME:
            return partial(_datetime_text, 1000 if schema.name.endswith(".Timestamp") else 1)
        case T.TIMESTAMP:
            return partial(_timestamp_text, zone)
        case T.DURATION:
            return _time_text
        case T.BIT:
            return _bit_reader(schema.parameters) if schema.type == "bytes" else _boolean
        case T.ENUM:
            return _enum_reader(schema.parameters)
        case T.SET:
            return _set_reader(schema.parameters)
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


def _number_reader(code: MySQLType) -> Reader:
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


_EPOCH = datetime(1970, 1, 1)  # DATETIME has no zone
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_MICRO = timedelta(microseconds=1)
_MAX_TIME = (838 * 3600 + 59 * 60 + 59) * 1_000_000 + 999_999
_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?Z")
_SECONDS = len("2021-12-20T13:30:49")
_ZERO = "1970-01-01T00:00:00Z"
"""The zero TIMESTAMP; the smallest valid one is a second later."""
_MOST_BITS = 64


def _date_text(json: JSONValue) -> bytes:
    """Return ``YYYY-MM-DD`` from days since 1970."""
    try:
        return date.fromordinal(_integer(json) + _EPOCH_DAY).isoformat().encode()
    except (ValueError, OverflowError):
        raise BadValue("days since 1970 of the years 1 … 9999") from None


def _datetime_text(unit: int, json: JSONValue) -> bytes:
    """Return ``YYYY-MM-DD HH:MM:SS[.f]`` from a number since 1970.

    :param unit: microseconds per unit of the number.
    """
    try:
        moment = _EPOCH + _integer(json) * unit * _MICRO
    except OverflowError:
        raise BadValue("a time since 1970 of the years 1 … 9999") from None
    text = str(moment).encode()
    return text.rstrip(b"0") if moment.microsecond else text


def _time_text(json: JSONValue) -> bytes:
    """Return ``[-]HH:MM:SS[.f]`` from microseconds."""
    micros = _integer(json)
    if abs(micros) > _MAX_TIME:
        raise BadValue("microseconds of at most 838:59:59.999999")
    seconds, rest = divmod(abs(micros), 1_000_000)
    clock = b"%02d:%02d:%02d" % (seconds // 3600, seconds // 60 % 60, seconds % 60)
    return (b"-" if micros < 0 else b"") + clock + _fraction(rest)


def _timestamp_text(zone: tzinfo, json: JSONValue) -> bytes:
    """Return ``YYYY-MM-DD HH:MM:SS[.f]`` in a time zone, from ISO 8601 in UTC."""
    match = _ISO.fullmatch(json) if isinstance(json, str) else None
    if match is None or not isinstance(json, str):
        raise BadValue("YYYY-MM-DDTHH:MM:SS[.f]Z")
    if json == _ZERO:
        return b"0000-00-00 00:00:00"
    try:
        utc = datetime.fromisoformat(json[:_SECONDS])
        local = utc if zone is UTC else utc.replace(tzinfo=UTC).astimezone(zone).replace(tzinfo=None)
    except (ValueError, OverflowError):
        raise BadValue("a date and time that exist") from None
    return f"{local}{match[1] or ''}".encode()


def _integer(json: JSONValue) -> int:
    if isinstance(json, bool) or not isinstance(json, int):
        raise BadValue("an integer")
    return json


def _fraction(micros: int) -> bytes:
    return b".%b" % (b"%06d" % micros).rstrip(b"0") if micros else b""


def _enum_reader(parameters: Mapping[str, str]) -> Reader:
    """Make the reader of an ENUM: text to index; the error value, an empty text, to 0."""
    indexes = member_indexes(_allowed(parameters))

    def read(json: JSONValue) -> bytes:
        if not isinstance(json, str):
            raise BadValue("a member's text")
        index = indexes.get(escaped(json), 0 if json == "" else None)
        if index is None:
            raise BadValue("a member of the allowed ones")
        return b"%d" % index

    return read


def _set_reader(parameters: Mapping[str, str]) -> Reader:
    """Make the reader of a SET: comma-separated texts to bit mask."""
    bits = {member: 1 << index for index, member in enumerate(_allowed(parameters).split(","))}
    single = {**{member: b"%d" % bit for member, bit in bits.items()}, "": b"0"}

    def read(json: JSONValue) -> bytes:
        if not isinstance(json, str):
            raise BadValue("members' texts")
        if json in single:
            return single[json]
        members = json.split(",")
        if len(set(members)) < len(members) or not bits.keys() >= set(members):
            raise BadValue("members of the allowed ones, each once")
        return b"%d" % sum(bits[member] for member in members)

    return read


def _allowed(parameters: Mapping[str, str]) -> str:
    if "allowed" not in parameters:
        raise BadValue("the parameter allowed")
    return parameters["allowed"]


def _bit_reader(parameters: Mapping[str, str]) -> Reader:
    """Make the reader of a BIT: Base64 of bytes, lowest first, to number."""
    text = parameters.get("length", "")
    if not re.fullmatch(r"[0-9]{1,2}", text) or not 1 <= int(text) <= _MOST_BITS:
        raise BadValue("the parameter length, 1 … 64")
    size, limit = (int(text) + 7) // 8, 1 << int(text)

    def read(json: JSONValue) -> bytes:
        number = int.from_bytes(_decoded(json, size), "little")
        if number >= limit:
            raise BadValue(f"{text} bits")
        return b"%d" % number

    return read


def _decoded(json: JSONValue, size: int) -> bytes:
    try:
        data = b64decode(json, validate=True) if isinstance(json, str) else b""
    except ValueError:
        data = b""
    if len(data) != size:
        raise BadValue(f"Base64 of {size} bytes")
    return data
