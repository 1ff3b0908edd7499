"""The row keys of many rows at once, with the same bytes as ``model.row_key``."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.mysql_type import INTEGERS, NUMBERED
from ticdc_producer.model.row_key import encode_part, prefix
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.generate.arrays import Hashes, Longs
from ticdc_producer.scenario.generate.draw import binary_array

_SIGN = np.uint64(1 << 63)
_INT, _UINT = 3, 4


def handles(table: TableInfo, key: IndexInfo, values: Mapping[int, pa.Array]) -> tuple[pa.Array, Longs]:
    """The row keys and the integer handles (0 without one) of rows.

    :param key: the table's clustered key.
    :param values: canonical values of the key columns, by offset.
    """
    first = key.offsets[0]
    rows = len(values[first])
    if len(key.offsets) == 1 and table.columns[first].type in INTEGERS:
        numbers = _numbers(table.columns[first], values[first])
        return int_keys(numbers), numbers.view(np.int64)
    lengths = key.lengths or (-1,) * len(key.offsets)
    parts = [
        _parts(table.columns[offset], values[offset], length)
        for offset, length in zip(key.offsets, lengths, strict=True)
    ]
    return pc.binary_join_element_wise(*parts, b""), np.zeros(rows, np.int64)


def int_keys(numbers: Longs | Hashes) -> pa.Array:
    """``row_key.int_key`` of signed numbers, or of the same bits as unsigned ones."""
    return _eight_bytes(numbers.view(np.uint64) ^ _SIGN)


def _numbers(column: ColumnInfo, values: pa.Array) -> Longs | Hashes:
    kind = pa.uint64() if column.unsigned else pa.int64()
    found: Longs | Hashes = values.cast(pa.string()).cast(kind).to_numpy(zero_copy_only=False)
    return found


def _parts(column: ColumnInfo, values: pa.Array, length: int) -> pa.Array:
    """One column of keys of several columns, or of another type."""
    if column.type not in INTEGERS | NUMBERED:
        # Keys of other types are rare, and each type has an order of its own.
        texts = values.to_pylist()
        return pa.array([encode_part(column, prefix(column, text, length)) for text in texts], pa.binary())
    unsigned = column.unsigned or column.type in NUMBERED
    numbers = (
        values.cast(pa.string()).cast(pa.uint64() if unsigned else pa.int64()).to_numpy(zero_copy_only=False)
    )
    encoded = _eight_bytes(numbers) if unsigned else int_keys(numbers)
    flag = pa.scalar(bytes([_UINT if unsigned else _INT]), pa.binary())
    return pc.binary_join_element_wise(flag, encoded, b"")


def _eight_bytes(numbers: Longs | Hashes) -> pa.Array:
    """Numbers as 8 bytes each, big-endian."""
    data = numbers.astype(">u8").view(np.uint8)
    return binary_array(np.arange(len(numbers) + 1, dtype=np.int64) * 8, data)
