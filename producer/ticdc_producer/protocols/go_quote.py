"""Byte strings as Go's ``strconv.Quote`` prints them, without the outer quotes, and the inverse.

BINARY and VARBINARY values are sent in this form inside JSON. ``unquote(quote(value))`` returns every byte
string unchanged. Printable code points are those of Unicode 15.0, as in Go 1.21 – 1.26
(``go_isprint_ranges.txt``).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from codecs import escape_decode
from functools import cache
from importlib.resources import files

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
