"""Splitting a script into statements."""

from __future__ import annotations

import pytest

from ticdc_producer.scenario.sql.text.statements import split_statements


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
