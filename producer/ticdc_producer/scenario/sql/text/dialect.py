"""sqlglot configured for TiDB: one dialect that parses DML, one that splits text into plain words."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.mysql import MySQL
from sqlglot.errors import ParseError, TokenError
from sqlglot.parsers.mysql import MySQLParser
from sqlglot.tokens import Token, TokenType  # type: ignore[attr-defined]  # re-exported from its compiled core

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.scenario.sql.text.spelling import CONCATENATION, HIGH_NOT

__all__ = [
    "COMMA",
    "WITHOUT_BRACKETS",
    "TiDB",
    "TiDBWords",
    "Token",
    "TokenType",
    "parse_dml",
    "parse_expression",
    "string_text",
    "words",
]

WITHOUT_BRACKETS = (
    "CURRENT_DATE", "CURRENT_ROLE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "CURRENT_USER", "LOCALTIME",
    "LOCALTIMESTAMP", "UTC_DATE", "UTC_TIME", "UTC_TIMESTAMP",
)  # fmt: skip
"""Functions that may be called without brackets."""
COMMA = "COMMA"
"""Kind of a join that is written as a comma."""
_SQLGLOT_INTERNALS = re.compile(r" (?:but got <Token|for <class) .*>", re.DOTALL)
"""The part of sqlglot's messages that names its own objects."""


def _call_without_brackets(parser: Any) -> exp.Expr:
    """Read the rest of a call that may have no brackets; sqlglot has other nodes for it."""
    name = parser._prev.text
    call: exp.Expr = parser.expression(exp.Anonymous(this=name, expressions=parser._wrapped_list()))
    return call


def _call_of_sequence(name: str, arguments: list[exp.Expr]) -> exp.Expr:
    """Return a call whose first argument names a sequence: no column of a query."""
    first, *others = arguments or [exp.Null()]
    if isinstance(first, exp.Column) and len(first.parts) <= 2:
        first = exp.Dot.build(first.parts) if len(first.parts) == 2 else first.this
    return exp.Anonymous(this=name, expressions=[first, *others] if arguments else [])


class TiDB(MySQL):
    """MySQL without sqlglot's extensions for other dialects."""

    class Tokenizer(MySQL.Tokenizer):
        COMMANDS: ClassVar[set[TokenType]] = set()  # no statement is accepted as raw text
        KEYWORDS: ClassVar[dict[str, TokenType]] = {
            word: kind
            for word, kind in MySQL.Tokenizer.KEYWORDS.items()
            if word != "/*+"  # a comment
        }

    class Parser(MySQLParser):
        # Every function remains a call by the name that the user wrote; our own table implements it.
        FUNCTIONS: ClassVar[dict[str, Callable[..., exp.Expr]]] = {
            name: partial(_call_of_sequence, name) for name in ("LASTVAL", "NEXTVAL", "SETVAL")
        }
        LAMBDAS: ClassVar[dict[TokenType, Callable[..., exp.Expr]]] = {}  # -> is a JSON path
        # Standard SQL has other arguments of these.
        FUNCTION_PARSERS: ClassVar[dict[str, Callable[..., exp.Expr | None]]] = {
            name: parse
            for name, parse in MySQLParser.FUNCTION_PARSERS.items()
            if name not in ("CEIL", "FLOOR", "JSON_OBJECT")
        }

        NO_PAREN_FUNCTION_PARSERS: ClassVar[dict[str, Callable[..., exp.Expr | None]]] = {
            **MySQLParser.NO_PAREN_FUNCTION_PARSERS,
            **dict.fromkeys(WITHOUT_BRACKETS, _call_without_brackets),
        }
        NO_PAREN_FUNCTIONS: ClassVar[dict[TokenType, type[exp.Expr]]] = {}

        def _parse_interval(self, *args: Any, **kwargs: Any) -> Any:
            """Read ``INTERVAL(n, a, …)`` as a function, and the number of ``INTERVAL n unit`` as a number."""
            start = self._index
            if not self._match(TokenType.INTERVAL):
                return super()._parse_interval(*args, **kwargs)
            is_number = self._curr is not None and self._curr.token_type == TokenType.NUMBER
            listed = self._wrapped_list()
            if len(listed) > 1:
                return self.expression(exp.Anonymous(this="INTERVAL", expressions=listed))
            self._retreat(start)
            interval = super()._parse_interval(*args, **kwargs)
            if is_number and isinstance(interval, exp.Interval):
                interval.set("this", exp.Literal.number(interval.this.name))
            return interval

        def _parse_unary(self) -> Any:
            """Read ``||`` as CONCAT where a comment says so; it binds tighter than other operators."""
            parts = [super()._parse_unary()]
            while CONCATENATION in getattr(self._curr, "comments", ()) and self._match(TokenType.DPIPE):
                parts.append(super()._parse_unary())
            if len(parts) == 1:
                return parts[0]
            return self.expression(exp.Anonymous(this="CONCAT", expressions=parts))

        def _parse_negation(self) -> exp.Expr:
            """Read the rest of NOT, which binds as ``!`` where a comment says so."""
            if HIGH_NOT not in self._prev.comments:
                negation: exp.Expr = MySQLParser.UNARY_PARSERS[TokenType.NOT](self)
                return negation
            return self.expression(exp.Not(this=self._parse_unary()))

        UNARY_PARSERS: ClassVar[dict[TokenType, Callable[..., object]]] = {
            **MySQLParser.UNARY_PARSERS,
            TokenType.NOT: lambda self: self._parse_negation(),
        }

        def _wrapped_list(self) -> list[exp.Expr]:
            """Read expressions in brackets; return none if there are others."""
            if not self._match(TokenType.L_PAREN):
                return []
            listed = self._parse_csv(self._parse_disjunction)
            return listed if self._match(TokenType.R_PAREN) else []

        def _parse_join(self, *args: Any, **kwargs: Any) -> Any:
            """Mark joins by comma: JOIN binds tighter, but sqlglot's trees do not distinguish them."""
            comma = self._curr is not None and self._curr.token_type == TokenType.COMMA
            join = super()._parse_join(*args, **kwargs)
            if comma and join is not None:
                join.set("kind", COMMA)
            return join

    def to_json_path(self, path: exp.Expr | None) -> exp.Expr | None:
        """Leave the path of ``->`` as it is: JSON_EXTRACT reads it."""
        return path


class TiDBWords(MySQL):
    """A dialect without keywords: the hand-written DDL grammar needs one token per word."""

    class Tokenizer(MySQL.Tokenizer):
        COMMANDS: ClassVar[set[TokenType]] = set()
        KEYWORDS: ClassVar[dict[str, TokenType]] = {
            word: kind
            for word, kind in MySQL.Tokenizer.KEYWORDS.items()
            if not (word[0].isalpha() or word[0] == "_" or word == "/*+")
        }


def words(text: str, line: int = 1) -> list[Token]:
    """Return the tokens of a text.

    :param line: line of the file at which the text starts.
    :raises ScenarioError: where a quote or a comment is not closed.
    """
    try:
        return list(TiDBWords().tokenize(text))
    except TokenError as error:
        raise _token_error(error, text, line) from error


def string_text(literal: str) -> str:
    """Return the value of a string literal that is given with its quotes."""
    return str(words(literal)[0].text)


def parse_dml(text: str, line: int) -> tuple[str, exp.Expr]:
    """Parse a DML statement. REPLACE is parsed as INSERT, whose grammar it shares.

    :return: the first word in upper case, and sqlglot's tree.
    :raises ScenarioError: if it does not parse, with the line in the file.
    """
    tokens = _tokens(text, line)
    verb = tokens[0].text.upper()
    if verb == "REPLACE":
        tokens[0] = _as_insert(tokens[0])
    tree = _tree(tokens, text, line)
    _check_assignments(tree, line)
    return verb, tree


def parse_expression(text: str, line: int) -> exp.Expr:
    """Parse a single expression, such as that of a DEFAULT.

    :raises ScenarioError: if it does not parse.
    """
    tree = _tree(_tokens("SELECT " + text, line), "SELECT " + text, line)
    expressions = tree.expressions if isinstance(tree, exp.Select) else []
    if len(expressions) != 1:
        raise ScenarioError(f"SQL does not parse: {text!r} is not one expression", line=line)
    expression: exp.Expr = expressions[0]
    return expression


def _tokens(text: str, line: int) -> list[Token]:
    try:
        tokens = _tokens_of_sums(text)
    except TokenError as error:
        raise _token_error(error, text, line) from error
    for comment in (comment for token in tokens for comment in token.comments):
        if comment.startswith("+") and (setting := _SETTING.search(comment)):
            raise UnsupportedSQL(f"SET_VAR({setting[1]}) in a hint is not supported", line=line)
    return _with_literals(tokens)


_SETTING = re.compile(
    r"\bSET_VAR\s*\(\s*(sql_mode|time_zone|timestamp|foreign_key_checks|tidb_skip_utf8_check)\b",
    re.IGNORECASE,
)
"""A setting in a hint that changes the result; other hints have no effect."""


_SUM = re.compile(r"[0-9.]+[eE][+-]?[0-9]+(?=[+-])")
"""A number with an exponent before a sign, which sqlglot reads as a part of the number, or of a word."""


def _tokens_of_sums(text: str) -> list[Token]:
    """Return the tokens of a text, with a blank after each number that sqlglot does not end at a sign."""
    while True:
        tokens = list(TiDB().tokenize(text))
        ends = [
            token.start + match.end()
            for token in tokens
            if token.token_type in _NUMBER_OR_WORD and (match := _SUM.match(token.text))
        ]
        if not ends:
            return tokens
        parts = (text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True))
        text = " ".join(parts)


_NUMBER_OR_WORD = (TokenType.NUMBER, TokenType.VAR)


_ODBC_WORDS = {"D": "DATE", "T": "TIME", "TS": "TIMESTAMP"}


def _with_literals(tokens: list[Token]) -> list[Token]:
    """Replace ``{d '…'}``, ``{t '…'}`` and ``{ts '…'}`` by literals, ``NEXT VALUE FOR`` by a call.

    The word before the bracket of ``DEFAULT(column)`` becomes a name, and so does a charset in quotes.
    """
    for position in range(len(tokens) - 2, -1, -1):
        token, following = tokens[position], tokens[position + 1]
        if token.token_type == TokenType.USING and following.token_type == TokenType.STRING:
            tokens[position + 1] = _retyped(following, TokenType.VAR)
        elif token.token_type == TokenType.DEFAULT and following.token_type == TokenType.L_PAREN:
            tokens[position] = _retyped(token, TokenType.VAR)
        elif token.token_type == TokenType.L_BRACE:
            tokens[position : position + 4] = _without_braces(tokens[position : position + 4])
        elif [each.text.upper() for each in tokens[position : position + 3]] == ["NEXT", "VALUE", "FOR"]:
            _call_nextval(tokens, position)
    return tokens


def _call_nextval(tokens: list[Token], position: int) -> None:
    """Replace ``NEXT VALUE FOR sequence`` by ``NEXTVAL(sequence)``."""
    name, opening, closing = TiDB().tokenize("nextval()")
    end = position + 4 + 2 * (len(tokens) > position + 4 and tokens[position + 4].text == ".")
    tokens[position:end] = [
        _retyped(tokens[position], name.token_type, name.text),
        _retyped(tokens[position + 2], opening.token_type, opening.text),
        *tokens[position + 3 : end],
        _retyped(tokens[end - 1], closing.token_type, closing.text),
    ]


def _without_braces(tokens: list[Token]) -> list[Token]:
    meant = _ODBC_WORDS.get(tokens[1].text.upper())
    kinds = [token.token_type for token in tokens[2:]]
    if meant is None or kinds != [TokenType.STRING, TokenType.R_BRACE]:
        return tokens
    (literal,) = TiDB().tokenize(meant)
    return [_retyped(tokens[1], literal.token_type), tokens[2]]


def _retyped(token: Token, kind: TokenType, text: str = "") -> Token:
    return Token(kind, text or token.text, token.line, token.col, token.start, token.end, token.comments)


def _as_insert(token: Token) -> Token:
    return Token(TokenType.INSERT, "INSERT", token.line, token.col, token.start, token.end, token.comments)


_BEGINS_LIST = {
    None, TokenType.COMMA, TokenType.L_PAREN, TokenType.SET, TokenType.VALUES, TokenType.SELECT,
    TokenType.FROM, TokenType.ORDER_BY, TokenType.GROUP_BY,
}  # fmt: skip
_ENDS_LIST = {
    None, TokenType.COMMA, TokenType.R_PAREN, TokenType.SEMICOLON, TokenType.SET, TokenType.FROM,
    TokenType.WHERE, TokenType.GROUP_BY, TokenType.HAVING, TokenType.ORDER_BY, TokenType.LIMIT, TokenType.ON,
}  # fmt: skip


def _check_commas(tokens: list[Token], line: int) -> None:
    """Check that something is on both sides of each comma; sqlglot ignores a comma too many.

    TiDB's grammar has no list with an empty element. Source: tidb ``pkg/parser/parser.y``.

    :raises ScenarioError: for the first comma that separates nothing.
    """
    kinds = [None, *(token.token_type for token in tokens), None]
    for position, token in enumerate(tokens):
        if token.token_type is TokenType.COMMA and (
            kinds[position] in _BEGINS_LIST or kinds[position + 2] in _ENDS_LIST
        ):
            what = "SQL does not parse: a comma has nothing before or after it"
            raise ScenarioError(what, line=line + token.line - 1)


def _check_assignments(tree: exp.Expr, line: int) -> None:
    """Check that each SET, and each ON DUPLICATE KEY UPDATE, has an assignment; sqlglot accepts none.

    :raises ScenarioError: if not.
    """
    conflict = tree.args.get("conflict")
    updates = tree if isinstance(tree, exp.Update) else conflict
    if updates is not None and not updates.expressions:
        raise ScenarioError("SQL does not parse: UPDATE has no assignment", line=line)


def _tree(tokens: list[Token], text: str, line: int) -> exp.Expr:
    _check_commas(tokens, line)
    try:
        trees = TiDB().parser().parse(tokens, text)
    except ParseError as error:
        details = error.errors[0] if error.errors else {}
        reason = _SQLGLOT_INTERNALS.sub("", str(details.get("description") or "invalid syntax"))
        reason = reason.replace("Invalid expression / Unexpected token", "unexpected text")
        near = str(details.get("highlight") or "")
        what = f"SQL does not parse: {reason} near {near!r}"
        hint = missing_semicolon(near)
        raise ScenarioError(what, line=line + int(details.get("line") or 1) - 1, hint=hint) from error
    except RecursionError:
        raise ScenarioError("SQL is nested too deeply", line=line) from None
    if len(trees) != 1 or trees[0] is None:
        raise ScenarioError("SQL does not parse: one statement was expected", line=line)
    return trees[0]


_STATEMENT_STARTS = frozenset({"ALTER", "CREATE", "DELETE", "DROP", "INSERT", "TRUNCATE", "UPDATE", "USE"})


def missing_semicolon(word: str) -> str:
    """Return the hint of an error at a word that begins a statement; empty for other words."""
    return f"is a ; missing before {word}?" if word.upper() in _STATEMENT_STARTS else ""


def _token_error(error: TokenError, text: str, line: int) -> ScenarioError:
    """Return sqlglot's error for an open quote, an open comment or an invalid digit, with its line."""
    if not isinstance(error.__cause__, TokenError):  # sqlglot reads past the end of an open comment
        return ScenarioError(
            "SQL does not parse: */ is missing", line=line + text.count("\n", 0, text.rfind("/*"))
        )
    reason = str(error.__cause__)
    details = re.search(r"(?: from \d+)?:(\d+)$", reason)
    if details is not None:
        line += text.count("\n", 0, int(details[1]))
        reason = reason[: details.start()]
    reason = reason.splitlines()[0][:200]
    if reason.startswith("Missing "):
        quote = reason.removeprefix("Missing ")
        what = f"SQL does not parse: {quote} is missing after the {quote} of this line"
        hint = f"a {quote} before it may be one too many; {quote}{quote} is a {quote} inside of a text"
        return ScenarioError(what, line=line, hint=hint)
    return ScenarioError(f"SQL does not parse: {reason}", line=line)
