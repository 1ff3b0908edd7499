"""JSON strings and numbers as json-iterator prints them, whole columns at a time.

Beside go_json's ``encoding/json``: no HTML escaping, short forms for line feed, carriage return and tab
only, bytes that are not UTF-8 copied raw, and two digits at least in an exponent. Source: tiflow
``pkg/util/json_writer.go``; measured with json-iterator 1.1.12.
"""

from __future__ import annotations

import re
from binascii import b2a_base64
from collections.abc import Sequence
from decimal import Decimal

from producer.codec import go_float, go_json
from producer.codec.debezium.options import InvalidUTF8
from producer.codec.go_json import NULL
from producer.model.event import Value

_SHORT = {b"\n": b"\\n", b"\r": b"\\r", b"\t": b"\\t", b'"': b'\\"', b"\\": b"\\\\"}
_ESCAPES = {**{bytes([code]): b"\\u%04x" % code for code in range(0x20)}, **_SHORT}
_SPECIAL = re.compile(rb'["\\\x00-\x1f]')
_SHORT_EXPONENT = re.compile(rb"e-(\d)$")
_BAD_BYTES = dict.fromkeys(range(0xDC80, 0xDD00), "\ufffd")


def strings(values: Sequence[Value], invalid_utf8: InvalidUTF8 = "raw") -> list[bytes]:
    """String literals of a column; ``null`` for None."""
    texts = [value or b"" for value in values]
    if invalid_utf8 == "replace":
        texts = _valid(texts)
    if _SPECIAL.search(b"".join(texts)) is not None:
        texts = [_SPECIAL.sub(_escape, text) for text in texts]
    return [NULL if value is None else b'"' + text + b'"' for value, text in zip(values, texts, strict=True)]


def string(text: str) -> bytes:
    """One string literal."""
    return strings([text.encode()])[0]


def default_string(value: bytes) -> bytes:
    """The string literal of a DEFAULT."""
    return strings([stored_default(value)])[0]


def stored_default(value: bytes) -> bytes:
    """A DEFAULT as TiDB's own JSON keeps it: bytes that are not UTF-8 have become U+FFFD there."""
    return _valid([value])[0]


def base64_strings(values: Sequence[Value]) -> list[bytes]:
    """Byte strings as Base64 with padding."""
    return go_json.quoted(None if value is None else b2a_base64(value, newline=False) for value in values)


def _escape(match: re.Match[bytes]) -> bytes:
    return _ESCAPES[match[0]]


def _valid(texts: list[bytes]) -> list[bytes]:
    try:
        b"\n".join(texts).decode()
    except UnicodeDecodeError:
        return [text.decode("utf-8", "surrogateescape").translate(_BAD_BYTES).encode() for text in texts]
    return texts


def floats(values: Sequence[Value]) -> list[bytes]:
    """Numbers of a column of canonical FLOAT or DOUBLE texts."""
    return [_SHORT_EXPONENT.sub(rb"e-0\1", text) for text in go_float.numbers(values)]


def decimals(values: Sequence[Value]) -> list[bytes]:
    """DECIMAL texts through float64, as TiCDC sends them: more than 15 to 17 digits do not survive."""
    return [NULL if value is None else float64(value) for value in values]


def float64(text: bytes) -> bytes:
    """A decimal number as the nearest float64."""
    digits = repr(float(text))
    if "e" in digits:
        return floats([format(Decimal(digits), "f").encode()])[0]
    return digits.removesuffix(".0").encode()


def wrapped_integers(values: Sequence[Value]) -> list[bytes]:
    """BIGINT UNSIGNED as the same 64 bits with a sign, as Debezium knows no larger type."""
    return [NULL if value is None else value if len(value) < 19 else _wrapped(int(value)) for value in values]


def _wrapped(number: int) -> bytes:
    return b"%d" % (number - (1 << 64) if number >= 1 << 63 else number)
