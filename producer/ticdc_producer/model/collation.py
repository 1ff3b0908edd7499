"""Equality and order of text under TiDB's collations, and its sort keys, which indexes store.

They are those of TiDB's new collation framework, deviations from MySQL included. Source of the rules: tidb
``pkg/util/collate``.
"""

from __future__ import annotations

from ticdc_producer.model.collation_weights import weights_of

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
    """The charset that a collation belongs to."""
    return collation.split("_", 1)[0]


def in_charset(text: str, charset: str) -> bool:
    """Whether a charset has all characters of a text; latin1 is not checked, as in TiDB.

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


def pads_space(collation: str) -> bool:
    """Whether trailing spaces are ignored: in all collations except the 0900 ones and ``binary``."""
    return collation != "binary" and "_0900_" not in collation


def compares_bytes(collation: str) -> bool:
    """Whether texts compare by their bytes, apart from trailing spaces."""
    return collation in _BYTES


def sort_key(text: bytes, collation: str) -> bytes:
    """The key of a text in an index: keys that are equal conflict, and rows are in their order.

    :param text: UTF-8; a collation with weights ignores all from the first byte that is not UTF-8 (TiDB).
    :raises KeyError: for an unknown collation.
    """
    return untrimmed_key(text.rstrip(b" ") if pads_space(collation) else text, collation)


def untrimmed_key(text: bytes, collation: str) -> bytes:
    """``sort_key``, in which trailing spaces always count (``KeyWithoutTrimRightSpace``)."""
    if collation in _BYTES:
        return text
    return b"".join(map(weights_of(_TABLES[collation]).__getitem__, _characters(text)))


def compare_texts(left: bytes, right: bytes, collation: str) -> int:
    """Negative, zero or positive, as ``<``, ``=``, ``>`` and ORDER BY see two texts of UTF-8.

    That is the order of the sort keys with one exception: TiDB takes a group of weights for a signed number
    where the other text has ended. If the group's fourth weight is 0x8000 or more, as in U+337F, the longer
    text is smaller. Source: ``Compare`` in tidb ``unicode_0400_ci_generated.go`` and
    ``unicode_0900_ai_ci_generated.go``.
    """
    one, other = sort_key(left, collation), sort_key(right, collation)
    order = int(one > other) - int(one < other)
    if collation in _UCA and order and (one.startswith(other) or other.startswith(one)):
        longer = right if order < 0 else left
        return -order if _is_negative_at(longer, min(len(one), len(other)), collation) else order
    return order


def same_to_like(one: str, other: str, collation: str) -> bool:
    """Whether LIKE takes two characters for the same.

    Under UCA 4.0, characters beyond the BMP or with more than four weights equal themselves alone there.
    Source: ``DoMatch`` of each collation's pattern.
    """
    if one == other:
        return True
    if collation in _BYTES or collation == "gbk_bin":
        return False
    table = weights_of(_TABLES[collation])
    weights = table[one]
    if weights != table[other]:
        return False
    return collation not in _UCA_4 or (max(one, other) <= "\uffff" and len(weights) <= _GROUP)


def _is_negative_at(text: bytes, position: int, collation: str) -> bool:
    """Whether a group of weights that is negative as a number begins at a position of the text's sort key."""
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
