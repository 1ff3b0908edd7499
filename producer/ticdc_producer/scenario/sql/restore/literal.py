"""Literals as TiDB prints them.

Rules: tidb ``pkg/types/parser_driver/value_expr.go`` (``Restore``); ``pkg/types/mydecimal.go``.
"""

from __future__ import annotations

import math
from decimal import Decimal

from ticdc_producer.model.collation import CHARSET_ALIASES, DEFAULT_COLLATIONS
from ticdc_producer.scenario.sql.cursor import Cursor
from ticdc_producer.scenario.sql.dialect import TokenType
from ticdc_producer.scenario.sql.restore.names import introduced_string

_MOST_DIGITS = 81  # of TiDB's DECIMAL; it cuts off what is longer
_MAX_UNSIGNED = (1 << 64) - 1
_WORDS = ("TRUE", "FALSE", "NULL")
_BINARY = (TokenType.HEX_STRING, TokenType.BIT_STRING)


def read_literal(cursor: Cursor) -> str | None:
    """The literal that stands here; None if something else does."""
    token = cursor.token
    if token is None:
        return None
    if token.token_type == TokenType.STRING:
        return introduced_string(cursor.string())
    if token.token_type == TokenType.NATIONAL_STRING:
        cursor.place += 1
        return introduced_string(token.text, "utf8")
    if token.token_type == TokenType.NUMBER or cursor.word() == ".":
        return read_number(cursor)
    if token.token_type in _BINARY:
        return _read_binary(cursor)
    return cursor.accept_any(*_WORDS) or _read_introduced(cursor)


def _read_introduced(cursor: Cursor) -> str | None:
    """``_charset'…'``; TiDB forgets the charset before ``x'…'`` and ``b'…'``."""
    word = cursor.word().lower()
    charset = CHARSET_ALIASES.get(word[1:], word[1:])
    if not word.startswith("_") or charset not in DEFAULT_COLLATIONS:
        return None
    ahead = Cursor(cursor.statement, cursor.place + 1)
    if ahead.token is None or ahead.token.token_type not in (TokenType.STRING, *_BINARY):
        return None
    cursor.place += 1
    return introduced_string(cursor.string(), charset) if cursor.is_string() else _read_binary(cursor)


def _read_binary(cursor: Cursor) -> str:
    token = cursor.token
    if token is None or token.token_type not in _BINARY:
        raise cursor.error("expected a hexadecimal or bit string")
    if cursor.statement.sql[token.start : token.start + 2] in ("0X", "0B"):
        raise cursor.error("0x and 0b have small letters")
    cursor.place += 1
    if token.token_type == TokenType.BIT_STRING:
        return f"b'{token.text.lstrip('0') or '0' * bool(token.text)}'"
    return f"x'{token.text.zfill(len(token.text) + len(token.text) % 2).lower()}'"


def read_number(cursor: Cursor) -> str:
    """A number without a sign."""
    point = "." if cursor.accept(".") else ""
    token = cursor.token
    if token is None or token.token_type != TokenType.NUMBER:
        raise cursor.error("expected a number")
    cursor.place += 1
    text = point + token.text
    if "e" in text.lower():
        return _exponential(cursor, text)
    whole, dot, fraction = text.partition(".")
    if not (whole + fraction).isdigit():
        raise cursor.error(f"{text!r} is not a number")
    if not dot and int(text) <= _MAX_UNSIGNED:
        return str(int(text))
    if len(whole) + len(fraction) > _MOST_DIGITS:
        raise cursor.unsupported(f"a DECIMAL of more than {_MOST_DIGITS} digits")
    return (whole.lstrip("0") or "0") + ("." + fraction if fraction else "")


def _exponential(cursor: Cursor, text: str) -> str:
    """A DOUBLE: Go's ``'e'`` format, the shortest digits and an exponent of two digits at least."""
    try:
        number = float(text)
    except ValueError:
        raise cursor.error(f"{text!r} is not a number") from None
    if math.isinf(number):
        raise cursor.error(f"{text!r} is too large a number")
    _, digits, _ = Decimal(repr(number)).normalize().as_tuple()
    exponent = Decimal(repr(number)).adjusted() if number else 0
    rest = "".join(map(str, digits[1:]))
    return f"{digits[0]}{'.' if rest else ''}{rest}e{exponent:+03d}"
