"""Parsers that turn JSON strings into canonical text, by the type text of a column.

A text that matches none of these patterns may still be valid; the caller checks it with a regular
expression.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import cache, lru_cache, partial
from typing import TypeAlias

import msgspec

from ticdc_producer.model.mysql_type import (
    FLOATS,
    INTEGERS,
    LOBS,
    NUMBERED,
    STRINGS,
    TYPES,
    MySQLType,
    bare_name,
    integer_range,
)
from ticdc_producer.model.values.number_text import plain_text
from ticdc_producer.protocols.base import BadValue

_ZEROS = bytes.maketrans(b"123456789", b"000000000")


def _with_fractions(pattern: bytes) -> frozenset[bytes]:
    return frozenset({pattern, *(pattern + b"." + b"0" * digits for digits in range(1, 7))})


DATES = frozenset({b"0000-00-00"})
DATETIMES = _with_fractions(b"0000-00-00 00:00:00")
TIMES = _with_fractions(b"00:00:00") | _with_fractions(b"-00:00:00") | _with_fractions(b"000:00:00")


DECIMALS = frozenset(
    sign + b"0" * whole + (b"." + b"0" * fraction if fraction else b"")
    for sign in (b"", b"-")
    for whole in range(1, 21)
    for fraction in range(11)
)


def pattern_of(content: bytes) -> bytes:
    """Return a text with 0 in place of each digit."""
    return content.translate(_ZEROS)


def matches_pattern(content: bytes, patterns: frozenset[bytes]) -> bool:
    """Return whether a text matches one of the patterns above, in which 0 means any digit."""
    return content.translate(_ZEROS) in patterns


T = MySQLType
Parser: TypeAlias = Callable[[str], bytes]
"""Turns a JSON string into canonical text; raises ``BadValue``."""


_NAMES = {
    bare_name(code, binary=binary, unsigned=False): (code, binary)
    for code in (*TYPES, T.NULL, T.GEOMETRY)
    for binary in (True, False)
    if code != T.NEW_DATE
}
_NAME = re.compile(r"[a-z_]+")
_REST = re.compile(r"(?:\([0-9]{1,10}(?:, ?[0-9]{1,10})?\))?( unsigned)?(?: zerofill)?")
_ELEMENTS = re.compile(r"(?:\('.*'\))?", re.DOTALL)


def parser_for(text: str) -> Parser:
    """Return the parser of a column's values.

    :param text: the type with or without its parameters, as TiCDC or Alibaba canal writes it.
    :raises BadValue: if it is not a MySQL type.
    """
    return _cached_parser(text) if len(text) <= _MAX_CACHED else _parser(text)


def parsed_type(text: str) -> tuple[MySQLType, bool, bool]:
    """Return the type that a text names, whether it holds bytes, and whether it is unsigned.

    :param text: the type with or without its parameters.
    :raises BadValue: if it is not a MySQL type.
    """
    name = _NAME.match(text)
    known = _NAMES.get(name[0]) if name else None
    if name is None or known is None:
        raise BadValue("a MySQL type", "MYSQL-TYPE")
    code, binary = known
    if code in (T.ENUM, T.SET):
        rest = _ELEMENTS.fullmatch(text, name.end())
        unsigned = False
    else:
        rest = _REST.fullmatch(text, name.end())
        unsigned = bool(rest and rest[1])
    if rest is None:
        raise BadValue(f"parameters of {name[0]}", "MYSQL-TYPE")
    return MySQLType(code), binary, unsigned


def _parser(text: str) -> Parser:
    return _parser_of(*parsed_type(text))


_MAX_CACHED = 40  # characters
_cached_parser = lru_cache(maxsize=4096)(_parser)
"""Types repeat from message to message. Long types, with many elements, are not worth the memory."""


@cache
def _parser_of(code: MySQLType, binary: bool, unsigned: bool) -> Parser:
    if code in INTEGERS | NUMBERED:
        return _integer_parser(*integer_range(code, unsigned=unsigned))
    if code in FLOATS:
        return _float_parser(code)
    if code in FAST_PATTERNS:
        return _fast_parser(FAST_PATTERNS[code], partial(_parse_text, *_PATTERNS[code]))
    if code in _PATTERNS:
        return partial(_parse_text, *_PATTERNS[code])
    return latin_bytes if binary and code in STRINGS | LOBS else str.encode


_ZERO = ord("0")
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,19}")


def _integer_parser(low: int, high: int) -> Parser:
    highest, lowest = b"%d" % high, b"%d" % -low
    most, most_below = len(highest), len(lowest)

    def parse(text: str) -> bytes:
        content = text.encode()
        # Digits of equal length compare like their numbers.
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
            raise BadValue("decimal digits", "VALUE")
        if not low <= int(text) <= high:
            raise BadValue(f"{low} … {high}", "RANGE")
        return content

    return parse


_MAX_FLOAT32 = 3.4028235677973366e38  # the first number that rounds to infinity
_NUMBER = re.compile(r"-?[0-9]{1,400}(?:\.[0-9]{1,400})?(?:E-?[0-9]{1,3})?")  # Alibaba canal writes 1.0E10


def _float_parser(code: MySQLType) -> Parser:
    longest = _LONGEST_FLOAT if code == T.FLOAT else _LONGEST_DOUBLE

    def parse(text: str) -> bytes:
        content = text.encode()
        return content if len(content) <= longest and _is_shortest(content) else _float(code, text)

    return parse


_LONGEST_FLOAT = 7  # six digits, which every FLOAT preserves, and a point
_LONGEST_DOUBLE = 24
_digits = msgspec.json.Encoder().encode
_number = msgspec.json.Decoder(float).decode  # in a fifth of the time of ``float``


def _is_shortest(text: bytes) -> bool:
    """Return whether this is a number in plain form with a fraction and the fewest possible digits."""
    try:
        return _digits(_number(text)) == text and b"e" not in text and not text.endswith(b".0")
    except msgspec.DecodeError:
        return False


def _float(code: MySQLType, text: str) -> bytes:
    if _NUMBER.fullmatch(text) is None:
        raise BadValue("a number", "VALUE")
    number = float(text)
    if not math.isfinite(number) or (code == T.FLOAT and abs(number) >= _MAX_FLOAT32):
        raise BadValue("a finite number of the column's width", "RANGE")
    return plain_text(number, code)


_PATTERNS = {
    code: (re.compile(spec.form.pattern), spec.form.expected) for code, spec in TYPES.items() if spec.form
}
FAST_PATTERNS = {
    T.NEW_DECIMAL: DECIMALS, T.DATE: DATES, T.DATETIME: DATETIMES, T.TIMESTAMP: DATETIMES, T.DURATION: TIMES,
}  # fmt: skip
"""The patterns of texts that the parser of a type returns unchanged."""


def _fast_parser(patterns: frozenset[bytes], fallback: Parser) -> Parser:
    def parse(text: str) -> bytes:
        content = text.encode()
        return content if matches_pattern(content, patterns) else fallback(text)

    return parse


def _parse_text(pattern: re.Pattern[str], expected: str, text: str) -> bytes:
    if pattern.fullmatch(text) is None:
        raise BadValue(expected, "VALUE")
    return text.encode()


def latin_bytes(text: str) -> bytes:
    """Return the bytes of a text with a character per byte; the parser of byte strings."""
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        raise BadValue("characters up to U+00FF, one per byte", "BYTES") from None
