"""Avro's binary form of whole records back to values, by a schema.

Nothing is believed before it is checked: a length that claims more than there is, is refused before anything
is made of it, and a fault has its place. (fastavro reads the same form, but takes negative lengths, and of a
damaged message it says no place.)
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TypeAlias

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.event import Value

_LONGEST = 10
_FLOAT, _DOUBLE = struct.Struct("<f"), struct.Struct("<d")


class Cursor:
    """A place in a message part, which only moves forward.

    :param part: ``key`` or ``value``, for errors.
    :param protocol: what their codes begin with.
    """

    __slots__ = ("data", "part", "place", "protocol")

    def __init__(self, data: bytes, part: str, place: int = 0, protocol: str = "AVRO") -> None:
        self.data = data
        self.part = part
        self.place = place
        self.protocol = protocol

    def error(self, code: str, expected: str) -> DecodeError:
        byte = min(self.place, len(self.data))
        return DecodeError(f"{self.protocol}-{code}", expected, part=self.part, byte=byte)

    def long(self) -> int:
        """A number of 64 bits."""
        number = 0
        for count, byte in enumerate(self.data[self.place : self.place + _LONGEST]):
            number |= (byte & 0x7F) << 7 * count
            if byte < 0x80:
                if number >> 64:
                    break
                self.place += count + 1
                return number >> 1 ^ -(number & 1)
        raise self.error("LONG", "a number of 64 bits, complete")

    def taken(self, size: int) -> bytes:
        """So many bytes."""
        if not 0 <= size <= len(self.data) - self.place:
            raise self.error("SHORT", f"{size} bytes more" if size >= 0 else "a length")
        start, self.place = self.place, self.place + size
        return self.data[start : self.place]

    def counted(self) -> bytes:
        """A text or byte string with its length before it."""
        return self.taken(self.long())

    def binary32(self) -> float:
        return float(_FLOAT.unpack(self.taken(_FLOAT.size))[0])

    def binary64(self) -> float:
        return float(_DOUBLE.unpack(self.taken(_DOUBLE.size))[0])

    def end(self) -> None:
        """:raises DecodeError: if anything is left."""
        if self.place < len(self.data):
            raise self.error("END", "the end of the record")


Reader: TypeAlias = Callable[[Cursor], Value]
