"""Literals as TiDB prints them.

Rules: tidb ``pkg/types/parser_driver/value_expr.go`` (``Restore``); ``pkg/types/mydecimal.go``.
"""

from __future__ import annotations

import math
from decimal import Decimal

from ticdc_producer.model.values.collation import CHARSET_ALIASES, DEFAULT_COLLATIONS
from ticdc_producer.scenario.sql.restore.names import string_with_charset
from ticdc_producer.scenario.sql.text.cursor import Cursor
from ticdc_producer.scenario.sql.text.dialect import TokenType

_MAX_DECIMAL_DIGITS = 81  # TiDB cuts off longer DECIMALs
_MAX_UNSIGNED = (1 << 64) - 1
_WORDS = ("TRUE", "FALSE", "NULL")
_BINARY = (TokenType.HEX_STRING, TokenType.BIT_STRING)


def read_literal(cursor: Cursor) -> str | None:
    """Read the literal that comes next; None for anything else."""
    token = cursor.token
    if token is None:
        return None
    if token.token_type == TokenType.STRING:
        return string_with_charset(cursor.string())
    if token.token_type == TokenType.NATIONAL_STRING:
        cursor.position += 1
        return string_with_charset(token.text, "utf8")
    if token.token_type == TokenType.NUMBER or cursor.word() == ".":
        return read_number(cursor)
    if token.token_type in _BINARY:
        return _read_binary(cursor)
    return cursor.accept_any(*_WORDS) or _read_with_introducer(cursor)


def _read_with_introducer(cursor: Cursor) -> str | None:
    """Read ``_charset'…'``; TiDB does not print the charset before ``x'…'`` and ``b'…'``."""
    word = cursor.word().lower()
    charset = CHARSET_ALIASES.get(word[1:], word[1:])
    if not word.startswith("_") or charset not in DEFAULT_COLLATIONS:
        return None
    ahead = Cursor(cursor.statement, cursor.position + 1)
    if ahead.token is None or ahead.token.token_type not in (TokenType.STRING, *_BINARY):
        return None
    cursor.position += 1
    return string_with_charset(cursor.string(), charset) if cursor.is_string() else _read_binary(cursor)


def _read_binary(cursor: Cursor) -> str:
    token = cursor.token
    if token is None or token.token_type not in _BINARY:
        raise cursor.error("expected a hexadecimal or bit string")
    if cursor.statement.sql[token.start : token.start + 2] in ("0X", "0B"):
        raise cursor.error("the prefixes 0x and 0b must be lower case")
    cursor.position += 1
    if token.token_type == TokenType.BIT_STRING:
        return f"b'{token.text.lstrip('0') or '0' * bool(token.text)}'"
    return f"x'{token.text.zfill(len(token.text) + len(token.text) % 2).lower()}'"


def read_number(cursor: Cursor) -> str:
    """Read a number without a sign."""
    point = "." if cursor.accept(".") else ""
    token = cursor.token
    if token is None or token.token_type != TokenType.NUMBER:
        raise cursor.error("expected a number")
    cursor.position += 1
    text = point + token.text
    if "e" in text.lower():
        return _exponential(cursor, text)
    whole, dot, fraction = text.partition(".")
    if not (whole + fraction).isdigit():
        raise cursor.error(f"{text!r} is not a number")
    if not dot and int(text) <= _MAX_UNSIGNED:
        return str(int(text))
    if len(whole) + len(fraction) > _MAX_DECIMAL_DIGITS:
        raise cursor.unsupported(f"a DECIMAL of more than {_MAX_DECIMAL_DIGITS} digits")
    return (whole.lstrip("0") or "0") + ("." + fraction if fraction else "")


def _exponential(cursor: Cursor, text: str) -> str:
    """Print a DOUBLE in Go's ``'e'`` format: the shortest digits and an exponent of at least two digits."""
    try:
        number = float(text)
    except ValueError:
        raise cursor.error(f"{text!r} is not a number") from None
    if math.isinf(number):
        raise cursor.error(f"the number {text!r} is too large")
    _, digits, _ = Decimal(repr(number)).normalize().as_tuple()
    exponent = Decimal(repr(number)).adjusted() if number else 0
    fraction = "".join(map(str, digits[1:]))
    return f"{digits[0]}{'.' if fraction else ''}{fraction}e{exponent:+03d}"
