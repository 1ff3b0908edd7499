"""sqlglot configured for TiDB: one dialect that parses DML, one that splits text into plain words."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.mysql import MySQL
from sqlglot.errors import TokenError
from sqlglot.parsers.mysql import MySQLParser
from sqlglot.tokens import Token, TokenType  # type: ignore[attr-defined]  # re-exported from its compiled core

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.text.spelling import CONCATENATION, HIGH_NOT

__all__ = [
    "COMMA",
    "ROW",
    "WITHOUT_BRACKETS",
    "TiDB",
    "TiDBWords",
    "Token",
    "TokenType",
    "string_text",
    "token_error",
    "words",
]

WITHOUT_BRACKETS = (
    "CURRENT_DATE", "CURRENT_ROLE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "CURRENT_USER", "LOCALTIME",
    "LOCALTIMESTAMP", "UTC_DATE", "UTC_TIME", "UTC_TIMESTAMP",
)  # fmt: skip
"""Functions that may be called without brackets."""
_COMPARISONS = (
    TokenType.EQ, TokenType.NEQ, TokenType.LT, TokenType.LTE, TokenType.GT, TokenType.GTE,
    TokenType.NULLSAFE_EQ,
)  # fmt: skip
COMMA = "COMMA"
"""Kind of a join that is written as a comma."""
ROW = "ROW"
"""Mark of a row of several values that is written with this word."""


_FOREIGN_FUNCTIONS = (
    "ARGMAX", "ARGMIN", "ARG_MAX", "ARG_MIN", "CHR", "GAP_FILL", "INITCAP", "JSON_TABLE", "JSON_VALUE",
    "MAX_BY", "MIN_BY", "NORMALIZE", "OPENJSON", "OVERLAY", "SAFE_CAST", "STRING_AGG", "TRY_CAST",
    "TRY_CONVERT", "XMLELEMENT", "XMLTABLE",
)  # fmt: skip
"""Functions of other dialects, whose arguments sqlglot reads in a way of their own."""


CAST_TYPES = (
    "BINARY", "CHAR", "CHARACTER", "DATE", "DATETIME", "DECIMAL", "DOUBLE", "FLOAT", "JSON", "REAL", "SIGNED",
    "TIME", "UNSIGNED", "VECTOR", "YEAR",
)  # fmt: skip
"""The first words of the types of CAST (TiDB's grammar, ``CastType``)."""


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


def _row(parts: list[exp.Expr]) -> exp.Expr:
    """Return ``ROW(a, b)``, which is ``(a, b)`` except in VALUES."""
    if len(parts) < 2:
        return exp.Anonymous(this=ROW, expressions=parts)
    row = exp.Tuple(expressions=parts)
    row.meta[ROW] = True
    return row


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
            **{name: partial(_call_of_sequence, name) for name in ("LASTVAL", "NEXTVAL", "SETVAL")},
            ROW: _row,
        }
        LAMBDAS: ClassVar[dict[TokenType, Callable[..., exp.Expr]]] = {}  # -> is a JSON path
        # USE INDEX after the table of an UPDATE is not an alias.
        UPDATE_ALIAS_TOKENS: ClassVar[set[TokenType]] = {
            *(MySQLParser.UPDATE_ALIAS_TOKENS - MySQLParser.TABLE_INDEX_HINT_TOKENS)
        }
        # Standard SQL has other arguments of these.
        FUNCTION_PARSERS: ClassVar[dict[str, Callable[..., exp.Expr | None]]] = {
            name: parse
            for name, parse in MySQLParser.FUNCTION_PARSERS.items()
            if name not in ("CEIL", "FLOOR", "JSON_OBJECT", *_FOREIGN_FUNCTIONS)
        }

        NO_PAREN_FUNCTION_PARSERS: ClassVar[dict[str, Callable[..., exp.Expr | None]]] = {
            **MySQLParser.NO_PAREN_FUNCTION_PARSERS,
            **dict.fromkeys(WITHOUT_BRACKETS, _call_without_brackets),
        }
        NO_PAREN_FUNCTIONS: ClassVar[dict[TokenType, type[exp.Expr]]] = {}

        def _parse_interval(self, *args: Any, **kwargs: Any) -> Any:
            """Read ``INTERVAL(n, a, …)`` as a function, and any expression before the unit of an interval."""
            if not self._match(TokenType.INTERVAL):
                return super()._parse_interval(*args, **kwargs)
            start = self._index
            listed = self._wrapped_list()
            if len(listed) > 1:
                return self.expression(exp.Anonymous(this="INTERVAL", expressions=listed))
            self._retreat(start)
            amount = self._parse_disjunction()
            unit = self._parse_var(any_token=True, upper=True)
            return self.expression(exp.Interval(this=amount, unit=unit))

        def _parse_unary(self) -> Any:
            """Read ``||`` as CONCAT where a comment says so; it binds tighter than other operators."""
            before = None if self._prev is None else self._prev.token_type
            parts = [self._assigned(super()._parse_unary(), before)]
            while CONCATENATION in getattr(self._curr, "comments", ()) and self._match(TokenType.DPIPE):
                parts.append(super()._parse_unary())
            if len(parts) == 1:
                return parts[0]
            return self.expression(exp.Anonymous(this="CONCAT", expressions=parts))

        def _assigned(self, operand: Any, before: TokenType | None) -> Any:
            """Read the rest of ``@variable := value`` after a comparison."""
            if before not in _COMPARISONS or not isinstance(operand, exp.Parameter):
                return operand
            if not self._match(TokenType.COLON_EQ):
                return operand
            return self.expression(exp.PropertyEQ(this=operand, expression=self._parse_range()))

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

        def _parse_type(self, *args: Any, **kwargs: Any) -> Any:
            """Read ``BINARY (x)`` as ``BINARY x``."""
            is_call = self._next is not None and self._next.token_type == TokenType.L_PAREN
            if not is_call or not self._match(TokenType.BINARY):
                return super()._parse_type(*args, **kwargs)
            return self.expression(exp.Cast(this=self._parse_column(), to=exp.DataType.build("binary")))

        def _parse_types(self, *args: Any, **kwargs: Any) -> Any:
            """Read ``SIGNED INT`` and ``UNSIGNED INT`` as the types of a CAST, as ``SIGNED INTEGER``."""
            parsed = super()._parse_types(*args, **kwargs)
            if isinstance(parsed, exp.DataType) and parsed.this in (exp.DType.BIGINT, exp.DType.UBIGINT):
                self._match_text_seq("INT")
            return parsed

        def _wrapped_list(self) -> list[exp.Expr]:
            """Read expressions in brackets; return none if there are others."""
            if not self._match(TokenType.L_PAREN):
                return []
            listed = self._parse_csv(self._parse_disjunction)
            return listed if self._match(TokenType.R_PAREN) else []

        def _parse_trim(self) -> Any:
            """Read ``[[side] [what] FROM] value``; sqlglot also accepts a comma, and a side without FROM."""
            side = self._prev.text.upper() if self._match_texts(self.TRIM_TYPES) else None
            what, value = None, self._parse_bitwise()
            if self._match(TokenType.FROM):
                what, value = value, self._parse_bitwise()
            elif side is not None:
                self.raise_error("Expecting FROM")
            return self.expression(exp.Trim(this=value, position=side, expression=what))

        def _expect(self, kind: TokenType, text: str) -> None:
            """Read a word that has to follow.

            :raises ParseError: if it does not.
            """
            if not self._match(kind):
                self.raise_error(f"Expecting {text}")

        def _parse_substring(self) -> Any:
            """Read ``value, start [, length]`` or ``value FROM start [FOR length]``."""
            arguments = [self._parse_disjunction()]
            if self._match(TokenType.FROM):
                arguments.append(self._parse_disjunction())
                arguments += [self._parse_disjunction()] if self._match(TokenType.FOR) else []
            else:
                self._expect(TokenType.COMMA, "FROM or a comma")
                arguments += self._parse_csv(self._parse_disjunction)
            return self.validate_expression(exp.Substring.from_arg_list(arguments), arguments)

        def _parse_position(self, *_args: Any) -> Any:
            """Read ``value IN text``; sqlglot also accepts a comma."""
            value = self._parse_bitwise()
            self._expect(TokenType.IN, "IN")
            return self.expression(exp.StrPosition(this=self._parse_disjunction(), substr=value))

        def _parse_extract(self) -> Any:
            """Read ``unit FROM time``; sqlglot also accepts a comma, and a unit in quotes."""
            unit = self._parse_var(any_token=self._curr.token_type != TokenType.STRING, upper=True)
            self._expect(TokenType.FROM, "FROM")
            return self.expression(exp.Extract(this=unit, expression=self._parse_disjunction()))

        def _parse_cast(self, strict: bool, safe: bool | None = None) -> Any:
            """Read ``value AS type``, where the type is one of ``CAST_TYPES``."""
            value = self._parse_disjunction()
            self._expect(TokenType.ALIAS, "AS")
            words_of_type = self._curr.text.split() if self._curr else []  # SIGNED INTEGER is one token
            if not words_of_type or words_of_type[0].upper() not in CAST_TYPES:
                self.raise_error("Expecting a type of CAST")
            to = self._parse_char_charset(self._parse_types(with_collation=True))
            return self.build_cast(strict=strict, this=value, to=to, safe=safe)

        def _parse_using_identifiers(self) -> Any:
            """Read the columns of JOIN … USING; sqlglot also accepts them without brackets."""
            columns = self._parse_wrapped_id_vars()
            if not columns:
                self.raise_error("Expecting a column")
            return columns

        def _parse_field_def(self) -> Any:
            """Read a column of INSERT, which may have the names of its table and database before it."""
            if self._next is not None and self._next.token_type == TokenType.DOT:
                return self._parse_column()
            return super()._parse_field_def()

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
        raise token_error(error, text, line) from error


def string_text(literal: str) -> str:
    """Return the value of a string literal that is given with its quotes."""
    return str(words(literal)[0].text)


def token_error(error: TokenError, text: str, line: int) -> ScenarioError:
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
