"""Encodes columns of strings and numbers as JSON, like TiCDC's value conversion followed by json-iterator."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.protocols import go_json
from ticdc_producer.protocols.arrow_text import (
    Fragments,
    base64_texts,
    contents,
    integers,
    map_values_where,
    plain,
    quoted,
)
from ticdc_producer.protocols.debezium.options import InvalidUTF8
from ticdc_producer.protocols.go_json import JSONStrings

_STRINGS: dict[InvalidUTF8, JSONStrings] = {
    "raw": go_json.JSONITER_STRINGS,
    "replace": go_json.JSONITER_VALID_STRINGS,
}
_SURELY_SIGNED = 18  # every number with so few digits fits a signed 64-bit integer
_EXACT_DIGITS = 15  # with at most 15 digits, a decimal is the shortest text of its float64
_BAD_BYTES = dict.fromkeys(range(0xDC80, 0xDD00), "\ufffd")


def string(text: str) -> bytes:
    """One string literal."""
    return go_json.JSONITER_STRINGS.literal(text)


def strings(values: pa.Array, invalid_utf8: InvalidUTF8 = "raw") -> Fragments:
    """String literals of a column."""
    return _STRINGS[invalid_utf8].literals(values)


def default_string(value: bytes) -> bytes:
    """The string literal of a DEFAULT."""
    return string(stored_default(value).decode())


def stored_default(value: bytes) -> bytes:
    """A DEFAULT as TiDB stores it in its JSON metadata: bytes that are not UTF-8 are replaced by U+FFFD."""
    return value.decode("utf-8", "surrogateescape").translate(_BAD_BYTES).encode()


def base64_strings(values: pa.Array) -> Fragments:
    """Byte strings as Base64 with padding, quoted."""
    return quoted(base64_texts(values))


def decimals(values: pa.Array) -> Fragments:
    """DECIMAL values converted to float64, as TiCDC sends them.

    Digits beyond 15 to 17 are lost, and so are trailing zeros of the fraction.
    """
    points = contents(values).count(b".")
    if points == len(values) - values.null_count:
        long = pc.greater(pc.binary_length(values), _EXACT_DIGITS + 1)
        digits = pc.ascii_rtrim(pc.ascii_rtrim(values.cast(pa.string()), "0"), ".").cast(pa.binary())
    else:  # columns without a fraction
        long, digits = pc.greater(pc.binary_length(values), 0 if points else _EXACT_DIGITS), values
    return plain(map_values_where(pc.or_(long, go_json.may_need_exponent(digits)), digits, float64))


def float64(text: bytes) -> bytes:
    """The JSON number of the float64 nearest to a decimal number."""
    digits = repr(float(text))
    if "e" in digits:
        return go_json.jsoniter_number(format(Decimal(digits), "f").encode())
    return digits.removesuffix(".0").encode()


def wrapped_integers(values: pa.Array) -> Fragments:
    """BIGINT UNSIGNED as the signed number with the same 64 bits: Debezium has no larger type."""
    if (pc.max(pc.binary_length(values)).as_py() or 0) <= _SURELY_SIGNED:
        return plain(values)
    return plain(integers(values.cast(pa.string()).cast(pa.uint64()).view(pa.int64())))
