"""TiKV's key of a row, which TiCDC new architecture can send as ``_tidb.rowkey``.

Layout: ``t`` table id ``_r`` handle, both as big-endian 64-bit integers with the sign bit flipped. A
clustered key that is not an integer is encoded instead of the handle. Source: tidb ``pkg/tablecodec``,
``pkg/util/codec`` (``EncodeKey``).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from datetime import tzinfo
from functools import partial
from typing import TypeAlias

import pyarrow as pa

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import CHARSET_BEARING, INTEGERS, MySQLType
from ticdc_producer.model.row_key import int_key, memcomparable, packed_time, prefix
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.collation import sort_key
from ticdc_producer.model.values.temporal_text import utc_timestamp, zone_of
from ticdc_producer.protocols.base import RowBatch

T = MySQLType
Part: TypeAlias = Callable[[bytes], bytes]

_BYTES, _INT, _UINT, _FLOAT, _DECIMAL, _DURATION = (bytes([flag]) for flag in (1, 3, 4, 5, 6, 7))
_SIGN = 1 << 63
_DIGITS_PER_WORD, _BYTES_PER_DIGITS = 9, (0, 1, 1, 2, 2, 3, 3, 4, 4, 4)


class RecordKeys:
    """The keys of one table version's rows.

    :param time_zone: the changefeed's time zone, in which images contain TIMESTAMP values.
    """

    def __init__(self, table: TableInfo, time_zone: str) -> None:
        self._parts = list(_parts(table, zone_of(time_zone)))

    def of(self, batch: RowBatch) -> pa.Array:
        """Return one key per row."""
        heads = [b"t" + int_key(number) + b"_r" for number in batch.table_id.to_pylist()]
        if not self._parts:
            handles = [int_key(number) for number in batch.row_id.to_pylist()]
        else:
            columns = [
                [part(value or b"") for value in batch.primary_images[index].to_pylist()]
                for index, part in self._parts
            ]
            handles = [b"".join(row) for row in zip(*columns, strict=True)]
        return pa.array([head + handle for head, handle in zip(heads, handles, strict=True)], pa.binary())


def _parts(table: TableInfo, zone: tzinfo) -> Iterator[tuple[int, Part]]:
    """Yield the image index and encoding of each column of a clustered key; nothing for an integer handle."""
    key = table.clustered_key
    if key is None or (len(key.offsets) == 1 and table.columns[key.offsets[0]].type in INTEGERS):
        return
    lengths = key.lengths or (-1,) * len(key.offsets)
    for offset, length in zip(key.offsets, lengths, strict=True):
        index = table.image_index(offset)
        if index is not None:  # a primary key has no virtual columns
            yield index, _part(table.columns[offset], length, zone)


def _part(column: ColumnInfo, length: int, zone: tzinfo) -> Part:
    code = column.type
    if code == T.FLOAT:
        return lambda value: _float(struct.unpack(">f", struct.pack(">f", float(value)))[0])
    if code == T.DOUBLE:
        return lambda value: _float(float(value))
    if code == T.NEW_DECIMAL:
        return partial(_decimal, column.length, column.decimal)
    if code == T.DURATION:
        return _duration
    if code in (T.DATE, T.NEW_DATE, T.DATETIME):
        return lambda value: _UINT + packed_time(value).to_bytes(8, "big")
    if code == T.TIMESTAMP:
        return lambda value: _UINT + packed_time(utc_timestamp(value, zone)).to_bytes(8, "big")
    if code in CHARSET_BEARING - {T.ENUM, T.SET}:
        return lambda value: _BYTES + memcomparable(sort_key(prefix(column, value, length), column.collation))
    if code == T.YEAR or (code in INTEGERS and not column.unsigned):
        return lambda value: _INT + int_key(int(value))
    return lambda value: _UINT + int(value).to_bytes(8, "big")


def _float(number: float) -> bytes:
    (bits,) = struct.unpack(">Q", struct.pack(">d", number))
    return _FLOAT + int(bits ^ ((1 << 64) - 1) if bits & _SIGN else bits | _SIGN).to_bytes(8, "big")


def _duration(value: bytes) -> bytes:
    """Encode a duration, in nanoseconds.

    >>> _duration(b"-00:00:01.5") == b"\\x07" + int_key(-1_500_000_000)
    True
    """
    hours, minutes, seconds = value.lstrip(b"-").split(b":")
    whole, _, fraction = seconds.partition(b".")
    clock = (int(hours) * 60 + int(minutes)) * 60 + int(whole)
    nanoseconds = clock * 1_000_000_000 + int(fraction.ljust(9, b"0"))
    return _DURATION + int_key(-nanoseconds if value.startswith(b"-") else nanoseconds)


def _decimal(precision: int, scale: int, value: bytes) -> bytes:
    """Encode a DECIMAL: precision, scale, and MySQL's binary form.

    The binary form consists of words of nine digits. Its first bit is the sign.

    >>> _decimal(3, 1, b"12.5")[1:].hex(), _decimal(3, 1, b"-12.5")[1:].hex()
    ('03018c05', '030173fa')
    """
    whole, _, fraction = value.lstrip(b"-").partition(b".")
    integer = whole.lstrip(b"0").rjust(precision - scale, b"0")
    odd = len(integer) % _DIGITS_PER_WORD
    digits = _words(integer[:odd]) + _words(integer[odd:]) + _words(fraction.ljust(scale, b"0"))
    number = bytes([digits[0] ^ 0x80]) + digits[1:]
    if value.startswith(b"-"):
        number = bytes(byte ^ 0xFF for byte in number)
    return _DECIMAL + bytes([precision, scale]) + number


def _words(digits: bytes) -> bytes:
    words = [digits[start : start + _DIGITS_PER_WORD] for start in range(0, len(digits), _DIGITS_PER_WORD)]
    return b"".join(int(word).to_bytes(_BYTES_PER_DIGITS[len(word)], "big") for word in words)
