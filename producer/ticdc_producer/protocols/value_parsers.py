"""Values that are JSON strings back to canonical text, by the type text of their column."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import cache, lru_cache, partial
from typing import TypeAlias

import msgspec

from ticdc_producer.model.float_text import plain_text
from ticdc_producer.model.mysql_type import (
    FLOATS,
    INTEGERS,
    LOBS,
    NUMBERED,
    STRINGS,
    MySQLType,
    bare_name,
    integer_range,
)
from ticdc_producer.protocols.fast_patterns import DATES, DATETIMES, DECIMALS, TIMES, has_form

T = MySQLType
Reader: TypeAlias = Callable[[str], bytes]
"""JSON string to canonical text; raises ``BadValue``."""


class BadValue(Exception):
    """A type that is none, or a value that does not fit its type.

    :param code: of the error, without the name of a protocol.
    """

    def __init__(self, code: str, expected: str) -> None:
        super().__init__(code)
        self.code = code
        self.expected = expected


_NAMES = {
    bare_name(code, binary=binary, unsigned=False): (code, binary)
    for code in MySQLType
    for binary in (True, False)
    if code not in (T.UNSPECIFIED, T.NEW_DATE)
}
_NAME = re.compile(r"[a-z_]+")
_REST = re.compile(r"(?:\([0-9]{1,10}(?:, ?[0-9]{1,10})?\))?( unsigned)?(?: zerofill)?")
_ELEMENTS = re.compile(r"(?:\('.*'\))?", re.DOTALL)


def reader_of(text: str) -> Reader:
    """The reader of a column's values.

    :param text: the type, without its parameters or with them, as TiCDC or official Canal writes it.
    :raises BadValue: if it is no MySQL type.
    """
    return _short_type(text) if len(text) <= _SHORT else _parsed(text)


def _parsed(text: str) -> Reader:
    name = _NAME.match(text)
    known = _NAMES.get(name[0]) if name else None
    if name is None or known is None:
        raise BadValue("MYSQL-TYPE", "a MySQL type")
    code, binary = known
    if code in (T.ENUM, T.SET):
        rest = _ELEMENTS.fullmatch(text, name.end())
        unsigned = False
    else:
        rest = _REST.fullmatch(text, name.end())
        unsigned = bool(rest and rest[1])
    if rest is None:
        raise BadValue("MYSQL-TYPE", f"parameters of {name[0]}")
    return _reader(code, binary, unsigned)


_SHORT = 40
_short_type = lru_cache(maxsize=4096)(_parsed)
"""Types repeat from message to message; long ones, of many elements, are not worth their memory."""


@cache
def _reader(code: MySQLType, binary: bool, unsigned: bool) -> Reader:
    if code in INTEGERS | NUMBERED:
        return _integer_reader(*integer_range(code, unsigned=unsigned))
    if code in FLOATS:
        return _float_reader(code)
    if code in _DIGIT_FORMS:
        return _digits_reader(_DIGIT_FORMS[code], partial(_formed, *_FORMS[code]))
    if code in _FORMS:
        return partial(_formed, *_FORMS[code])
    return _bytes if binary and code in STRINGS | LOBS else str.encode


_ZERO = ord("0")
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,19}")


def _integer_reader(low: int, high: int) -> Reader:
    highest, lowest = b"%d" % high, b"%d" % -low
    most, most_below = len(highest), len(lowest)

    def read(text: str) -> bytes:
        content = text.encode()
        # Digits of one length stand in the order of their numbers.
        if content.isdigit():
            size = len(content)
            if content[0] != _ZERO and (size < most or (size == most and content <= highest)):
                return content
        elif content[:1] == b"-":
            digits = content[1:]
            size = len(digits)
            fits = size < most_below or (size == most_below and digits <= lowest)
            if fits and digits.isdigit() and digits[0] != _ZERO:
                return content
        if _INTEGER.fullmatch(text) is None:
            raise BadValue("VALUE", "decimal digits")
        if not low <= int(text) <= high:
            raise BadValue("RANGE", f"{low} … {high}")
        return content

    return read


_MAX_FLOAT32 = 3.4028235677973366e38  # the first number that rounds to infinity
_NUMBER = re.compile(r"-?[0-9]{1,400}(?:\.[0-9]{1,400})?(?:E-?[0-9]{1,3})?")  # official Canal writes 1.0E10


def _float_reader(code: MySQLType) -> Reader:
    longest = _LONGEST_FLOAT if code == T.FLOAT else _LONGEST_DOUBLE

    def read(text: str) -> bytes:
        content = text.encode()
        return content if len(content) <= longest and _is_shortest(content) else _float(code, text)

    return read


_LONGEST_FLOAT = 7  # six digits, which any 32 bits keep, and a point
_LONGEST_DOUBLE = 24
_digits = msgspec.json.Encoder().encode
_number = msgspec.json.Decoder(float).decode  # in a fifth of the time of ``float``


def _is_shortest(text: bytes) -> bool:
    """Whether this is a number in plain form with a fraction, of the fewest digits."""
    try:
        return _digits(_number(text)) == text and b"e" not in text and not text.endswith(b".0")
    except msgspec.DecodeError:
        return False


def _float(code: MySQLType, text: str) -> bytes:
    if _NUMBER.fullmatch(text) is None:
        raise BadValue("VALUE", "a number")
    number = float(text)
    if not math.isfinite(number) or (code == T.FLOAT and abs(number) >= _MAX_FLOAT32):
        raise BadValue("RANGE", "a finite number of the column's width")
    return plain_text(number, code)


_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIME = r":[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?"
_DATETIME = (re.compile(f"{_DATE} [0-9]{{2}}{_TIME}"), "YYYY-MM-DD HH:MM:SS[.f]")
_FORMS = {
    T.NEW_DECIMAL: (re.compile(r"-?[0-9]{1,65}(?:\.[0-9]{1,30})?"), "decimal digits"),
    T.DATE: (re.compile(_DATE), "YYYY-MM-DD"),
    T.DATETIME: _DATETIME,
    T.TIMESTAMP: _DATETIME,
    T.DURATION: (re.compile(f"-?[0-9]{{2,3}}{_TIME}"), "[-]HH:MM:SS[.f]"),
    T.VECTOR_FLOAT32: (re.compile(r"\[[-+.,0-9eE]*\]"), "[numbers]"),
}
_DIGIT_FORMS = {
    T.NEW_DECIMAL: DECIMALS, T.DATE: DATES, T.DATETIME: DATETIMES, T.TIMESTAMP: DATETIMES, T.DURATION: TIMES,
}  # fmt: skip


def _digits_reader(forms: frozenset[bytes], others: Reader) -> Reader:
    def read(text: str) -> bytes:
        content = text.encode()
        return content if has_form(content, forms) else others(text)

    return read


def _formed(form: re.Pattern[str], expected: str, text: str) -> bytes:
    if form.fullmatch(text) is None:
        raise BadValue("VALUE", expected)
    return text.encode()


def _bytes(text: str) -> bytes:
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        raise BadValue("BYTES", "characters up to U+00FF, one per byte") from None
