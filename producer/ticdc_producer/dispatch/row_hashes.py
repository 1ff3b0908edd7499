"""The partition rule for many rows at once.

Rules: tiflow ``cdc/sink/dmlsink/mq/dispatcher/partition``, ``pkg/hash/position_inertia.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ticdc_producer.dispatch.rules import Route

NULL_TEXT = b"null"
"""The text that classic TiCDC (tiflow) hashes for SQL NULL."""

_LONGEST_BY_COLUMN = 64
"""Longer texts are hashed one by one: a step of the column-wise hash costs more than a byte of zlib's."""


def _table() -> npt.NDArray[np.uint32]:
    """Return the lookup table of CRC-32 (IEEE): the code that follows from each value of one byte.

    >>> [hex(code) for code in _table()[:3]]
    ['0x0', '0x77073096', '0xee0e612c']
    """
    codes = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        codes = np.where(codes & 1, (codes >> 1) ^ np.uint32(0xEDB88320), codes >> 1)
    return codes


_TABLE = _table()


def partition_hashes(route: Route, values: Sequence[pa.Array], rows: int) -> npt.NDArray[np.int64]:
    """Return the hash of each row, for all rules except ``ts``. The partition is its remainder.

    >>> route = Route("topic", "columns", (("id", 0),), base_hash=7, table_key="shop.orders")
    >>> partition_hashes(route, [pa.array([b"1"])], 1).tolist() == [7 ^ crc32(b"id1")]
    True

    :param values: one array for each of ``route.key_columns``.
    """
    hashes = np.full(rows, route.base_hash, np.uint32)
    for (name, _), column in zip(route.key_columns, values, strict=True):
        hashes ^= value_hashes(name, column, skips_null=route.skips_null)
    return hashes.astype(np.int64)


def value_hashes(name: str, values: pa.Array, *, skips_null: bool = False) -> npt.NDArray[np.uint32]:
    """Return the CRC-32 of a column's name and value for each row.

    All short values are hashed at once, one byte position at a time.

    >>> value_hashes("id", pa.array([b"1", b"23", None])).tolist() == [
    ...     crc32(b"id1"),
    ...     crc32(b"id23"),
    ...     crc32(b"idnull"),
    ... ]
    True

    :param values: binary; NULL is hashed as ``null``.
    :param skips_null: whether NULL has the hash 0 instead, as in TiCDC new architecture.
    """
    seed, null = crc32(name.encode()), values.is_null().to_numpy(zero_copy_only=False)
    lengths = np.diff(offsets := _offsets(values))
    codes = np.full(len(values), ~np.uint32(seed), np.uint32)
    data = np.frombuffer(values.buffers()[2] or b"", np.uint8)
    short = np.flatnonzero(~null & (lengths <= _LONGEST_BY_COLUMN))
    for position in range(int(lengths[short].max(initial=0))):
        short = short[lengths[short] > position]
        byte = data[offsets[short] + position]
        codes[short] = _TABLE[(codes[short] ^ byte) & 0xFF] ^ (codes[short] >> 8)
    hashes = ~codes
    for row in np.flatnonzero(~null & (lengths > _LONGEST_BY_COLUMN)).tolist():
        hashes[row] = crc32(values[row].as_buffer(), seed)
    hashes[null] = 0 if skips_null else crc32(NULL_TEXT, seed)
    return hashes


def _offsets(values: pa.Array) -> npt.NDArray[np.int64]:
    """Return the offsets of the values in their data buffer, and the end of the last value.

    >>> _offsets(pa.array([b"a", b"bc", b"d"]).slice(1)).tolist()
    [1, 3, 4]
    """
    raw = np.frombuffer(values.buffers()[1], np.int32) if len(values) else np.zeros(1, np.int32)
    return raw[values.offset : values.offset + len(values) + 1].astype(np.int64)
