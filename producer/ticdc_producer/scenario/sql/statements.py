"""A script cut into statements, each with its line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.dialect import Token, TokenType, words
from ticdc_producer.scenario.sql.lexer import Piece, pieces

PLACEHOLDERS = {"number": "0", "string": "''", "hex": "x''", "bits": "b''"}
"""What stands in a shape for the literals of each kind; all literals are taken out, so no text means two."""


@dataclass(frozen=True)
class Statement:
    """One statement.

    :param text: as typed, from its first to its last word.
    :param sql: what runs: ``text`` with executable comments laid open, at the same positions.
    :param line: line in the file of its first word.
    :param shape: ``sql`` without comments, a placeholder for each literal.
    :param literals: kind and text of each literal, in their order.
    """

    text: str
    sql: str
    line: int
    shape: str
    literals: tuple[tuple[str, str], ...]

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """Its words; their positions refer to ``sql``."""
        return tuple(words(self.sql, self.line))

    def line_of(self, token: Token) -> int:
        return self.line + self.sql.count("\n", 0, token.start)

    @cached_property
    def verb(self) -> str:
        """The first word, as ``word(0)`` has it."""
        first = self.shape.split(None, 1)[0]
        return first.upper() if first.isalpha() else self.word(0)

    def word(self, place: int) -> str:
        """An unquoted word in upper case; empty beyond the end."""
        if place >= len(self.tokens) or self.tokens[place].token_type in (
            TokenType.STRING,
            TokenType.IDENTIFIER,
        ):
            return ""
        return str(self.tokens[place].text).upper()


def split_statements(text: str, line: int = 1) -> Iterator[Statement]:
    """The statements of a script, one by one; ``;`` inside quotes and comments does not end one.

    :param line: line of the file at which ``text`` starts.
    :raises ScenarioError: where a quote or comment is not closed, once the statements before it are taken.
    """
    draft = _Draft(text, line)
    for piece in pieces(text, line):
        if piece[0] != "end":
            draft.add(piece)
            continue
        if draft.begun:
            yield draft.take()
        draft.skip(piece[2])
    draft.check_closed()
    if draft.begun:
        yield draft.take()


class _Draft:
    """The statement that is being read, and the line that it is on."""

    def __init__(self, text: str, line: int) -> None:
        self._text = text
        self._line = line
        self._counted = 0  # up to where the line breaks are counted
        self._opened = -1  # where the executable comment starts that is open
        self.skip(0)

    def skip(self, place: int) -> None:
        """Start anew behind a ``;``."""
        self._start = self._end = place
        self._shape: list[str] = []
        self._literals: list[tuple[str, str]] = []
        self._blanks: list[tuple[int, int]] = []
        self.begun = False

    def add(self, piece: Piece) -> None:
        kind, piece_text, end = piece
        placeholder = PLACEHOLDERS.get(kind)
        if placeholder is not None:
            self._literals.append((kind, piece_text))
            self._take_in(placeholder, end - len(piece_text), end)
        elif kind == "comment":
            self._shape.append(" ")
        elif kind == "opening" or (kind == "closing" and self._opened >= 0):
            self._opened = end - len(piece_text) if kind == "opening" else -1
            self._blanks.append((end - len(piece_text), end))
            self._shape.append(" ")
        elif piece_text.isspace():
            self._shape.append(piece_text)
        else:
            start = end - len(piece_text.lstrip())
            self._take_in(piece_text, start, end - len(piece_text) + len(piece_text.rstrip()))

    def _take_in(self, shape: str, start: int, end: int) -> None:
        if not self.begun:
            self._start, self.begun = start, True
        self._shape.append(shape)
        self._end = end

    def take(self) -> Statement:
        """The statement that was read."""
        typed = self._text[self._start : self._end]
        self._line += self._text.count("\n", self._counted, self._start)
        self._counted = self._start
        shape = "".join(self._shape).strip()
        return Statement(typed, self._laid_open(typed), self._line, shape, tuple(self._literals))

    def _laid_open(self, typed: str) -> str:
        """Blank out the brackets of ``/*! … */`` and ``/*T! … */``: TiDB runs what stands in them."""
        for start, end in self._blanks:
            first, last = max(start - self._start, 0), min(end - self._start, len(typed))
            if first < last:
                typed = typed[:first] + " " * (last - first) + typed[last:]
        return typed

    def check_closed(self) -> None:
        """:raises ScenarioError: where an executable comment is open at the end of the script."""
        if self._opened >= 0:
            line = self._line + self._text.count("\n", self._counted, self._opened)
            raise ScenarioError("SQL does not parse: */ is missing", line=line)
