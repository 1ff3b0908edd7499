"""Splits a framed message into its blocks; every length is checked before it is used.

Compressed values are printed decompressed.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct

from ticdc_producer.errors import DecodeError
from ticdc_producer.protocols import go_quote
from ticdc_producer.protocols.compression import Decompressor

LENGTH = Struct(">Q")
VERSION = LENGTH.pack(1)


_LENGTH = LENGTH.size
_length = LENGTH.unpack_from


class FrameReader:
    """Reads the length-prefixed blocks of a key or value.

    :param part: ``key`` or ``value``, for errors.
    """

    __slots__ = ("_data", "_part", "_size", "position")

    def __init__(self, part: str, data: bytes) -> None:
        self._part = part
        self._data = data
        self._size = len(data)
        self.position = 0

    @property
    def at_end(self) -> bool:
        return self.position >= self._size

    def version(self) -> None:
        if self._data.startswith(VERSION):
            self.position = _LENGTH
            return
        if len(self._data) < LENGTH.size:
            raise DecodeError("OPEN-KEY-SHORT", "8 bytes of protocol version", part=self._part, byte=0)
        version = self._number()
        if version != 1:
            raise DecodeError("OPEN-VERSION", f"version 1, not {version}", part=self._part, byte=0)

    def next(self) -> bytes:
        """The next block.

        :raises DecodeError: if its length or the block itself is truncated.
        """
        start, data, size = self.position, self._data, self._size
        body = start + _LENGTH
        if size < body:
            raise self._truncated(start, "8 bytes of length")
        (length,) = _length(data, start)
        end = body + length
        if size < end:
            raise self._truncated(start, f"a length of at most {size - body}, not {length}")
        self.position = end
        return data[body:end]

    def _number(self) -> int:
        (number,) = LENGTH.unpack_from(self._data, self.position)
        self.position += LENGTH.size
        return int(number)

    def _truncated(self, byte: int, expected: str) -> DecodeError:
        return DecodeError(f"OPEN-{self._part.upper()}-TRUNCATED", expected, part=self._part, byte=byte)


def log_lines(partition: int, key: bytes, value: bytes) -> Iterator[str]:
    """``[partition=P] [key="…"] [value="…"]`` of every event of a message.

    :raises DecodeError: for a truncated frame.
    """
    keys, values, decompressor = FrameReader("key", key), FrameReader("value", value), Decompressor()
    keys.version()
    while not keys.at_end:
        json, content = keys.next(), b"" if values.at_end else values.next()
        text = _quoted(decompressor.text(content, "value")) if content else ""
        yield f"[partition={partition}] [key={_quoted(json)}] [value={text}]"


def _quoted(json: bytes) -> str:
    return f'"{go_quote.quote(json).decode()}"'
