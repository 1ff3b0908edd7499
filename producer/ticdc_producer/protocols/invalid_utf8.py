"""Messages that hold bytes which are not UTF-8.

TiCDC copies such bytes of text columns as they are, and no JSON reader takes them. While a message is
read, each stands as a code point that the message does not use.
"""

from __future__ import annotations

from dataclasses import dataclass

from ticdc_producer.errors import DecodeError

_BLOCK_BITS = 7
_PRIVATE_BLOCKS = range(0xF0000 >> _BLOCK_BITS, 0x110000 >> _BLOCK_BITS)
_FIRST_BAD_BYTE = 0xDC80  # how Python's surrogateescape shows byte 0x80


@dataclass(frozen=True, slots=True)
class Marks:
    """128 code points from ``first`` on, for the bytes 0x80 to 0xff."""

    first: int

    def stands_in(self, text: str) -> bool:
        """Whether a text holds any of them."""
        return any(self.first <= ord(char) < self.first + 128 for char in text)

    def restored(self, value: bytes) -> bytes:
        """The bytes that a text stood for."""
        back = {self.first + i: _FIRST_BAD_BYTE + i for i in range(128)}
        return value.decode().translate(back).encode("utf-8", "surrogateescape")

    def replaced(self, text: str) -> str:
        """The text with U+FFFD in their places."""
        return text.translate(dict.fromkeys(range(self.first, self.first + 128), "\ufffd"))


def readable(part: str, data: bytes, code: str) -> tuple[bytes, Marks | None]:
    """The message as UTF-8, and the marks in it if it was not that before.

    :param code: of the error.
    :raises DecodeError: if it uses every code point that could be a mark.
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
        forth = {_FIRST_BAD_BYTE + i: first + i for i in range(128)}
        return text.translate(forth).encode(), Marks(first)
    return data, None
