"""Reads fields of records as canonical text, by the schema of the field.

``connect.parameters.tidb_type`` is the type of the column; the Avro type is the encoding of its values.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.number_text import plain_text
from ticdc_producer.protocols.avro.cursor import AvroCursor, Reader
from ticdc_producer.protocols.avro.names import type_text
from ticdc_producer.protocols.base import BadValue
from ticdc_producer.protocols.member_text import escaped, member_indexes
from ticdc_producer.protocols.value_parsers import parser_for

_INTEGERS = {
    "INT": ("int",), "INT UNSIGNED": ("int", "long"), "BIGINT": ("long",),
    "BIGINT UNSIGNED": ("long", "string"), "YEAR": ("int",),
}  # fmt: skip
_TEXTS = ("DATE", "DATETIME", "TIMESTAMP", "TIME", "JSON", "TiDBVECTORFloat32")
_UINT64 = (1 << 64) - 1
_MOST_DIGITS, _MOST_DECIMALS, _MOST_BITS = 65, 30, 64


class BadSchema(Exception):
    """A schema that TiCDC does not write.

    :param expected: what the decoder expected instead.
    """

    def __init__(self, expected: str) -> None:
        super().__init__(expected)
        self.expected = expected


def field_reader(schema: object) -> tuple[str, Reader]:
    """The SQL type name of a field, and the reader of its values.

    :param schema: the ``type`` of the field: an object, or a union of an object and ``null``.
    :raises BadSchema: for any other schema.
    """
    if not isinstance(schema, list):
        text, read = _typed(schema)
        return text, read
    if len(schema) != 2 or schema.count("null") != 1:
        raise BadSchema("a union of null and one type")
    null = schema.index("null")
    text, read = _typed(schema[1 - null])
    return text, partial(_nullable, read, null)


def _nullable(read: Reader, null: int, cursor: AvroCursor) -> bytes | None:
    branch = cursor.long()
    if branch not in (0, 1):
        raise cursor.error("UNION", "branch 0 or 1")
    return None if branch == null else read(cursor)


def _typed(schema: object) -> tuple[str, Reader]:
    if not isinstance(schema, Mapping):
        raise BadSchema("a type with connect.parameters")
    connect, written = schema.get("connect.parameters"), schema.get("type")
    if not isinstance(connect, Mapping) or not isinstance(written, str):
        raise BadSchema("a type with connect.parameters")
    parameters = {name: value for name, value in connect.items() if isinstance(value, str)}
    name = parameters.get("tidb_type", "")
    return type_text(name), _reader(name, written, schema, parameters)


def _reader(name: str, written: str, schema: Mapping[str, Any], parameters: Mapping[str, str]) -> Reader:
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
            return _decimal(schema)
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

    def read(cursor: AvroCursor) -> bytes:
        content = cursor.length_prefixed()
        try:
            return _checked(cursor, check, content.decode())
        except UnicodeDecodeError:
            raise cursor.error("TEXT", "UTF-8") from None

    return read


def _checked(cursor: AvroCursor, check: Callable[[str], bytes], text: str) -> bytes:
    try:
        return check(text)
    except BadValue as bad:
        raise cursor.error(bad.code, bad.expected) from None


def _number(cursor: AvroCursor, number: float, code: MySQLType) -> bytes:
    if not math.isfinite(number):
        raise cursor.error("VALUE", "a finite number")
    return plain_text(number, code)


def _decimal(schema: Mapping[str, Any]) -> Reader:
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
    index = indexes.get(escaped(_utf8(cursor)))
    if index is None:
        raise cursor.error("VALUE", "a member of the allowed ones")
    return b"%d" % index


def _set_value(bits: Mapping[str, int], cursor: AvroCursor) -> bytes:
    text = _utf8(cursor)
    mask = 0
    for member in text.split(",") if text else ():
        bit = bits.get(escaped(member))
        if bit is None:
            raise cursor.error("VALUE", "members of the allowed ones")
        mask |= bit
    return b"%d" % mask


def _utf8(cursor: AvroCursor) -> str:
    try:
        return cursor.length_prefixed().decode()
    except UnicodeDecodeError:
        raise cursor.error("TEXT", "UTF-8") from None
