"""Craft's integers and the chunks made of them, written.

``uvarint`` is LEB128, ``varint`` the same of a zig-zag number; a chunk is its elements without a count.
Source: tiflow ``message_encoder.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import sub

UINT64 = (1 << 64) - 1
_SHORT_LIMIT = 1 << 14


class _Short(dict[int, bytes]):
    """Numbers of up to 14 bits, written when first met: one byte or two."""

    def __missing__(self, number: int) -> bytes:
        few = bytes((number,)) if number < 0x80 else bytes((number & 0x7F | 0x80, number >> 7))
        self[number] = few
        return few


class _Continued(dict[int, bytes]):
    """14 bits that more bits follow: always two bytes."""

    def __missing__(self, number: int) -> bytes:
        self[number] = pair = bytes((number & 0x7F | 0x80, number >> 7 | 0x80))
        return pair


_SHORT = _Short()
_CONTINUED = _Continued()


def uvarint(number: int) -> bytes:
    """An unsigned 64-bit number, 1 … 10 bytes."""
    if number < _SHORT_LIMIT:
        return _SHORT[number]
    head = b""
    while number >= _SHORT_LIMIT:
        head += _CONTINUED[number & 0x3FFF]
        number >>= 14
    return head + _SHORT[number]


def varint(number: int) -> bytes:
    """A signed 64-bit number."""
    return uvarint(number << 1 ^ number >> 63)


def uvarints(numbers: Sequence[int]) -> list[bytes]:
    """Each of many unsigned numbers."""
    return [_SHORT[number] if number < _SHORT_LIMIT else uvarint(number) for number in numbers]


def varints(numbers: Sequence[int]) -> list[bytes]:
    """Each of many signed numbers."""
    return uvarints([number << 1 ^ number >> 63 for number in numbers])


def uvarint_chunk(numbers: Sequence[int]) -> bytes:
    return b"".join(uvarints(numbers))


def delta_uvarint_chunk(numbers: Sequence[int]) -> bytes:
    """The first number, then each difference to the one before it, modulo 2^64.

    :param numbers: one at least.
    """
    first = uvarint(numbers[0])
    return first + (_unchanged(numbers) or uvarint_chunk([step & UINT64 for step in _steps(numbers)]))


def delta_varint_chunk(numbers: Sequence[int]) -> bytes:
    """The first number, then each difference to the one before it.

    :param numbers: one at least, none beyond 63 bits.
    """
    first = varint(numbers[0])
    return first + (_unchanged(numbers) or b"".join(varints(_steps(numbers))))


def _unchanged(numbers: Sequence[int]) -> bytes:
    """The differences of equal numbers, as most chunks of a header hold them; empty for any other."""
    return bytes(len(numbers) - 1) if numbers.count(numbers[0]) == len(numbers) else b""


def _steps(numbers: Sequence[int]) -> list[int]:
    return list(map(sub, numbers[1:], numbers))
