"""Keyed permutations of whole numbers, on columns.

A number is replaced by another one of its class: a range that is the same for every column type which holds
the number. Equal numbers of columns with different types therefore stay equal, and every type holds its
results. In a class a Feistel network permutes numbers of an even number of bits; a result beyond the class is
permuted again, until it is in the class (cycle-walking). The round function is SipHash-1-3.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ticdc_producer.model.column_functions import Flags

Words = npt.NDArray[np.uint64]

_ROUNDS = 10
_INITIAL = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
_DIGITS = 20
BYTE_BOUNDS = tuple(sorted({0, *(1 << bits for size in (8, 16, 24, 32, 64) for bits in (size - 1, size))}))
"""Bounds of the classes of non-negative numbers: an integer type holds whole classes."""
_MAGNITUDE_BOUNDS = (1, *((1 << size - 1) + 1 for size in (8, 16, 24, 32, 64)))
"""Bounds of the absolute values of negative numbers."""
_POWERS = tuple(10**digits for digits in range(1, _DIGITS))
DIGIT_BOUNDS = tuple(sorted({*BYTE_BOUNDS, *_POWERS}))
"""Bounds within which numbers also have equally many digits."""
_MAGNITUDE_DIGIT_BOUNDS = tuple(sorted({*_MAGNITUDE_BOUNDS, *_POWERS}))
BIT_BOUNDS = (0, *(1 << bits for bits in range(1, 65)))
"""Bounds within which numbers have equally many bits, 0 and 1 in one class."""


@dataclass(frozen=True)
class CipherKey:
    """A secret key of 16 bytes, for one purpose."""

    secret: bytes

    @classmethod
    def derived(cls, secret: bytes, purpose: str) -> CipherKey:
        """Return the key of a purpose, which does not reveal that of another one.

        >>> CipherKey.derived(b"k", "a") == CipherKey.derived(b"k", "b")
        False
        """
        key = hashlib.blake2b(secret, digest_size=64).digest()
        return cls(hashlib.blake2b(purpose.encode(), key=key, digest_size=16).digest())

    def hashes(self, *words: Words) -> Words:
        """Return a keyed hash of each row of words: SipHash-1-3 without the length, which is always equal.

        >>> CipherKey(bytes(range(16))).hashes(np.array([1, 2], np.uint64)).tolist()
        [7874536210974321699, 10026990797890853194]
        """
        first, second = (int.from_bytes(part, "little") for part in (self.secret[:8], self.secret[8:]))
        shape = np.broadcast_shapes(*(word.shape for word in words))
        state = [
            np.full(shape, start ^ key, np.uint64)
            for start, key in zip(_INITIAL, (first, second) * 2, strict=True)
        ]
        for word in words:
            state[3] ^= word
            _mix(state)
            state[0] ^= word
        state[2] ^= np.uint64(0xFF)
        for _ in range(3):
            _mix(state)
        return state[0] ^ state[1] ^ state[2] ^ state[3]

    def digest(self, value: bytes, size: int) -> bytes:
        """Return a keyed hash of a value.

        :param size: number of bytes, up to 64.
        """
        return hashlib.blake2b(value, key=self.secret, digest_size=size).digest()


def _mix(state: list[Words]) -> None:
    a, b, c, d = state
    a += b
    b[:] = _rotated(b, 13) ^ a
    a[:] = _rotated(a, 32)
    c += d
    d[:] = _rotated(d, 16) ^ c
    a += d
    d[:] = _rotated(d, 21) ^ a
    c += b
    b[:] = _rotated(b, 17) ^ c
    c[:] = _rotated(c, 32)


def _rotated(words: Words, bits: int) -> Words:
    return words << np.uint64(bits) | words >> np.uint64(64 - bits)


def permuted_in(key: CipherKey, numbers: Words, bounds: Sequence[int], tweak: int = 0) -> Words:
    """Permute numbers within their classes.

    :param numbers: from the first bound to below the last one.
    :param bounds: the first number of each class, ascending, and the number after the last class.
    :param tweak: equal numbers of different tweaks have unrelated results.
    :raises ValueError: for a number outside of all classes.

    >>> key = CipherKey(bytes(16))
    >>> sorted(permuted_in(key, np.arange(10, dtype=np.uint64), (0, 4, 10)).tolist()[:4])
    [0, 1, 2, 3]
    """
    if len(numbers) and not bounds[0] <= int(numbers.min()) <= int(numbers.max()) < bounds[-1]:
        raise ValueError("a number is outside of all classes")
    results = numbers.copy()
    starts = np.array(bounds[:-1], np.uint64)
    classes = np.searchsorted(starts, numbers, side="right") - 1
    for number in np.unique(classes).tolist():
        own = np.flatnonzero(classes == number)
        first, size = bounds[number], bounds[number + 1] - bounds[number]
        salt = tweak << 8 | number
        results[own] = _walked(key, numbers[own] - np.uint64(first), size, salt) + np.uint64(first)
    return results


def _walked(key: CipherKey, numbers: Words, size: int, salt: int) -> Words:
    """Permute numbers below ``size``.

    >>> _walked(CipherKey(bytes(16)), np.arange(10, dtype=np.uint64), 10, 7).tolist()
    [5, 7, 2, 8, 4, 6, 9, 0, 3, 1]
    """
    half = max((size - 1).bit_length() + 1, 2) // 2
    results, inside = numbers.copy(), np.zeros(len(numbers), np.bool_)
    while not inside.all():
        rest = np.flatnonzero(~inside)
        results[rest] = _feistel(key, results[rest], half, salt)
        inside[rest] = results[rest] <= np.uint64(size - 1)
    return results


def _feistel(key: CipherKey, numbers: Words, half: int, salt: int) -> Words:
    """Permute numbers of two halves of bits.

    >>> _feistel(CipherKey(bytes(16)), np.arange(4, dtype=np.uint64), 1, 7).tolist()
    [1, 3, 0, 2]
    """
    mask = np.uint64((1 << half) - 1)
    high, low = numbers >> np.uint64(half), numbers & mask
    for number in range(_ROUNDS):
        constant = np.array([(salt << 8 | number) & (1 << 64) - 1], np.uint64)
        high, low = low, high ^ key.hashes(low, constant) & mask
    return high << np.uint64(half) | low


def permuted_integers(
    key: CipherKey, magnitudes: Words, negative: Flags, *, keeps_digits: bool = False
) -> Words:
    """Return the absolute values of permuted integers; the signs stay.

    :param keeps_digits: whether each number keeps its number of digits.
    """
    results = magnitudes.copy()
    positive, below = (
        (DIGIT_BOUNDS, _MAGNITUDE_DIGIT_BOUNDS) if keeps_digits else (BYTE_BOUNDS, _MAGNITUDE_BOUNDS)
    )
    for side, bounds in ((~negative, positive), (negative, below)):
        if side.any():
            results[side] = permuted_in(key, magnitudes[side], bounds, 1 + int(bounds is below))
    return results
