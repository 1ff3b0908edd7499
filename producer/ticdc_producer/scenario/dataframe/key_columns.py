"""Row keys of columns of canonical values, in the encoding of ``model.row_key``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import INTEGERS
from ticdc_producer.model.row_key import encode_part, handle_of, prefix
from ticdc_producer.scenario.dataframe.row_key import StoredKey

_INT = b"\x03"
"""The flag byte of a signed integer in a key."""
_SIGN = np.uint64(1 << 63)


def row_keys(key: StoredKey, values: Mapping[int, pa.Array]) -> tuple[pa.Array, pa.Array]:
    """Return the row keys and the integer handles, which are 0 if the table has none.

    :param values: canonical values by offset, among them those of the key.
    """
    columns, offsets = key.table.columns, key.offsets
    rows = len(values[offsets[0]])
    if key.integer:
        handles = _handles(columns[offsets[0]], values[offsets[0]])
        return _ordered_integers(handles), handles
    lengths = key.index.lengths or (-1,) * len(offsets)
    parts = [
        _parts(columns[offset], values[offset], length)
        for offset, length in zip(offsets, lengths, strict=True)
    ]
    return pc.binary_join_element_wise(*parts, b""), pa.repeat(pa.scalar(0, pa.int64()), rows)


def key_texts(key: StoredKey, values: Mapping[int, pa.Array], row: int) -> str:
    """Return the key of one row as text, for messages."""
    return joined_texts(values[offset][row].as_py() for offset in key.offsets)


def joined_texts(parts: Iterable[bytes | None]) -> str:
    """Return the canonical values of a key as text, for messages."""
    return "-".join("NULL" if part is None else part.decode("utf-8", "backslashreplace") for part in parts)


def _handles(column: ColumnInfo, values: pa.Array) -> pa.Array:
    if not column.unsigned:
        return _numbers(values)
    return _each(values, lambda value: handle_of(int(value)), pa.int64())


def _numbers(values: pa.Array) -> pa.Array:
    return values.cast(pa.string()).cast(pa.int64())


def _parts(column: ColumnInfo, values: pa.Array, length: int) -> pa.Array:
    """Encode one column of keys."""
    if column.type in INTEGERS and not column.unsigned:
        flag = pa.repeat(pa.scalar(_INT), len(values))
        return pc.binary_join_element_wise(flag, _ordered_integers(_numbers(values)), b"")
    return _each(values, lambda value: encode_part(column, prefix(column, value, length)), pa.binary())


def _ordered_integers(numbers: pa.Array) -> pa.Array:
    """Encode signed numbers as ``model.row_key.int_key`` does; NULL remains NULL."""
    signed = pc.fill_null(numbers, 0).to_numpy(zero_copy_only=False)
    words = (signed.view(np.uint64) ^ _SIGN).astype(">u8")
    keys = pa.FixedSizeBinaryArray.from_buffers(pa.binary(8), len(words), [None, pa.py_buffer(words)])
    return pc.if_else(numbers.is_valid(), keys.cast(pa.binary()), None)


def _each(values: pa.Array, encode: Callable[[bytes], object], kind: pa.DataType) -> pa.Array:
    """Encode values one by one, equal ones once."""
    coded = values.dictionary_encode()
    return pa.array([encode(value) for value in coded.dictionary.to_pylist()], kind).take(coded.indices)
