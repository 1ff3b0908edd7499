"""The key of a table's rows, and its encoding from columns of canonical values.

The encoding is that of ``model.row_key``. If a table has no clustered primary key, its handle key identifies
the row of a DataFrame, in the same encoding, and the integer handle is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.column_functions import fixed_bytes, flat_positions
from ticdc_producer.model.mysql_type import CHARSET_BEARING, INTEGERS, NUMBERED, TYPES
from ticdc_producer.model.row_key import encode_part
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.collation import compares_bytes, pads_space, untrimmed_key
from ticdc_producer.scenario.columns.temporal_columns import duration_microseconds

Words: TypeAlias = npt.NDArray[np.uint64]

_BYTES, _INT, _UINT, _FLOAT, _DECIMAL, _DURATION = (bytes([flag]) for flag in (1, 3, 4, 5, 6, 7))
"""The flag bytes of a key's columns."""
_SIGN = np.uint64(1 << 63)
_DECIMAL_BYTES, _DECIMAL_DIGITS = 28, 38
_GROUP = 8
_FIRST_BYTES = np.array([(1 << 8 * count) - 1 for count in range(_GROUP + 1)], "<u8")
"""Masks of the first bytes of a group, by their number."""


@dataclass(frozen=True, slots=True)
class StoredKey:
    """The key that identifies a row.

    :param integer: whether the key is an integer handle: a clustered primary key of one integer column.
    """

    table: TableInfo
    index: IndexInfo
    integer: bool

    @property
    def offsets(self) -> tuple[int, ...]:
        """Offsets of its columns."""
        return self.index.offsets


def stored_key(table: TableInfo) -> StoredKey:
    """Return the key of a table's rows.

    :raises ScenarioError: if the table has no key.
    """
    index = table.clustered_key or table.handle_index
    if index is None:
        what = f"table {table.qualified_name} has no primary key and no unique index without NULLs"
        raise ScenarioError(what, hint="rows of a DataFrame are identified by their key")
    first = table.columns[index.offsets[0]]
    integer = index is table.clustered_key and len(index.offsets) == 1 and first.type in INTEGERS
    return StoredKey(table, index, integer)


def handle_keys(handles: npt.NDArray[np.int64]) -> pa.Array:
    """Return the row keys of integer handles, and of hidden row ids."""
    return _eight_bytes(handles.astype(np.int64).view(np.uint64) ^ _SIGN)


def row_keys(key: StoredKey, values: Mapping[int, pa.Array]) -> tuple[pa.Array, pa.Array]:
    """Return the row keys and the integer handles, which are 0 if the table has none.

    :param values: canonical values by offset, among them those of the key.
    """
    columns, offsets = key.table.columns, key.offsets
    if key.integer:
        # A BIGINT UNSIGNED above the signed range wraps around, as in TiKV.
        words = _words(columns[offsets[0]], values[offsets[0]])
        present = values[offsets[0]].is_valid()
        handles = pc.if_else(present, pa.array(words.view(np.int64)), None)
        return pc.if_else(present, _eight_bytes(words ^ _SIGN), None), handles
    lengths = key.index.lengths or (-1,) * len(offsets)
    parts = [
        _encoded(columns[offset], _prefixes(columns[offset], values[offset], length))
        for offset, length in zip(offsets, lengths, strict=True)
    ]
    keys = pc.binary_join_element_wise(*parts, b"") if len(parts) > 1 else parts[0]
    return keys, pa.repeat(pa.scalar(0, pa.int64()), len(keys))


def key_texts(key: StoredKey, values: Mapping[int, pa.Array], row: int) -> str:
    """Return the key of one row as text, for messages."""
    return joined_texts(values[offset][row].as_py() for offset in key.offsets)


def joined_texts(parts: Iterable[bytes | None]) -> str:
    """Return the canonical values of a key as text, for messages."""
    return "-".join("NULL" if part is None else part.decode("utf-8", "backslashreplace") for part in parts)


def _prefixes(column: ColumnInfo, values: pa.Array, length: int) -> pa.Array:
    """Return the parts of values that a prefix index stores: characters of text, bytes of other values."""
    if length < 0:
        return values
    if column.charset == "binary":
        return pc.binary_slice(values, 0, length)
    return pc.utf8_slice_codeunits(values.cast(pa.string()), 0, length).cast(pa.binary())


def _encoded(column: ColumnInfo, values: pa.Array) -> pa.Array:
    """Encode one column of keys; NULL remains NULL."""
    match TYPES[column.type].key:
        case "integer":
            words = _words(column, values)
            unsigned = column.unsigned or column.type in NUMBERED
            flag, encoded = (_UINT, words) if unsigned else (_INT, words ^ _SIGN)
            return _flagged(flag, _eight_bytes(encoded), values)
        case "double":
            bits = _filled(values).cast(pa.float64()).to_numpy(zero_copy_only=False).view(np.uint64)
            return _flagged(_FLOAT, _eight_bytes(np.where(bits & _SIGN, ~bits, bits | _SIGN)), values)
        case "decimal" if column.length <= _DECIMAL_DIGITS:
            return _flagged(_DECIMAL, _ordered_decimals(values), values)
        case "duration":
            micros = duration_microseconds(values.cast(pa.string())).fill_null(0)
            words = micros.to_numpy(zero_copy_only=False).view(np.uint64)
            return _flagged(_DURATION, _eight_bytes(words ^ _SIGN), values)
        case "text":
            is_text = column.type in CHARSET_BEARING and column.charset != "binary"
            weights = _weights(column, values) if is_text else values
            return _flagged(_BYTES, memcomparable(weights), values)
    return _each(values, lambda value: encode_part(column, value))


def _weights(column: ColumnInfo, values: pa.Array) -> pa.Array:
    """Return the sort keys of texts as ``collation.sort_key`` does."""
    collation = column.collation
    texts = values.fill_null(b"").cast(pa.string())
    if pads_space(collation):
        texts = pc.ascii_rtrim(texts, " ")
    if compares_bytes(collation):
        return texts.cast(pa.binary())
    other = pc.invert(pc.string_is_ascii(texts))
    keys = _ascii_weights(collation, pc.if_else(other, "", texts))
    if not pc.any(other).as_py():
        return keys
    rest = _each(texts.cast(pa.binary()).filter(other), lambda text: untrimmed_key(text, collation))
    return pc.replace_with_mask(keys, other, rest)


def _ascii_weights(collation: str, texts: pa.Array) -> pa.Array:
    """Return the sort keys of texts in ASCII: the weights of their characters.

    >>> [key.hex() for key in _ascii_weights("utf8mb4_general_ci", pa.array(["aB", "", "b"])).to_pylist()]
    ['00410042', '', '0042']
    """
    weights = [untrimmed_key(bytes([code]), collation) for code in range(128)]
    widths = np.array([len(weight) for weight in weights])
    starts, lengths, data = _layout(texts.cast(pa.binary()))
    codes = data[starts[0] : starts[-1] + lengths[-1]] if len(starts) else data
    width = widths[codes]
    ends = np.concatenate([[0], np.cumsum(width)])
    table = np.frombuffer(b"".join(weights), np.uint8)
    keys = table[flat_positions((np.cumsum(widths) - widths)[codes], width)]
    offsets = ends[np.concatenate([[0], np.cumsum(lengths)])].astype(np.int32)
    return pa.Array.from_buffers(pa.binary(), len(texts), [None, pa.py_buffer(offsets), pa.py_buffer(keys)])


def memcomparable(values: pa.Array) -> pa.Array:
    """Encode byte strings as ``model.row_key.memcomparable`` does; NULL is encoded like an empty string.

    >>> [key.hex() for key in memcomparable(pa.array([b"ab", b"12345678"])).to_pylist()]
    ['6162000000000000f9', '3132333435363738ff0000000000000000f7']
    """
    starts, lengths, data = _layout(values)
    groups = lengths // _GROUP + 1
    ends = np.cumsum(groups)
    number = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - groups, groups)
    fill = np.minimum(np.repeat(lengths, groups) - number * _GROUP, _GROUP)
    padded = np.append(data, np.zeros(_GROUP, np.uint8))
    words = np.ndarray(len(data) + 1, "<u8", padded, strides=(1,))  # those that begin at each byte
    words = words[np.repeat(starts, groups) + number * _GROUP] & _FIRST_BYTES[fill]
    encoded = np.empty((len(number), _GROUP + 1), np.uint8)
    encoded[:, :_GROUP] = words.view(np.uint8).reshape(-1, _GROUP)
    encoded[:, _GROUP] = 255 - _GROUP + fill
    offsets = np.concatenate([[0], ends * (_GROUP + 1)]).astype(np.int32)
    return pa.Array.from_buffers(
        pa.binary(), len(values), [None, pa.py_buffer(offsets), pa.py_buffer(encoded)]
    )


def _layout(values: pa.Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """Return where values begin, their lengths, and the bytes of all; NULL is an empty value.

    >>> starts, lengths, data = _layout(pa.array([b"ab", None, b"c"]))
    >>> starts.tolist(), lengths.tolist(), data.tobytes()
    ([0, 2, 2], [2, 0, 1], b'abc')
    """
    filled = values.fill_null(b"")
    if not len(filled):
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint8)
    _, positions, data = filled.buffers()
    offsets = np.frombuffer(positions, np.int32)[filled.offset : filled.offset + len(filled) + 1]
    return (
        offsets[:-1].astype(np.int64),
        np.diff(offsets).astype(np.int64),
        np.frombuffer(data or b"", np.uint8),
    )


def _filled(values: pa.Array) -> pa.Array:
    return values.fill_null(b"0").cast(pa.string())


def _words(column: ColumnInfo, values: pa.Array) -> Words:
    """Return integers as words of 64 bits; 0 for NULL."""
    unsigned = column.unsigned or column.type in NUMBERED
    numbers = _filled(values).cast(pa.uint64() if unsigned else pa.int64()).to_numpy(zero_copy_only=False)
    words: Words = numbers.view(np.uint64)
    return words


def _eight_bytes(words: Words) -> pa.Array:
    return fixed_bytes(words.astype(">u8").view(np.uint8).reshape(-1, 8))


def _ordered_decimals(values: pa.Array) -> pa.Array:
    """Encode the digits of decimals in 28 bytes; all values of a column have its scale.

    >>> keys = _ordered_decimals(pa.array(["-1.50", "1.50", "20.00"])).to_pylist()
    >>> [key[:1].hex() + ".." + key[-2:].hex() for key in keys]
    ['7f..ff6a', '80..0096', '80..07d0']
    """
    texts = pc.replace_substring(_filled(values), ".", "")
    digits = texts.cast(pa.decimal128(_DECIMAL_DIGITS, 0))
    little = np.frombuffer(digits.buffers()[1], np.uint8).reshape(-1, 16)
    little = little[digits.offset : digits.offset + len(digits)]
    encoded = np.empty((len(digits), _DECIMAL_BYTES), np.uint8)
    encoded[:, :-16] = np.where(little[:, 15:] & 0x80, 0xFF, 0)
    encoded[:, -16:] = little[:, ::-1]
    encoded[:, 0] ^= 0x80
    return fixed_bytes(encoded)


def _flagged(flag: bytes, encoded: pa.Array, values: pa.Array) -> pa.Array:
    """Return encoded values after a flag byte, NULL for values that are NULL."""
    keys = pc.binary_join_element_wise(pa.scalar(flag), encoded, b"")
    return pc.if_else(values.is_valid(), keys, None) if values.null_count else keys


def _each(values: pa.Array, encode: Callable[[bytes], bytes]) -> pa.Array:
    """Encode values one by one, equal ones once."""
    coded = values.dictionary_encode()
    return pa.array([encode(value) for value in coded.dictionary.to_pylist()], pa.binary()).take(
        coded.indices
    )
