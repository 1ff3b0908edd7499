"""The parts of a statement that edits remove: rows, columns, assignments, values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.text.statements import Statement, split_statements

Span = tuple[int, int]
"""First and last offset, exclusive."""

_NO_COLUMN = ("PRIMARY", "UNIQUE", "KEY", "INDEX", "CONSTRAINT", "CHECK", "FOREIGN")
_OF_TYPE = ("UNSIGNED", "ZEROFILL")


def without(text: str, spans: Sequence[Span], removed: set[int]) -> str:
    """Return the text with the spans of a list that remain, separated by commas."""
    rest = [text[start:end] for number, (start, end) in enumerate(spans) if number not in removed]
    return text[: spans[0][0]] + ", ".join(rest) + text[spans[-1][1] :]


@dataclass(frozen=True)
class SQLParts:
    """The words of a statement, with their brackets."""

    statement: Statement

    @classmethod
    def of(cls, text: str) -> SQLParts | None:
        try:
            (statement,) = split_statements(text)
            return cls(statement) if statement.tokens else None
        except (ScenarioError, ValueError):
            return None

    @property
    def verb(self) -> str:
        return self.statement.verb

    def word(self, index: int) -> str:
        return self.statement.word(index)

    @property
    def _texts(self) -> list[str]:
        return [str(token.text) for token in self.statement.tokens]

    def _index(self, word: str) -> int:
        """Return the index of the first unquoted word; the number of words without it."""
        count = len(self.statement.tokens)
        return next((number for number in range(count) if self.word(number) == word), count)

    def table(self) -> str:
        """Return the table of the statement, in lower case."""
        start = {"INSERT": 2, "CREATE": 2, "UPDATE": 1, "DELETE": 2, "ALTER": 2}.get(self.verb, 0)
        texts = self._texts
        end = start + (3 if texts[start + 1 : start + 2] == ["."] else 1)
        name = "".join(texts[start:end]).lower()
        return name if "." in name else f"test.{name}"

    def _list_at(self, opening: int) -> tuple[list[Span], int]:
        """Return the members of the list that a bracket opens, and the index of its closing bracket."""
        tokens, members, depth = self.statement.tokens, list[Span](), 0
        start = opening + 1
        for number in range(opening, len(tokens)):
            word = self.word(number)
            depth += (word == "(") - (word == ")")
            if (word == "," and depth == 1) or depth == 0:
                if number > start:
                    members.append((tokens[start].start, tokens[number - 1].end + 1))
                start = number + 1
            if depth == 0:
                return members, number
        return members, len(tokens)

    def added_column(self) -> str:
        """Return the column that ALTER TABLE … ADD COLUMN adds, as written; empty for another statement."""
        adding = self._index("ADD")
        if self.verb != "ALTER" or self.word(adding + 1) != "COLUMN":
            return ""
        token = self.statement.tokens[adding + 2]
        return self.statement.sql[token.start : token.end + 1]

    def elements(self) -> list[Span]:
        """Return the columns and keys of CREATE TABLE."""
        return self._list_at(self._index("("))[0]

    def first_word(self, span: Span) -> str:
        """Return the first word of a span as written."""
        token = next(token for token in self.statement.tokens if token.start >= span[0])
        return self.statement.sql[token.start : token.end + 1]

    def names_column(self, span: Span) -> bool:
        """Return whether an element of CREATE TABLE is a column."""
        return self.first_word(span).upper() not in _NO_COLUMN

    def _row_lists(self) -> list[tuple[Span, list[Span]]]:
        """Return the rows of an INSERT: the span with brackets, and those of the values."""
        lists, number = [], self._index("VALUES") + 1
        if self.verb != "INSERT":
            return []
        tokens = self.statement.tokens
        while number < len(tokens) and self.word(number) == "(":
            members, closing = self._list_at(number)
            lists.append(((tokens[number].start, tokens[closing].end + 1), members))
            number = closing + 2
        return lists

    def rows(self) -> list[Span]:
        """Return the rows of an INSERT."""
        return [span for span, _ in self._row_lists()]

    def insert_without(self, name: str, position: int) -> str:
        """Return the INSERT without a column, by its name or else by its position."""
        text, listed = self.statement.text, self._listed()
        names = [text[start:end] for start, end in listed]
        if listed and name not in names:
            return text
        removed = names.index(name) if listed else position
        for _, members in reversed(self._row_lists()):
            if removed < 0:
                removed = len(members) - 1
            if removed < len(members) and len(members) > 1:
                text = without(text, members, {removed})
        return without(text, listed, {removed}) if len(listed) > 1 else text

    def _listed(self) -> list[Span]:
        opening = self._index("(")
        return self._list_at(opening)[0] if opening < self._index("VALUES") else []

    def _assignments(self) -> list[Span]:
        if self.verb != "UPDATE":
            return []
        tokens, start, members, depth = self.statement.tokens, self._index("SET") + 1, list[Span](), 0
        for number in range(start, len(tokens) + 1):
            word = self.word(number) if number < len(tokens) else "WHERE"
            depth += (word == "(") - (word == ")")
            if depth == 0 and word in (",", "WHERE"):
                members.append((tokens[start].start, tokens[number - 1].end + 1))
                start = number + 1
                if word == "WHERE":
                    break
        return members

    def _conditions(self) -> list[Span]:
        """Return the parts of WHERE that AND connects."""
        tokens, members = self.statement.tokens, list[Span]()
        start = self._index("WHERE") + 1
        for number in range(start, len(tokens) + 1):
            if number > start and (number == len(tokens) or self.word(number) == "AND"):
                members.append((tokens[start].start, tokens[number - 1].end + 1))
                start = number + 1
        return members

    def change_without(self, name: str) -> list[str]:
        """Return the UPDATE or DELETE without a column; nothing if it changes no other one."""
        text, conditions, spans = self.statement.text, self._conditions(), self._assignments()
        rest = [text[start:end] for start, end in conditions if self.first_word((start, end)) != name]
        if len(rest) < len(conditions):
            where = self.statement.tokens[self._index("WHERE")].start
            text = text[:where].rstrip() + (f" WHERE {' AND '.join(rest)}" if rest else "")
        removed = {number for number, span in enumerate(spans) if self.first_word(span) == name}
        if not removed:
            return [text]
        return [] if len(removed) == len(spans) else [without(text, spans, removed)]

    def create_without(self, column: int) -> str:
        """Return CREATE TABLE without a column, and without it in the keys."""
        text, elements = self.statement.text, self.elements()
        name = self.first_word(elements[column])
        for element in reversed(elements):
            if not self.names_column(element):
                opening = next(
                    number
                    for number, token in enumerate(self.statement.tokens)
                    if token.start > element[0] and self.word(number) == "("
                )
                members = self._list_at(opening)[0]
                named = {number for number, span in enumerate(members) if self.first_word(span) == name}
                if named and len(members) > len(named):
                    text = without(text, members, named)
        # The keys that became shorter come after the column.
        start, end = elements[column]
        if column + 1 < len(elements):
            return text[:start] + text[text.index(",", end) + 1 :].lstrip()
        return text[: elements[column - 1][1]] + text[end:]

    def fewer_assignments(self) -> Iterator[str]:
        """Yield UPDATEs with one assignment less."""
        spans = self._assignments()
        for number in range(len(spans)) if len(spans) > 1 else ():
            yield without(self.statement.text, spans, {number})

    def shorter_definitions(self) -> Iterator[str]:
        """Yield CREATE TABLEs without what follows the columns, and with columns without attributes."""
        if self.verb != "CREATE" or self.word(1) != "TABLE":
            return
        text, tokens = self.statement.text, self.statement.tokens
        elements, closing = self._list_at(self._index("("))
        if closing < len(tokens) - 1:
            yield text[: tokens[closing].end + 1]
        for start, end in elements:
            inside = [token for token in tokens if start <= token.start < end]
            cut = _after_type(inside) if self.names_column((start, end)) else _after_bracket(inside)
            if cut < end:
                yield text[:cut] + text[end:]

    def cells(self) -> list[Span]:
        """Return the values of an INSERT or UPDATE, the last ones first."""
        spans = [span for _, members in self._row_lists() for span in members]
        for start, end in self._assignments():
            equals = self.statement.sql.index("=", start) + 1
            while self.statement.sql[equals : equals + 1].isspace():
                equals += 1
            spans.append((equals, end))
        return spans[::-1]


def _after_type(words: Sequence[object]) -> int:
    """Return where the type of a column ends: after its name, one word and its brackets."""
    texts = [str(getattr(word, "text", "")) for word in words]
    index = 1
    if texts[2:3] == ["("]:
        index = texts.index(")", 2)
    if texts[index + 1 : index + 2] and texts[index + 1].upper() in _OF_TYPE:
        index += 1
    return int(getattr(words[min(index, len(words) - 1)], "end", 0)) + 1


def _after_bracket(words: Sequence[object]) -> int:
    texts = [str(getattr(word, "text", "")) for word in words]
    last = len(texts) - 1 - texts[::-1].index(")") if ")" in texts else len(texts) - 1
    return int(getattr(words[last], "end", 0)) + 1
