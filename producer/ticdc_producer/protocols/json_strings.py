"""Escaping JSON strings whole columns at a time; the printers of Go differ in what they escape, and how."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.protocols.arrow_text import Pieces, contents, mapped, quoted

_FIRST_PRINTABLE = 0x20


class JSONStrings:
    """One printer.

    :param escapes: characters and what is printed for them.
    :param bad_byte: what is printed for a byte that is not part of valid UTF-8; None where it is copied.
    """

    def __init__(self, escapes: Mapping[str, str], bad_byte: str | None) -> None:
        # A replacement holds no character that is replaced after it: the backslash goes first.
        ordered = sorted(escapes.items(), key=lambda each: each[0] != "\\")
        self._escapes = {char.encode(): text.encode() for char, text in ordered}
        self._controls = [char for char in self._escapes if char < b" "]
        self._signs = [char for char in self._escapes if char >= b" " and char.isascii()]
        self._wide = [char for char in self._escapes if not char.isascii()]
        self._bad_byte = bad_byte

    def literals(self, texts: pa.Array) -> Pieces:
        """String literals of a column."""
        return quoted(self.escaped(texts))

    def literal(self, text: str) -> bytes:
        """One string literal."""
        return b'"' + self._escape(text.encode()) + b'"'

    def escaped(self, texts: pa.Array) -> pa.Array:
        """The inside of the literals."""
        content = contents(texts)
        if self._bad_byte is not None and not content.isascii() and not _is_valid(texts):
            return mapped(texts, self._escape_any)
        for char in self._found(content):
            texts = pc.replace_substring(texts, char, self._escapes[char])
        return texts

    def _found(self, content: bytes) -> Iterator[bytes]:
        """The characters of a column that are escaped, in the order in which they are replaced.

        Most columns have none, which is what this is quick to see.
        """
        yield from (char for char in self._signs if char in content)
        # Looking for several bytes takes sixty times as long as for one.
        if self._wide and not content.isascii():
            yield from (char for char in self._wide if char in content)
        if content and np.frombuffer(content, np.uint8).min() < _FIRST_PRINTABLE:
            yield from (char for char in self._controls if char in content)

    def _escape(self, text: bytes) -> bytes:
        for char in self._found(text):
            text = text.replace(char, self._escapes[char])
        return text

    def _escape_any(self, text: bytes) -> bytes:
        return self._escape(text).decode("utf-8", "surrogateescape").translate(self._bad_bytes).encode()

    @cached_property
    def _bad_bytes(self) -> Mapping[int, str]:
        """Python's surrogateescape stands for exactly one bad byte each, as Go counts them."""
        return dict.fromkeys(range(0xDC80, 0xDD00), self._bad_byte or "")


def _is_valid(texts: pa.Array) -> bool:
    """Whether every text is UTF-8."""
    try:
        texts.cast(pa.string())
    except pa.ArrowInvalid:
        return False
    return True
