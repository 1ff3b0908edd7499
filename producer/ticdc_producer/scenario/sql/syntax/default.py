"""The DEFAULT of a column.

Grammar: tidb ``pkg/parser/parser.y`` (``DefaultValueExpr``, ``SignedLiteral``, ``BuiltinFunction``).
"""

from __future__ import annotations

from dataclasses import dataclass

from ticdc_producer.scenario.sql.text.cursor import Cursor, SourceText
from ticdc_producer.scenario.sql.text.dialect import TokenType

_NOW_NAMES = ("CURRENT_TIMESTAMP", "NOW", "LOCALTIME", "LOCALTIMESTAMP")
_NEITHER = "the DEFAULT is neither a literal nor a call of a function"
_BINARY_LITERALS = (TokenType.HEX_STRING, TokenType.BIT_STRING)


@dataclass(frozen=True, slots=True)
class Now:
    """``CURRENT_TIMESTAMP`` under any of its names.

    :param digits: of its fraction of a second.
    :param written: whether the statement has the digits.
    """

    digits: int = 0
    written: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Default:
    """A DEFAULT.

    :param value: the words after DEFAULT.
    :param now: CURRENT_TIMESTAMP; None for any other value.
    """

    value: SourceText
    now: Now | None = None


def read_default(cursor: Cursor) -> Default:
    """Read the value of a DEFAULT of a column definition, after this word."""
    start, brackets, now = cursor.position, _count_brackets(cursor), None
    cursor.expect(*["("] * brackets)
    if cursor.word() in _NOW_NAMES:
        now = read_now(cursor)
    elif brackets > 1 or not _accept_literal(cursor):
        _step_over_call(cursor, may_be_column=brackets == 1)
    if not cursor.accept(*[")"] * brackets):
        raise cursor.error(_NEITHER)
    return Default(value=cursor.since(start), now=now)


def read_new_default(cursor: Cursor) -> Default:
    """Read the value of ``ALTER … SET DEFAULT``: a literal, or any expression in brackets."""
    start, brackets = cursor.position, _count_brackets(cursor)
    if brackets and cursor.word(brackets) in _NOW_NAMES:
        return read_default(cursor)
    if cursor.accept("("):
        cursor.expression_source()
        cursor.expect(")")
    elif not _accept_literal(cursor):
        raise cursor.error("expected a literal or (")
    return Default(value=cursor.since(start))


def read_now(cursor: Cursor) -> Now:
    """Read CURRENT_TIMESTAMP."""
    is_call, name = cursor.is_function(), cursor.accept_any(*_NOW_NAMES)
    if not name:
        raise cursor.error("expected CURRENT_TIMESTAMP")
    if name == "NOW" and not is_call:
        raise cursor.error("expected ( directly after NOW")
    if not cursor.accept("("):
        return Now()
    now = Now() if cursor.word() == ")" else Now(cursor.integer(), written=True)
    cursor.expect(")")
    return now


def _count_brackets(cursor: Cursor) -> int:
    brackets = 0
    while cursor.word(brackets) == "(":
        brackets += 1
    return brackets


def _accept_literal(cursor: Cursor) -> bool:
    """Step over a literal, or a number with a sign; return whether one came next."""
    signed = cursor.accept_any("+", "-")
    if cursor.accept(".") or _kind(cursor) == TokenType.NUMBER:
        cursor.position += 1
        return True
    if signed:
        raise cursor.error("expected a number")
    cursor.position += cursor.word().startswith("_") and _kind(cursor, 1) in (
        TokenType.STRING,
        *_BINARY_LITERALS,
    )
    if cursor.is_string():
        cursor.string()
        return True
    if _kind(cursor) in (*_BINARY_LITERALS, TokenType.NATIONAL_STRING):
        cursor.position += 1
        return True
    return bool(cursor.accept_any("TRUE", "FALSE", "NULL"))


def _kind(cursor: Cursor, ahead: int = 0) -> TokenType | None:
    tokens = cursor.statement.tokens[cursor.position + ahead : cursor.position + ahead + 1]
    return tokens[0].token_type if tokens else None


def _step_over_call(cursor: Cursor, *, may_be_column: bool) -> None:
    """Step over the call of a function, CURRENT_DATE or ``NEXT VALUE FOR``.

    :param may_be_column: whether a name alone is a column, which no DEFAULT may be.
    """
    if cursor.accept("NEXT", "VALUE", "FOR"):
        cursor.qualified_name("")
        return
    today = cursor.accept("CURRENT_DATE")
    if today and cursor.word() != "(":
        return
    if cursor.is_function():  # those words have a grammar of their own, which a DEFAULT does not
        if not cursor.accept("CURDATE"):
            raise cursor.error(_NEITHER)
    elif not (today or cursor.accept("REPLACE")):
        cursor.identifier("a literal or a call of a function")
    if may_be_column and cursor.word() == ")":
        return
    if not cursor.accept("("):
        raise cursor.error(_NEITHER)
    while not cursor.accept(")"):
        cursor.expression_source()
        if cursor.word() != ")":
            cursor.expect(",")
