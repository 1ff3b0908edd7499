"""Weights of characters under TiDB's collations: the bytes that each contributes to a sort key.

A table in ``weights/`` is read when a text is first compared under its collation.
``tests/model/collation_tables.py`` writes them. Content of a table, xz: the number of characters from U+0000
(4 bytes, big-endian), the length of each one's weights (a byte), the weights. Source of the rules: tidb
``pkg/util/collate``.
"""

from __future__ import annotations

import lzma
from abc import ABC, abstractmethod
from array import array
from functools import cache
from importlib.resources import files
from itertools import accumulate

_UCA_9 = "utf8mb4_0900_ai_ci"
_EURO = 0x20AC
_PRIVATE_USE = range(0xE000, 0xF900)


class Weights(dict[str, bytes], ABC):
    """The weights of each character, read when it is first needed."""

    def __missing__(self, character: str) -> bytes:
        self[character] = weights = self._read(ord(character))
        return weights

    @abstractmethod
    def _read(self, code: int) -> bytes:
        """The weights of a code point."""


class _Table(Weights):
    """A table of ``weights/``.

    The characters behind its end are equal to its last one; in UCA 9.0 they have implicit weights, as if they
    were not assigned.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        content = lzma.decompress(files(__package__).joinpath("weights", f"{name}.xz").read_bytes())
        self._name = name
        self._count = int.from_bytes(content[:4], "big")
        self._lengths, self._weights = content[4 : 4 + self._count], content[4 + self._count :]
        self._ends = array("L", accumulate(self._lengths))

    def _read(self, code: int) -> bytes:
        if code >= self._count:
            if self._name == _UCA_9:
                return bytes([0xFB, 0xC0 + (code >> 15), 0x80 | code >> 8 & 0x7F, code & 0xFF])
            code = self._count - 1
        return self._weights[self._ends[code] - self._lengths[code] : self._ends[code]]


class _GBKBytes(Weights):
    """``gbk_bin``: the bytes in GBK, and a question mark for a character that GBK lacks.

    TiDB's GBK is that of the WHATWG without the euro sign: the characters of one and two bytes in GB 18030
    that are not for private use. Source: tidb ``pkg/parser/charset/encoding_gbk.go``.
    """

    def _read(self, code: int) -> bytes:
        if code == _EURO or code in _PRIVATE_USE:
            return b"?"
        encoded = chr(code).encode("gb18030", "replace")
        return encoded if len(encoded) <= 2 else b"?"


@cache
def weights_of(name: str) -> Weights:
    """The weights under a collation.

    :param name: ``gbk_bin``, or the name of a file in ``weights/``.
    """
    return _GBKBytes() if name == "gbk_bin" else _Table(name)
