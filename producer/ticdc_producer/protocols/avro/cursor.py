"""Reads primitive values of Avro's binary encoding.

Input is checked before it is used: a length beyond the end of the message is refused before anything is
allocated, and errors have a byte position. (fastavro reads the same encoding, but accepts negative lengths,
and its errors have no position.)
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TypeAlias

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.event import Value

_MAX_VARINT_SIZE = 10
_FLOAT, _DOUBLE = struct.Struct("<f"), struct.Struct("<d")


class AvroCursor:
    """A position in a message part, which only moves forward.

    :param part: ``key`` or ``value``, for errors.
    :param protocol: prefix of error codes.
    """

    __slots__ = ("data", "part", "position", "protocol")

    def __init__(self, data: bytes, part: str, position: int = 0, protocol: str = "AVRO") -> None:
        self.data = data
        self.part = part
        self.position = position
        self.protocol = protocol

    def error(self, code: str, expected: str) -> DecodeError:
        byte = min(self.position, len(self.data))
        return DecodeError(f"{self.protocol}-{code}", expected, part=self.part, byte=byte)

    def long(self) -> int:
        """Read an Avro ``int`` or ``long``."""
        number = 0
        for count, byte in enumerate(self.data[self.position : self.position + _MAX_VARINT_SIZE]):
            number |= (byte & 0x7F) << 7 * count
            if byte < 0x80:
                if number >> 64:
                    break
                self.position += count + 1
                return number >> 1 ^ -(number & 1)
        raise self.error("LONG", "a number of 64 bits, complete")

    def take(self, size: int) -> bytes:
        """Read ``size`` bytes."""
        if not 0 <= size <= len(self.data) - self.position:
            raise self.error("SHORT", f"{size} bytes more" if size >= 0 else "a length")
        start, self.position = self.position, self.position + size
        return self.data[start : self.position]

    def length_prefixed(self) -> bytes:
        """Read an Avro ``string`` or ``bytes``: a length and as many bytes."""
        return self.take(self.long())

    def binary32(self) -> float:
        return float(_FLOAT.unpack(self.take(_FLOAT.size))[0])

    def binary64(self) -> float:
        return float(_DOUBLE.unpack(self.take(_DOUBLE.size))[0])

    def end(self) -> None:
        """:raises DecodeError: if there are bytes left."""
        if self.position < len(self.data):
            raise self.error("END", "the end of the record")


Reader: TypeAlias = Callable[[AvroCursor], Value]
