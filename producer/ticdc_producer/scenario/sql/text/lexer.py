"""Lexer of SQL scripts: literals, comments, ends of statements, the commands ``DELIMITER`` and ``SOURCE``,
and the text between them.

For speed the text between two literals is a single lexeme. Strings, quoted names and comments end where
sqlglot's MySQL tokenizer ends them, because sqlglot parses the statements later.

Dumps put ``DELIMITER`` around stored programs, whose bodies contain ``;``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.text.dialect import words

Lexeme: TypeAlias = tuple[str, str, int]
"""Kind (a group name of the pattern below), text, and end offset in the script."""

PLACEHOLDERS = {"number": "0", "string": "''", "hex": "x''", "bits": "b''"}
"""Placeholder of each kind of literal in a shape. All literals are replaced, so a shape is unambiguous."""
_AFTER = r"(?=[\s,;()=<>+*/%&|^\#-]|\Z)"
"""The characters that may follow a number; digits followed by anything else are part of a name."""
_NUMBER = rf"\d++(?:\.\d*+)?(?:[eE][+-]?\d++)?{_AFTER}"
_HEX = rf"(?:[xX]'(?:[0-9a-fA-F]{{2}})*+'|0x[0-9a-fA-F]++{_AFTER})"
_BITS = rf"(?:[bB]'[01]*+'|0b[01]++{_AFTER})"
_DASH_COMMENT = r"--(?=[\s\x00-\x1f\x7f]|\Z)[^\n]*+"
_WORD_CHARACTERS = r"^\s'\"`;,()=<>+!%&|^~{}\[\]:?.\#/*\\-"
_WORD = rf"[{_WORD_CHARACTERS}]++"
_LETTERS = rf"(?![0-9xXbB])[{_WORD_CHARACTERS}]++"
"""A word that cannot be a literal."""
_SIGN = r"[\s,()=<>+!%&|^~{}\[\]:?\\]"
_STRING = r"""(?:'[^'\\]*+(?:(?:''|\\.)[^'\\]*+)*+'|"[^"\\]*+(?:(?:""|\\.)[^"\\]*+)*+")"""
LITERAL_PATTERNS = {"number": _NUMBER, "string": _STRING, "hex": _HEX, "bits": _BITS}
_LEXEME = re.compile(
    rf"""
      (?P<number>{_NUMBER})
    | (?P<string>{_STRING})
    | (?P<plain>(?: {_SIGN}++ | {_LETTERS} | (?!{_NUMBER}|{_HEX}|{_BITS}|[bBxX]'){_WORD} | \.[\w$]*+
          | `[^`]*+` | (?!{_DASH_COMMENT})- | \*(?!/(?!\*)) | /(?!\*) | /\*\+.*?\*/ )++)
    | (?P<hex>{_HEX})
    | (?P<bits>{_BITS})
    | (?P<end>;)
    | (?P<opening>/\*(?:!\d*+|T!(?:\[[\w,]*+\])?))
    | (?P<closing>\*/(?!\*))
    | (?P<comment>/\*(?!\+).*?\*/ | \#[^\n]*+ | {_DASH_COMMENT})
    """,
    re.VERBOSE | re.DOTALL,
)


def lexemes(text: str, line: int = 1, start: int = 0, end: int | None = None) -> Iterator[Lexeme]:
    """Yield the lexemes of a script; together they are the whole text.

    :param line: line of the file at which ``text`` starts.
    :param start: offset of the first character to read.
    :param end: offset after the last character to read; None for the end of the text.
    :raises ScenarioError: where a quote or comment is not closed.

    >>> [(kind, lexeme) for kind, lexeme, _ in lexemes("SET @a = 0x1F;")]
    [('plain', 'SET @a = '), ('hex', '0x1F'), ('end', ';')]
    """
    offset, match, end = start, _LEXEME.match, len(text) if end is None else end
    while offset < end:
        lexeme = match(text, offset, end)
        if lexeme is None:
            raise _not_closed(text, offset, line)
        offset = lexeme.end()
        yield lexeme.lastgroup or "", lexeme.group(), offset


def read_shape(
    text: str, line: int, start: int, end: int, shape: list[str], literals: list[tuple[str, str]]
) -> tuple[int, Lexeme | None]:
    """Read literals and the text between them, up to a lexeme of another kind or the end.

    :param line: line of the file at which ``text`` starts.
    :param shape: gets the text, with a placeholder for each literal.
    :param literals: gets kind and text of each literal.
    :return: the offset after the last of them, and the lexeme there; None at the end.
    :raises ScenarioError: where a quote or comment is not closed.
    """
    offset, match = start, _LEXEME.match
    while offset < end:
        lexeme = match(text, offset, end)
        if lexeme is None:
            raise _not_closed(text, offset, line)
        kind = lexeme.lastgroup or ""
        if kind == "plain":
            shape.append(lexeme.group())
        elif kind in PLACEHOLDERS:
            literals.append((kind, lexeme.group()))
            shape.append(PLACEHOLDERS[kind])
        else:
            return offset, (kind, lexeme.group(), lexeme.end())
        offset = lexeme.end()
    return offset, None


def is_utf8_outside_of_strings(text: str) -> bool:
    """Return whether only strings and comments have bytes that are not UTF-8: dumps write BLOBs as they are.

    :param text: the script, in which such bytes are surrogates.
    """
    try:
        return not any(
            kind not in ("string", "comment") and not is_utf8(lexeme) for kind, lexeme, _ in lexemes(text)
        )
    except ScenarioError:
        return True  # the statement with the open quote or comment is reported when the script runs


def is_utf8(text: str) -> bool:
    """Return whether a text has no surrogates, which represent bytes that are not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _not_closed(text: str, offset: int, line: int) -> ScenarioError:
    line += text.count("\n", 0, offset)
    words(text[offset:], line)
    return ScenarioError(f"SQL does not parse near {text[offset : offset + 60]!r}", line=line)


_COMMAND = re.compile(
    r"^[ \t]*(?:DELIMITER[ \t]+(?P<delimiter>\S+)[^\n]*|(?:SOURCE[ \t]|\\\.)(?P<source>[^\n]*))(?:\n|\Z)",
    re.IGNORECASE | re.MULTILINE,
)
_QUOTED = ("string", "comment")


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a script with one delimiter, by its offsets.

    :param source: the file that a ``SOURCE`` command at the end of the section names; None: there is no such
        command.
    """

    start: int
    end: int
    delimiter: str
    source: str | None = None

    def parts(self, text: str, line: int) -> Iterator[tuple[int, int]]:
        """Yield start and end of each part between two delimiters; the delimiter ``;`` divides nothing here.

        :param line: line of the file at which ``text`` starts.
        """
        if self.delimiter == ";":
            yield self.start, self.end
            return
        part = searched = self.start
        for kind, _, offset in lexemes(text, line, self.start, self.end):
            if kind in _QUOTED:
                searched = offset
                continue
            while (position := text.find(self.delimiter, searched, offset)) >= 0:
                yield part, position
                part = searched = position + len(self.delimiter)
            searched = max(searched, offset - len(self.delimiter) + 1)
        yield part, self.end


def sections(text: str) -> Iterator[Section]:
    """Divide a script at its ``DELIMITER`` and ``SOURCE`` commands, which are in no section."""
    start, delimiter = 0, ";"
    progress = _Progress(text)
    for command in _COMMAND.finditer(text):
        if not progress.is_between_statements(command.start()):
            continue
        source = None if command["source"] is None else command["source"].strip(" \t\r;")
        yield Section(start, command.start(), delimiter, source)
        start, delimiter = command.end(), command["delimiter"] or delimiter
        progress = _Progress(text, delimiter, start)
    yield Section(start, len(text), delimiter)


@dataclass
class _Progress:
    """The progress of reading a section, of which each character is read once.

    :ivar offset: after the last lexeme.
    """

    text: str
    delimiter: str = ";"
    offset: int = 0
    _is_blank: bool = True  # since the last delimiter

    def __post_init__(self) -> None:
        self._searched = self.offset

    def is_between_statements(self, end: int) -> bool:
        """Return whether no quote, comment or statement is open where a line begins.

        :param end: offset of the line, not below that of a line before.
        """
        while self.offset < end:
            lexeme = _LEXEME.match(self.text, self.offset, end)
            if lexeme is None:  # open there; it ends later, or the script does not parse
                lexeme = _LEXEME.match(self.text, self.offset)
            if lexeme is None:
                self.offset = len(self.text)
                return False
            self.offset = lexeme.end()
            self._see(lexeme.lastgroup or "", lexeme.group())
        return self.offset == end and self._is_blank

    def _see(self, kind: str, lexeme: str) -> None:
        part = self._part(kind)
        if part >= 0:
            self._is_blank = not self.text[part : self.offset].strip()
        elif kind not in ("comment", "closing") and not lexeme.isspace():
            self._is_blank = False

    def _part(self, kind: str) -> int:
        """Return the offset after the last delimiter in a lexeme; -1 if it has none."""
        if self.delimiter == ";":  # others may be a part of a lexeme
            return self.offset if kind == "end" else -1
        if kind in _QUOTED:
            self._searched = self.offset
        part = -1
        while (position := self.text.find(self.delimiter, self._searched, self.offset)) >= 0:
            part = self._searched = position + len(self.delimiter)
        self._searched = max(self._searched, self.offset - len(self.delimiter) + 1)
        return part
