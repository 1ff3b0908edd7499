"""Splits a script into statements, each with its line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

import msgspec

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.text.dialect import Token, TokenType, words
from ticdc_producer.scenario.sql.text.lexer import Lexeme, read_shape, sections
from ticdc_producer.scenario.sql.text.repeated_shapes import RepeatedShapes
from ticdc_producer.scenario.sql.text.spelling import DEFAULT, Spelling, next_statement, quoted_text

SOURCE = "SOURCE"


class Statement(msgspec.Struct, frozen=True, dict=True):
    """One statement.

    :param text: as typed, from its first to its last word, with the executable comments around these.
    :param sql: the SQL that runs: ``text`` with the marks of executable comments blanked out; offsets are
        the same as in ``text``.
    :param line: line in the file of its first word.
    :param shape: ``sql`` without comments and with a placeholder for each literal.
    :param literals: kind and text of each literal, in order.
    """

    text: str
    sql: str
    line: int
    shape: str
    literals: tuple[tuple[str, str], ...]

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """The words of the statement; their offsets refer to ``sql``."""
        return tuple(words(self.sql, self.line))

    def line_of(self, token: Token) -> int:
        return self.line + self.sql.count("\n", 0, token.start)

    @property
    def verb(self) -> str:
        """The first word, as ``word(0)`` returns it."""
        first = self.shape.split(None, 1)[0]
        return first.upper() if first.isalpha() else self.word(0)

    def word(self, index: int) -> str:
        """Return the word at an index, in upper case; empty for a quoted one and beyond the end."""
        if index >= len(self.tokens) or self.tokens[index].token_type in (
            TokenType.STRING,
            TokenType.IDENTIFIER,
        ):
            return ""
        return str(self.tokens[index].text).upper()


def split_statements(
    text: str, line: int = 1, spelling: Callable[[], Spelling] = lambda: DEFAULT
) -> Iterator[Statement]:
    r"""Yield the statements of a script; ``;`` inside quotes and comments does not end one.

    ``DELIMITER`` and ``SOURCE`` are commands of the mysql client, at the beginning of a line. ``SOURCE``,
    also spelled ``\.``, is yielded like a statement.

    :param line: line of the file at which ``text`` starts.
    :param spelling: gives the spelling of the next statement; those before it may have changed it.
    :raises ScenarioError: where a quote or comment is not closed, after the statements before it.

    >>> [(statement.line, statement.shape) for statement in split_statements("USE a;\nSELECT ';' -- ;")]
    [(1, 'USE a'), (2, "SELECT ''")]
    """
    draft = _Draft(text, line)
    for section in sections(text):
        for start, end in section.parts(text, line):
            yield from _split(draft, start, end, spelling, whole=section.delimiter != ";")
        draft.check_closed()
        if section.source is not None:
            yield _command(section.source, draft.line_at(section.end))


def _command(source: str, line: int) -> Statement:
    name = quoted_text(source)
    text = f"{SOURCE} {name}"
    return Statement(text, text, line, f"{SOURCE} ''", (("string", name),))


def _split(
    draft: _Draft, start: int, end: int, spelling: Callable[[], Spelling], *, whole: bool
) -> Iterator[Statement]:
    """Yield the statements of a part of a script.

    :param whole: whether a stored program is not divided at the ``;`` of its body.
    """
    if whole:
        draft.skip(start)
        offset = start
        while (lexeme := draft.read(offset, end)) is not None:
            offset = lexeme[2]
            draft.add(lexeme)
        if draft.started and stored_program(program := draft.take()):
            yield program
            return
    draft.skip(start)
    while True:
        while (spelled := spelling()) is not DEFAULT and not draft.started and start < end:
            line = draft.line_at(start)
            respelled, start = next_statement(draft.text, start, end, line, spelled)
            yield from split_statements(respelled, line)
            draft.skip(start)
        while (repeated := draft.take_repeated(start, end)) is not None:
            statement, start = repeated
            yield statement
        if (lexeme := draft.read(start, end)) is None:
            break
        start = lexeme[2]
        if lexeme[0] != "end":
            draft.add(lexeme)
            continue
        if draft.started:
            yield draft.take()
        draft.skip(start)
    if draft.started:
        yield draft.take()


_KINDS_OF_PROGRAM = ("TRIGGER", "PROCEDURE", "FUNCTION", "EVENT")


def stored_program(statement: Statement) -> str:
    """Return the kind of stored program that a statement creates, alters or drops; empty for others."""
    if statement.verb not in ("CREATE", "ALTER", "DROP"):
        return ""
    index = 1
    while (word := statement.word(index)) in _BEFORE_KIND or _is_of_definer(statement, index):
        index += 1
    return word if word in _KINDS_OF_PROGRAM else ""


_BEFORE_KIND = ("OR", "REPLACE", "AGGREGATE", "DEFINER", "=", "@", "CURRENT_USER", "CURRENT_ROLE", "(", ")")


def _is_of_definer(statement: Statement, index: int) -> bool:
    """Return whether a word is the user or the host of ``DEFINER = user@host``."""
    return (statement.word(index - 1) in ("=", "@") or statement.word(index + 1) == "@") and "DEFINER" in (
        statement.word(back) for back in range(1, index)
    )


class _Draft:
    """The statement that is being read, and its line."""

    def __init__(self, text: str, line: int) -> None:
        self.text = text
        self._repeated = RepeatedShapes()
        self._line = self._first_line = line
        self._counted = 0  # offset up to which line breaks are counted
        self._opened = -1  # offset of an executable comment that is still open
        self.skip(0)

    def skip(self, end: int) -> None:
        """Start a new statement at an offset, after a ``;``."""
        self._start = self._end = end
        self._shape: list[str] = []
        self._literals: list[tuple[str, str]] = []
        self._blanks: list[tuple[int, int]] = []
        self.started, self._is_plain = False, True

    def read(self, start: int, end: int) -> Lexeme | None:
        """Read literals and the text between them; return the lexeme after these, None at the end."""
        stop, lexeme = read_shape(self.text, self._first_line, start, end, self._shape, self._literals)
        if read := self.text[start:stop].rstrip():
            end = start + len(read)
            self._extend(start if self.started else end - len(read.lstrip()), end)
        return lexeme

    def take_repeated(self, start: int, end: int) -> tuple[Statement, int] | None:
        """Read a statement of a known shape; return it with the offset after its ``;``.

        :param start: the offset after the last ``;``.
        """
        if (
            self.started
            or self._opened >= 0
            or (known := self._repeated.match(self.text, start, end)) is None
        ):
            return None
        match, shape, kinds = known
        (typed, *literals), line = match.groups(), self.line_at(match.start(1))
        self._start = self._end = end = match.end()
        return Statement(typed, typed, line, shape, tuple(zip(kinds, literals, strict=True))), end

    def line_at(self, offset: int) -> int:
        """Return the line of an offset, which is not before those of earlier calls."""
        self._line += self.text.count("\n", self._counted, offset)
        self._counted = offset
        return self._line

    def add(self, lexeme: Lexeme) -> None:
        kind, lexeme_text, end = lexeme
        self._is_plain = False
        if kind == "comment":
            self._shape.append(" ")
        elif kind == "opening" or (kind == "closing" and self._opened >= 0):
            self._opened = end - len(lexeme_text) if kind == "opening" else -1
            self._end = end  # a mark belongs to the text that it opens or closes
            self._blanks.append((end - len(lexeme_text), end))
            self._shape.append(" ")
        else:  # a mark that closes nothing, or the end of a statement in a stored program
            self._shape.append(lexeme_text)
            self._extend(end - len(lexeme_text), end)

    def _extend(self, start: int, end: int) -> None:
        if not self.started:
            self._start, self.started = start if self._opened < 0 else self._opened, True
        self._end = end

    def take(self) -> Statement:
        """Return the statement that was read."""
        typed = self.text[self._start : self._end]
        line, shape, literals = (
            self.line_at(self._start),
            "".join(self._shape).strip(),
            tuple(self._literals),
        )
        if self._is_plain:
            self._repeated.add(shape, self._shape, [kind for kind, _ in literals])
        return Statement(typed, self._unwrap_executable_comments(typed), line, shape, literals)

    def _unwrap_executable_comments(self, typed: str) -> str:
        """Blank out the marks of ``/*! … */`` and ``/*T! … */``: TiDB runs the SQL inside them."""
        for start, end in self._blanks:
            first, last = max(start - self._start, 0), min(end - self._start, len(typed))
            if first < last:
                typed = typed[:first] + " " * (last - first) + typed[last:]
        return typed

    def check_closed(self) -> None:
        """Check that no executable comment is open at the end of the script.

        :raises ScenarioError: if one is.
        """
        if self._opened >= 0:
            line = self._line + self.text.count("\n", self._counted, self._opened)
            raise ScenarioError("SQL does not parse: */ is missing", line=line)
