"""JSON string literals as easyjson and goccy/go-json print them, whole columns at a time.

Rows go through the one library, DDLs and watermarks through the other; both differ from Go's
``encoding/json`` in two characters only: backspace and form feed have no short form
(spec "String escaping", measured with the real libraries).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from producer.codec import go_json
from producer.codec.go_json import NULL
from producer.model.event import Value

_PAIR = re.compile(rb"\\.")
_LONG_FORMS = {b"\\b": b"\\u0008", b"\\f": b"\\u000c"}

# Stands in no JSON text, so a joined column can be split again.
_SEPARATOR = b"\xff"


def strings(values: Sequence[Value]) -> list[bytes]:
    """Literals of a column of UTF-8 texts; ``null`` for None."""
    literals = go_json.strings(values)
    column = _SEPARATOR.join(literals)
    if b"\\b" not in column and b"\\f" not in column:
        return literals
    # From left to right, since the b of an escaped backslash and a plain b is no backspace.
    return _PAIR.sub(_long_form, column).split(_SEPARATOR)


def _long_form(match: re.Match[bytes]) -> bytes:
    return _LONG_FORMS.get(match[0], match[0])


def string(text: str) -> bytes:
    """One literal."""
    return strings([text.encode()])[0]


def latin1_strings(values: Sequence[Value]) -> list[bytes]:
    """Literals of a column of byte strings, each byte the character of its number (ISO-8859-1)."""
    return strings(
        [value if value is None or value.isascii() else value.decode("latin-1").encode() for value in values]
    )


def plain_strings(values: Sequence[Value]) -> list[bytes]:
    """Literals of a column of texts that need no escaping, such as numbers and dates."""
    if None in values or not values:
        return [NULL if value is None else b'"%b"' % value for value in values]
    return (b'"' + b'"\xff"'.join(values) + b'"').split(_SEPARATOR)  # type: ignore[arg-type]  # no None here
