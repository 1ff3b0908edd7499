"""Reads messages that contain bytes which are not UTF-8.

TiCDC copies such bytes of text columns unchanged, and no JSON parser accepts them. While a message is
parsed, each of them is replaced by a code point that the message does not use.
"""

from __future__ import annotations

from dataclasses import dataclass

from ticdc_producer.errors import DecodeError

_BLOCK_BITS = 7
_PRIVATE_BLOCKS = range(0xF0000 >> _BLOCK_BITS, 0x110000 >> _BLOCK_BITS)
_FIRST_BAD_BYTE = 0xDC80  # Python's surrogateescape of byte 0x80


@dataclass(frozen=True, slots=True)
class Escapes:
    """The 128 code points that replace the bytes 0x80 to 0xff.

    :param first: the code point of byte 0x80.
    """

    first: int

    def occur_in(self, text: str) -> bool:
        """Return whether a text contains any of them."""
        return any(self.first <= ord(char) < self.first + 128 for char in text)

    def unescape(self, value: bytes) -> bytes:
        """Return the original bytes of an escaped text."""
        bytes_of = {self.first + i: _FIRST_BAD_BYTE + i for i in range(128)}
        return value.decode().translate(bytes_of).encode("utf-8", "surrogateescape")

    def replaced(self, text: str) -> str:
        """Return the text with U+FFFD instead of the escapes."""
        return text.translate(dict.fromkeys(range(self.first, self.first + 128), "\ufffd"))


def escape(part: str, data: bytes, code: str) -> tuple[bytes, Escapes | None]:
    """Return the message as valid UTF-8, and the escapes that it now contains; None if it was valid before.

    :param part: ``key`` or ``value``, for errors.
    :param code: code of the error.
    :raises DecodeError: if no block of private code points is free.
    """
    try:
        data.decode()
    except UnicodeDecodeError as bad:
        text = data.decode("utf-8", "surrogateescape")
        used = {ord(char) >> _BLOCK_BITS for char in text if char >= "\U000f0000"}
        free = next((block for block in _PRIVATE_BLOCKS if block not in used), None)
        if free is None:
            raise DecodeError(code, "UTF-8", part=part, byte=bad.start) from None
        first = free << _BLOCK_BITS
        escapes = {_FIRST_BAD_BYTE + i: first + i for i in range(128)}
        return text.translate(escapes).encode(), Escapes(first)
    return data, None
