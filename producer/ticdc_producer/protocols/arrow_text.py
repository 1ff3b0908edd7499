"""Builds the bytes of many rows at once, from constant fragments, arrays, and LEB128 integers.

All per-row work of the JSON encoders ends here, in Arrow's own loops. Craft and Avro use the integers.
"""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.column_functions import Numbers

Fragment: TypeAlias = bytes | pa.Array
"""A text that all rows share, or an array with the text of each row."""
Fragments: TypeAlias = tuple[Fragment, ...]
"""Consecutive fragments of a text."""
Renderer: TypeAlias = Callable[[pa.Array], Fragments]
"""Formats the values of a column. A null in an array is printed as ``null``."""

NULL = b"null"

_EMPTY = pa.scalar(b"", pa.binary())


def concat(fragments: Iterable[Fragment], rows: int, null: bytes | None = NULL) -> pa.Array:
    """Concatenate fragments to one text per row.

    >>> concat((b'{"a":', pa.array([b"1", None]), b"}"), 2).to_pylist()
    [b'{"a":1}', b'{"a":null}']

    :param null: replaces a null; None makes the whole text null.
    """
    parts = list(_merged(fragments))
    if not any(isinstance(part, pa.Array) for part in parts):
        return pa.repeat(pa.scalar(b"".join(_literals(parts)), pa.binary()), rows)
    only = parts[0]
    if len(parts) == 1 and isinstance(only, pa.Array) and (null is None or not only.null_count):
        return only
    arguments = [pa.scalar(part, pa.binary()) if isinstance(part, bytes) else part for part in parts]
    if null is None:
        return pc.binary_join_element_wise(*arguments, _EMPTY)
    return pc.binary_join_element_wise(*arguments, _EMPTY, null_handling="replace", null_replacement=null)


def _merged(fragments: Iterable[Fragment]) -> Iterator[Fragment]:
    """Merge adjacent shared texts into one, since each fragment costs time per row."""
    for shared, run in groupby(fragments, key=lambda fragment: isinstance(fragment, bytes)):
        if shared:
            yield b"".join(_literals(run))
        else:
            yield from run


def _literals(fragments: Iterable[Fragment]) -> Iterator[bytes]:
    return (fragment for fragment in fragments if isinstance(fragment, bytes))


def plain(values: pa.Array) -> Fragments:
    """Return values that are already JSON as they are."""
    return (values,)


def quoted(texts: pa.Array) -> Fragments:
    """Return the JSON string literals of texts that need no escaping (dates, decimals, Base64)."""
    return surrounded(b'"', texts, b'"')


def surrounded(before: bytes, texts: pa.Array, after: bytes) -> Fragments:
    """Put the same text before and after each value that is not null."""
    if texts.null_count:
        return (concat((before, texts, after), len(texts), null=None),)
    return before, texts, after


def integers(numbers: pa.Array) -> pa.Array:
    """Return the decimal digits of an integer column."""
    return numbers.cast(pa.string()).cast(pa.binary())


def map_values(values: pa.Array, function: Callable[[bytes], bytes]) -> pa.Array:
    """Apply a Python function to each value that is not null, where Arrow has no function."""
    mapped = [None if value is None else function(value) for value in values.to_pylist()]
    return pa.array(mapped, pa.binary())


def map_distinct(values: pa.Array, function: Callable[[bytes], bytes]) -> pa.Array:
    """Apply a Python function once per distinct value, as ``map_values`` does once per value.

    It is faster for columns with few distinct values.
    """
    encoded = values.dictionary_encode()
    return map_values(encoded.dictionary, function).take(encoded.indices)


def map_values_where(mask: pa.Array, values: pa.Array, function: Callable[[bytes], bytes]) -> pa.Array:
    """Apply a Python function to the values that a mask selects; the others stay.

    >>> map_values_where(pa.array([True, None]), pa.array([b"a", b"b"], pa.binary()), bytes.upper).to_pylist()
    [b'A', b'b']

    :param mask: booleans; null counts as false.
    """
    selected = pc.fill_null(mask, False)
    if not pc.any(selected).as_py():
        return values
    return pc.replace_with_mask(values, selected, map_values(values.filter(selected), function))


def lengths(texts: pa.Array) -> Numbers:
    """Return the number of bytes of each text; 0 for null."""
    return as_int64(pc.binary_length(texts))


def as_int64(column: pa.Array) -> Numbers:
    """Return an integer column as a numpy array, with 0 for null."""
    filled = pc.fill_null(column, 0) if column.null_count else column
    return np.asarray(filled.to_numpy(), np.int64)


def contents(texts: pa.Array) -> bytes:
    """Return the bytes of all texts, concatenated."""
    if not len(texts):
        return b""
    _, offsets, data = texts.buffers()
    bounds = np.frombuffer(offsets, np.int32, len(texts) + 1, texts.offset * 4)
    return b"" if data is None else bytes(memoryview(data)[bounds[0] : bounds[-1]])


def merge_runs(texts: pa.Array, starts: Numbers) -> pa.Array:
    """Merge each run of texts into one text, without a copy.

    >>> merge_runs(pa.array([b"a", b"b", b"c"]), np.array([0, 2])).to_pylist()
    [b'ab', b'c']

    :param texts: without nulls.
    :param starts: index of the first text of each run, ascending from 0.
    """
    _, offsets, data = texts.buffers()
    bounds = np.frombuffer(offsets, np.int32, len(texts) + 1, texts.offset * 4)
    ends = np.append(bounds[starts], bounds[-1])
    return pa.Array.from_buffers(pa.binary(), len(starts), [None, pa.py_buffer(ends), data])


def text_array(content: bytes | memoryview, sizes: Numbers) -> pa.Array:
    """Split bytes into consecutive texts.

    >>> text_array(b"abc", np.array([2, 0, 1])).to_pylist()
    [b'ab', b'', b'c']

    :param sizes: bytes of each text.
    """
    bounds = np.zeros(len(sizes) + 1, np.int32)
    np.cumsum(sizes, out=bounds[1:])
    return pa.Array.from_buffers(pa.binary(), len(sizes), [None, pa.py_buffer(bounds), pa.py_buffer(content)])


def with_nulls_of(values: pa.Array, results: pa.Array) -> pa.Array:
    """Set the results to null where the values that they were computed from are null."""
    return pc.if_else(values.is_valid(), results, None) if values.null_count else results


def fixed_width(content: bytes, width: int) -> pa.Array:
    """Split bytes into consecutive texts of the same size.

    >>> fixed_width(b"abcd", 2).to_pylist()
    [b'ab', b'cd']
    """
    count = len(content) // width
    bounds = np.arange(0, len(content) + 1, width, dtype=np.int32)
    return pa.Array.from_buffers(pa.binary(), count, [None, pa.py_buffer(bounds), pa.py_buffer(content)])


def differ(old: pa.Array, new: pa.Array) -> pa.Array:
    """Return the rows in which two columns have different values, as booleans. NULL equals only NULL.

    >>> differ(pa.array([1, 1, 1, None]), pa.array([1, 2, None, None])).to_pylist()
    [False, True, True, False]
    """
    return pc.fill_null(pc.not_equal(old, new), pc.xor(old.is_null(), new.is_null()))


def without_first_byte(texts: pa.Array) -> pa.Array:
    """Return texts without their first byte; an empty text stays empty, for which ``binary_slice`` fails."""
    return pc.binary_replace_slice(texts, start=0, stop=1, replacement=b"")


_PADDINGS = pa.array([b"", b"\0", b"\0\0"], pa.binary())


def base64_texts(values: pa.Array) -> pa.Array:
    """Return the Base64 of each value.

    Each value is padded to a multiple of three bytes, so that one call encodes all of them. ``=`` then
    replaces the characters of the padding.

    >>> base64_texts(pa.array([b"a", b"abc", None])).to_pylist()
    [b'YQ==', b'YWJj', None]
    """
    sizes = lengths(values)
    padding = -sizes % 3
    padded = pc.fill_null(values, b"") if values.null_count else values
    if padding.any():
        padded = concat((padded, _PADDINGS.take(pa.array(padding))), len(values))
    text = np.frombuffer(b2a_base64(contents(padded), newline=False), np.uint8).copy()
    widths = (sizes + padding) // 3 * 4
    ends = np.cumsum(widths)
    for least in (1, 2):
        text[ends[padding >= least] - least] = ord("=")
    return with_nulls_of(values, text_array(text.data, widths))


ONE_BYTE = 1 << 7
"""The smallest number that takes more than one byte."""
_TWO_BYTES = 1 << 14


def parsed_numbers(values: pa.Array, kind: pa.DataType) -> np.ndarray:
    """Parse canonical texts as numbers; NULL becomes 0.

    >>> parsed_numbers(pa.array([b"-7", None]), pa.int64()).tolist()
    [-7, 0]
    """
    numbers: np.ndarray = pc.fill_null(values.cast(pa.string()).cast(kind), 0).to_numpy()
    return numbers


def uvarints(numbers: np.ndarray) -> pa.Array:
    """Encode unsigned integers as LEB128.

    >>> uvarints(np.array([1, 128, 1 << 14], np.uint64)).to_pylist()
    [b'\\x01', b'\\x80\\x01', b'\\x80\\x80\\x01']
    """
    most = numbers.max(initial=0)
    if most < ONE_BYTE:
        return fixed_width(numbers.astype(np.uint8).tobytes(), 1)
    return _SHORT.take(pa.array(numbers)) if most < _TWO_BYTES else _of_any_size(numbers)


def varints(numbers: np.ndarray) -> pa.Array:
    """Encode signed integers (int64) as zig-zag LEB128."""
    return uvarints(zigzag(numbers).view(np.uint64))


def zigzag(numbers: np.ndarray) -> np.ndarray:
    """Return the zig-zag encoding of signed integers, in an array of the same type."""
    return numbers << 1 ^ numbers >> 8 * numbers.itemsize - 1


def _of_any_size(numbers: np.ndarray) -> pa.Array:
    """Encode one byte of all numbers at a time, until the longest number is complete.

    >>> _of_any_size(np.array([1, 300], np.uint64)).to_pylist()
    [b'\\x01', b'\\xac\\x02']
    """
    sizes = np.zeros(len(numbers), np.int32)
    rounds = []
    indices = np.arange(len(numbers))
    while len(indices):
        more = numbers >= ONE_BYTE
        rounds.append((indices, numbers.astype(np.uint8) & 0x7F | more.view(np.uint8) << 7))
        sizes[indices] += 1
        indices, numbers = indices[more], numbers[more] >> 7
    bounds = np.concatenate((np.zeros(1, np.int32), np.cumsum(sizes, dtype=np.int32)))
    content = np.empty(bounds[-1], np.uint8)
    for offset, (indices, byte) in enumerate(rounds):
        content[bounds[indices] + offset] = byte
    return pa.Array.from_buffers(pa.binary(), len(sizes), [None, pa.py_buffer(bounds), pa.py_buffer(content)])


_SHORT = _of_any_size(np.arange(_TWO_BYTES, dtype=np.uint64))
