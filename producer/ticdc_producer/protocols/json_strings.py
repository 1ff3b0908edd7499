"""Escapes JSON strings, whole columns at a time. Go's JSON libraries differ in what they escape, and how."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.protocols.arrow_text import Fragments, contents, map_values, quoted

_FIRST_PRINTABLE = 0x20


class JSONStrings:
    """The string format of one JSON library.

    :param escapes: maps a character to its escape.
    :param bad_byte: text for a byte that is not part of valid UTF-8; None if such bytes are copied.
    """

    def __init__(self, escapes: Mapping[str, str], bad_byte: str | None) -> None:
        # No escape contains a character that is replaced later: the backslash is replaced first.
        ordered = sorted(escapes.items(), key=lambda each: each[0] != "\\")
        self._escapes = {char.encode(): text.encode() for char, text in ordered}
        self._controls = [char for char in self._escapes if char < b" "]
        self._signs = [char for char in self._escapes if char >= b" " and char.isascii()]
        self._wide = [char for char in self._escapes if not char.isascii()]
        self._bad_byte = bad_byte

    def literals(self, texts: pa.Array) -> Fragments:
        """String literals of a column."""
        return quoted(self.escaped(texts))

    def literal(self, text: str) -> bytes:
        """One string literal."""
        return b'"' + self._escape(text.encode()) + b'"'

    def escaped(self, texts: pa.Array) -> pa.Array:
        """The contents of the literals, without quotes."""
        content = contents(texts)
        if self._bad_byte is not None and not content.isascii() and not _is_valid(texts):
            return map_values(texts, self._escape_any)
        for char in self._characters_to_escape(content):
            texts = pc.replace_substring(texts, char, self._escapes[char])
        return texts

    def _characters_to_escape(self, content: bytes) -> Iterator[bytes]:
        """The characters of a column that must be escaped, in the order of their replacement.

        Most columns have none, which this finds out quickly.
        """
        yield from (char for char in self._signs if char in content)
        # A search for several bytes takes sixty times as long as for one.
        if self._wide and not content.isascii():
            yield from (char for char in self._wide if char in content)
        if content and np.frombuffer(content, np.uint8).min() < _FIRST_PRINTABLE:
            yield from (char for char in self._controls if char in content)

    def _escape(self, text: bytes) -> bytes:
        for char in self._characters_to_escape(text):
            text = text.replace(char, self._escapes[char])
        return text

    def _escape_any(self, text: bytes) -> bytes:
        return self._escape(text).decode("utf-8", "surrogateescape").translate(self._bad_bytes).encode()

    @cached_property
    def _bad_bytes(self) -> Mapping[int, str]:
        """Python's surrogateescape has one code point per invalid byte, as Go counts them."""
        return dict.fromkeys(range(0xDC80, 0xDD00), self._bad_byte or "")


def _is_valid(texts: pa.Array) -> bool:
    """Whether every text is UTF-8."""
    try:
        texts.cast(pa.string())
    except pa.ArrowInvalid:
        return False
    return True
