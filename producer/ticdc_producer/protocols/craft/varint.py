"""Encodes Craft's integers and chunks of integers.

``uvarint`` is LEB128, ``varint`` is LEB128 of the zig-zag number. A chunk is its elements without a count.
``chunks`` encodes whole columns of numbers. Source: tiflow ``message_encoder.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

UINT64 = (1 << 64) - 1


def uvarint(number: int) -> bytes:
    """An unsigned 64-bit number, 1 … 10 bytes."""
    if number < 0x80:
        return bytes((number,))
    encoded = bytearray()
    while number >= 0x80:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def varint(number: int) -> bytes:
    """A signed 64-bit number."""
    return uvarint(number << 1 ^ number >> 63)


def uvarint_chunk(numbers: Iterable[int]) -> bytes:
    return b"".join(map(uvarint, numbers))


def delta_uvarint_chunk(numbers: Sequence[int]) -> bytes:
    """The first number, then the differences of consecutive numbers, modulo 2^64."""
    return uvarint_chunk(step & UINT64 for step in _differences(numbers))


def delta_varint_chunk(numbers: Sequence[int]) -> bytes:
    """The first number, then the differences of consecutive numbers.

    :param numbers: at most 63 bits each.
    """
    return b"".join(map(varint, _differences(numbers)))


def _differences(numbers: Sequence[int]) -> Iterator[int]:
    return (after - before for before, after in pairwise((0, *numbers)))
