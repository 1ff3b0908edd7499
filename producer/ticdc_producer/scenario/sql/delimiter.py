"""``DELIMITER``: the command of the mysql client after which another text than ``;`` ends a statement.

Dumps have it around stored programs, whose bodies contain ``;``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.lexer import lexemes

_COMMAND = re.compile(r"^[ \t]*DELIMITER[ \t]+(\S+)[^\n]*(?:\n|\Z)", re.IGNORECASE | re.MULTILINE)
_QUOTED = ("string", "comment")


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a script with one delimiter, by its offsets."""

    start: int
    end: int
    delimiter: str

    def parts(self, text: str, line: int) -> Iterator[tuple[int, int]]:
        """Start and end of each part between two delimiters; the delimiter ``;`` divides nothing here.

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
            while (found := text.find(self.delimiter, searched, offset)) >= 0:
                yield part, found
                part = searched = found + len(self.delimiter)
        yield part, self.end


def sections(text: str, line: int) -> Iterator[Section]:
    """Divide a script at its ``DELIMITER`` commands, which are in no section.

    :param line: line of the file at which ``text`` starts.
    """
    start, delimiter = 0, ";"
    for found in _COMMAND.finditer(text):
        section = Section(start, found.start(), delimiter)
        if _ends_between_statements(text, line, section):
            yield section
            start, delimiter = found.end(), found[1]
    yield Section(start, len(text), delimiter)


def _ends_between_statements(text: str, line: int, section: Section) -> bool:
    """Whether no quote, comment or statement is open at the end of a section."""
    try:
        if section.delimiter != ";":
            *_, (start, end) = section.parts(text, line)
            return _is_blank(text, line, start, end)
        rest = section.start
        for kind, _, offset in lexemes(text, line, section.start, section.end):
            rest = offset if kind == "end" else rest
        return _is_blank(text, line, rest, section.end)
    except ScenarioError:
        return False


def _is_blank(text: str, line: int, start: int, end: int) -> bool:
    found = lexemes(text, line, start, end)
    return all(kind in ("comment", "closing") or lexeme.isspace() for kind, lexeme, _ in found)
