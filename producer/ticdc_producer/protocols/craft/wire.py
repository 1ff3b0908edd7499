"""Craft's constants and integers: written, and read with every number checked before it is used.

``uvarint`` is LEB128, ``varint`` is LEB128 of the zig-zag number. A chunk is its elements without a count.
``arrow_text`` encodes whole columns of numbers. Source: tiflow ``message_encoder.go``.

A number that claims more than the section can contain is rejected before anything is allocated. The time
and memory that a message costs therefore depend on its length, not on its content.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise

from ticdc_producer.errors import DecodeError

VERSION = 1

NEW_VALUES = 1
OLD_VALUES = 2
"""Types of column groups."""

NO_PARTITION = -1
NO_NAME = -1


UINT64 = (1 << 64) - 1


def uvarint(number: int) -> bytes:
    """Encode an unsigned 64-bit number in 1 … 10 bytes."""
    if number < 0x80:
        return bytes((number,))
    encoded = bytearray()
    while number >= 0x80:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def varint(number: int) -> bytes:
    """Encode a signed 64-bit number."""
    return uvarint(number << 1 ^ number >> 63)


def uvarint_chunk(numbers: Iterable[int]) -> bytes:
    return b"".join(map(uvarint, numbers))


def delta_varint_chunk(numbers: Sequence[int]) -> bytes:
    """Encode the first number, then the differences of consecutive numbers.

    >>> delta_varint_chunk([5, 4])
    b'\\n\\x01'

    :param numbers: at most 63 bits each.
    """
    return b"".join(map(varint, _differences(numbers)))


def _differences(numbers: Sequence[int]) -> Iterator[int]:
    return (after - before for before, after in pairwise((0, *numbers)))


_MAX_VARINT_BYTES = 10
_SIGN = 1 << 63


def rejected(code: str, expected: str, byte: int) -> DecodeError:
    """Return an error in a message value; the key of a Craft message is empty."""
    return DecodeError(code, expected, part="value", byte=byte)


def uvarint_at(data: bytes, position: int, end: int) -> tuple[int, int]:
    """Return the number at ``position``, and the position after it.

    :raises DecodeError: if it is truncated at ``end``, is larger than 64 bits, or has needless bytes.
    """
    if position < end and data[position] < 0x80:
        return data[position], position + 1
    number = 0
    for count, byte in enumerate(data[position : min(end, position + _MAX_VARINT_BYTES)]):
        number |= (byte & 0x7F) << 7 * count
        if byte < 0x80:
            if number > UINT64 or (count and not byte):
                break
            return number, position + count + 1
    raise rejected("CRAFT-VARINT", "a number of 64 bits, complete, without needless bytes", position)


def unzigzag(number: int) -> int:
    """Return the signed number of a zig-zag encoded number."""
    return number >> 1 ^ -(number & 1)


class ByteReader:
    """A reader of numbers and texts from ``data[position:end]``."""

    __slots__ = ("data", "end", "position")

    def __init__(self, data: bytes, position: int, end: int) -> None:
        self.data = data
        self.position = position
        self.end = end

    @property
    def remaining(self) -> int:
        return self.end - self.position

    def uvarint(self) -> int:
        number, self.position = uvarint_at(self.data, self.position, self.end)
        return number

    def uvarints(self, count: int) -> list[int]:
        """Read a chunk of unsigned numbers."""
        chunk = self.data[self.position : min(self.end, self.position + count)]
        if len(chunk) == count and chunk.isascii():
            self.position += count
            return list(chunk)
        data, position, last = self.data, self.position, self.end - 1
        numbers = []
        for _ in range(count):
            # Nearly all numbers have one byte or two.
            first = data[position] if position < last else 0x80
            second = data[position + 1] if first >= 0x80 and position < last else 0x80
            if first < 0x80:
                number, position = first, position + 1
            elif 0 < second < 0x80:
                number, position = first & 0x7F | second << 7, position + 2
            else:
                number, position = uvarint_at(data, position, self.end)
            numbers.append(number)
        self.position = position
        return numbers

    def varints(self, count: int) -> list[int]:
        """Read a chunk of signed numbers."""
        return [unzigzag(number) for number in self.uvarints(count)]

    def delta_uvarints(self, count: int) -> list[int]:
        """Read a chunk of unsigned numbers encoded as differences modulo 2^64."""
        return list(accumulate(self.uvarints(count), lambda total, step: (total + step) & UINT64))

    def delta_varints(self, count: int) -> list[int]:
        """Read a chunk of signed numbers encoded as differences, which wrap at 64 bits."""
        return list(accumulate(self.varints(count), _wrapped_sum))

    def take(self, length: int, code: str) -> bytes:
        """Read the next bytes.

        :param code: error code.
        :raises DecodeError: if fewer are left.
        """
        if length > self.remaining:
            raise rejected(code, f"a length of at most {self.remaining}, not {length}", self.position)
        start = self.position
        self.position += length
        return self.data[start : self.position]

    def text(self, length: int, code: str) -> str:
        """Read the next bytes as UTF-8."""
        start = self.position
        try:
            return self.take(length, code).decode()
        except UnicodeDecodeError as error:
            raise rejected(code, "UTF-8", start + error.start) from None

    def count(self, smallest: int, code: str) -> int:
        """Read the number of items that follow, at least one.

        :param smallest: minimum bytes of an item.
        :param code: error code.
        :raises DecodeError: if they cannot fit.
        """
        start, count = self.position, self.uvarint()
        if not 1 <= count <= self.remaining // smallest:
            raise rejected(code, f"a count of 1 … {self.remaining // smallest}, not {count}", start)
        return count

    def finish(self, code: str) -> None:
        if self.remaining:
            raise rejected(code, f"the end, not {self.remaining} bytes more", self.position)


def _wrapped_sum(total: int, step: int) -> int:
    return (total + step + _SIGN & UINT64) - _SIGN
