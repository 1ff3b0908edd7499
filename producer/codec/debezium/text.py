"""JSON strings and numbers of Debezium messages, whole columns at a time: json-iterator's, and what
TiCDC makes of values before.
"""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Sequence
from decimal import Decimal

from producer.codec import go_json, jsoniter
from producer.codec.debezium.options import InvalidUTF8
from producer.codec.go_json import NULL
from producer.codec.jsoniter import floats, string
from producer.model.event import Value

__all__ = [
    "base64_strings", "decimals", "default_string", "float64", "floats", "stored_default", "string",
    "strings", "wrapped_integers",
]  # fmt: skip

_BAD_BYTES = dict.fromkeys(range(0xDC80, 0xDD00), "\ufffd")


def strings(values: Sequence[Value], invalid_utf8: InvalidUTF8 = "raw") -> list[bytes]:
    """String literals of a column; ``null`` for None."""
    if invalid_utf8 == "raw":
        return jsoniter.strings(values)
    texts = iter(_valid([value for value in values if value is not None]))
    return jsoniter.strings([None if value is None else next(texts) for value in values])


def default_string(value: bytes) -> bytes:
    """The string literal of a DEFAULT."""
    return strings([stored_default(value)])[0]


def stored_default(value: bytes) -> bytes:
    """A DEFAULT as TiDB's own JSON keeps it: bytes that are not UTF-8 have become U+FFFD there."""
    return _valid([value])[0]


def base64_strings(values: Sequence[Value]) -> list[bytes]:
    """Byte strings as Base64 with padding."""
    return go_json.quoted(None if value is None else b2a_base64(value, newline=False) for value in values)


def _valid(texts: list[bytes]) -> list[bytes]:
    try:
        b"\n".join(texts).decode()
    except UnicodeDecodeError:
        return [text.decode("utf-8", "surrogateescape").translate(_BAD_BYTES).encode() for text in texts]
    return texts


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
