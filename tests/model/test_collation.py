"""Sort keys, comparison and LIKE under a collation are TiDB's.

The expected values are those of TiDB's tests and tables (tidb ``pkg/util/collate``: ``collate_test.go``,
``ucadata``, ``general_ci.go``, ``gbk_chinese_ci_data.go``). A slow test makes our tables again.
"""

from __future__ import annotations

import lzma

import pytest

from tests.model import collation_tables
from ticdc_producer.model.collation import compare_texts, in_charset, same_to_like, sort_key

COLLATIONS = (
    "binary", "utf8mb4_bin", "utf8mb4_general_ci", "utf8mb4_unicode_ci", "utf8mb4_0900_ai_ci",
    "utf8mb4_0900_bin", "gbk_bin", "gbk_chinese_ci",
)  # fmt: skip
WITH_WEIGHTS = ("utf8mb4_general_ci", "utf8mb4_unicode_ci", "utf8mb4_0900_ai_ci", "gbk_bin", "gbk_chinese_ci")

# Texts, and how the left one compares under each collation: <, =, >.
COMPARISONS = [
    ("a", "b", "<<<<<<<<"),
    ("a", "A", ">>===>>="),
    ("À", "A", ">>===><<"),
    ("abc", "abc", "========"),
    ("abc", "ab", ">>>>>>>>"),
    ("😜", "😃", ">>==>>=="),
    ("a", "a ", "<===<<=="),
    ("a ", "a  ", "<===<<=="),
    ("a\t", "a", ">>>>>>>>"),
    ("ß", "s", ">>=>>><<"),
    ("ß", "ss", ">><==><<"),
    ("啊", "吧", ">>>>>><<"),
    ("中文", "汉字", "<<<<<<>>"),
    ("æ", "ae", ">>>>=><<"),
    ("A\u030a", "A", ">>>==>>>"),
    ("Å", "A", ">>===><<"),
    ("\U0001730f", "啊", ">>>><><<"),
    ("가", "㉡", ">>>><>=="),
    ("갟", "감1", ">>>>>><<"),
    ("\U000ffffe", "\U000fffff", "<<==<<=="),
]

# Texts and their sort keys under general_ci, unicode_ci, 0900_ai_ci, gbk_bin, gbk_chinese_ci.
KEYS = [
    ("a", "0041", "0e33", "1c47", "61", "41"),
    ("a ", "0041", "0e33", "1c470209", "61", "41"),
    ("o©☃", "004f00a92603", "0f8202c506ff", "1ddd0584091b", "6f3f3f", "4f3f3f"),
    ("𝌆", "fffd", "fffd", "0ef0", "3f", "3f"),
    ("ﷻ", "fdfb", "135e13ab0209135e13ab135013ab13b7", "2325239c02092325239c230b239c23b1", "3f", "3f"),
    ("中文", "4e2d6587", "fb40ce2dfb40e587", "fb40ce2dfb40e587", "d6d0cec4", "d321c1ad"),
    ("갟감1", "ac1fac100031", "fbc1ac1ffbc1ac100e2a", "3bf53c743cd33bf53c733ce01c3e", "3f3f31", "3f3f31"),
    ("\U000ffffe\U000fffff", "fffdfffd", "fffdfffd", "fbdffffefbdfffff", "3f3f", "3f3f"),
]

# Characters and their weights in tables of TiDB.
WEIGHTS = {
    "utf8mb4_general_ci": {
        "µ": "039c", "ß": "0053", "ŉ": "0149", "ǝ": "018e", "\u0345": "0399", "ς": "03a3", "\u0390": "0399",
        "Ӏ": "04c0", "և": "0587", "ẚ": "1e9a", "ẛ": "0053", "\u1f71": "1fbb", "\u1fbe": "0399",
        "\u1fd3": "1fd3", "\u212a": "212a", "ⅰ": "2160", "ⓐ": "24b6", "ａ": "ff21", "ɐ": "0250", "℃": "2103",
    },
    "utf8mb4_unicode_ci": {
        "⚠": "077a", "✁": "077c", "❓": "fbc0a753", "❶": "0e2a", "❿": "0e2a0e29", "⟐": "080c", "⠀": "0a29",
        "⤀": "0838", "⨌": "044b044b044b044b", "⩴": "023d023d042d", "⩶": "042d042d042d", "⬍": "0a28",
        "⬎": "fbc0ab0e", "ﷺ": "fbc1fdfa",
    },
    "gbk_chinese_ci": {
        "[": "5c", "\\": "5c", "]": "5b", "~": "59", "z": "5a", "\x7f": "7f", "\x80": "3f", "¤": "8243",
        "÷": "8185", "ā": "82b5", "ɑ": "82b6", "Α": "8312", "ω": "8341", "Ё": "834e", "я": "8383", "€": "3f",
        "\u748a": "abe3", "\u7589": "901a", "\u7680": "866d", "\u7b83": "d590",
    },
    "gbk_bin": {"€": "3f", "ǹ": "a8bf", "⺁": "fe50", "\ue000": "3f", "\x80": "3f", "~": "7e"},
}  # fmt: skip


@pytest.mark.parametrize(("left", "right", "expected"), COMPARISONS)
def test_comparison(left: str, right: str, expected: str) -> None:
    found = [compare_texts(left.encode(), right.encode(), collation) for collation in COLLATIONS]
    assert "".join("=><"[order] for order in found) == expected


@pytest.mark.parametrize("line", KEYS)
def test_sort_keys(line: tuple[str, ...]) -> None:
    text, *expected = line
    assert [sort_key(text.encode(), collation).hex() for collation in WITH_WEIGHTS] == expected


@pytest.mark.parametrize("collation", WEIGHTS)
def test_weights(collation: str) -> None:
    expected = WEIGHTS[collation]
    assert {one: sort_key(one.encode(), collation).hex() for one in expected} == expected


def test_characters_that_are_not_assigned_differ_under_uca_9_only() -> None:
    texts = ["\U0002cea0", "\U0002cea1", "\U0010fffe", "\U0010ffff"]
    keys = {
        collation: [sort_key(text.encode(), collation) for text in texts]
        for collation in ("utf8mb4_0900_ai_ci", "utf8mb4_unicode_ci")
    }
    assert keys["utf8mb4_0900_ai_ci"] == sorted(set(keys["utf8mb4_0900_ai_ci"]))
    assert set(keys["utf8mb4_unicode_ci"]) == {b"\xff\xfd"}


@pytest.mark.parametrize(
    ("shorter", "longer", "order"),
    [
        ("a", "a㍿", 1),
        ("", "㍿", 1),
        ("㍿", "㍿㍿", 1),
        ("a", "a㍾", 1),
        ("a", "a\u3300", -1),
        ("株", "㍿", -1),
    ],
)
def test_a_group_of_weights_that_tidb_takes_for_negative(shorter: str, longer: str, order: int) -> None:
    left, right = shorter.encode(), longer.encode()
    assert compare_texts(left, right, "utf8mb4_unicode_ci") == order
    assert compare_texts(right, left, "utf8mb4_unicode_ci") == -order


@pytest.mark.parametrize(
    ("one", "other", "collations"),
    [
        ("a", "A", {"utf8mb4_general_ci", "utf8mb4_unicode_ci", "utf8mb4_0900_ai_ci", "gbk_chinese_ci"}),
        ("😜", "😃", {"utf8mb4_general_ci", "gbk_chinese_ci"}),
        ("㌀", "㌀", set(COLLATIONS)),
        ("㎮", "㎯", {"gbk_chinese_ci"}),
        ("[", "\\", {"gbk_chinese_ci"}),
    ],
)
def test_like(one: str, other: str, collations: set[str]) -> None:
    assert {collation for collation in COLLATIONS if same_to_like(one, other, collation)} == collations


@pytest.mark.parametrize("collation", WITH_WEIGHTS)
@pytest.mark.parametrize("text", [b"\xffb", b"a\xc3"])
def test_bytes_that_are_not_utf_8_end_a_key(text: bytes, collation: str) -> None:
    assert sort_key(text, collation) == sort_key(text.rstrip(b"b")[:-1], collation)


@pytest.mark.slow
def test_the_tables_come_from_their_sources(made_tables: dict[str, bytes]) -> None:
    shipped = {name: (collation_tables.FOLDER / f"{name}.xz").read_bytes() for name in made_tables}
    assert {name: lzma.decompress(packed) for name, packed in shipped.items()} == made_tables


@pytest.mark.parametrize(
    ("charset", "inside", "outside"),
    [
        ("gbk", "?中ǹ⺁㑳", "€ñ가😜\ue000"),
        ("ascii", "a\x7f", "\x80é"),
        ("utf8", "é中\uffff", "😜"),
        ("latin1", "中", ""),
    ],
)
def test_characters_of_a_charset(charset: str, inside: str, outside: str) -> None:
    assert in_charset(inside, charset)
    assert not any(in_charset(character, charset) for character in outside)
