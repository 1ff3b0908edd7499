"""JSON text as Go's ``encoding/json`` prints it, whole columns at a time.

Rules (spec "JSON text", measured with real Go): ``"`` ``\\`` and control characters are escaped, five of
them in short form; so are ``<`` ``>`` ``&`` and U+2028, U+2029; every byte that is not part of valid
UTF-8 becomes the six characters ``\\ufffd``; all other characters stand as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from producer.model.event import Value

NULL = b"null"

_SHORT = {"\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
_ESCAPES = {
    **{chr(code): f"\\u{code:04x}" for code in (*range(0x20), *b"<>&", 0x2028, 0x2029)},
    **_SHORT,
}
_ESCAPE_BYTES = {char.encode(): text.encode() for char, text in _ESCAPES.items()}
_SPECIAL = re.compile(rb'["\\\x00-\x1f<>&]|\xe2\x80[\xa8\xa9]')

# Python's surrogateescape stands for exactly one bad byte each, as Go counts them.
_BAD_BYTES = dict.fromkeys(range(0xDC80, 0xDD00), "\\ufffd")
_WITH_BAD_BYTES = str.maketrans({**{ord(char): text for char, text in _ESCAPES.items()}, **_BAD_BYTES})

# Stands in no valid UTF-8, so a joined column can be split again.
_SEPARATOR = b"\xff"


def strings(values: Sequence[Value]) -> list[bytes]:
    """JSON string literals of a column of UTF-8 texts; ``null`` for None."""
    escaped = _escape_column([value or b"" for value in values])
    return [
        NULL if value is None else b'"' + text + b'"' for value, text in zip(values, escaped, strict=True)
    ]


def string(text: str) -> bytes:
    """One JSON string literal."""
    return strings([text.encode()])[0]


def _escape_column(texts: list[bytes]) -> list[bytes]:
    column = _SEPARATOR.join(texts)
    if not _valid(column, len(texts)):
        return [_escape_any(text) for text in texts]
    if _SPECIAL.search(column) is None:
        return texts
    return _SPECIAL.sub(_escape_match, column).split(_SEPARATOR)


def _valid(column: bytes, texts: int) -> bool:
    """Whether every text of a joined column is UTF-8."""
    if column.count(_SEPARATOR) != texts - 1:
        return False
    try:
        column.replace(_SEPARATOR, b"\n").decode()
    except UnicodeDecodeError:
        return False
    return True


def _escape_match(match: re.Match[bytes]) -> bytes:
    return _ESCAPE_BYTES[match[0]]


def _escape_any(text: bytes) -> bytes:
    return text.decode("utf-8", "surrogateescape").translate(_WITH_BAD_BYTES).encode()


def numbers(values: Sequence[Value]) -> list[bytes]:
    """Integers, whose canonical text is JSON already."""
    return [NULL if value is None else value for value in values]


def quoted(values: Iterable[Value]) -> list[bytes]:
    """Texts that need no escaping (dates, decimals, Base64) as string literals."""
    return [NULL if value is None else b'"%b"' % value for value in values]
