"""Byte strings in JSON messages: quoted, or bytes that are not UTF-8.

BINARY and VARBINARY values are sent as Go's ``strconv.Quote`` prints them, without the outer quotes.
``unquote(quote(value))`` returns every byte string unchanged. Printable code points are those of Unicode
15.0, as in Go 1.21 – 1.26 (``go_isprint_ranges.txt``).

TiCDC copies bytes of text columns that are not UTF-8 unchanged, and no JSON parser accepts them. While a
message is parsed, each of them is replaced by a code point that the message does not use.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from codecs import escape_decode
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from ticdc_producer.errors import DecodeError

_PLAIN = re.compile(rb"[ !#-\[\]-~]*")
_SHORT = {
    0x22: '\\"', 0x5C: "\\\\", 0x07: "\\a", 0x08: "\\b", 0x0C: "\\f", 0x0A: "\\n", 0x0D: "\\r",
    0x09: "\\t", 0x0B: "\\v",
}  # fmt: skip


@cache
def _printable_ranges() -> tuple[list[int], list[int]]:
    text = files("ticdc_producer.protocols").joinpath("go_isprint_ranges.txt").read_text("ascii")
    pairs = [line.split("-") for line in text.splitlines() if line and not line.startswith("#")]
    return [int(start, 16) for start, _ in pairs], [int(end, 16) for _, end in pairs]


def _is_print(code: int) -> bool:
    starts, ends = _printable_ranges()
    index = bisect_right(starts, code) - 1
    return index >= 0 and code <= ends[index]


class _Quoting(dict[int, str]):
    """Translation table that computes the text of a code point on first use."""

    def __missing__(self, code: int) -> str:
        self[code] = text = _quote_code_point(code)
        return text


def _quote_code_point(code: int) -> str:
    if code in _SHORT:
        return _SHORT[code]
    if 0xDC80 <= code <= 0xDCFF:  # surrogateescape: a byte that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    if _is_print(code):
        return chr(code)
    if code < 0x20 or code == 0x7F:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


_QUOTING = _Quoting()


def quote(value: bytes) -> bytes:
    """Return the quoted form of one byte string, as UTF-8."""
    if _PLAIN.fullmatch(value):
        return value
    return value.decode("utf-8", "surrogateescape").translate(_QUOTING).encode()


_TOKEN = re.compile(
    r"""[^"\\\n]+"""
    r"""|\\(?:(?P<short>[abfnrtv\\"])|x(?P<x>[0-9a-fA-F]{2})|(?P<octal>[0-3][0-7]{2})"""
    r"""|u(?P<u>[0-9a-fA-F]{4})|U(?P<U>[0-9a-fA-F]{8}))"""
)
_QUOTED = re.compile(
    r"""[^"\\\n]*+(?:\\(?:x[0-9a-fA-F]{2}|[abfnrtv\\"]|u[0-9a-fA-F]{4}|U00[01][0-9a-fA-F]{5}|[0-3][0-7]{2})"""
    r"""[^"\\\n]*+)*+"""
)
_TO_CODE_POINT = re.compile(rb"((?:[^\\]++|\\[^uU])*+)(?:\\u(.{4})|\\U(.{8})|\Z)", re.DOTALL)
_SHORT_BYTES = {text[1]: bytes([code]) for code, text in _SHORT.items()}


def unquote(text: str) -> bytes:
    """Return the bytes that a quoted text represents.

    :raises ValueError: if Go's ``strconv.Unquote`` would fail; the only argument is the character position.
    """
    if "\\" not in text and '"' not in text and "\n" not in text:
        return text.encode()
    if _QUOTED.fullmatch(text):
        try:
            return _unescaped(text.encode())
        except ValueError:
            pass  # the loop below finds the position
    out, position = [], 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ValueError(position)
        out.append(_unquoted(match, position))
        position = match.end()
    return b"".join(out)


def _unescaped(quoted: bytes) -> bytes:
    """Resolve valid escapes. Python's are the same, except for code points."""
    if b"\\u" in quoted or b"\\U" in quoted:
        quoted = _TO_CODE_POINT.sub(_with_code_point, quoted)
    return escape_decode(quoted)[0]


def _with_code_point(match: re.Match[bytes]) -> bytes:
    """Replace a code point in a match. ASCII stays escaped, since it could be a backslash."""
    before, short, long = match.groups()
    if short is None and long is None:
        return before
    code = int(short or long, 16)
    return before + (b"\\x%02x" % code if code < 0x80 else chr(code).encode())


def _unquoted(match: re.Match[str], position: int) -> bytes:
    kind = match.lastgroup
    if kind is None:
        return match[0].encode()
    if kind == "short":
        return _SHORT_BYTES[match["short"]]
    if kind in ("x", "octal"):
        return bytes([int(match[kind], 16 if kind == "x" else 8)])
    code = int(match[kind], 16)
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise ValueError(position)
    return chr(code).encode()


_BLOCK_BITS = 7
_PRIVATE_BLOCKS = range(0xF0000 >> _BLOCK_BITS, 0x110000 >> _BLOCK_BITS)
_FIRST_BAD_BYTE = 0xDC80  # Python's surrogateescape of byte 0x80


@dataclass(frozen=True, slots=True)
class Escapes:
    """The 128 code points that replace the bytes 0x80 to 0xff.

    :param first: the code point of byte 0x80.
    """

    first: int

    def occur_in(self, text: str) -> bool:
        """Return whether a text contains any of them."""
        return any(self.first <= ord(char) < self.first + 128 for char in text)

    def unescape(self, value: bytes) -> bytes:
        """Return the original bytes of an escaped text."""
        bytes_of = {self.first + i: _FIRST_BAD_BYTE + i for i in range(128)}
        return value.decode().translate(bytes_of).encode("utf-8", "surrogateescape")

    def replaced(self, text: str) -> str:
        """Return the text with U+FFFD instead of the escapes."""
        return text.translate(dict.fromkeys(range(self.first, self.first + 128), "\ufffd"))


def escape(part: str, data: bytes, code: str) -> tuple[bytes, Escapes | None]:
    """Return the message as valid UTF-8, and the escapes that it now contains; None if it was valid before.

    :param part: ``key`` or ``value``, for errors.
    :param code: code of the error.
    :raises DecodeError: if no block of private code points is free.
    """
    try:
        data.decode()
    except UnicodeDecodeError as bad:
        text = data.decode("utf-8", "surrogateescape")
        used = {ord(char) >> _BLOCK_BITS for char in text if char >= "\U000f0000"}
        free = next((block for block in _PRIVATE_BLOCKS if block not in used), None)
        if free is None:
            raise DecodeError(code, "UTF-8", part=part, byte=bad.start) from None
        first = free << _BLOCK_BITS
        escapes = {_FIRST_BAD_BYTE + i: first + i for i in range(128)}
        return text.translate(escapes).encode(), Escapes(first)
    return data, None
