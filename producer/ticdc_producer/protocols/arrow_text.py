"""Texts of many rows at once, put together from what is the same in all of them and what is not.

All per-row work of the JSON encoders ends here, in Arrow's own loops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Piece: TypeAlias = bytes | pa.Array
"""A text that all rows share, or an array with the text of each row."""
Pieces: TypeAlias = tuple[Piece, ...]
"""What stands one after the other."""
Renderer: TypeAlias = Callable[[pa.Array], Pieces]
"""The values of a column to their texts; a row of an array that is null is printed as ``null``."""

NULL = b"null"
Numbers: TypeAlias = npt.NDArray[np.int64]

_EMPTY = pa.scalar(b"", pa.binary())


def joined(pieces: Iterable[Piece], rows: int, null: bytes | None = NULL) -> pa.Array:
    """One text per row.

    :param null: stands for a value that is null; None makes the whole text null.
    """
    parts = list(_merged(pieces))
    if not any(isinstance(part, pa.Array) for part in parts):
        return pa.repeat(pa.scalar(b"".join(_literals(parts)), pa.binary()), rows)
    only = parts[0]
    if len(parts) == 1 and isinstance(only, pa.Array) and (null is None or not only.null_count):
        return only
    arguments = [pa.scalar(part, pa.binary()) if isinstance(part, bytes) else part for part in parts]
    if null is None:
        return pc.binary_join_element_wise(*arguments, _EMPTY)
    return pc.binary_join_element_wise(*arguments, _EMPTY, null_handling="replace", null_replacement=null)


def _merged(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The same with shared texts that stand side by side made one, since each costs time per row."""
    for shared, run in groupby(pieces, key=lambda piece: isinstance(piece, bytes)):
        if shared:
            yield b"".join(_literals(run))
        else:
            yield from run


def _literals(pieces: Iterable[Piece]) -> Iterator[bytes]:
    return (piece for piece in pieces if isinstance(piece, bytes))


def plain(values: pa.Array) -> Pieces:
    """Texts that are JSON already."""
    return (values,)


def quoted(texts: pa.Array) -> Pieces:
    """Texts that need no escaping (dates, decimals, Base64) as string literals."""
    return surrounded(b'"', texts, b'"')


def surrounded(before: bytes, texts: pa.Array, after: bytes) -> Pieces:
    """Texts with the same around each that is not null."""
    if texts.null_count:
        return (joined((before, texts, after), len(texts), null=None),)
    return before, texts, after


def integers(numbers: pa.Array) -> pa.Array:
    """Decimal digits of numbers."""
    return numbers.cast(pa.string()).cast(pa.binary())


def mapped(values: pa.Array, function: Callable[[bytes], bytes]) -> pa.Array:
    """What a function of Python makes of each value that is not null: for what Arrow cannot do."""
    made = [None if value is None else function(value) for value in values.to_pylist()]
    return pa.array(made, pa.binary())


def each_distinct(values: pa.Array, function: Callable[[bytes], bytes]) -> pa.Array:
    """The same, of each different value once: for columns that hold few."""
    encoded = values.dictionary_encode()
    return mapped(encoded.dictionary, function).take(encoded.indices)


def mapped_where(places: pa.Array, values: pa.Array, function: Callable[[bytes], bytes]) -> pa.Array:
    """What a function of Python makes of the values at some places, and the others as they are.

    :param places: booleans; null counts as false.
    """
    some = pc.fill_null(places, False)
    if not pc.any(some).as_py():
        return values
    return pc.replace_with_mask(values, some, mapped(values.filter(some), function))


def lengths(texts: pa.Array) -> Numbers:
    """Bytes of each text, 0 for null."""
    return numbers(pc.binary_length(texts))


def numbers(column: pa.Array) -> Numbers:
    """An integer column, 0 where it is null."""
    filled = pc.fill_null(column, 0) if column.null_count else column
    return np.asarray(filled.to_numpy(), np.int64)


def contents(texts: pa.Array) -> bytes:
    """The bytes of all texts, one after the other."""
    if not len(texts):
        return b""
    _, offsets, data = texts.buffers()
    bounds = np.frombuffer(offsets, np.int32, len(texts) + 1, texts.offset * 4)
    return b"" if data is None else bytes(memoryview(data)[bounds[0] : bounds[-1]])


def regrouped(texts: pa.Array, starts: Numbers) -> pa.Array:
    """Runs of texts as one text each, without a copy.

    :param texts: none of them null.
    :param starts: place of the first text of each run, from 0 up.
    """
    _, offsets, data = texts.buffers()
    bounds = np.frombuffer(offsets, np.int32, len(texts) + 1, texts.offset * 4)
    ends = np.append(bounds[starts], bounds[-1])
    return pa.Array.from_buffers(pa.binary(), len(starts), [None, pa.py_buffer(ends), data])


def text_array(content: bytes, sizes: Numbers) -> pa.Array:
    """Texts of some sizes that stand one after the other."""
    bounds = np.zeros(len(sizes) + 1, np.int32)
    np.cumsum(sizes, out=bounds[1:])
    return pa.Array.from_buffers(pa.binary(), len(sizes), [None, pa.py_buffer(bounds), pa.py_buffer(content)])


def with_nulls_of(values: pa.Array, made: pa.Array) -> pa.Array:
    """What was made of some values, null where they are."""
    return pc.if_else(values.is_valid(), made, None) if values.null_count else made


def fixed_width(content: bytes, width: int) -> pa.Array:
    """Texts of the same size that stand one after the other."""
    count = len(content) // width
    bounds = np.arange(0, len(content) + 1, width, dtype=np.int32)
    return pa.Array.from_buffers(pa.binary(), count, [None, pa.py_buffer(bounds), pa.py_buffer(content)])


def differ(old: pa.Array, new: pa.Array) -> pa.Array:
    """Where two columns hold different values; NULL differs from all but NULL."""
    return pc.fill_null(pc.not_equal(old, new), pc.xor(old.is_null(), new.is_null()))


def without_first(texts: pa.Array) -> pa.Array:
    """Texts without their first byte; an empty one stays empty. (``binary_slice`` fails on those.)"""
    return pc.binary_replace_slice(texts, start=0, stop=1, replacement=b"")
