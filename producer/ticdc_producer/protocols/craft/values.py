"""Decodes column values of Craft to canonical text.

Each MySQL type has one binary form; values that do not fit the column's type are rejected. Source of the
forms: tiflow ``message_decoder.go`` (``DecodeTiDBType``), except that it loses VECTOR values.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from math import isfinite
from struct import Struct
from typing import TypeAlias

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.flags import ColumnFlag
from ticdc_producer.model.float_text import narrow, plain_text
from ticdc_producer.model.mysql_type import (
    FLOATS,
    INTEGERS,
    LOBS,
    NUMBERED,
    STRINGS,
    TYPES,
    MySQLType,
    integer_range,
)
from ticdc_producer.protocols.craft.byte_reader import unzigzag, uvarint_at

T = MySQLType
Reader: TypeAlias = Callable[[bytes], bytes]

_BINARY64 = Struct("<d")
# TiCDC's document of the format has dates with slashes; TiDB prints hyphens.
_HYPHENS, _SLASHES = "-[0-9]{2}-", "(?:-[0-9]{2}-|/[0-9]{2}/)"
_TEXT_FORMS = {
    code: (re.compile(spec.form.pattern.replace(_HYPHENS, _SLASHES).encode()), spec.form.expected)
    for code, spec in TYPES.items()
    if spec.form
}


class BadValue(Exception):
    """A value that does not fit its column type."""

    def __init__(self, expected: str) -> None:
        super().__init__(expected)
        self.expected = expected


@lru_cache(maxsize=1024)
def reader(code: int, flag: int) -> Reader:
    """The function that turns the bytes of a column's values, except NULL, into canonical text.

    It raises ``BadValue`` for bytes that do not have the form of the type.
    """
    if code in INTEGERS or code in NUMBERED:
        return _integer_reader(code, flag)
    if code in FLOATS:
        return _float_reader(code)
    if code in _TEXT_FORMS:
        return _text_reader(*_TEXT_FORMS[code])
    if code in STRINGS or code in LOBS:
        return bytes
    return _json if code == T.JSON else _never


def _integer_reader(code: int, flag: int) -> Reader:
    unsigned = bool(flag & ColumnFlag.UNSIGNED)
    low, high = integer_range(code, unsigned=unsigned)
    zigzag = code == T.YEAR or (code in INTEGERS and not unsigned)

    def read(content: bytes) -> bytes:
        number = _single_uvarint(content)
        if zigzag:
            number = unzigzag(number)
        if not low <= number <= high:
            raise BadValue(f"{low} … {high}")
        return b"%d" % number

    return read


def _single_uvarint(content: bytes) -> int:
    """The number that these bytes encode, without any bytes after it."""
    if len(content) == 1 and content[0] < 0x80:
        return content[0]
    try:
        number, end = uvarint_at(content, 0, len(content))
    except DecodeError:
        raise BadValue("a number of 64 bits") from None
    if end < len(content):
        raise BadValue("one number alone")
    return number


def _float_reader(code: int) -> Reader:
    def read(content: bytes) -> bytes:
        if len(content) != _BINARY64.size:
            raise BadValue("8 bytes")
        (number,) = _BINARY64.unpack(content)
        if not isfinite(number) or not _fits(number, code):
            raise BadValue("a finite number of the column's width")
        return plain_text(number, code)

    return read


def _fits(number: float, code: int) -> bool:
    try:
        return narrow(number, code) == number
    except OverflowError:
        return False


def _text_reader(form: re.Pattern[bytes], expected: str) -> Reader:
    def read(content: bytes) -> bytes:
        if form.fullmatch(content) is None:
            raise BadValue(expected)
        return content

    return read


def _json(content: bytes) -> bytes:
    try:
        content.decode()
    except UnicodeDecodeError:
        raise BadValue("UTF-8") from None
    return content


def _never(_content: bytes) -> bytes:
    raise BadValue("NULL")
