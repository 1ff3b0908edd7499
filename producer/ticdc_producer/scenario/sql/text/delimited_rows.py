"""Reads the rows of a file whose fields and lines are delimited, as LOAD DATA does.

Rules: tidb ``pkg/lightning/mydump/csv_parser.go`` with the settings of LOAD DATA
(``LoadDataController.GenerateCSVConfig``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import msgspec

from ticdc_producer.errors import ScenarioError

_ESCAPED = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a"}


class DelimitedFormat(msgspec.Struct, frozen=True, dict=True):
    r"""The clauses FIELDS and LINES, with TiDB's defaults.

    :param null: of ``DEFINED NULL BY``; None: the word NULL, if ``enclosed`` is given. ``\N`` is NULL, too.
    :param null_enclosed: whether an enclosed field may be NULL, too.
    """

    terminated: str = "\t"
    enclosed: str = ""
    escaped: str = "\\"
    line_start: str = ""
    line_end: str = "\n"
    null: str | None = None
    null_enclosed: bool = False

    def rows(self, text: str, ignored: int = 0) -> Iterator[list[str | None]]:
        r"""Yield the rows of a file; None is NULL.

        :param ignored: number of lines at the beginning that are not rows.
        :raises ScenarioError: for a field whose quote is not closed, and an escape at the end of the file.

        >>> [*DelimitedFormat(terminated=",", enclosed='"').rows('a,"b,""c",NULL\n\\N,\\t')]
        [['a', 'b,"c', None], [None, '\t']]
        """
        reader = _Reader(self, text)
        for _ in range(ignored):
            if not reader.skip_line():
                return
        while reader.at_row():
            yield [self._value(field) for field in reader.row()]

    @cached_property
    def _nulls(self) -> tuple[str, ...]:
        if self.null is not None:
            return (self.null,)
        return ("NULL",) if self.enclosed else ()

    @cached_property
    def _escapes(self) -> re.Pattern[str]:
        return re.compile(rf"{re.escape(self.escaped)}(.)", re.DOTALL)

    def _value(self, field: _Field) -> str | None:
        text = field.text
        if self.escaped and self.escaped in text:
            if text == f"{self.escaped}N":
                return None
            text = self._escapes.sub(lambda match: _ESCAPED.get(match[1], match[1]), text)
        return None if text in self._nulls and (self.null_enclosed or not field.enclosed) else text


@dataclass(slots=True)
class _Field:
    """A field with its escapes, without the quotes around it."""

    text: str = ""
    enclosed: bool = False


class _Reader:
    """A position in a file."""

    def __init__(self, form: DelimitedFormat, text: str) -> None:
        self._form, self._text, self._offset = form, text, 0
        end, field = re.escape(form.line_end), re.escape(form.terminated)
        quote = f"|(?P<quote>{re.escape(form.enclosed)})" if form.enclosed else ""
        escape = rf"|(?P<escape>{re.escape(form.escaped)}(?:.|\Z))" if form.escaped else ""
        self._token = re.compile(f"(?P<end>{end})|(?P<field>{field}){quote}{escape}", re.DOTALL)
        self._in_quotes = re.compile(f"{quote}{escape}".removeprefix("|"), re.DOTALL)

    def skip_line(self) -> bool:
        """Step over a line; return whether there was one."""
        end = self._text.find(self._form.line_end, self._offset)
        self._offset = len(self._text) if end < 0 else end + len(self._form.line_end)
        return end >= 0

    def at_row(self) -> bool:
        """Step to the next row, after what its line starts with; return whether there is one."""
        start = self._form.line_start
        while start and self._offset < len(self._text):
            line = self._offset
            self.skip_line()
            if (position := self._text.find(start, line, self._offset)) >= 0:
                self._offset = position + len(start)
                break
        return self._offset < len(self._text)

    def row(self) -> list[_Field]:
        """Read a row. A quote that is not at the beginning of its field is a part of the field."""
        fields, field, parts = [], _Field(), list[str]()
        while True:
            kind, before, token = self._next(self._token)
            parts += before
            if kind == "quote" and not parts and not field.enclosed:
                field.enclosed = True
                parts += self._quoted()
            elif kind in ("quote", "escape"):
                parts.append(token)
            else:
                field.text = "".join(parts)
                fields.append(field)
                if kind != "field":
                    return fields
                field, parts = _Field(), []

    def _quoted(self) -> list[str]:
        """Read a field after its first quote. A quote ends it where a field ends, else it is text."""
        parts, form = list[str](), self._form
        while True:
            kind, before, token = self._next(self._in_quotes)
            parts += before
            if not kind:
                raise ScenarioError("LOAD DATA cannot read the file: a field is enclosed and not closed")
            if kind == "escape":
                parts.append(token)
            elif self._text.startswith(form.enclosed, self._offset):
                parts.append(form.enclosed)
                self._offset += len(form.enclosed)
            elif self._offset == len(self._text) or self._text.startswith(
                (form.terminated, form.line_end), self._offset
            ):
                return parts
            else:
                parts.append(token)

    def _next(self, pattern: re.Pattern[str]) -> tuple[str, list[str], str]:
        """Step over the next token; return its kind, the text before it and the token.

        The kind is empty at the end of the file.
        """
        match = pattern.search(self._text, self._offset)
        end = len(self._text) if match is None else match.start()
        before = [self._text[self._offset : end]] if self._offset < end else []
        self._offset = end if match is None else match.end()
        if match is None:
            return "", before, ""
        if match.lastgroup == "escape" and match[0] == self._form.escaped:
            raise ScenarioError("LOAD DATA cannot read the file: nothing follows the escape at its end")
        return match.lastgroup or "", before, match[0]
