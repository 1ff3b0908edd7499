"""Splitting a script into statements."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.text.statements import Statement, split_statements


def cut(text: str, line: int = 1) -> list[tuple[str, int]]:
    return [(statement.text, statement.line) for statement in split_statements(text, line)]


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("", []),
        (" ;; ; ", []),
        ("-- nothing\n# at all\n/* here; */", []),
        ("a; b", [("a", 1), ("b", 1)]),
        ("a 'x;y';\nb", [("a 'x;y'", 1), ("b", 2)]),
        ("a 'it''s; \\'; ' ;b", [("a 'it''s; \\'; '", 1), ("b", 1)]),
        ('a ";" ;b', [('a ";"', 1), ("b", 1)]),
        ("a `;``;` ;b", [("a `;``;`", 1), ("b", 1)]),
        ("a -- ; no end\n;b", [("a", 1), ("b", 2)]),
        ("a # ; no end\n;b", [("a", 1), ("b", 2)]),
        ("a /* ; \n */ c;b", [("a /* ; \n */ c", 1), ("b", 2)]),
        ("-- one\n\n  a\n  b ;\n\nc", [("a\n  b", 3), ("c", 6)]),
        ("a --5;b", [("a --5", 1), ("b", 1)]),
    ],
)
def test_semicolons_in_quotes_and_comments_end_nothing(text: str, statements: list[tuple[str, int]]) -> None:
    assert cut(text) == statements


def test_line_numbers_start_at_the_callers_line() -> None:
    assert cut("a;\nb", 10) == [("a", 10), ("b", 11)]


def test_executable_comments_run_but_the_text_is_as_typed() -> None:
    (statement,) = split_statements("create /*!40101 table */ t /*T![clustered_index] x */ /* not */")
    assert [token.text for token in statement.tokens] == ["create", "table", "t", "x"]
    assert statement.text == "create /*!40101 table */ t /*T![clustered_index] x */"
    assert len(statement.sql) == len(statement.text)


def test_an_executable_comment_in_a_string_is_text() -> None:
    (statement,) = split_statements("a '/*! b */'")
    assert [token.text for token in statement.tokens] == ["a", "/*! b */"]


_WORDS = st.sampled_from([
    "a", "t1", "x", "b", "0x", "1a", "e5", ".", "-", "--", "*", "/", "*/", "/*+ h */", "`n`", "_utf8mb4", "@",
    "(", ",", "=", " ", "\n", "\t", "/* c */", "# c\n", "-- c\n", "/*! e */", "\\", "é",
])  # fmt: skip
_LITERALS = [
    ["1", "2.5", "3.", "1e5", "77", "1e"],
    ["'a'", "'it''s'", "'\\';'", '"q"', "''", "';'", "'\n'", "'--'", "'/*'"],
    ["x'1f'", "0x1F", "X''", "0x"],
    ["b'1'", "0b01", "B'0'"],
]
_KIND = st.sampled_from(_LITERALS)


@given(
    # A text before a literal that ends in x or b makes a literal of another kind: x'a'.
    st.lists(
        st.lists(_WORDS, max_size=3).map("".join).filter(lambda text: text[-1:].lower() not in ("x", "b")),
        min_size=1,
        max_size=4,
    ),
    st.lists(_KIND, min_size=4, max_size=4),
    st.lists(st.lists(st.integers(0, 8), min_size=4, max_size=4), min_size=5, max_size=9),
)
def test_statements_of_a_shape_are_read_as_each_alone(
    texts: list[str], kinds: list[list[str]], choices: list[list[int]]
) -> None:
    rows = [[of[choice % len(of)] for of, choice in zip(kinds, row, strict=True)] for row in choices]
    # The semicolon is on a line of its own: a comment would hide it.
    scripts = [
        "".join(part for pair in zip(texts, row, strict=False) for part in pair) + "\n;" for row in rows
    ]
    read = {text: statements for text in scripts if (statements := statements_of(text)) is not None}
    assume(read)
    closed = [text for text in scripts if text in read]
    # Each begins a line, as alone: a command of the mysql client is one only there.
    together = [*split_statements("\n".join(closed))]
    lines = [statement.line for statement in together]
    assert lines == sorted(lines)
    assert [replace_line(statement) for statement in together] == [
        replace_line(statement) for text in closed for statement in read[text]
    ]


def statements_of(text: str) -> list[Statement] | None:
    """Return the statements of a script, None where a quote or comment is open at its end."""
    try:
        return [*split_statements(text)]
    except ScenarioError:
        return None


def replace_line(statement: Statement) -> Statement:
    return msgspec.structs.replace(statement, line=1)
