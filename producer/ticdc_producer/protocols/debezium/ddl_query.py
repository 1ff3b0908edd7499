"""Column definitions in the text of a DDL, as far as TiCDC's Debezium encoder evaluates them.

The encoder parses the query once more. What the query says about a column takes precedence over TiDB's table
metadata; see ``ddl_columns``. The text is the statement as TiDB prints it: upper-case keywords, names in
backquotes, strings in single quotes in which only the quote is doubled. Source: tiflow ``debezium/helper.go``
(parseColumns, parseOptions, parseType).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

_TOKEN = re.compile(
    r"(?P<name>`(?:[^`]|``)*`)"
    r"|(?P<string>'(?:[^']|'')*')"
    r"|(?P<word>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<number>-?[0-9][0-9.eE+-]*)"
    r"|(?P<sign>[(),])"
)
_DEFINING = ("ADD", "MODIFY", "CHANGE")
_SETTING = "ALTER"
_FILLERS = frozenset({"COLUMN", "IF", "NOT", "EXISTS"})


@dataclass(frozen=True, slots=True)
class Token:
    """``kind`` is name, string, word, number or sign."""

    kind: str
    text: str


@dataclass(frozen=True)
class ColumnDefinition:
    """The definition of one column in a statement: its name, and the tokens of its type and options.

    ``ALTER COLUMN … {SET | DROP} DEFAULT`` is a definition without tokens.
    """

    name: str
    tokens: tuple[Token, ...]

    @property
    def has_type(self) -> bool:
        return bool(self.tokens)

    @property
    def length(self) -> int:
        """The number in parentheses after the type; -1 if there is none."""
        if len(self.tokens) > 2 and self.tokens[1].text == "(" and self.tokens[2].kind == "number":
            return int(self.tokens[2].text)
        return -1

    @property
    def has_default(self) -> bool:
        return self._default is not None

    @property
    def default(self) -> str | None:
        """The DEFAULT: the value of a literal, the name of a function, or None for NULL."""
        token = self._default
        if token is None or (token.kind == "word" and token.text.upper() == "NULL"):
            return None
        return token.text[1:-1].replace("''", "'") if token.kind == "string" else token.text

    @cached_property
    def _default(self) -> Token | None:
        """The token of the DEFAULT; expressions in parentheses are ignored."""
        words = iter(self.tokens)
        for token in words:
            if token.kind == "word" and token.text == "DEFAULT":
                value = next((value for value in words if not _is_charset_introducer(value)), None)
                return None if value is None or value.kind == "sign" else value
        return None


def _is_charset_introducer(token: Token) -> bool:
    """Whether the token is the charset before a string, such as ``_UTF8MB4``."""
    return token.kind == "word" and token.text.startswith("_")


def column_definitions(query: str) -> dict[str, ColumnDefinition]:
    """The columns that a CREATE TABLE or ALTER TABLE statement defines, by name."""
    tokens = tuple(_tokens(query))
    head = [token.text for token in tokens[:3]]
    if head[:2] == ["CREATE", "TABLE"] or head[:3] == ["CREATE", "TEMPORARY", "TABLE"]:
        found = _in_parentheses(tokens)
    elif head[:2] == ["ALTER", "TABLE"]:
        found = [one for part in _parts(tokens[2:]) for one in _altered(part)]
    else:
        found = []
    return {definition.name: definition for definition in found}


def _tokens(query: str) -> Iterator[Token]:
    for match in _TOKEN.finditer(query):
        yield Token(match.lastgroup or "", match[0])


def _in_parentheses(tokens: tuple[Token, ...]) -> list[ColumnDefinition]:
    """The column definitions inside the first parentheses, without keys and constraints."""
    opening = next((i for i, token in enumerate(tokens) if token.text == "("), len(tokens))
    depth = 0
    for index, token in enumerate(tokens[opening:], opening):
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if depth == 0:
            return [_definition(part) for part in _parts(tokens[opening + 1 : index]) if _starts_column(part)]
    return []


def _parts(tokens: tuple[Token, ...]) -> Iterator[tuple[Token, ...]]:
    """Split at the commas that are outside of parentheses."""
    depth = start = 0
    for index, token in enumerate(tokens):
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if token.text == "," and depth == 0:
            yield tokens[start:index]
            start = index + 1
    yield tokens[start:]


def _altered(part: tuple[Token, ...]) -> list[ColumnDefinition]:
    """The column definitions in one part of an ALTER TABLE; the name of the table may precede it."""
    verb = next((i for i, token in enumerate(part) if token.kind == "word"), len(part))
    rest = part[verb + 1 :]
    if not rest or rest[0].text != "COLUMN":
        return []
    if part[verb].text == _SETTING and len(rest) > 1:
        return [_definition(rest[1:2])]
    if part[verb].text not in _DEFINING:
        return []
    while rest and rest[0].text in _FILLERS:
        rest = rest[1:]
    if part[verb].text == "CHANGE":
        rest = rest[1:]  # the old name
    if rest and rest[0].text == "(":
        return _in_parentheses(rest)
    return [_definition(rest)] if _starts_column(rest) else []


def _starts_column(part: tuple[Token, ...]) -> bool:
    return len(part) > 1 and part[0].kind == "name"


def _definition(part: tuple[Token, ...]) -> ColumnDefinition:
    return ColumnDefinition(part[0].text[1:-1].replace("``", "`"), part[1:])
