"""Reads statements of a shape that was read before in one match of a pattern."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ticdc_producer.scenario.sql.text.lexer import LITERAL_PATTERNS, PLACEHOLDERS


class RepeatedShapes:
    """Patterns of the shapes that were read several times, each of which reads a whole statement at once.

    A match takes a fourth of the time of reading literal by literal. Compiling a pattern takes as long as
    reading a hundred statements, so a shape gets one when it comes for the third time.
    """

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._patterns: list[tuple[re.Pattern[str], str, tuple[str, ...]]] = []

    def add(self, shape: str, parts: Sequence[str], kinds: Sequence[str]) -> None:
        """Count a shape without comments that was read.

        :param parts: its parts, where each literal is a placeholder.
        :param kinds: the kinds of the literals.
        """
        if shape[:3].upper() in _SETTINGS:
            return
        if len(kinds) > _MOST_LITERALS or len(shape) > _LONGEST_SHAPE or len(self._counts) >= _MOST_SHAPES:
            return
        count = self._counts[shape] = self._counts.get(shape, 0) + 1
        if count == _REPETITIONS:
            self._patterns = [(shape_pattern(_texts(parts), kinds), shape, (*kinds,)), *self._patterns]
            del self._patterns[_PATTERNS:]

    def match(self, text: str, start: int, end: int) -> tuple[re.Match[str], str, tuple[str, ...]] | None:
        """Return the match of the next statement, with its shape and the kinds of its literals."""
        for pattern, shape, kinds in self._patterns:
            if (match := pattern.match(text, start, end)) is not None:
                return match, shape, kinds
        return None


def _texts(parts: Sequence[str]) -> list[str]:
    """Return the text before each placeholder and after the last one.

    >>> _texts(["SELECT ", "0", "''"])
    ['SELECT ', '', '']
    """
    texts = [""]
    for part in parts:
        if part in _PLACEHOLDERS:
            texts.append("")
        else:
            texts[-1] += part
    return texts


_PLACEHOLDERS = frozenset(PLACEHOLDERS.values())
_SETTINGS = frozenset({"SET", "EXE"})
"""The first letters of SET and EXECUTE, after which the next statement may be read otherwise."""
_REPETITIONS, _PATTERNS = 3, 8
_MOST_LITERALS, _LONGEST_SHAPE, _MOST_SHAPES = 64, 1024, 10_000


def shape_pattern(texts: Sequence[str], kinds: Sequence[str]) -> re.Pattern[str]:
    """Return a pattern that reads a whole statement, up to its ``;``, as ``read_shape`` reads its parts.

    A literal ends where the pattern of its kind ends, and the text between two literals is the same, so no
    lexeme can end elsewhere.

    :param texts: the text before each literal and after the last one.
    :param kinds: the kind of each literal.
    :return: its groups are the statement and its literals.

    >>> shape_pattern(["SELECT ", " + ", ""], ["number", "string"]).match("SELECT 17 + 'a' ;").groups()
    ("SELECT 17 + 'a'", '17', "'a'")
    """
    parts = [texts[0].lstrip(), *texts[1:]]
    parts[-1] = parts[-1].rstrip()
    first, *others = map(re.escape, parts)
    literals = (f"({LITERAL_PATTERNS[kind]}){text}" for kind, text in zip(kinds, others, strict=True))
    return re.compile(rf"\s*+({first}{''.join(literals)})\s*+;", re.DOTALL)
