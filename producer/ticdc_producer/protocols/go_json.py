"""JSON text as Go's ``encoding/json`` prints it, whole columns at a time.

Rules (spec "JSON text", measured with real Go): ``"`` ``\\`` and control characters are escaped, five of
them in short form; so are ``<`` ``>`` ``&`` and U+2028, U+2029; every byte that is not part of valid
UTF-8 becomes the six characters ``\\ufffd``; all other characters are copied.
"""

from __future__ import annotations

from ticdc_producer.protocols.json_strings import JSONStrings

_SHORT = {"\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
_LONG = {chr(code): f"\\u{code:04x}" for code in (*range(0x20), *b"<>&", 0x2028, 0x2029)}

STRINGS = JSONStrings({**_LONG, **_SHORT}, bad_byte="\\ufffd")
