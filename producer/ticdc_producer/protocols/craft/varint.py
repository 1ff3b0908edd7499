"""Craft's integers and the chunks made of them, written.

``uvarint`` is LEB128, ``varint`` the same of a zig-zag number; a chunk is its elements without a count.
Columns of numbers are written by ``chunks``. Source: tiflow ``message_encoder.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

UINT64 = (1 << 64) - 1


def uvarint(number: int) -> bytes:
    """An unsigned 64-bit number, 1 … 10 bytes."""
    if number < 0x80:
        return bytes((number,))
    written = bytearray()
    while number >= 0x80:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    written.append(number)
    return bytes(written)


def varint(number: int) -> bytes:
    """A signed 64-bit number."""
    return uvarint(number << 1 ^ number >> 63)


def uvarint_chunk(numbers: Iterable[int]) -> bytes:
    return b"".join(map(uvarint, numbers))


def delta_uvarint_chunk(numbers: Sequence[int]) -> bytes:
    """The first number, then each difference to the one before it, modulo 2^64."""
    return uvarint_chunk(step & UINT64 for step in _steps(numbers))


def delta_varint_chunk(numbers: Sequence[int]) -> bytes:
    """The first number, then each difference to the one before it.

    :param numbers: none beyond 63 bits.
    """
    return b"".join(map(varint, _steps(numbers)))


def _steps(numbers: Sequence[int]) -> Iterator[int]:
    return (after - before for before, after in pairwise((0, *numbers)))
