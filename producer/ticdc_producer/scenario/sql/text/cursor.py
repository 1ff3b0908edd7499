"""Token cursor over one statement: the hand-written DDL grammar reads from it."""

from __future__ import annotations

from dataclasses import dataclass

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.scenario.sql.text.dialect import Token, TokenType
from ticdc_producer.scenario.sql.text.parse import missing_semicolon
from ticdc_producer.scenario.sql.text.reserved_words import is_reserved, quoting_hint
from ticdc_producer.scenario.sql.text.statements import Statement
from ticdc_producer.scenario.sql.text.tidb_grammar import is_function

_LONGEST_NAME = 64
_QUOTED = (TokenType.STRING, TokenType.IDENTIFIER)


class Cursor:
    """A position in a statement, which is read word by word; words are compared without case.

    :param statement: the statement to read.
    :param position: index of the first word to read.
    :ivar position: index of the current word.
    """

    def __init__(self, statement: Statement, position: int = 0) -> None:
        self.statement = statement
        self._tokens = statement.tokens
        self.position = position

    @property
    def at_end(self) -> bool:
        return self.position >= len(self._tokens)

    @property
    def token(self) -> Token | None:
        return None if self.at_end else self._tokens[self.position]

    def word(self, ahead: int = 0) -> str:
        """Return the current word (or one ahead) in upper case; empty if it is quoted or beyond the end."""
        return self.statement.word(self.position + ahead)

    def accept(self, *expected: str) -> bool:
        """Step over these words if they come next; return whether they do."""
        if any(self.word(ahead) != word for ahead, word in enumerate(expected)):
            return False
        self.position += len(expected)
        return True

    def accept_any(self, *choices: str) -> str:
        """Step over one of these words and return it; empty if the next word is none of them."""
        word = self.word() if self.word() in choices else ""
        self.position += bool(word)
        return word

    def expect(self, *expected: str) -> None:
        """Step over these words.

        :raises ScenarioError: if other words come next.
        """
        for word in expected:
            if not self.accept(word):
                raise self.error(f"expected {word}")

    def note(self, kind: str, start: int, *values: str) -> None:
        """Do nothing. Cursors that record the parts of a query override it.

        :param kind: of the part that was read up to the current word.
        :param start: index of its first word.
        :param values: names in it.
        """

    def identifier(self, what: str = "a name") -> str:
        """Read a name, quoted or not.

        :param what: what the message calls it.
        :raises ScenarioError: if the next word is not a name.
        """
        if not (self.position and self.word(-1) in (".", "@")):
            if is_reserved(self.word()):
                raise self.error(f"expected {what}", hint=quoting_hint(str(self._tokens[self.position].text)))
            if self.is_function():
                raise self.error(f"expected {what}", hint="with the bracket it is a function")
            if self.word().isdigit():
                raise self.error(f"expected {what}", hint=f"as a name, write `{self.word()}`")
        return self.word_or_name(what)

    def is_function(self) -> bool:
        """Return whether the current word is a function word directly before a bracket."""
        following = next(iter(self._tokens[self.position + 1 : self.position + 2]), None)
        return self.token is not None and is_function(self.word(), self.token, following)

    def word_or_name(self, what: str = "a name") -> str:
        """Read a word, reserved or not, or a quoted name.

        :param what: what the message calls it.
        :raises ScenarioError: if neither comes next.
        """
        token = self.token
        if token is None or token.token_type == TokenType.STRING or not _could_be_name(token):
            raise self.error(f"expected {what}")
        if not token.text:
            raise self.error("a name must not be empty")
        if len(token.text) > _LONGEST_NAME:
            raise self.error(f"a name has at most {_LONGEST_NAME} characters")
        self.position += 1
        return str(token.text)

    def column_names(self) -> tuple[str, ...]:
        """Read ``(name, …)``."""
        self.expect("(")
        names = [self.identifier("a column name")]
        while self.accept(","):
            names.append(self.identifier("a column name"))
        self.expect(")")
        return tuple(names)

    def qualified_name(self, database: str) -> tuple[str, str]:
        """Read ``[database.]name``."""
        first = self.identifier("a table name")
        if self.accept("."):
            return first, self.identifier("a table name")
        return database, first

    def is_string(self) -> bool:
        return self.token is not None and self.token.token_type == TokenType.STRING

    def string(self) -> str:
        """Read a string literal; adjacent literals are concatenated."""
        if not self.is_string():
            raise self.error("expected a string")
        parts = []
        while self.is_string() and self.token is not None:
            parts.append(str(self.token.text))
            self.position += 1
        return "".join(parts)

    def integer(self) -> int:
        """Read a whole number in digits. Source: tidb ``parser.y`` (``NUM``), ``toInt`` (``lexer.go``)."""
        token = self.token
        is_number = token is not None and token.token_type is TokenType.NUMBER and token.text.isdecimal()
        if token is None or not is_number or len(token.text) > 20 or int(token.text) >> 64:
            raise self.error("expected a whole number")
        self.position += 1
        return int(token.text)

    def expression_source(self, *, until: frozenset[str] = frozenset()) -> str:
        """Read the source text up to a top-level comma, a closing bracket or one of these words."""
        start, depth = self.position, 0
        while not self.at_end:
            word = self.word() if self.token is None or self.token.token_type not in _QUOTED else ""
            if depth == 0 and (word in (",", ")") or (word in until and self.position > start)):
                break
            depth += (word == "(") - (word == ")")
            self.position += 1
        if start == self.position:
            raise self.error("expected an expression")
        first, last = self._tokens[start], self._tokens[self.position - 1]
        return self.statement.sql[first.start : last.end + 1]

    def expression(self, *, until: frozenset[str] = frozenset()) -> SourceText:
        """Read an expression as ``expression_source`` does."""
        start = self.position
        self.expression_source(until=until)
        return self.since(start)

    def since(self, start: int) -> SourceText:
        """Return the words from an earlier position to the current one."""
        return SourceText(self.statement, start, self.position)

    def end(self) -> None:
        """Require the end of the statement.

        :raises ScenarioError: if words remain.
        """
        if not self.at_end:
            raise self.error("expected the end of the statement")

    @property
    def line(self) -> int:
        """Line in the file of the current word."""
        token = self.token
        return self.statement.line if token is None else self.statement.line_of(token)

    def error(self, what: str, *, hint: str = "") -> ScenarioError:
        """Return an error at the current word."""
        near = "the end of the statement" if self.token is None else repr(str(self.token.text)[:60])
        hint = missing_semicolon(self.word()) or hint
        return ScenarioError(f"SQL does not parse: {what} near {near}", line=self.line, hint=hint)

    def unsupported(self, what: str) -> UnsupportedSQL:
        """Return an error for a construct that this tool does not support, at the current word."""
        return UnsupportedSQL(f"{what} is not supported", line=self.line)


@dataclass(frozen=True, slots=True)
class SourceText:
    """Words of a statement, which a syntax tree holds as text.

    :param start: index of the first word.
    :param end: index of the word after the last one.
    """

    statement: Statement
    start: int
    end: int

    @property
    def text(self) -> str:
        """The SQL text from the first to the last word."""
        if self.start == self.end:
            return ""
        first, last = self.statement.tokens[self.start], self.statement.tokens[self.end - 1]
        return self.statement.sql[first.start : last.end + 1]

    @property
    def line(self) -> int:
        """Line in the file of the first word."""
        return self.cursor.line

    @property
    def cursor(self) -> Cursor:
        """A new cursor at the first word."""
        return Cursor(self.statement, self.start)

    def error(self, what: str) -> ScenarioError:
        """Return an error at the first word."""
        return self.cursor.error(what)

    def unsupported(self, what: str) -> UnsupportedSQL:
        """Return an error for a construct that this tool does not support, at the first word."""
        return self.cursor.unsupported(what)


def _could_be_name(token: Token) -> bool:
    if token.token_type == TokenType.IDENTIFIER:
        return True
    text = str(token.text)
    return text[:1].isalnum() or text[:1] in ("_", "$") or not text.isascii()
