"""Fields of records back to canonical text, by what their schema tells.

``connect.parameters.tidb_type`` tells the column's type; Avro's own type, how values are written.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ticdc_producer.model.float_text import plain_text
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.protocols.allowed_members import escaped, places_of
from ticdc_producer.protocols.avro.cursor import Cursor, Reader
from ticdc_producer.protocols.avro.tidb_type import type_text
from ticdc_producer.protocols.value_parsers import BadValue, reader_of

_INTEGERS = {
    "INT": ("int",), "INT UNSIGNED": ("int", "long"), "BIGINT": ("long",),
    "BIGINT UNSIGNED": ("long", "string"), "YEAR": ("int",),
}  # fmt: skip
_TEXTS = ("DATE", "DATETIME", "TIMESTAMP", "TIME", "JSON", "TiDBVECTORFloat32")
_UINT64 = (1 << 64) - 1
_MOST_DIGITS, _MOST_DECIMALS, _MOST_BITS = 65, 30, 64


class BadSchema(Exception):
    """A schema that is not one of TiCDC's.

    :param expected: what had to stand there.
    """

    def __init__(self, expected: str) -> None:
        super().__init__(expected)
        self.expected = expected


def field_reader(schema: object) -> tuple[str, Reader]:
    """The type text of a field, and the reader of its values.

    :param schema: the field's ``type``: an object, or a union of one with ``null``.
    :raises BadSchema: for anything else.
    """
    if not isinstance(schema, list):
        text, read = _typed(schema)
        return text, read
    if len(schema) != 2 or schema.count("null") != 1:
        raise BadSchema("a union of null and one type")
    null = schema.index("null")
    text, read = _typed(schema[1 - null])
    return text, partial(_nullable, read, null)


def _nullable(read: Reader, null: int, cursor: Cursor) -> bytes | None:
    branch = cursor.long()
    if branch not in (0, 1):
        raise cursor.error("UNION", "branch 0 or 1")
    return None if branch == null else read(cursor)


def _typed(schema: object) -> tuple[str, Reader]:
    if not isinstance(schema, Mapping):
        raise BadSchema("a type with connect.parameters")
    told, written = schema.get("connect.parameters"), schema.get("type")
    if not isinstance(told, Mapping) or not isinstance(written, str):
        raise BadSchema("a type with connect.parameters")
    parameters = {name: value for name, value in told.items() if isinstance(value, str)}
    name = parameters.get("tidb_type", "")
    return type_text(name), _reader(name, written, schema, parameters)


def _reader(name: str, written: str, schema: Mapping[str, Any], told: Mapping[str, str]) -> Reader:
    if written in _INTEGERS.get(name, ()):
        return _integer(name, written)
    match name, written:
        case "FLOAT", "float":
            return lambda cursor: _number(cursor, cursor.binary32(), MySQLType.FLOAT)
        case "DOUBLE", "double":
            return lambda cursor: _number(cursor, cursor.binary64(), MySQLType.DOUBLE)
        case "TEXT", "string":
            return Cursor.counted
        case "BLOB", "bytes":
            return Cursor.counted
        case "DECIMAL", "bytes":
            return _decimal(schema)
        case "DECIMAL", "string":
            return _text("decimal")
        case "BIT", "bytes":
            return _bits(told)
        case ("ENUM", "string") | ("SET", "string"):
            return _members(name, told)
    if name in _TEXTS and written == "string":
        return _text(type_text(name))
    raise BadSchema(f"a type of TiCDC's, not {name} as {written}")


def _integer(name: str, written: str) -> Reader:
    check = reader_of(name.lower())
    if written == "string":
        return _text(name.lower())
    wraps = name == "BIGINT UNSIGNED"

    def read(cursor: Cursor) -> bytes:
        number = cursor.long()
        return _checked(cursor, check, str(number & _UINT64 if wraps else number))

    return read


def _text(kind: str) -> Reader:
    check = reader_of(kind)

    def read(cursor: Cursor) -> bytes:
        content = cursor.counted()
        try:
            return _checked(cursor, check, content.decode())
        except UnicodeDecodeError:
            raise cursor.error("TEXT", "UTF-8") from None

    return read


def _checked(cursor: Cursor, check: Callable[[str], bytes], text: str) -> bytes:
    try:
        return check(text)
    except BadValue as bad:
        raise cursor.error(bad.code, bad.expected) from None


def _number(cursor: Cursor, number: float, code: MySQLType) -> bytes:
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

    def read(cursor: Cursor) -> bytes:
        content = cursor.counted()
        number = int.from_bytes(content, "big", signed=True)
        if not content or abs(number) >= most:
            raise cursor.error("VALUE", f"a number of {precision} digits")
        digits = str(abs(number)).zfill(scale + 1)
        whole = digits[: len(digits) - scale]
        sign = "-" * (number < 0)
        return f"{sign}{whole}.{digits[len(whole) :]}".encode() if scale else f"{sign}{whole}".encode()

    return read


def _bits(told: Mapping[str, str]) -> Reader:
    text = told.get("length", "")
    if not re.fullmatch(r"[0-9]{1,2}", text) or not 1 <= int(text) <= _MOST_BITS:
        raise BadSchema("the parameter length, 1 … 64")
    limit = 1 << int(text)

    def read(cursor: Cursor) -> bytes:
        number = int.from_bytes(cursor.counted(), "big")
        if number >= limit:
            raise cursor.error("VALUE", f"{text} bits")
        return b"%d" % number

    return read


def _members(name: str, told: Mapping[str, str]) -> Reader:
    if "allowed" not in told:
        raise BadSchema("the parameter allowed")
    if name == "ENUM":
        return partial(_member, places_of(told["allowed"]))
    bits: dict[str, int] = {}
    for place, member in enumerate(told["allowed"].split(",")[:_MOST_BITS]):
        bits.setdefault(member, 1 << place)
    return partial(_chosen, bits)


def _member(places: Mapping[str, int], cursor: Cursor) -> bytes:
    place = places.get(escaped(_utf8(cursor)))
    if place is None:
        raise cursor.error("VALUE", "a member of the allowed ones")
    return b"%d" % place


def _chosen(bits: Mapping[str, int], cursor: Cursor) -> bytes:
    text = _utf8(cursor)
    mask = 0
    for member in text.split(",") if text else ():
        bit = bits.get(escaped(member))
        if bit is None:
            raise cursor.error("VALUE", "members of the allowed ones")
        mask |= bit
    return b"%d" % mask


def _utf8(cursor: Cursor) -> str:
    try:
        return cursor.counted().decode()
    except UnicodeDecodeError:
        raise cursor.error("TEXT", "UTF-8") from None
