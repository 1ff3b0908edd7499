"""Sort keys of text, as TiDB stores them in an index. They define equality and order of text.

They are exact for the binary collations, and for ``*_general_ci`` on Latin, Greek and Cyrillic letters. The
UCA collations (``*_unicode_ci``, ``*_0900_ai_ci``) and ``gbk_chinese_ci`` are approximated: letters without
case and accents, digits before letters, punctuation before both. Source of the rules: tidb
``pkg/util/collate`` (``bin.go``, ``general_ci.go``).
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

DEFAULT_COLLATIONS = {
    "utf8mb4": "utf8mb4_bin",
    "utf8": "utf8_bin",
    "ascii": "ascii_bin",
    "latin1": "latin1_bin",
    "gbk": "gbk_chinese_ci",
    "binary": "binary",
}
"""TiDB's default collation of each charset it knows (tidb ``parser/charset``)."""

_BINARY_ORDER = {"utf8mb4_bin", "utf8_bin", "ascii_bin", "latin1_bin"}
_GENERAL_CI = {"utf8mb4_general_ci", "utf8_general_ci"}
_UNICODE_CI = {"utf8mb4_unicode_ci", "utf8_unicode_ci", "utf8mb4_0900_ai_ci"}
_GBK = {"gbk_bin", "gbk_chinese_ci"}
KNOWN = _BINARY_ORDER | _GENERAL_CI | _UNICODE_CI | _GBK | {"binary", "utf8mb4_0900_bin"}

CHARSET_ALIASES = {"utf8mb3": "utf8"}


def charset_of(collation: str) -> str:
    """The charset that a collation belongs to."""
    return collation.split("_", 1)[0]


def pads_space(collation: str) -> bool:
    """Whether trailing spaces are ignored: in all collations except the 0900 ones and ``binary``."""
    return collation != "binary" and "_0900_" not in collation


def sort_key(text: bytes, collation: str) -> bytes:
    """Bytes that compare as the collation compares the texts.

    :param text: UTF-8; bytes that are not UTF-8 sort by their value.
    :raises KeyError: for an unknown collation.
    """
    if collation not in KNOWN:
        raise KeyError(collation)
    if pads_space(collation):
        text = text.rstrip(b" ")
    if collation in _GENERAL_CI:
        return b"".join(_general_ci_weight(character) for character in _characters(text))
    if collation in _UNICODE_CI:
        return b"".join(_unicode_ci_weight(character) for character in _characters(text))
    if collation in _GBK:
        folded = _characters(text).upper() if collation == "gbk_chinese_ci" else _characters(text)
        return folded.encode("gbk", "replace")
    return text


def _characters(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")


@lru_cache(maxsize=65536)
def _general_ci_weight(character: str) -> bytes:
    """Two bytes; all characters beyond the BMP are equal (0xFFFD)."""
    if ord(character) > 0xFFFF:
        return b"\xff\xfd"
    if character in _GENERAL_CI_EXCEPTIONS:
        return ord(_GENERAL_CI_EXCEPTIONS[character]).to_bytes(2, "big")
    base = unicodedata.normalize("NFD", character)[0] if _loses_accent(ord(character)) else character
    upper = base.upper()
    return ord(upper if len(upper) == 1 else base).to_bytes(2, "big")


_GENERAL_CI_EXCEPTIONS = {"ß": "S", "й": "Й", "Й": "Й"}


def _loses_accent(code: int) -> bool:
    """Whether accents are ignored: for Latin, Greek and Cyrillic, but not for Hangul and kana."""
    return code < 0x530 or 0x1E00 <= code < 0x2000


@lru_cache(maxsize=65536)
def _unicode_ci_weight(character: str) -> bytes:
    """Approximate primary weights of the UCA: without marks; symbols before digits before letters."""
    base = unicodedata.normalize("NFKD", character)
    weights = []
    for part in base.casefold():
        kind = unicodedata.category(part)[0]
        if kind != "M":
            rank = {"Z": 1, "P": 2, "S": 3, "N": 4}.get(kind, 5 if kind == "L" else 0)
            weights.append(bytes([rank]) + ord(part).to_bytes(3, "big"))
    return b"".join(weights)
