"""The sql_modes that change how SQL is read, and the default spelling of statements under them.

Rules: tidb ``pkg/parser/lexer.go``. Everything after this module reads the default spelling.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from ticdc_producer.errors import ScenarioError

FUNCTION_WORDS = frozenset({
    "APPROX_COUNT_DISTINCT", "APPROX_PERCENTILE", "BIT_AND", "BIT_OR", "BIT_XOR", "CAST", "COUNT", "CURDATE",
    "CURTIME", "DATE_ADD", "DATE_SUB", "EXTRACT", "GROUP_CONCAT", "MAX", "MID", "MIN", "NOW", "POSITION",
    "STD", "STDDEV", "STDDEV_POP", "STDDEV_SAMP", "SUBSTR", "SUBSTRING", "SUM", "SYSDATE", "TRANSLATE",
    "TRIM", "VARIANCE", "VAR_POP", "VAR_SAMP",
})  # fmt: skip
"""Words that are functions directly before a bracket, and otherwise names (tidb ``btFuncTokenMap``)."""
CONCATENATION, HIGH_NOT = "+||", "+NOT"
"""The contents of the comments that mark ``||`` as a call of CONCAT, and NOT as ``!``."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """The settings with which a session reads SQL.

    :param ansi_quotes: ANSI_QUOTES: ``"`` quotes names.
    :param backslash_escapes: NO_BACKSLASH_ESCAPES is off.
    :param pipes_concat: PIPES_AS_CONCAT: ``||`` is CONCAT.
    :param high_not: HIGH_NOT_PRECEDENCE: NOT binds as ``!``.
    :param real_as_float: REAL_AS_FLOAT: REAL is FLOAT.
    :param ignore_space: IGNORE_SPACE: blanks between a function word and its bracket have no effect.
    """

    ansi_quotes: bool = False
    backslash_escapes: bool = True
    pipes_concat: bool = False
    high_not: bool = False
    real_as_float: bool = False
    ignore_space: bool = False

    @classmethod
    def of(cls, sql_mode: str) -> Spelling:
        """Return the spelling of an sql_mode."""
        flags = sql_mode.split(",")
        return cls(
            "ANSI_QUOTES" in flags,
            "NO_BACKSLASH_ESCAPES" not in flags,
            "PIPES_AS_CONCAT" in flags,
            "HIGH_NOT_PRECEDENCE" in flags,
            "REAL_AS_FLOAT" in flags,
            "IGNORE_SPACE" in flags,
        )


DEFAULT = Spelling()


@lru_cache(maxsize=8)
def spelling_of(sql_mode: str) -> Spelling:
    """Return the spelling of an sql_mode; the default one is always the same object."""
    spelling = Spelling.of(sql_mode)
    return DEFAULT if spelling == DEFAULT else spelling


_COMMENT = r"/\*(?!!|\+|T!).*?\*/|\#[^\n]*|--(?=[\s\x00-\x1f\x7f]|\Z)[^\n]*"
_WITH_ESCAPES = r"'(?:[^'\\]|''|\\.)*'" + "|" + r'"(?:[^"\\]|""|\\.)*"'
_PLAIN = r"'(?:[^']|'')*'" + "|" + r'"(?:[^"]|"")*"'
_ANSI = r"'(?:[^'\\]|''|\\.)*'" + "|" + r'"(?:[^"]|"")*"'


def quoted_name(name: str) -> str:
    """Return a name in back quotes; those in the name are doubled."""
    return "`" + name.replace("`", "``") + "`"


def quoted_text(text: str) -> str:
    """Return a string literal in which backslashes are escaped."""
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


@lru_cache(maxsize=8)
def _pattern(spelling: Spelling) -> re.Pattern[str]:
    strings = _PLAIN if not spelling.backslash_escapes else _ANSI if spelling.ansi_quotes else _WITH_ESCAPES
    return re.compile(
        rf"(?P<comment>{_COMMENT})|(?P<open>/\*(?!!|\+|T!))|(?P<string>{strings})|(?P<name>`[^`]*`)|(?P<end>;)|(?P<pipes>\|\|)"
        rf"|(?P<call>(?i:{'|'.join(sorted(FUNCTION_WORDS))})\s+(?=\())|(?P<word>[\w$]+)|(?P<other>[^\w$])",
        re.DOTALL,
    )


def next_statement(text: str, start: int, end: int, line: int, spelling: Spelling) -> tuple[str, int]:
    """Read a statement; return it in the default spelling, and the offset after its ``;``.

    The result has as many lines.

    :param line: line of the file at ``start``.
    :raises ScenarioError: for an open quote or comment.
    """
    parts: list[str] = []
    for match in _pattern(spelling).finditer(text, start, end):
        kind, lexeme = match.lastgroup, match.group()
        if kind == "end":
            return "".join(parts), match.end()
        if kind == "open":
            line += text.count("\n", start, match.start())
            raise ScenarioError("SQL does not parse: */ is missing", line=line)
        if kind == "other" and lexeme in "'\"`":
            line += text.count("\n", start, match.start())
            raise ScenarioError(
                f"SQL does not parse: {lexeme} is missing after the {lexeme} of this line", line=line
            )
        is_part_of_name = text[max(match.start() - 1, start) : match.start()] in (".", "@")
        parts.append(lexeme if is_part_of_name else _respelled(kind, lexeme, spelling))
    return "".join(parts), end


def _respelled(kind: str | None, lexeme: str, spelling: Spelling) -> str:
    if kind == "pipes" and spelling.pipes_concat:
        return f"||/*{CONCATENATION}*/"
    if kind == "call" and spelling.ignore_space:
        return "\n" * lexeme.count("\n") + lexeme.rstrip()
    if kind == "word" and spelling.high_not and lexeme.upper() == "NOT":
        return f"{lexeme}/*{HIGH_NOT}*/"
    if kind == "word" and spelling.real_as_float and lexeme.upper() == "REAL":
        return "FLOAT"
    if kind != "string":
        return lexeme
    if spelling.ansi_quotes and lexeme[0] == '"':
        return quoted_name(lexeme[1:-1].replace('""', '"'))
    return lexeme if spelling.backslash_escapes else lexeme.replace("\\", "\\\\")
