"""Seeded random draws: hashes of numbers, and distributions of them, as functions on NumPy columns.

Everything is integer arithmetic, or operations that IEEE 754 rounds correctly: the same bits everywhere.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import shake_128
from math import ceil

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ticdc_producer.scenario.generate.arrays import (
    Flags,
    Hashes,
    Longs,
    Octets,
    Reals,
    exponential,
    logarithm,
)

_MASK = (1 << 64) - 1
_GOLDEN, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
"""The constants of the generator SplitMix64."""
_BLOCK = 0xD1342543DE82EF95
"""An odd number that separates several hashes of one number."""
_UNIT = 2.0**-53
_PARTS = 4
_PART_BITS = 16
_BELL = 12 << _PART_BITS
"""The sum of twelve uniform parts approximates a normal distribution up to six deviations."""
_OFFSET_BITS, _OFFSETS_PER_HASH = 12, 5
_FRAGMENTS = ((16, 4), (64, 16))
_LONG_FRAGMENT = 32
"""Lengths of the fragments of texts up to a length; longer texts have long fragments."""
_LONGEST_UNREPEATED = 256
_OCTETS = shake_128(b"ticdc-producer").digest((1 << _OFFSET_BITS) + _LONG_FRAGMENT)
_LETTERS = bytes(b"aehilmnoprstuvwy"[octet & 15] for octet in _OCTETS)


def draw(salt: int, of: Longs, block: int = 0) -> Hashes:
    """A hash of each number.

    :param salt: separates the hashes of different purposes (``GeneratePlan.salt``).
    :param block: index among several hashes of one number.
    """
    mixed = of.astype(np.uint64) * np.uint64(_GOLDEN)
    mixed += np.uint64((salt + block * _BLOCK) & _MASK)
    mixed ^= mixed >> np.uint64(30)
    mixed *= np.uint64(_FIRST)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(_SECOND)
    mixed ^= mixed >> np.uint64(31)
    return mixed


def share(drawn: Hashes) -> Reals:
    """Hashes as doubles from 0 (inclusive) to 1 (exclusive)."""
    return (drawn >> np.uint64(11)).astype(np.float64) * _UNIT


def happens(chance: float, drawn: Hashes) -> Flags:
    """Whether events of probability ``chance`` happen."""
    return (drawn >> np.uint64(11)) < np.uint64(ceil(chance * (1 << 53)))


def uniform(drawn: Hashes, count: int) -> Hashes:
    """0 … count-1, uniformly distributed; ``count`` is at most 2**64."""
    return drawn if count == 1 << 64 else drawn % np.uint64(count)


def uniform_of(drawn: Hashes, counts: Longs) -> Longs:
    """0 … count-1, uniformly distributed; 0 if a count is 0."""
    return (drawn % np.maximum(counts, 1).astype(np.uint64)).astype(np.int64)


def zipf(drawn: Hashes, counts: Longs | int, exponent: float) -> Longs:
    """0 … count-1; the frequency of ``n`` is about proportional to ``1 / (n + 1) ** exponent``.

    It is the continuous distribution of that density from 1 to ``count + 1``, truncated to integers.
    """
    ends = logarithm(np.atleast_1d(np.asarray(counts)).astype(np.float64) + 1.0)
    chance = share(drawn)
    if exponent == 1:
        found = exponential(ends * chance)
    else:
        rest = 1.0 - exponent
        area = (exponential(ends * rest) - 1.0) * chance + 1.0
        found = exponential(logarithm(area) / rest)
    rows: Longs = np.clip(found.astype(np.int64) - 1, 0, np.maximum(np.asarray(counts) - 1, 0))
    return rows


def normal(salt: int, of: Longs, counts: Longs | int) -> Longs:
    """0 … count-1, normally distributed around the middle; the standard deviation is ``count / 12``."""
    total = np.zeros(len(of), np.uint64)
    for block in range(12 // _PARTS):
        drawn = draw(salt, of, block)
        for part in range(_PARTS):
            total += (drawn >> np.uint64(_PART_BITS * part)) & np.uint64((1 << _PART_BITS) - 1)
    fine = share(draw(salt, of, -1)) * 12.0
    position = (total.astype(np.float64) + fine) / float(_BELL) * np.asarray(counts).astype(np.float64)
    found: Longs = np.minimum(position.astype(np.int64), np.asarray(counts) - 1)
    return found


def letters(salt: int, of: Longs, most: int, lengths: Longs | None = None) -> pa.Array:
    """Texts of lower-case letters, as binary; they repeat after 256 letters.

    :param most: their length.
    :param lengths: the length of each, at most ``most``; None: all have that length.
    """
    return _texts(_LETTERS, salt, of, most, lengths)


def octets(salt: int, of: Longs, most: int, lengths: Longs | None = None) -> pa.Array:
    """Byte strings; as ``letters``."""
    return _texts(_OCTETS, salt, of, most, lengths)


def _texts(pool: bytes, salt: int, of: Longs, most: int, lengths: Longs | None) -> pa.Array:
    columns = _fragments(pool, salt, of, min(most, _LONGEST_UNREPEATED))
    if most > _LONGEST_UNREPEATED:
        columns = np.tile(columns, (1, -(-most // _LONGEST_UNREPEATED)))[:, :most]
    if lengths is None:
        return binary_array(np.arange(len(of) + 1, dtype=np.int64) * most, columns)
    used = np.arange(most) < lengths[:, None]
    return binary_array(np.concatenate([[0], np.cumsum(lengths)]), columns[used])


def _fragments(pool: bytes, salt: int, of: Longs, most: int) -> Octets:
    """For each number, ``most`` bytes: fragments of a pool at offsets given by hashes."""
    size = next((size for longest, size in _FRAGMENTS if most <= longest), _LONG_FRAGMENT)
    offsets = np.empty((len(of), -(-most // size)), np.int64)
    for number in range(offsets.shape[1]):
        if number % _OFFSETS_PER_HASH == 0:
            drawn = draw(salt, of, number // _OFFSETS_PER_HASH)
        shift = np.uint64(_OFFSET_BITS * (number % _OFFSETS_PER_HASH))
        offsets[:, number] = (drawn >> shift) & np.uint64((1 << _OFFSET_BITS) - 1)
    if not offsets.size:
        return np.empty((len(of), most), np.uint8)
    fragments: Octets = _windows(pool, size).take(offsets).view(np.uint8)
    return fragments[:, :most]


@lru_cache
def _windows(pool: bytes, size: int) -> npt.NDArray[np.void]:
    """The fragment of a pool at each offset, as one element that is copied at once."""
    windows = np.lib.stride_tricks.sliding_window_view(np.frombuffer(pool, np.uint8), size)
    return np.ascontiguousarray(windows[: 1 << _OFFSET_BITS]).view(f"V{size}").ravel()


def binary_array(ends: Longs, data: Octets) -> pa.Array:
    """An Arrow array of byte strings.

    :param ends: 0, and the end of each value in the data.
    """
    offsets = pa.py_buffer(ends.astype(np.int32))
    return pa.Array.from_buffers(
        pa.binary(), len(ends) - 1, [None, offsets, pa.py_buffer(np.ascontiguousarray(data))]
    )
