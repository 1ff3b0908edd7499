"""A stretch of a message, read from its start; nothing is believed before it is checked.

Numbers that claim more than the stretch can hold are refused before anything is made of them, so a
message costs time and memory by its own length, not by what it says.
"""

from __future__ import annotations

from itertools import accumulate

from ticdc_producer.errors import DecodeError
from ticdc_producer.protocols.craft.varint import UINT64

_LONGEST = 10
_SIGN = 1 << 63


def refused(code: str, expected: str, byte: int) -> DecodeError:
    """An error of the value; the key of a Craft message carries nothing."""
    return DecodeError(code, expected, part="value", byte=byte)


def uvarint_at(data: bytes, place: int, end: int) -> tuple[int, int]:
    """The number that stands at ``place``, and the place behind it.

    :raises DecodeError: if it is cut off at ``end`` or does not fit into 64 bits.
    """
    if place < end and data[place] < 0x80:
        return data[place], place + 1
    number = 0
    for count, byte in enumerate(data[place : min(end, place + _LONGEST)]):
        number |= (byte & 0x7F) << 7 * count
        if byte < 0x80:
            if number > UINT64:
                break
            return number, place + count + 1
    raise refused("CRAFT-VARINT", "a number of 64 bits, complete", place)


def unzigzag(number: int) -> int:
    """The signed number that a zig-zag number stands for."""
    return number >> 1 ^ -(number & 1)


class Section:
    """Reads numbers and texts from ``data[place:end]``."""

    __slots__ = ("data", "end", "place")

    def __init__(self, data: bytes, place: int, end: int) -> None:
        self.data = data
        self.place = place
        self.end = end

    @property
    def left(self) -> int:
        return self.end - self.place

    def uvarint(self) -> int:
        number, self.place = uvarint_at(self.data, self.place, self.end)
        return number

    def uvarints(self, count: int) -> list[int]:
        """A chunk of unsigned numbers."""
        chunk = self.data[self.place : min(self.end, self.place + count)]
        if len(chunk) == count and chunk.isascii():
            self.place += count
            return list(chunk)
        data, place, last = self.data, self.place, self.end - 1
        numbers = []
        for _ in range(count):
            # Nearly all are of one byte or two.
            first = data[place] if place < last else 0x80
            second = data[place + 1] if first >= 0x80 and place < last else 0x80
            if first < 0x80:
                number, place = first, place + 1
            elif second < 0x80:
                number, place = first & 0x7F | second << 7, place + 2
            else:
                number, place = uvarint_at(data, place, self.end)
            numbers.append(number)
        self.place = place
        return numbers

    def varints(self, count: int) -> list[int]:
        """A chunk of signed numbers."""
        return [unzigzag(number) for number in self.uvarints(count)]

    def delta_uvarints(self, count: int) -> list[int]:
        """A chunk of unsigned numbers that was written as differences, modulo 2^64."""
        return list(accumulate(self.uvarints(count), lambda total, step: (total + step) & UINT64))

    def delta_varints(self, count: int) -> list[int]:
        """A chunk of signed numbers that was written as differences, which wrap at 64 bits."""
        return list(accumulate(self.varints(count), _wrapped_sum))

    def take(self, length: int, code: str) -> bytes:
        """The next bytes.

        :raises DecodeError: if there are not so many.
        """
        if length > self.left:
            raise refused(code, f"a length of at most {self.left}, not {length}", self.place)
        start = self.place
        self.place += length
        return self.data[start : self.place]

    def text(self, length: int, code: str) -> str:
        """The next bytes as UTF-8."""
        start = self.place
        try:
            return self.take(length, code).decode()
        except UnicodeDecodeError as error:
            raise refused(code, "UTF-8", start + error.start) from None

    def count(self, smallest: int, code: str) -> int:
        """A number of things that follow, one at least.

        :param smallest: bytes that each of them takes at least.
        :raises DecodeError: if they cannot fit.
        """
        start, count = self.place, self.uvarint()
        if not 1 <= count <= self.left // smallest:
            raise refused(code, f"a count of 1 … {self.left // smallest}, not {count}", start)
        return count

    def finish(self, code: str) -> None:
        if self.left:
            raise refused(code, f"the end, not {self.left} bytes more", self.place)


def _wrapped_sum(total: int, step: int) -> int:
    return (total + step + _SIGN & UINT64) - _SIGN
