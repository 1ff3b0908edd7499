"""Byte strings as Go's ``strconv.Quote`` prints them, without the outer quotes, and back.

BINARY and VARBINARY values travel like this inside JSON. Every byte string survives the way there and
back. Printable code points are those of Unicode 15.0, as in Go 1.21 – 1.26 (``go_isprint_ranges.txt``).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache
from importlib.resources import files

_PLAIN = re.compile(rb"[ !#-\[\]-~]*")
_SHORT = {
    0x22: '\\"', 0x5C: "\\\\", 0x07: "\\a", 0x08: "\\b", 0x0C: "\\f", 0x0A: "\\n", 0x0D: "\\r",
    0x09: "\\t", 0x0B: "\\v",
}  # fmt: skip


@cache
def _printable_ranges() -> tuple[list[int], list[int]]:
    text = files("producer.codec").joinpath("go_isprint_ranges.txt").read_text("ascii")
    pairs = [line.split("-") for line in text.splitlines() if line and not line.startswith("#")]
    return [int(start, 16) for start, _ in pairs], [int(end, 16) for _, end in pairs]


def _is_print(code: int) -> bool:
    starts, ends = _printable_ranges()
    place = bisect_right(starts, code) - 1
    return place >= 0 and code <= ends[place]


class _Quoting(dict[int, str]):
    """Translation table that works out a code point when it is first met."""

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
    """The quoted form of one byte string, as UTF-8."""
    if _PLAIN.fullmatch(value):
        return value
    return value.decode("utf-8", "surrogateescape").translate(_QUOTING).encode()


_PIECE = re.compile(
    r"""[^"\\\n]+"""
    r"""|\\(?:(?P<short>[abfnrtv\\"])|x(?P<x>[0-9a-fA-F]{2})|(?P<octal>[0-3][0-7]{2})"""
    r"""|u(?P<u>[0-9a-fA-F]{4})|U(?P<U>[0-9a-fA-F]{8}))"""
)
_QUOTED = re.compile(r"""(?:[^"\\\n]++|\\(?:[abfnrtv\\"]|x[0-9a-fA-F]{2}|[0-3][0-7]{2}))*+""")
_ESCAPE = re.compile(r"""\\(x..|[0-7]{3}|.)""")
_SHORT_BYTES = {text[1]: bytes([code]) for code, text in _SHORT.items()}


def unquote(text: str) -> bytes:
    """The bytes behind a quoted text.

    :raises ValueError: where Go's ``strconv.Unquote`` would refuse; its one argument is the character
        position.
    """
    if "\\" not in text and '"' not in text and "\n" not in text:
        return text.encode()
    if _QUOTED.fullmatch(text):
        return _ESCAPE.sub(_unescaped, text).encode("utf-8", "surrogateescape")
    out, place = [], 0
    while place < len(text):
        match = _PIECE.match(text, place)
        if match is None:
            raise ValueError(place)
        out.append(_piece(match, place))
        place = match.end()
    return b"".join(out)


class _Unescaped(dict[str, str]):
    """What stands behind the backslash of an escape to its byte, as Python's surrogateescape shows it.

    There are a few hundred escapes of bytes; those of code points are not asked for here.
    """

    def __missing__(self, escape: str) -> str:
        code = int(escape[1:], 16) if escape[0] == "x" else int(escape, 8)
        self[escape] = byte = chr(code if code < 0x80 else 0xDC00 + code)
        return byte


_UNESCAPED = _Unescaped({short: content.decode() for short, content in _SHORT_BYTES.items()})


def _unescaped(match: re.Match[str]) -> str:
    return _UNESCAPED[match[1]]


def _piece(match: re.Match[str], place: int) -> bytes:
    kind = match.lastgroup
    if kind is None:
        return match[0].encode()
    if kind == "short":
        return _SHORT_BYTES[match["short"]]
    if kind in ("x", "octal"):
        return bytes([int(match[kind], 16 if kind == "x" else 8)])
    code = int(match[kind], 16)
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise ValueError(place)
    return chr(code).encode()
