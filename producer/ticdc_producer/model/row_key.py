"""Encodes keys of rows and index entries to bytes that compare like the values.

The encoding follows TiDB's ``codec.EncodeKey``: a flag byte, then an order-preserving encoding of the value.
Only the order matters here; keys are never decoded.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.mysql_type import CHARSET_BEARING, NUMBERED, TYPES
from ticdc_producer.model.values.collation import sort_key

_NIL, _BYTES, _INT, _UINT, _FLOAT, _DECIMAL, _DURATION = 0, 1, 3, 4, 5, 6, 7
_DECIMAL_BYTES = 28  # 65 digits and a sign
_GROUP = 8
_SIGN = 1 << 63


def int_key(number: int) -> bytes:
    """Encode an integer handle, a signed 64-bit number, ordered as in TiKV.

    A BIGINT UNSIGNED above the signed range wraps around and therefore sorts first, as in TiKV.
    """
    return ((number + _SIGN) % (1 << 64)).to_bytes(8, "big")


def key_handle(key: bytes) -> int:
    """Decode the handle of a result of ``int_key``."""
    return int.from_bytes(key, "big") - _SIGN


def handle_of(number: int) -> int:
    """Convert a number to a signed 64-bit handle."""
    return (number + _SIGN) % (1 << 64) - _SIGN


def index_key(columns: Sequence[ColumnInfo], index: IndexInfo, row: Sequence[Value]) -> bytes | None:
    """Return the key of a row in an index; None if it contains NULL and so cannot collide with another key.

    :param columns: all columns of the table; ``row`` has one value for each.
    """
    parts = []
    for position, offset in enumerate(index.offsets):
        value = row[offset]
        if value is None:
            return None
        length = index.lengths[position] if index.lengths else -1
        parts.append(encode_part(columns[offset], prefix(columns[offset], value, length)))
    return b"".join(parts)


def columns_key(columns: Sequence[ColumnInfo], offsets: Sequence[int], row: Sequence[Value]) -> bytes | None:
    """Return the key of columns of a row, without prefix lengths; None if a column is NULL."""
    parts = []
    for offset in offsets:
        value = row[offset]
        if value is None:
            return None
        parts.append(encode_part(columns[offset], value))
    return b"".join(parts)


def prefix(column: ColumnInfo, value: bytes, length: int) -> bytes:
    """Return the part of a value that a prefix index stores: characters for text, bytes for other types."""
    if length < 0:
        return value
    if column.charset == "binary":
        return value[:length]
    return value.decode("utf-8", "surrogateescape")[:length].encode("utf-8", "surrogateescape")


def encode_part(column: ColumnInfo, value: bytes) -> bytes:
    """Encode one column of a key; the encoding is self-delimiting.

    :param value: canonical value, not NULL.
    """
    match TYPES[column.type].key:
        case "integer":
            return _integer_part(column, int(value))
        case "double":
            return bytes([_FLOAT]) + _ordered_double(float(value))
        case "decimal":
            return bytes([_DECIMAL]) + _ordered_decimal(value)
        case "duration":
            return bytes([_DURATION]) + int_key(_duration_microseconds(value))
        case "text":  # dates and times have texts of fixed width
            weights = sort_key(value, column.collation) if column.type in CHARSET_BEARING else value
            return bytes([_BYTES]) + memcomparable(weights)


def memcomparable(data: bytes) -> bytes:
    """Encode bytes in groups of 8, each followed by its fill level.

    Prefixes then sort first, and keys can be joined.

    >>> memcomparable(b"ab").hex()
    '6162000000000000f9'

    Source: tidb ``codec.EncodeBytes``.
    """
    groups = []
    for start in range(0, len(data) + 1, _GROUP):
        group = data[start : start + _GROUP]
        groups.append(group.ljust(_GROUP, b"\0") + bytes([255 - (_GROUP - len(group))]))
    return b"".join(groups)


def _integer_part(column: ColumnInfo, number: int) -> bytes:
    if column.unsigned or column.type in NUMBERED:
        return bytes([_UINT]) + number.to_bytes(8, "big")
    return bytes([_INT]) + int_key(number)


def _ordered_double(number: float) -> bytes:
    (bits,) = struct.unpack(">Q", struct.pack(">d", number))
    flipped = bits ^ ((1 << 64) - 1) if bits & _SIGN else bits | _SIGN
    return int(flipped).to_bytes(8, "big")


def _ordered_decimal(text: bytes) -> bytes:
    digits = int(text.replace(b".", b""))  # all values of a column have its scale
    return (digits + (1 << 8 * _DECIMAL_BYTES - 1)).to_bytes(_DECIMAL_BYTES, "big")


def _duration_microseconds(text: bytes) -> int:
    sign = -1 if text.startswith(b"-") else 1
    clock, _, fraction = text.lstrip(b"-").partition(b".")
    hours, minutes, seconds = (int(part) for part in clock.split(b":"))
    micro = int(fraction.ljust(6, b"0") or b"0")
    return sign * ((hours * 3600 + minutes * 60 + seconds) * 1_000_000 + micro)
