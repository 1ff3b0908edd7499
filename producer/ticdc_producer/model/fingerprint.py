"""Fingerprints of many rows at once: 64 bits that equal rows share."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.column_functions import Flags, Numbers

Hashes: TypeAlias = npt.NDArray[np.uint64]

_WORD = 8
_LONGEST_BY_COLUMN = 16 * _WORD
"""Longer values are hashed one by one: they are few, and each number of words is a step of its own."""
_NULL = np.uint64(0x6E756C6C6E756C6C)
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def mixed(hashes: Hashes) -> Hashes:
    """Spread every bit over all 64 (the finalizer of SplitMix64).

    >>> [hex(number) for number in mixed(np.array([1, 2], np.uint64)).tolist()]
    ['0x5692161d100b05e5', '0xdbd238973a2b148a']
    """
    spread = hashes >> np.uint64(30)
    spread ^= hashes
    spread *= _FIRST
    shifted = spread >> np.uint64(27)
    spread ^= shifted
    spread *= _SECOND
    np.right_shift(spread, np.uint64(31), out=shifted)
    spread ^= shifted
    return spread


def combined(*parts: Hashes | Numbers | Flags) -> Hashes:
    """Return one hash of several per row; their order counts.

    >>> first, second = np.array([1, 1]), np.array([2, 1])
    >>> (combined(first, second) == combined(second, first)).tolist()
    [False, True]
    """
    with np.errstate(over="ignore"):
        hashes = mixed(parts[0].astype(np.uint64))
        for part in parts[1:]:
            hashes = mixed(hashes * MULTIPLIER + part.astype(np.uint64))
    return hashes


def value_hashes(values: pa.Array) -> Hashes:
    """Return a hash of each value; NULL differs from every value.

    >>> first, second, null = value_hashes(pa.array(["a", "a", None]))
    >>> bool(first == second), bool(first == null)
    (True, False)

    :param values: strings or binary.
    """
    values = values.cast(pa.binary())
    lengths = pc.fill_null(pc.binary_length(values), 0).to_numpy(zero_copy_only=False)
    null = values.is_null().to_numpy(zero_copy_only=False)
    short = np.flatnonzero(~null & (lengths <= _LONGEST_BY_COLUMN))
    hashes = np.full(len(values), _NULL, np.uint64)
    with np.errstate(over="ignore"):
        if len(short) == len(values):
            return _hashes_of_words(values)
        hashes[short] = _hashes_of_words(values.take(pa.array(short)))
    for row in np.flatnonzero(~null & (lengths > _LONGEST_BY_COLUMN)).tolist():
        digest = blake2b(values[row].as_buffer(), digest_size=8).digest()
        hashes[row] = np.uint64(int.from_bytes(digest, "little"))
    return hashes


def _hashes_of_words(values: pa.Array) -> Hashes:
    """Return the hashes of byte strings, computed from their lengths and words of 8 bytes.

    >>> first, second, third = _hashes_of_words(pa.array([b"ab", b"123456789", b"ab"])).tolist()
    >>> first == third, first == second
    (True, False)

    :param values: binary, without nulls.
    """
    hashes = np.empty(len(values), np.uint64)
    if not len(values):
        return hashes
    bounds = np.frombuffer(values.buffers()[1], np.int32)[values.offset : values.offset + len(values) + 1]
    starts, lengths = (bounds[:-1] - bounds[0]).astype(np.int64), np.diff(bounds).astype(np.int64)
    counts = (lengths + _WORD - 1) // _WORD
    padded = _padded(memoryview(values.buffers()[2] or b"")[bounds[0] : bounds[-1]], int(counts.max()))
    for count in np.flatnonzero(np.bincount(counts)).tolist():
        rows = np.flatnonzero(counts == count)
        state = mixed(lengths[rows].astype(np.uint64) + MULTIPLIER)
        if count:
            words = _words(padded, starts[rows], count)
            words[:, -1] <<= (_WORD * (_WORD * count - lengths[rows])).view(np.uint64)
            _add_words(state, words)
        hashes[rows] = mixed(state)
    return hashes


def _padded(data: memoryview, words: int) -> npt.NDArray[np.uint8]:
    """Return the bytes, and zeros after them, so that some words can be read at every byte."""
    padded = np.zeros(len(data) + words * _WORD, np.uint8)
    padded[: len(data)] = np.frombuffer(data, np.uint8)
    return padded


def _words(padded: npt.NDArray[np.uint8], starts: Numbers, count: int) -> Hashes:
    """Return words that follow each other, a row for each start; a row is copied at once.

    >>> words = _words(_padded(memoryview(b"abc"), 2), np.array([1, 0]), 2)
    >>> [[hex(word) for word in row] for row in words.tolist()]
    [['0x6362', '0x0'], ['0x636261', '0x0']]

    :param starts: of the words among the bytes.
    :param count: the number of words in a row.
    """
    size = count * _WORD
    rows = np.ndarray((len(padded) - size + 1,), f"V{size}", padded, strides=(1,))
    return rows[starts].view("<u8").reshape(-1, count)


def _add_words(hashes: Hashes, words: Hashes) -> None:
    """Add the words of each row to its hash; another word, or another hash before, gives another hash.

    >>> hashes = np.array([7, 7, 8], np.uint64)
    >>> _add_words(hashes, np.array([[1, 2], [2, 1], [1, 2]], np.uint64))
    >>> len({*hashes.tolist()})
    3
    """
    shifted = np.empty_like(hashes)
    for column in range(words.shape[1]):
        hashes ^= words[:, column]
        hashes *= _FIRST
        np.right_shift(hashes, np.uint64(32), out=shifted)
        hashes ^= shifted


def text_hashes(texts: pa.Array) -> Hashes:
    """Return a hash of each text, of which many are equal; NULL counts as empty."""
    if not len(texts):
        return np.zeros(0, np.uint64)
    encoded = (pc.fill_null(texts, "") if texts.null_count else texts).dictionary_encode()
    hashes: Hashes = value_hashes(encoded.dictionary)[encoded.indices.to_numpy(zero_copy_only=False)]
    return hashes


def not_zero(hashes: Hashes) -> Numbers:
    """Return the hashes as signed numbers, with 1 instead of 0, which means that there is nothing."""
    numbers: Numbers = hashes.view(np.int64).copy()
    numbers[numbers == 0] = 1
    return numbers


class Lists:
    """The lists of a column; NULL is an empty list, without elements of its own among those of the others."""

    def __init__(self, lists: pa.Array) -> None:
        offsets = lists.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
        self.present: Flags = lists.is_valid().to_numpy(zero_copy_only=False)
        self._offsets: Numbers = offsets
        self.starts: Numbers = offsets[:-1]
        self.ends: Numbers = np.where(self.present, offsets[1:], self.starts)

    def sums(self, parts: Hashes) -> Hashes:
        """Return the sum of the parts of each list, whatever their order.

        >>> Lists(pa.array([["a", "b"], ["c"]])).sums(np.array([1, 2, 4], np.uint64)).tolist()
        [3, 4]
        """
        with np.errstate(over="ignore"):
            totals = np.concatenate([np.zeros(1, np.uint64), np.cumsum(parts, dtype=np.uint64)])
            list_sums: Hashes = totals[self.ends] - totals[self.starts]
            return list_sums

    def texts(self, texts: pa.Array) -> tuple[pa.Array, pa.Array]:
        """Return two columns that are equal for lists of equal texts in the same order, and only for them.

        >>> lists = pa.array([["ab", "c"], ["a", "bc"]])
        >>> contents, lengths = Lists(lists).texts(lists.values)
        >>> contents.to_pylist(), lengths[0] == lengths[1]
        ([b'abc', b'abc'], False)

        :param texts: of all lists.
        """
        if not len(texts):
            empty = pa.repeat(pa.scalar(b""), len(self.starts))
            return empty, empty
        bounds = np.frombuffer(texts.buffers()[1], np.int32)[texts.offset : texts.offset + len(texts) + 1]
        contents = _slices(texts.buffers()[2], bounds[self._offsets])
        return contents, self.numbers(np.diff(bounds))  # one content may be several texts

    def numbers(self, numbers: Numbers | npt.NDArray[np.int32]) -> pa.Array:
        """Return a column that is equal for lists of equal numbers in the same order, and only for them.

        :param numbers: of all lists.
        """
        return _slices(pa.py_buffer(numbers), self._offsets * numbers.itemsize)


def _slices(data: pa.Buffer | None, offsets: npt.NDArray[np.integer[Any]]) -> pa.Array:
    """Return the bytes between each offset and the next one.

    >>> _slices(pa.py_buffer(b"abcabc"), np.array([0, 2, 3, 5])).to_pylist()
    [b'ab', b'c', b'ab']
    """
    bounds = pa.py_buffer(offsets.astype(np.int32))
    return pa.Array.from_buffers(pa.binary(), len(offsets) - 1, [None, bounds, data])


def null_pair(name: str) -> Hashes:
    """Return the hash of a name whose value is NULL."""
    return pair_hashes(text_hashes(pa.array([name])), value_hashes(pa.array([None], pa.binary())))


def pair_hashes(names: Hashes, values: Hashes) -> Hashes:
    """Return a hash of each name with its value.

    :param names, values: their hashes; those of names are spread already.
    """
    with np.errstate(over="ignore"):
        return mixed(names * MULTIPLIER + values)
