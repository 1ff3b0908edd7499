"""A script cut into statements, each with its line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from producer.scenario.sql.dialect import Token, TokenType, words

_EXECUTABLE = re.compile(r"/\*(?:!\d*|T!(?:\[[\w,]*\])?)(?=.*?\*/)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement.

    :param text: as typed, from its first to its last word.
    :param source: the script, executable comments laid open; the tokens' positions refer to it.
    :param tokens: its words.
    :param line: line in the file of its first word; ``first_line`` that of ``source``.
    """

    text: str
    source: str
    tokens: tuple[Token, ...]
    line: int
    first_line: int

    @property
    def sql(self) -> str:
        """What runs: ``text`` with executable comments laid open, at the same positions."""
        return self.source[self.tokens[0].start : self.tokens[-1].end + 1]

    def line_of(self, token: Token) -> int:
        return self.first_line + self.source.count("\n", 0, token.start)

    def word(self, place: int) -> str:
        """An unquoted word in upper case; empty beyond the end."""
        if place >= len(self.tokens) or self.tokens[place].token_type in (
            TokenType.STRING,
            TokenType.IDENTIFIER,
        ):
            return ""
        return str(self.tokens[place].text).upper()


def split_statements(text: str, line: int = 1) -> Iterator[Statement]:
    """The statements of a script; ``;`` inside quotes and comments does not end one.

    :param line: line of the file at which ``text`` starts.
    :raises ScenarioError: where a quote or comment is not closed.
    """
    source, tokens = _laid_open(text, line)
    group: list[Token] = []
    for token in [*tokens, None]:
        if token is not None and token.token_type != TokenType.SEMICOLON:
            group.append(token)
        elif group:
            typed = text[group[0].start : group[-1].end + 1]
            place = line + text.count("\n", 0, group[0].start)
            yield Statement(typed, source, tuple(group), place, line)
            group = []


def _laid_open(text: str, line: int) -> tuple[str, list[Token]]:
    """Blank out the brackets of ``/*! … */`` and ``/*T! … */``: TiDB runs what stands in them."""
    tokens = words(text, line)
    if "/*!" not in text and "/*T!" not in text:
        return text, tokens
    source = list(text)
    for start, end in _gaps(tokens, len(text)):
        for comment in _EXECUTABLE.finditer(text, start, end):
            closing = text.find("*/", comment.end(), end)
            for place in (*range(comment.start(), comment.end()), closing, closing + 1):
                source[place] = " "
    opened = "".join(source)
    return opened, words(opened, line)


def _gaps(tokens: list[Token], length: int) -> Iterator[tuple[int, int]]:
    """What lies between the tokens: white space and comments."""
    before = 0
    for token in tokens:
        yield before, token.start
        before = token.end + 1
    yield before, length
