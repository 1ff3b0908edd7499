"""Table filter patterns: which tables the entries of ``matcher`` match.

Rules: tidb ``pkg/util/table-filter`` (``parser.go``, ``matchers.go``). TiCDC compiles patterns with Go's
``regexp``, whose syntax and semantics are those of RE2. RE2 matches in linear time, whatever the pattern.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from ticdc_producer.errors import ChangefeedError

NameTest: TypeAlias = Callable[[str], bool]

_REGEXP = re.compile(r"/((?:\\.|[^/])+)/")
_QUOTED = {'"': re.compile(r'"((?:""|[^"])+)"'), "`": re.compile(r"`((?:``|[^`])+)`")}
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_SINGLE_BYTE = re.compile(r"(?<!\\)(?:\\\\)*\\C")
_CLASS = re.compile(r"\[((?:!?)(?:\\[^0-9A-Za-z]|[^\\\]])+)\]")


@dataclass(frozen=True, slots=True)
class TablePattern:
    """One entry: ``schemaPattern.tablePattern``; a leading ``!`` makes it negative.

    :param every_table: whether the table pattern is ``*``.
    """

    schema: NameTest
    table: NameTest
    positive: bool
    every_table: bool = False


class Matcher:
    """A list of entries; the last one that matches a table decides. A table that no entry matches is not
    accepted.

    :param entries: as in the changefeed file; empty entries and comments are ignored.
    :param case_sensitive: whether names are compared with case.
    :raises ChangefeedError: for an entry that TiCDC rejects, too, and for ``@file``.
    """

    def __init__(self, entries: Iterable[str], *, case_sensitive: bool) -> None:
        self._fold = (lambda name: name) if case_sensitive else lower
        reader = _PatternReader(self._fold, ignore_case=not case_sensitive)
        self._patterns = tuple(pattern for entry in entries for pattern in reader.read(entry))

    def accepts(self, schema: str, table: str) -> bool:
        """Return whether the last entry that matches the table is positive."""
        schema, table = self._fold(schema), self._fold(table)
        for pattern in reversed(self._patterns):
            if pattern.schema(schema) and pattern.table(table):
                return pattern.positive
        return False

    def accepts_schema(self, schema: str) -> bool:
        """Return whether DDL of a database is accepted.

        The last entry that matches the database or all its tables decides.
        """
        schema = self._fold(schema)
        for pattern in reversed(self._patterns):
            if pattern.schema(schema) and (pattern.positive or pattern.every_table):
                return pattern.positive
        return False


class ColumnMatcher:
    """A list of column patterns; the last one that matches a column decides. A column that none matches is
    not accepted.

    :param entries: as in the changefeed file; case is ignored.
    :raises ChangefeedError: for an entry that TiCDC rejects, too.
    """

    def __init__(self, entries: Iterable[str]) -> None:
        reader = _PatternReader(lower, ignore_case=True)
        self._patterns = tuple(pattern for entry in entries for pattern in reader.read_column(entry))

    def accepts(self, column: str) -> bool:
        """Return whether the last entry that matches the column is positive."""
        for test, positive in reversed(self._patterns):
            if test(lower(column)):
                return positive
        return False


def lower(name: str) -> str:
    """Convert to lower case character by character, as Go's ``strings.ToLower``.

    It has no special form of a final sigma or a dotted i.
    """
    return "".join(char.lower()[:1] for char in name)


class _PatternReader:
    def __init__(self, fold: Callable[[str], str], *, ignore_case: bool) -> None:
        self._fold = fold
        self._ignore_case = ignore_case

    def read(self, entry: str) -> Iterator[TablePattern]:
        line = entry.strip(" \t")
        if not line or line.startswith("#"):
            return
        if line.startswith("@"):
            raise _error(entry, "patterns from a file are not supported yet")
        positive = not line.startswith("!")
        try:
            schema, rest = self._pattern(line if positive else line[1:])
            if not rest:
                raise ValueError("a pattern is schemaPattern.tablePattern, such as 'test.*'")
            if not rest.startswith("."):
                raise ValueError("'.' is missing between the schema and the table pattern")
            table, rest = self._pattern(rest[1:])
            if rest:
                raise ValueError(f"{rest!r} is too much after the table pattern")
        except ValueError as error:
            raise _error(entry, str(error)) from None
        yield TablePattern(schema, table, positive, every_table=line.endswith(".*"))

    def read_column(self, entry: str) -> Iterator[tuple[NameTest, bool]]:
        """Yield the test of one column pattern, and whether it is positive; nothing for a comment."""
        line = entry.strip(" \t")
        if not line or line.startswith("#"):
            return
        positive = not line.startswith("!")
        try:
            test, rest = self._pattern(line if positive else line[1:])
            if rest:
                raise ValueError(f"{rest!r} is too much after the column pattern")
        except ValueError as error:
            raise _error(entry, str(error)) from None
        yield test, positive

    def _pattern(self, line: str) -> tuple[NameTest, str]:
        """Parse one pattern at the start of the line; return its test and the rest of the line."""
        if not line:
            raise ValueError("a pattern is missing")
        if line[0] == "/":
            return self._regexp(line)
        if line[0] in _QUOTED:
            return self._quoted(line)
        return self._wildcard(line)

    def _regexp(self, line: str) -> tuple[NameTest, str]:
        match = _REGEXP.match(line)
        if not match:
            raise ValueError("the closing '/' of the regular expression is missing")
        pattern = compile_go(match[1], ignore_case=self._ignore_case)
        return (lambda name: pattern.search(name) is not None), line[match.end() :]

    def _quoted(self, line: str) -> tuple[NameTest, str]:
        quote = line[0]
        match = _QUOTED[quote].match(line)
        if not match:
            raise ValueError(f"the closing {quote} is missing")
        name = self._fold(match[1].replace(quote * 2, quote))
        return name.__eq__, line[match.end() :]

    def _wildcard(self, line: str) -> tuple[NameTest, str]:
        parts = []
        index = 0
        while index < len(line) and line[index] != ".":
            part, index = _wildcard_part(line, index)
            parts.append(part)
        if not any(part[0] in ".[" for part in parts):  # literal characters are escaped in parts
            literal = self._fold(_ESCAPE.sub(r"\1", line[:index]))
            return literal.__eq__, line[index:]
        try:
            pattern = compile_go(f"(?s)^{''.join(parts)}$", ignore_case=self._ignore_case)
        except ValueError as error:
            reason = str(error).rpartition(": ")[2]
            raise ValueError(f"{line[:index]!r} is not a pattern: {reason}") from None
        return (lambda name: pattern.search(name) is not None), line[index:]


class GoPattern(Protocol):
    """A compiled regular expression."""

    def search(self, text: str) -> object | None:
        """Return the first match; None if there is none."""


def compile_go(pattern: str, *, ignore_case: bool) -> GoPattern:
    """Compile a regular expression as Go does.

    :param ignore_case: whether to ignore case, as with ``(?i)`` at the beginning.
    :raises ValueError: if Go rejects the pattern.
    """
    import re2  # few changefeeds have patterns

    options = re2.Options()
    options.case_sensitive, options.log_errors = not ignore_case, False
    # RE2's only syntax that Go lacks: a single byte.
    if _SINGLE_BYTE.search(pattern):
        raise ValueError(f"/{pattern}/ is not a regular expression: invalid escape sequence: \\C")
    try:
        compiled: GoPattern = re2.compile(pattern, options)
    except re2.error as error:
        [reason] = error.args
        raise ValueError(f"/{pattern}/ is not a regular expression: {reason.decode()}") from None
    return compiled


def _wildcard_part(line: str, index: int) -> tuple[str, int]:
    """Return the next element of a wildcard pattern as a regular expression, and the index after it."""
    char = line[index]
    if char == "\\":
        return _escaped(line[index + 1 : index + 2]), index + 2
    if char == "*":
        return ".*", index + 1
    if char == "?":
        return ".", index + 1
    if char == "[":
        match = _CLASS.match(line, index)
        if not match:
            raise ValueError("a character class [...] is not complete")
        return _character_class(match[1]), match.end()
    if char in "$_" or (char.isascii() and char.isalnum()) or not char.isascii():
        return re.escape(char), index + 1
    raise ValueError(f"{char!r} is not allowed in a pattern; quote the name or put '\\' before it")


def _escaped(char: str) -> str:
    if not char:
        raise ValueError("'\\' at the end")
    if char.isascii() and char.isalnum():
        raise ValueError(f"'\\{char}' is reserved; use '\\' only before other characters")
    return re.escape(char)


def _character_class(body: str) -> str:
    negated = body.startswith("!")
    members = body[negated:]
    if not members or ("[:" in members and members.endswith(":")):
        raise ValueError(f"[{body}] is not a character class")
    escaped = re.sub(r"\\.|[\[\]^&|~]", lambda match: "\\" + match[0][-1], members, flags=re.DOTALL)
    return f"[{'^' if negated else ''}{escaped}]"


def _error(entry: str, what: str) -> ChangefeedError:
    return ChangefeedError(f"matcher {entry!r}: {what}", parameter="matcher")
