"""JSON string literals as easyjson and goccy/go-json print them, whole columns at a time.

Rows go through the one library, DDLs and watermarks through the other; both differ from Go's
``encoding/json`` in two characters only: backspace and form feed have no short form
(spec "String escaping", measured with the real libraries).
"""

from __future__ import annotations

from collections.abc import Sequence

from producer.codec.go_json import NULL
from producer.model.event import Value

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
_ESCAPES = {code: f"\\u{code:04x}".encode() for code in (*range(0x20), *b"<>&")} | {
    ord(char): text.encode() for char, text in _SHORT.items()
}
_LINE_ENDS = {"\u2028".encode(): b"\\u2028", "\u2029".encode(): b"\\u2029"}
_PLAIN = bytes(code for code in range(0x100) if code not in _ESCAPES)

# Python's surrogateescape stands for exactly one bad byte each, as Go counts them.
_BAD_BYTES = dict.fromkeys(range(0xDC80, 0xDD00), "\\ufffd")

# Stands in no valid UTF-8, so a joined column can be split again.
_SEPARATOR = b"\xff"


def strings(values: Sequence[Value]) -> list[bytes]:
    """Literals of a column of UTF-8 texts; ``null`` for None."""
    present = [value for value in values if value is not None]
    column = _SEPARATOR.join(present)
    if not _valid(column, len(present)):
        return [NULL if value is None else b'"%b"' % _escape_any(value) for value in values]
    return _literals(_escape(column), values, len(present))


def latin1_strings(values: Sequence[Value]) -> list[bytes]:
    """Literals of a column of byte strings, each byte the character of its number (ISO-8859-1)."""
    return strings(
        [value if value is None or value.isascii() else value.decode("latin-1").encode() for value in values]
    )


def plain_strings(values: Sequence[Value]) -> list[bytes]:
    """Literals of a column of texts that need no escaping, such as numbers and dates."""
    present = [value for value in values if value is not None]
    return _literals(_SEPARATOR.join(present), values, len(present))


def string(text: str) -> bytes:
    """One literal."""
    return strings([text.encode()])[0]


def _literals(column: bytes, values: Sequence[Value], present: int) -> list[bytes]:
    """The joined texts of a column as literals, with ``null`` where the column has it."""
    literals = (b'"' + column.replace(_SEPARATOR, b'"\xff"') + b'"').split(_SEPARATOR)
    if present == len(values):
        return literals if values else []
    each = iter(literals)
    return [NULL if value is None else next(each) for value in values]


def _valid(column: bytes, texts: int) -> bool:
    """Whether every text of a joined column is UTF-8."""
    if column.count(_SEPARATOR) != max(texts - 1, 0):
        return False
    try:
        column.replace(_SEPARATOR, b"\n").decode()
    except UnicodeDecodeError:
        return False
    return True


def _escape(column: bytes) -> bytes:
    # A replacement holds no character that is replaced after it: the backslash goes first.
    for code in sorted(set(column.translate(None, _PLAIN)), key=lambda code: code != ord("\\")):
        column = column.replace(bytes((code,)), _ESCAPES[code])
    for end, text in _LINE_ENDS.items():
        column = column.replace(end, text)
    return column


def _escape_any(text: bytes) -> bytes:
    """Escape a text that may be no UTF-8: every bad byte becomes the escape of U+FFFD."""
    return _escape(text).decode("utf-8", "surrogateescape").translate(_BAD_BYTES).encode()
