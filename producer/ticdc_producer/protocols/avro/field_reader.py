"""Reads fields of records from Avro's binary encoding as canonical text, by the schema of the field.

``connect.parameters.tidb_type`` is the type of the column; the Avro type is the encoding of its values.

Input is checked before it is used: a length beyond the end of the message is refused before anything is
allocated, and errors have a byte position. (fastavro reads the same encoding, but accepts negative lengths,
and its errors have no position.)
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.event import Value
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.values.number_text import plain_text
from ticdc_producer.protocols.avro.names import type_text
from ticdc_producer.protocols.base import BadValue
from ticdc_producer.protocols.member_text import escaped, member_indexes
from ticdc_producer.protocols.value_parsers import parser_for

_MAX_VARINT_SIZE = 10
_FLOAT, _DOUBLE = struct.Struct("<f"), struct.Struct("<d")


class AvroCursor:
    """A position in a message part, which only moves forward.

    :param part: ``key`` or ``value``, for errors.
    :param protocol: prefix of error codes.
    """

    __slots__ = ("data", "part", "position", "protocol")

    def __init__(self, data: bytes, part: str, position: int = 0, protocol: str = "AVRO") -> None:
        self.data = data
        self.part = part
        self.position = position
        self.protocol = protocol

    def error(self, code: str, expected: str) -> DecodeError:
        byte = min(self.position, len(self.data))
        return DecodeError(f"{self.protocol}-{code}", expected, part=self.part, byte=byte)

    def long(self) -> int:
        """Read an Avro ``int`` or ``long``.

        :raises DecodeError: if it has more than 64 bits, or more bytes than it needs.
        """
        first = self.data[self.position : self.position + 1]
        if first and first[0] < 0x80:
            self.position += 1
            return first[0] >> 1 ^ -(first[0] & 1)
        number = 0
        for count, byte in enumerate(self.data[self.position : self.position + _MAX_VARINT_SIZE]):
            number |= (byte & 0x7F) << 7 * count
            if byte < 0x80:
                if number >> 64 or (count and not byte):
                    break
                self.position += count + 1
                return number >> 1 ^ -(number & 1)
        raise self.error("LONG", "a number of 64 bits, complete, without needless bytes")

    def take(self, size: int) -> bytes:
        """Read ``size`` bytes."""
        if not 0 <= size <= len(self.data) - self.position:
            raise self.error("SHORT", f"{size} bytes more" if size >= 0 else "a length")
        start, self.position = self.position, self.position + size
        return self.data[start : self.position]

    def length_prefixed(self) -> bytes:
        """Read an Avro ``string`` or ``bytes``: a length and as many bytes."""
        return self.take(self.long())

    def text(self) -> str:
        """Read an Avro ``string`` of UTF-8."""
        try:
            return self.length_prefixed().decode()
        except UnicodeDecodeError:
            raise self.error("TEXT", "UTF-8") from None

    def branch(self) -> int:
        """Read the index of the union's type that follows: 0 or 1."""
        branch = self.long()
        if branch not in (0, 1):
            raise self.error("UNION", "branch 0 or 1")
        return branch

    def binary32(self) -> float:
        return float(_FLOAT.unpack(self.take(_FLOAT.size))[0])

    def binary64(self) -> float:
        return float(_DOUBLE.unpack(self.take(_DOUBLE.size))[0])

    def end(self) -> None:
        """Check that the record ends here.

        :raises DecodeError: if there are more bytes.
        """
        if self.position < len(self.data):
            raise self.error("END", "the end of the record")


Reader: TypeAlias = Callable[[AvroCursor], Value]

_INTEGERS = {
    "INT": ("int",), "INT UNSIGNED": ("int", "long"), "BIGINT": ("long",),
    "BIGINT UNSIGNED": ("long", "string"), "YEAR": ("int",),
}  # fmt: skip
_TEXTS = ("DATE", "DATETIME", "TIMESTAMP", "TIME", "JSON", "TiDBVECTORFloat32")
_UINT64 = (1 << 64) - 1
_MOST_DIGITS, _MOST_DECIMALS, _MOST_BITS = 65, 30, 64


class BadSchema(Exception):
    """A schema that TiCDC does not write.

    :param expected: a description of the expected schema.
    """

    def __init__(self, expected: str) -> None:
        super().__init__(expected)
        self.expected = expected


def field_reader(schema: object) -> tuple[str, Reader]:
    """Return the SQL type name of a field, and the reader of its values.

    :param schema: the ``type`` of the field: an object, or a union of an object and ``null``.
    :raises BadSchema: for any other schema.
    """
    if not isinstance(schema, list):
        return _typed(schema)
    if len(schema) != 2 or schema.count("null") != 1:
        raise BadSchema("a union of null and one type")
    null = schema.index("null")
    text, read = _typed(schema[1 - null])
    return text, partial(_nullable, read, null)


def _nullable(read: Reader, null: int, cursor: AvroCursor) -> bytes | None:
    return None if cursor.branch() == null else read(cursor)


def _typed(schema: object) -> tuple[str, Reader]:
    if not isinstance(schema, Mapping):
        raise BadSchema("a type with connect.parameters")
    connect, written = schema.get("connect.parameters"), schema.get("type")
    if not isinstance(connect, Mapping) or not isinstance(written, str):
        raise BadSchema("a type with connect.parameters")
    parameters = {name: value for name, value in connect.items() if isinstance(value, str)}
    name = parameters.get("tidb_type", "")
    return type_text(name), _reader(name, written, schema, parameters)


def _reader(name: str, written: str, schema: Mapping[str, object], parameters: Mapping[str, str]) -> Reader:
    if written in _INTEGERS.get(name, ()):
        return _integer(name, written)
    match name, written:
        case "FLOAT", "float":
            return lambda cursor: _number(cursor, cursor.binary32(), MySQLType.FLOAT)
        case "DOUBLE", "double":
            return lambda cursor: _number(cursor, cursor.binary64(), MySQLType.DOUBLE)
        case "TEXT", "string":
            return AvroCursor.length_prefixed
        case "BLOB", "bytes":
            return AvroCursor.length_prefixed
        case "DECIMAL", "bytes":
            return decimal_reader(schema)
        case "DECIMAL", "string":
            return _text("decimal")
        case "BIT", "bytes":
            return _bits(parameters)
        case ("ENUM", "string") | ("SET", "string"):
            return _members(name, parameters)
    if name in _TEXTS and written == "string":
        return _text(type_text(name))
    raise BadSchema(f"a type of TiCDC's, not {name} as {written}")


def _integer(name: str, written: str) -> Reader:
    check = parser_for(name.lower())
    if written == "string":
        return _text(name.lower())
    wraps = name == "BIGINT UNSIGNED"

    def read(cursor: AvroCursor) -> bytes:
        number = cursor.long()
        return _checked(cursor, check, str(number & _UINT64 if wraps else number))

    return read


def _text(kind: str) -> Reader:
    check = parser_for(kind)

    return lambda cursor: _checked(cursor, check, cursor.text())


def _checked(cursor: AvroCursor, check: Callable[[str], bytes], text: str) -> bytes:
    try:
        return check(text)
    except BadValue as bad:
        raise cursor.error(bad.code, bad.expected) from None


def _number(cursor: AvroCursor, number: float, code: MySQLType) -> bytes:
    if not math.isfinite(number):
        raise cursor.error("VALUE", "a finite number")
    return plain_text(number, code)


def decimal_reader(schema: Mapping[str, object]) -> Reader:
    """Return the reader of Avro's logical type ``decimal``.

    :raises BadSchema: for a schema without it, or with more digits than DECIMAL has.
    """
    precision, scale = schema.get("precision"), schema.get("scale")
    if schema.get("logicalType") != "decimal" or not isinstance(precision, int) or not isinstance(scale, int):
        raise BadSchema("the logical type decimal")
    if not 0 < precision <= _MOST_DIGITS or not 0 <= scale <= min(precision, _MOST_DECIMALS):
        raise BadSchema("a decimal of 1 … 65 digits, up to 30 of them decimals")
    most = 10**precision

    def read(cursor: AvroCursor) -> bytes:
        content = cursor.length_prefixed()
        number = int.from_bytes(content, "big", signed=True)
        if not content or abs(number) >= most:
            raise cursor.error("VALUE", f"a number of {precision} digits")
        digits = str(abs(number)).zfill(scale + 1)
        whole = digits[: len(digits) - scale]
        sign = "-" * (number < 0)
        return f"{sign}{whole}.{digits[len(whole) :]}".encode() if scale else f"{sign}{whole}".encode()

    return read


def _bits(parameters: Mapping[str, str]) -> Reader:
    text = parameters.get("length", "")
    if not re.fullmatch(r"[0-9]{1,2}", text) or not 1 <= int(text) <= _MOST_BITS:
        raise BadSchema("the parameter length, 1 … 64")
    limit = 1 << int(text)

    def read(cursor: AvroCursor) -> bytes:
        number = int.from_bytes(cursor.length_prefixed(), "big")
        if number >= limit:
            raise cursor.error("VALUE", f"{text} bits")
        return b"%d" % number

    return read


def has_equal_members(schema: object) -> bool:
    """Return whether values of a field may differ and have the same text.

    They may if two members of an ENUM or SET have the same text, or a SET has the empty member.

    >>> field = {"type": "string", "connect.parameters": {"tidb_type": "SET", "allowed": "a,b"}}
    >>> has_equal_members(field), has_equal_members(["null", field])
    (False, False)

    :param schema: the ``type`` of the field, which ``field_reader`` accepts.
    """
    typed = schema if isinstance(schema, Mapping) else _other_than_null(schema)
    allowed = typed.get("connect.parameters", {}).get("allowed")
    members = allowed.split(",") if isinstance(allowed, str) else []
    return len(set(members)) < len(members) or "" in members


def _other_than_null(schema: object) -> Mapping[str, Any]:
    branches = schema if isinstance(schema, list) else []
    return next((branch for branch in branches if isinstance(branch, Mapping)), {})


def _members(name: str, parameters: Mapping[str, str]) -> Reader:
    if "allowed" not in parameters:
        raise BadSchema("the parameter allowed")
    if name == "ENUM":
        return partial(_enum_value, member_indexes(parameters["allowed"]))
    bits: dict[str, int] = {}
    for index, member in enumerate(parameters["allowed"].split(",")[:_MOST_BITS]):
        bits.setdefault(member, 1 << index)
    return partial(_set_value, bits)


def _enum_value(indexes: Mapping[str, int], cursor: AvroCursor) -> bytes:
    index = indexes.get(escaped(cursor.text()))
    if index is None:
        raise cursor.error("VALUE", "a member of the allowed ones")
    return b"%d" % index


def _set_value(bits: Mapping[str, int], cursor: AvroCursor) -> bytes:
    text = cursor.text()
    mask = 0
    for member in text.split(",") if text else ():
        bit = bits.get(escaped(member))
        if bit is None:
            raise cursor.error("VALUE", "members of the allowed ones")
        mask |= bit
    return b"%d" % mask
