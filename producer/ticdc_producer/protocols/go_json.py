r"""JSON strings and numbers as Go's libraries print them, whole columns at a time.

Numbers below 1e-6 and from 1e21 on are printed in exponent form, others in plain form. A negative exponent
of one digit loses its leading zero: ``1e-7`` but ``1e-10``, ``1e+21``. The digits are those of the canonical
text, which is already the shortest one for the number's width. Source: ``encoding/json`` floatEncoder.

Rules (spec "JSON text", measured with real Go): ``"`` ``\`` and control characters are escaped, five of
them in short form; so are ``<`` ``>`` ``&`` and U+2028, U+2029; every byte that is not part of valid
UTF-8 becomes the six characters ``\ufffd``; all other characters are copied.

Differences from ``encoding/json`` (``go_json``): no HTML escaping, short forms only for line feed, carriage
return and tab, invalid UTF-8 is copied, and an exponent has at least two digits. Source: tiflow and
ticdc ``pkg/util/json_writer.go``; measured with json-iterator 1.1.12.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.protocols.arrow_text import Fragments, contents, map_values, map_values_where, quoted

_FIRST_PRINTABLE = 0x20


class JSONStrings:
    """The string format of one JSON library.

    :param escapes: maps a character to its escape.
    :param bad_byte: text for a byte that is not part of valid UTF-8; None if such bytes are copied.
    """

    def __init__(self, escapes: Mapping[str, str], bad_byte: str | None) -> None:
        # No escape contains a character that is replaced later: the backslash is replaced first.
        ordered = sorted(escapes.items(), key=lambda item: item[0] != "\\")
        self._escapes = {char.encode(): text.encode() for char, text in ordered}
        self._controls = [char for char in self._escapes if char < b" "]
        self._signs = [char for char in self._escapes if char >= b" " and char.isascii()]
        self._wide = [char for char in self._escapes if not char.isascii()]
        self._bad_byte = bad_byte

    def literals(self, texts: pa.Array) -> Fragments:
        """Return the string literals of a column."""
        return quoted(self.escaped(texts))

    def literal(self, text: str) -> bytes:
        """Return one string literal."""
        return b'"' + self._escape(text.encode()) + b'"'

    def escaped(self, texts: pa.Array) -> pa.Array:
        r"""Return the contents of the literals, without quotes.

        >>> STRINGS.escaped(pa.array([b'<6" disk>', None])).to_pylist()
        [b'\\u003c6\\" disk\\u003e', None]
        """
        content = contents(texts)
        if self._bad_byte is not None and not content.isascii() and not _is_valid(texts):
            return map_values(texts, self._escape_any)
        for char in self._characters_to_escape(content):
            texts = pc.replace_substring(texts, char, self._escapes[char])
        return texts

    def _characters_to_escape(self, content: bytes) -> Iterator[bytes]:
        """Yield the characters of a column that must be escaped, in the order of their replacement.

        Most columns have no such character, which is detected quickly.
        """
        yield from (char for char in self._signs if char in content)
        # A search for several bytes takes sixty times as long as for one.
        if self._wide and not content.isascii():
            yield from (char for char in self._wide if char in content)
        if content and np.frombuffer(content, np.uint8).min() < _FIRST_PRINTABLE:
            yield from (char for char in self._controls if char in content)

    def _escape(self, text: bytes) -> bytes:
        for char in self._characters_to_escape(text):
            text = text.replace(char, self._escapes[char])
        return text

    def _escape_any(self, text: bytes) -> bytes:
        return self._escape(text).decode("utf-8", "surrogateescape").translate(self._bad_bytes).encode()

    @cached_property
    def _bad_bytes(self) -> Mapping[int, str]:
        """The text of each invalid byte. Python's surrogateescape has one code point per byte, like Go."""
        return dict.fromkeys(range(0xDC80, 0xDD00), self._bad_byte or "")


def _is_valid(texts: pa.Array) -> bool:
    """Return whether every text is UTF-8."""
    try:
        texts.cast(pa.string())
    except pa.ArrowInvalid:
        return False
    return True


_ALWAYS_PLAIN = 9  # a shorter text is always in the plain range
_MOST_DIGITS = 21  # before the decimal point of a number in plain form
_LEAST_PLAIN, _EXPONENT_FORM = -4, 6
_ONE_DIGIT = re.compile(rb"(e[-+])(\d)$")
_SMALL = (b"0.000000", b"-0.000000")


def numbers(values: pa.Array) -> Fragments:
    """Return the JSON numbers of a column of canonical FLOAT or DOUBLE texts.

    >>> numbers(pa.array([b"0.5", b"0.0000001", b"1" + b"0" * 21]))[0].to_pylist()
    [b'0.5', b'1e-7', b'1e+21']
    """
    return (map_values_where(may_need_exponent(values), values, number),)


def may_need_exponent(values: pa.Array) -> pa.Array:
    """Return for each number whether it may be outside of the range of plain form.

    >>> may_need_exponent(pa.array([b"0.5", b"0.0000001", b"1" + b"0" * 21])).to_pylist()
    [False, True, True]
    """
    long = pc.greater(pc.binary_length(values), _MOST_DIGITS)
    small, minus_small = (pc.starts_with(values, start) for start in _SMALL)
    return pc.or_(long, pc.or_(small, minus_small))


def number(text: bytes) -> bytes:
    """Return the JSON number of one canonical FLOAT or DOUBLE text."""
    if len(text) < _ALWAYS_PLAIN:
        return text
    digits = text.lstrip(b"-")
    whole, _, fraction = digits.partition(b".")
    if len(whole) > _MOST_DIGITS:
        return _sign(text) + _scientific(whole + fraction, len(whole) - 1)
    if whole == b"0" and fraction.startswith(b"000000"):
        significant = fraction.lstrip(b"0")
        return _sign(text) + _scientific(significant, len(significant) - len(fraction) - 1)
    return text


def _sign(text: bytes) -> bytes:
    return b"-" if text.startswith(b"-") else b""


def _scientific(digits: bytes, exponent: int) -> bytes:
    digits = digits.rstrip(b"0")
    mantissa = digits[:1] + (b"." + digits[1:] if len(digits) > 1 else b"")
    return mantissa + (b"e%d" % exponent if exponent < 0 else b"e+%d" % exponent)


def shortest(text: bytes) -> bytes:
    """Return a number as Go's ``%v`` prints it: unlike JSON, in exponent form below 1e-4 and from 1e6 on."""
    digits = text.lstrip(b"-")
    whole, _, fraction = digits.partition(b".")
    if whole != b"0":
        exponent, significant = len(whole) - 1, whole + fraction
    else:
        significant = fraction.lstrip(b"0")
        exponent = len(significant) - len(fraction) - 1
    if not significant or _LEAST_PLAIN <= exponent < _EXPONENT_FORM:
        return text
    return _sign(text) + _ONE_DIGIT.sub(rb"\g<1>0\2", _scientific(significant, exponent))


_SHORT = {"\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
_LONG = {chr(code): f"\\u{code:04x}" for code in (*range(0x20), *b"<>&", 0x2028, 0x2029)}

STRINGS = JSONStrings({**_LONG, **_SHORT}, bad_byte="\\ufffd")


_JSONITER_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
_JSONITER_LONG = {chr(code): f"\\u{code:04x}" for code in range(0x20)}
_SHORT_EXPONENT = re.compile(rb"e-(\d)$")

JSONITER_STRINGS = JSONStrings({**_JSONITER_LONG, **_JSONITER_SHORT}, bad_byte=None)
JSONITER_VALID_STRINGS = JSONStrings({**_JSONITER_LONG, **_JSONITER_SHORT}, bad_byte="\ufffd")
"""``JSONITER_STRINGS`` with U+FFFD for each byte that is not UTF-8, which json-iterator does not do."""


def jsoniter_floats(values: pa.Array) -> Fragments:
    """Return a column of canonical FLOAT or DOUBLE texts as json-iterator prints them."""
    return (map_values_where(may_need_exponent(values), values, jsoniter_number),)


def jsoniter_number(text: bytes) -> bytes:
    """Return one canonical FLOAT or DOUBLE text as json-iterator prints it."""
    return _SHORT_EXPONENT.sub(rb"e-0\1", number(text))
