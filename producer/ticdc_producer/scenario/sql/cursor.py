"""A place in the words of a statement: what the hand-written grammar of DDL reads from."""

from __future__ import annotations

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.scenario.sql.dialect import Token, TokenType
from ticdc_producer.scenario.sql.statements import Statement

_LONGEST_NAME = 64
_QUOTED = (TokenType.STRING, TokenType.IDENTIFIER)


class Cursor:
    """Reads a statement word by word; words are compared without case.

    :param statement: what to read.
    :param place: the first word to read.
    """

    def __init__(self, statement: Statement, place: int = 0) -> None:
        self.statement = statement
        self._tokens = statement.tokens
        self.place = place

    @property
    def at_end(self) -> bool:
        return self.place >= len(self._tokens)

    @property
    def token(self) -> Token | None:
        return None if self.at_end else self._tokens[self.place]

    def word(self, ahead: int = 0) -> str:
        """The unquoted word here, in upper case; empty for anything else."""
        return self.statement.word(self.place + ahead)

    def accept(self, *expected: str) -> bool:
        """Step over these words if they stand here."""
        if any(self.word(ahead) != word for ahead, word in enumerate(expected)):
            return False
        self.place += len(expected)
        return True

    def accept_any(self, *choices: str) -> str:
        """Step over one of these words; empty if none stands here."""
        found = self.word() if self.word() in choices else ""
        self.place += bool(found)
        return found

    def expect(self, *expected: str) -> None:
        """Step over these words.

        :raises ScenarioError: if something else stands here.
        """
        for word in expected:
            if not self.accept(word):
                raise self.error(f"expected {word}")

    def identifier(self, what: str = "a name") -> str:
        """A name, quoted or not."""
        token = self.token
        if token is None or token.token_type == TokenType.STRING or not _could_be_name(token):
            raise self.error(f"expected {what}")
        if not token.text:
            raise self.error("a name must not be empty")
        if len(token.text) > _LONGEST_NAME:
            raise self.error(f"a name has at most {_LONGEST_NAME} characters")
        self.place += 1
        return str(token.text)

    def column_names(self) -> tuple[str, ...]:
        """``(name, …)``."""
        self.expect("(")
        names = [self.identifier("a column name")]
        while self.accept(","):
            names.append(self.identifier("a column name"))
        self.expect(")")
        return tuple(names)

    def qualified_name(self, database: str) -> tuple[str, str]:
        """``[database.]name``."""
        first = self.identifier("a table name")
        if self.accept("."):
            return first, self.identifier("a table name")
        return database, first

    def is_string(self) -> bool:
        return self.token is not None and self.token.token_type == TokenType.STRING

    def string(self) -> str:
        """A string literal; adjacent ones are one."""
        if not self.is_string():
            raise self.error("expected a string")
        parts = []
        while self.is_string() and self.token is not None:
            parts.append(str(self.token.text))
            self.place += 1
        return "".join(parts)

    def integer(self) -> int:
        token = self.token
        if token is None or not token.text.isascii() or not token.text.isdigit() or len(token.text) > 20:
            raise self.error("expected a whole number")
        self.place += 1
        return int(token.text)

    def expression_source(self, *, until: frozenset[str] = frozenset()) -> str:
        """The text up to a top-level comma, closing bracket or one of the words; steps over it."""
        start, depth = self.place, 0
        while not self.at_end:
            word = self.word() if self.token is None or self.token.token_type not in _QUOTED else ""
            if depth == 0 and (word in (",", ")") or (word in until and self.place > start)):
                break
            depth += (word == "(") - (word == ")")
            self.place += 1
        if start == self.place:
            raise self.error("expected an expression")
        first, last = self._tokens[start], self._tokens[self.place - 1]
        return self.statement.sql[first.start : last.end + 1]

    def rest(self) -> str:
        """The text from here to the end of the statement."""
        return "" if self.token is None else self.statement.sql[self.token.start :]

    def end(self) -> None:
        """:raises ScenarioError: if words are left."""
        if not self.at_end:
            raise self.error("expected the end of the statement")

    @property
    def line(self) -> int:
        """Line in the file of the word here."""
        token = self.token
        return self.statement.line if token is None else self.statement.line_of(token)

    def error(self, what: str) -> ScenarioError:
        """An error at the word here."""
        near = "the end of the statement" if self.token is None else repr(str(self.token.text)[:60])
        return ScenarioError(f"SQL does not parse: {what} near {near}", line=self.line)

    def unsupported(self, what: str) -> UnsupportedSQL:
        """A refusal, by name, at the word here."""
        return UnsupportedSQL(f"{what} is not supported", line=self.line)


def _could_be_name(token: Token) -> bool:
    if token.token_type == TokenType.IDENTIFIER:
        return True
    text = str(token.text)
    return text[:1].isalnum() or text[:1] in ("_", "$") or not text.isascii()
