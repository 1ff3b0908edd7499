"""JSON strings and numbers of Debezium messages, whole columns at a time: json-iterator's, and what
TiCDC makes of values before.
"""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.protocols import go_float, jsoniter
from ticdc_producer.protocols.arrow_text import Pieces, contents, integers, mapped_where, plain, quoted
from ticdc_producer.protocols.base64_texts import base64_texts
from ticdc_producer.protocols.debezium.options import InvalidUTF8
from ticdc_producer.protocols.json_strings import JSONStrings

_STRINGS: dict[InvalidUTF8, JSONStrings] = {"raw": jsoniter.STRINGS, "replace": jsoniter.VALID_STRINGS}
_SURELY_SIGNED = 18  # digits that no number of 64 bits with a sign has too many of
_EXACT_DIGITS = 15  # a decimal number of so many is the shortest that reads back to its float64
_BAD_BYTES = dict.fromkeys(range(0xDC80, 0xDD00), "\ufffd")


def string(text: str) -> bytes:
    """One string literal."""
    return jsoniter.STRINGS.literal(text)


def strings(values: pa.Array, invalid_utf8: InvalidUTF8 = "raw") -> Pieces:
    """String literals of a column."""
    return _STRINGS[invalid_utf8].literals(values)


def default_string(value: bytes) -> bytes:
    """The string literal of a DEFAULT."""
    return string(stored_default(value).decode())


def stored_default(value: bytes) -> bytes:
    """A DEFAULT as TiDB's own JSON keeps it: bytes that are not UTF-8 have become U+FFFD there."""
    return value.decode("utf-8", "surrogateescape").translate(_BAD_BYTES).encode()


def base64_strings(values: pa.Array) -> Pieces:
    """Byte strings as Base64 with padding."""
    return quoted(base64_texts(values))


def decimals(values: pa.Array) -> Pieces:
    """DECIMAL texts through float64, as TiCDC sends them: more than 15 to 17 digits do not survive.

    Fewer do, but for zeros at the end of the fraction.
    """
    points = contents(values).count(b".")
    if points == len(values) - values.null_count:
        long = pc.greater(pc.binary_length(values), _EXACT_DIGITS + 1)
        digits = pc.ascii_rtrim(pc.ascii_rtrim(values.cast(pa.string()), "0"), ".").cast(pa.binary())
    else:  # those of a column that has no fraction
        long, digits = pc.greater(pc.binary_length(values), 0 if points else _EXACT_DIGITS), values
    return plain(mapped_where(pc.or_(long, go_float.unsure(digits)), digits, float64))


def float64(text: bytes) -> bytes:
    """A decimal number as the nearest float64."""
    digits = repr(float(text))
    if "e" in digits:
        return jsoniter.number(format(Decimal(digits), "f").encode())
    return digits.removesuffix(".0").encode()


def wrapped_integers(values: pa.Array) -> Pieces:
    """BIGINT UNSIGNED as the same 64 bits with a sign, as Debezium knows no larger type."""
    if (pc.max(pc.binary_length(values)).as_py() or 0) <= _SURELY_SIGNED:
        return plain(values)
    return plain(integers(values.cast(pa.string()).cast(pa.uint64()).view(pa.int64())))
