"""JSON string literals as easyjson and goccy/go-json print them, whole columns at a time.

TiCDC uses easyjson for rows, goccy/go-json for DDLs and watermarks. Both differ from Go's
``encoding/json`` only in two characters: backspace and form feed have no short form
(spec "String escaping", measured with the real libraries).
"""

from __future__ import annotations

import pyarrow as pa

from ticdc_producer.protocols.arrow_text import Fragments, contents, map_values, quoted
from ticdc_producer.protocols.json_strings import JSONStrings

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
_LONG = {chr(code): f"\\u{code:04x}" for code in (*range(0x20), *b"<>&", 0x2028, 0x2029)}

STRINGS = JSONStrings({**_LONG, **_SHORT}, bad_byte="\\ufffd")
_CHARACTERS = [STRINGS.literal(chr(code))[1:-1] for code in range(0x100)]


def latin1_strings(values: pa.Array) -> Fragments:
    """Literals of a column of byte strings, each byte the character of its number (ISO-8859-1)."""
    if contents(values).isascii():
        return STRINGS.literals(values)
    return quoted(map_values(values, lambda value: b"".join(map(_CHARACTERS.__getitem__, value))))


def string(text: str) -> bytes:
    """One literal."""
    return STRINGS.literal(text)
