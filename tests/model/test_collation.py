"""Sort keys, comparison and LIKE under a collation are TiDB's.

The expected values are those of TiDB's tests and tables (tidb ``pkg/util/collate``: ``collate_test.go``,
``ucadata``, ``general_ci.go``, ``gbk_chinese_ci_data.go``). A slow test makes our tables again.
"""

from __future__ import annotations

import lzma

import pytest

from tests.model import collation_tables
from ticdc_producer.model.values.collation import compare_texts, in_charset, same_to_like, sort_key

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


# All characters with more than four weights in TiDB's tables, which it stores apart (``LongRuneMap``).
MANY_WEIGHTS = {
    "utf8mb4_unicode_ci": """
    321D 02881d6d1dc61d6e1dc21e030289
    321E 02881d6d1dc61d741dcb0289
    327C 1d701dbe1e0f1d621dc6
    3307 1e551e5e1e590e0b1e65
    3315 1e581e7c1e591e781e72
    3316 1e581e7c1e730e0b1e651e7a
    3317 1e581e7c1e7d1e631e65
    3319 1e591e781e721e651e81
    331A 1e591e7a1e5f1e531e7c
    3320 1e5c1e811e620e0b1e72
    332B 1e6b0e0b1e5f1e811e65
    332E 1e6c1e521e5e1e651e7a
    3332 1e6d1e521e781e631e65
    3334 1e6d1e631e5d1e551e7a
    3336 1e6e1e591e610e0b1e7a
    3347 1e701e811e5d1e771e81
    334A 1e711e791e6b0e0b1e7a
    3356 1e7b1e811e651e5a1e81
    337F fb40e82afb40df0ffb40cf1afb40f93e
    33AE 0fc00e330e6d04370fea
    33AF 0fc00e330e6d04370fea0e2b
    FDFB 135e13ab0209135e13ab135013ab13b7
    """,
    "utf8mb4_0900_ai_ci": """
    321D 03173c003c7b3c013c773cd40318
    321E 03173c003c7b3c073c800318
    327C 3c033c733ce03bf53c7b
    3307 3d5e3d673d621c0e3d6e
    3315 3d613d863d623d823d7b
    3316 3d613d863d7c1c0e3d6e3d84
    3317 3d613d863d873d6c3d6e
    3319 3d623d823d7b3d6e3d8b
    331A 3d623d843d683d5b3d86
    3320 3d653d8b3d6b1c0e3d7b
    332B 3d741c0e3d683d8b3d6e
    332E 3d753d5a3d673d6e3d84
    3332 3d763d5a3d823d6c3d6e
    3334 3d763d6c3d663d5e3d84
    3336 3d773d623d6a1c0e3d84
    3347 3d793d8b3d663d813d8b
    334A 3d7a3d833d741c0e3d84
    3356 3d853d8b3d6e3d633d8b
    337F fb40e82afb40df0ffb40cf1afb40f93e
    33AE 1e331c471c8f06251e71
    33AF 1e331c471c8f06251e711c3f
    FDFA 2364239c23c50209230b239c239c23b1
    FDFB 2325239c02092325239c230b239c23b1
    FFFD fffd
    1F19C 1c3f1db91c8f02091e711c7a1e33
    1F1A8 1d181d3202091e331caa1e71
    1F1A9 1d771ddd1e711e711d771caa1e711e71
    """,
}


@pytest.mark.parametrize(("left", "right", "expected"), COMPARISONS)
def test_comparison(left: str, right: str, expected: str) -> None:
    orders = [compare_texts(left.encode(), right.encode(), collation) for collation in COLLATIONS]
    assert "".join("=><"[order] for order in orders) == expected


@pytest.mark.parametrize("line", KEYS)
def test_sort_keys(line: tuple[str, ...]) -> None:
    text, *expected = line
    assert [sort_key(text.encode(), collation).hex() for collation in WITH_WEIGHTS] == expected


@pytest.mark.parametrize("collation", WEIGHTS)
def test_weights(collation: str) -> None:
    expected = WEIGHTS[collation]
    assert {text: sort_key(text.encode(), collation).hex() for text in expected} == expected


@pytest.mark.parametrize("collation", MANY_WEIGHTS)
def test_many_weights(collation: str) -> None:
    lines = [line.split() for line in MANY_WEIGHTS[collation].strip().splitlines()]
    weights = [[code, sort_key(chr(int(code, 16)).encode(), collation).hex()] for code, _ in lines]
    assert weights == lines


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
    ("text", "other", "collations"),
    [
        ("a", "A", {"utf8mb4_general_ci", "utf8mb4_unicode_ci", "utf8mb4_0900_ai_ci", "gbk_chinese_ci"}),
        ("😜", "😃", {"utf8mb4_general_ci", "gbk_chinese_ci"}),
        ("㌀", "㌀", set(COLLATIONS)),
        ("㎮", "㎯", {"gbk_chinese_ci"}),
        ("[", "\\", {"gbk_chinese_ci"}),
    ],
)
def test_like(text: str, other: str, collations: set[str]) -> None:
    assert {collation for collation in COLLATIONS if same_to_like(text, other, collation)} == collations


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
