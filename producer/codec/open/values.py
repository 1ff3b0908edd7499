"""Column values of Open Protocol's JSON back to canonical text.

Each MySQL type has one form of ``v`` (spec "Value forms"); anything else is refused.
"""

from __future__ import annotations

import math
import re
from base64 import b64decode
from collections.abc import Callable
from typing import TypeAlias

from producer.codec import go_quote
from producer.model.event import Value
from producer.model.flags import ColumnFlag
from producer.model.float_text import plain_text
from producer.model.mysql_type import (
    FLOATS,
    INTEGERS,
    LOBS,
    NUMBERED,
    STRINGS,
    MySQLType,
    integer_range,
)

JSONValue: TypeAlias = int | float | str | None

T = MySQLType
_MAX_FLOAT32 = 3.4028235677973366e38  # the first number that rounds to infinity
_FRACTION = r"(?:\.\d{1,6})?"
_TEXT_FORMS = {
    T.NEW_DECIMAL: (re.compile(r"-?\d{1,65}(?:\.\d{1,30})?"), "decimal digits"),
    T.DATE: (re.compile(r"\d{4}-\d\d-\d\d"), "YYYY-MM-DD"),
    T.NEW_DATE: (re.compile(r"\d{4}-\d\d-\d\d"), "YYYY-MM-DD"),
    T.DATETIME: (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d" + _FRACTION), "YYYY-MM-DD HH:MM:SS[.f]"),
    T.TIMESTAMP: (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d" + _FRACTION), "YYYY-MM-DD HH:MM:SS[.f]"),
    T.DURATION: (re.compile(r"-?\d{2,3}:\d\d:\d\d" + _FRACTION), "[-]HH:MM:SS[.f]"),
    T.VECTOR_FLOAT32: (re.compile(r"\[[-+.,0-9eE]*\]"), "[numbers]"),
}


class BadValue(Exception):
    """A value that does not fit its column type."""

    def __init__(self, code: str, expected: str) -> None:
        super().__init__(code)
        self.code = code
        self.expected = expected


def canonical(code: int, flag: int | None, value: JSONValue, *, legacy_base64: bool = False) -> Value:
    """Canonical text of one column value.

    :param code: MySQL type code.
    :param flag: column flag, None where the producer is too old to send one.
    :raises BadValue: if the value has not the form of its type.
    """
    if value is None:
        return None
    reader = _READERS.get(code)
    if reader is None:
        raise BadValue("OPEN-COLUMN", f"null for type {code}")
    if legacy_base64 and code in STRINGS and not (flag or 0) & ColumnFlag.BINARY:
        return _lob(code, flag, value)
    return reader(code, flag, value)


def _integer(code: int, flag: int | None, value: JSONValue) -> bytes:
    if not isinstance(value, int):
        raise BadValue("OPEN-COLUMN", "an integer")
    if flag is None:  # signed or not: it may be either
        low, high = integer_range(code, unsigned=False)[0], integer_range(code, unsigned=True)[1]
    else:
        low, high = integer_range(code, unsigned=bool(flag & ColumnFlag.UNSIGNED))
    if not low <= value <= high:
        raise BadValue("OPEN-RANGE", f"{low} … {high}")
    return b"%d" % value


def _float(code: int, _flag: int | None, value: JSONValue) -> bytes:
    if isinstance(value, str) or value is None:
        raise BadValue("OPEN-COLUMN", "a number")
    try:
        number = float(value)
    except OverflowError:
        raise BadValue("OPEN-RANGE", "a 64-bit float") from None
    if not math.isfinite(number) or (code == T.FLOAT and abs(number) >= _MAX_FLOAT32):
        raise BadValue("OPEN-RANGE", "a finite number of the column's width")
    return plain_text(number, code)


def _plain_text(code: int, _flag: int | None, value: JSONValue) -> bytes:
    text = _text(value)
    form, expected = _TEXT_FORMS[T(code)]
    if form.fullmatch(text) is None:
        raise BadValue("OPEN-COLUMN", expected)
    return text.encode()


def _json(_code: int, _flag: int | None, value: JSONValue) -> bytes:
    return _text(value).encode()


def _lob(_code: int, _flag: int | None, value: JSONValue) -> bytes:
    try:
        return b64decode(_text(value), validate=True)
    except ValueError:
        raise BadValue("OPEN-BASE64", "Base64 with padding") from None


def _string(_code: int, flag: int | None, value: JSONValue) -> bytes:
    text = _text(value)
    if not (flag or 0) & ColumnFlag.BINARY:
        return text.encode()
    try:
        return go_quote.unquote(text)
    except ValueError as error:
        raise BadValue("OPEN-QUOTE", f"Go-quoted bytes (at character {error})") from None


def _text(value: JSONValue) -> str:
    if not isinstance(value, str):
        raise BadValue("OPEN-COLUMN", "a string")
    return value


_Reader: TypeAlias = Callable[[int, int | None, JSONValue], bytes]
_READERS: dict[int, _Reader] = {
    **dict.fromkeys(INTEGERS | NUMBERED, _integer),
    **dict.fromkeys(FLOATS, _float),
    **dict.fromkeys(_TEXT_FORMS, _plain_text),
    **dict.fromkeys(LOBS, _lob),
    **dict.fromkeys(STRINGS, _string),
    T.JSON: _json,
}
