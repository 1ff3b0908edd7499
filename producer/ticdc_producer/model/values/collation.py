"""Equality and order of text under TiDB's collations, and its sort keys, which indexes store.

A table in ``weights/`` is read when a text is first compared under its collation.
``tests/model/collation_tables.py`` writes them. Content of a table, xz: the number of characters from U+0000
(4 bytes, big-endian), the length of the weights of each character (a byte), the weights. Source of the rules:
tidb ``pkg/util/collate``.

The rules are those of TiDB's new collation framework, including its deviations from MySQL.
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
        """Return the weights of a code point."""


class _Table(Weights):
    """A table of ``weights/``.

    The characters after its end are equal to its last character. In UCA 9.0 they have implicit weights, as if
    they were not assigned.
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
    """Return the weights under a collation.

    :param name: ``gbk_bin``, or the name of a file in ``weights/``.
    """
    return _GBKBytes() if name == "gbk_bin" else _Table(name)


DEFAULT_COLLATIONS = {
    "utf8mb4": "utf8mb4_bin",
    "utf8": "utf8_bin",
    "ascii": "ascii_bin",
    "latin1": "latin1_bin",
    "gbk": "gbk_chinese_ci",
    "binary": "binary",
}
"""TiDB's default collation of each charset it knows (tidb ``parser/charset``)."""

_BYTES = {"utf8mb4_bin", "utf8_bin", "ascii_bin", "latin1_bin", "utf8mb4_0900_bin", "binary"}
_TABLES = {
    "utf8mb4_general_ci": "utf8mb4_general_ci",
    "utf8_general_ci": "utf8mb4_general_ci",
    "utf8mb4_unicode_ci": "utf8mb4_unicode_ci",
    "utf8_unicode_ci": "utf8mb4_unicode_ci",
    "utf8mb4_0900_ai_ci": "utf8mb4_0900_ai_ci",
    "gbk_bin": "gbk_bin",
    "gbk_chinese_ci": "gbk_chinese_ci",
}
"""The table of weights of each collation that has one; the others compare bytes."""
_UCA = {"utf8mb4_unicode_ci", "utf8_unicode_ci", "utf8mb4_0900_ai_ci"}
_UCA_4 = {"utf8mb4_unicode_ci", "utf8_unicode_ci"}
KNOWN = _BYTES | _TABLES.keys()

_GROUP = 8
"""TiDB compares the weights of a UCA collation in groups of up to four, which are 8 bytes."""

CHARSET_ALIASES = {"utf8mb3": "utf8"}


def charset_of(collation: str) -> str:
    """Return the charset that a collation belongs to."""
    return collation.split("_", 1)[0]


def in_charset(text: str, charset: str) -> bool:
    """Return whether a charset has all characters of a text; latin1 is not checked, as in TiDB.

    Source: tidb ``pkg/table/column.go`` (``validateCharset``).
    """
    if text.isascii():
        return True
    if charset == "utf8":
        return all(character <= "\uffff" for character in text)
    if charset == "gbk":
        in_gbk = weights_of("gbk_bin")
        return all(character == "?" or in_gbk[character] != b"?" for character in text)
    return charset != "ascii"


@cache
def pads_space(collation: str) -> bool:
    """Return whether trailing spaces are ignored: in all collations except the 0900 ones and ``binary``."""
    return collation != "binary" and "_0900_" not in collation


def compares_bytes(collation: str) -> bool:
    """Return whether texts compare by their bytes, apart from trailing spaces."""
    return collation in _BYTES


def sort_key(text: bytes, collation: str) -> bytes:
    """Return the key of a text in an index: keys that are equal conflict, and rows are in their order.

    :param text: UTF-8; a collation with weights ignores all from the first byte that is not UTF-8 (TiDB).
    :raises KeyError: for an unknown collation.
    """
    return untrimmed_key(text.rstrip(b" ") if pads_space(collation) else text, collation)


def untrimmed_key(text: bytes, collation: str) -> bytes:
    """Return ``sort_key`` with trailing spaces (``KeyWithoutTrimRightSpace``)."""
    if collation in _BYTES:
        return text
    return b"".join(map(weights_of(_TABLES[collation]).__getitem__, _characters(text)))


def compare_texts(left: bytes, right: bytes, collation: str) -> int:
    """Compare two texts of UTF-8 as ``<``, ``=``, ``>`` and ORDER BY do: negative, zero or positive.

    The order is that of the sort keys with one exception: TiDB takes a group of weights for a signed number
    where the other text has ended. If the group's fourth weight is 0x8000 or more, as in U+337F, the longer
    text is smaller. Source: ``Compare`` in tidb ``unicode_0400_ci_generated.go`` and
    ``unicode_0900_ai_ci_generated.go``.
    """
    left_key, right_key = sort_key(left, collation), sort_key(right, collation)
    order = int(left_key > right_key) - int(left_key < right_key)
    if collation in _UCA and order and (left_key.startswith(right_key) or right_key.startswith(left_key)):
        longer = right if order < 0 else left
        shared = min(len(left_key), len(right_key))
        return -order if _is_negative_at(longer, shared, collation) else order
    return order


def same_to_like(left: str, right: str, collation: str) -> bool:
    """Return whether LIKE takes two characters for the same.

    Under UCA 4.0, characters beyond the BMP or with more than four weights equal themselves alone there.
    Source: ``DoMatch`` of each collation's pattern.
    """
    if left == right:
        return True
    if collation in _BYTES or collation == "gbk_bin":
        return False
    table = weights_of(_TABLES[collation])
    weights = table[left]
    if weights != table[right]:
        return False
    return collation not in _UCA_4 or (max(left, right) <= "\uffff" and len(weights) <= _GROUP)


def _is_negative_at(text: bytes, position: int, collation: str) -> bool:
    """Return whether a group of weights that is a negative number begins at a position of the sort key."""
    table, at = weights_of(_TABLES[collation]), 0
    for character in _characters(text):
        weights = table[character]
        for group in (weights[:_GROUP], weights[_GROUP:]):
            if group and at >= position:
                return at == position and len(group) == _GROUP and group[_GROUP - 2] >= 0x80
            at += len(group)
    return False


def _characters(text: bytes) -> str:
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        return text[: error.start].decode("utf-8")
