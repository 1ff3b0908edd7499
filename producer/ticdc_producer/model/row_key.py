"""Encodes keys of rows and index entries to bytes that compare like the values.

The encoding follows TiDB's ``codec.EncodeKey``: a flag byte, then an order-preserving encoding of the value.
Only the order matters here; keys are never decoded.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence

from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.mysql_type import CHARSET_BEARING, NUMBERED, TYPES
from ticdc_producer.model.values.collation import sort_key

_BYTES, _INT, _UINT, _FLOAT, _DECIMAL, _DURATION = (bytes([flag]) for flag in (1, 3, 4, 5, 6, 7))
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
    if not index.lengths:
        return columns_key(columns, index.offsets, row)
    parts = []
    for position, offset in enumerate(index.offsets):
        value = row[offset]
        if value is None:
            return None
        parts.append(encode_part(columns[offset], prefix(columns[offset], value, index.lengths[position])))
    return b"".join(parts)


def columns_key(columns: Sequence[ColumnInfo], offsets: Sequence[int], row: Sequence[Value]) -> bytes | None:
    """Return the key of columns of a row, without prefix lengths; None if a column is NULL."""
    parts = []
    for offset in offsets:
        value = row[offset]
        if value is None:
            return None
        parts.append(_ENCODERS[columns[offset].type](columns[offset], value))
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
    return _ENCODERS[column.type](column, value)


def memcomparable(data: bytes) -> bytes:
    """Encode bytes in groups of 8, each followed by its fill level.

    Prefixes then sort first, and keys can be joined.

    >>> memcomparable(b"ab").hex()
    '6162000000000000f9'

    Source: tidb ``codec.EncodeBytes``.
    """
    full = len(data) - len(data) % _GROUP
    groups = [data[start : start + _GROUP] + _FULL for start in range(0, full, _GROUP)]
    rest = data[full:]
    return b"".join(groups) + rest + _FILLS[len(rest)]


_FULL = b"\xff"
_FILLS = [bytes(_GROUP - length) + bytes([255 - (_GROUP - length)]) for length in range(_GROUP)]
"""The end of the last group, by the number of its bytes: the fill, and the fill level."""


def _encode_integer(column: ColumnInfo, value: bytes) -> bytes:
    if column.unsigned or column.type in NUMBERED:
        return _UINT + int(value).to_bytes(8, "big")
    return _INT + int_key(int(value))


def _encode_double(_: ColumnInfo, value: bytes) -> bytes:
    (bits,) = struct.unpack(">Q", struct.pack(">d", float(value)))
    flipped = bits ^ ((1 << 64) - 1) if bits & _SIGN else bits | _SIGN
    return _FLOAT + int(flipped).to_bytes(8, "big")


def _encode_decimal(_: ColumnInfo, value: bytes) -> bytes:
    digits = int(value.replace(b".", b""))  # all values of a column have its scale
    return _DECIMAL + (digits + (1 << 8 * _DECIMAL_BYTES - 1)).to_bytes(_DECIMAL_BYTES, "big")


def _encode_duration(_: ColumnInfo, value: bytes) -> bytes:
    return _DURATION + int_key(_duration_microseconds(value))


def _encode_text(column: ColumnInfo, value: bytes) -> bytes:
    """Encode a text by its weights; dates and times have texts of fixed width."""
    weights = sort_key(value, column.collation) if column.type in CHARSET_BEARING else value
    return _BYTES + memcomparable(weights)


_OF_FORM: Mapping[str, Callable[[ColumnInfo, bytes], bytes]] = {
    "integer": _encode_integer,
    "double": _encode_double,
    "decimal": _encode_decimal,
    "duration": _encode_duration,
    "text": _encode_text,
}
_ENCODERS = {code: _OF_FORM[spec.key] for code, spec in TYPES.items()}


def _duration_microseconds(text: bytes) -> int:
    sign = -1 if text.startswith(b"-") else 1
    clock, _, fraction = text.lstrip(b"-").partition(b".")
    hours, minutes, seconds = (int(part) for part in clock.split(b":"))
    micro = int(fraction.ljust(6, b"0") or b"0")
    return sign * ((hours * 3600 + minutes * 60 + seconds) * 1_000_000 + micro)


def packed_time(value: bytes) -> int:
    """Return the number of a DATE or DATETIME, or of a TIMESTAMP in UTC.

    :param value: canonical text.
    """
    date, _, clock = value.partition(b" ")
    year, month, day = (int(part) for part in date.split(b"-"))
    hour, minute, seconds = clock.split(b":") if clock else (b"0", b"0", b"0")
    second, _, fraction = seconds.partition(b".")
    days = (year * 13 + month) << 5 | day
    clocks = int(hour) << 12 | int(minute) << 6 | int(second)
    return (days << 17 | clocks) << 24 | int(fraction.ljust(6, b"0") or b"0")
