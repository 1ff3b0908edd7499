"""Values of SQL literals: numbers, strings, ``x'…'``, ``b'…'``, ``DATE'…'``."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal

from sqlglot import exp

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.values.coerce_scalar import allowed, as_datetime, as_duration
from ticdc_producer.model.values.coerce_text import to_text
from ticdc_producer.model.values.sql_value import BinaryLiteral, DateTimeValue, SQLMode, SQLValue, Unsigned
from ticdc_producer.scenario.sql.text.spelling import quoted_text

_MAX_UNSIGNED = (1 << 64) - 1
_ASCII_COMPATIBLE = ("ascii", "latin1", "gbk")
_WORDS, _WORD = 9, 9  # of a DECIMAL, and the digits of each
_LONG = 72  # characters of a number that has at most nine words, wherever its point is
_LARGEST = Decimal("9" * 65)


def literal_number(text: str) -> SQLValue:
    """Return the value of a number literal: integer, DECIMAL, or DOUBLE if it has an exponent."""
    is_long = len(text) > _LONG
    if text.isascii() and text.isdigit() and not is_long:
        return _whole_number(int(text))
    try:
        if "e" in text.lower():
            return _double(text)
        return _long_number(text) if is_long else Decimal(text)
    except (ValueError, ArithmeticError):
        what = f"SQL does not parse: {text[:80]!r} is not a number"
        raise ScenarioError(what, value=text[:80]) from None


def _long_number(text: str) -> SQLValue:
    """Return a DECIMAL, which has at most nine words of nine digits; the fraction gets those that remain.

    A number with more words is that of 65 nines. Source: tidb ``MyDecimal.FromString``, ``toDecimal``.
    """
    whole, point, fraction = text.partition(".")
    if not point and len(number := whole.lstrip("0")) <= _LONG:
        return _whole_number(int(number or "0"))
    words = _WORDS - -(-len(whole) // _WORD)
    return _LARGEST if words < 0 else Decimal(f"{whole}.{fraction[: words * _WORD]}")


def _whole_number(number: int) -> SQLValue:
    if number > _MAX_UNSIGNED:
        return Decimal(number)
    return Unsigned(number) if number >> 63 else number


def _double(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        what = f"Illegal double {text[:80]!r} value found during parsing"
        raise ScenarioError(what, value=text[:80])
    return number


def _plain(node: exp.Expr, _: SQLMode) -> SQLValue:
    return str(node.this) if node.is_string else literal_number(str(node.this))


def hex_value(digits: str) -> SQLValue:
    """Return the value of ``x'…'`` or ``0x…``."""
    try:
        return BinaryLiteral(bytes.fromhex(digits.zfill(len(digits) + len(digits) % 2)))
    except ValueError:
        raise ScenarioError(f"not hexadecimal digits: {digits!r}", value=digits) from None


def bits_value(digits: str) -> SQLValue:
    """Return the value of ``b'…'`` or ``0b…``."""
    if digits.strip("01"):
        raise ScenarioError(f"not binary digits: {digits!r}", value=digits)
    return BinaryLiteral(int(digits or "0", 2).to_bytes((len(digits) + 7) // 8, "big"))


def _introduced(node: exp.Expr, mode: SQLMode) -> SQLValue:
    """Return the same bytes under another charset, for ``_utf8mb4'…'`` and ``_binary'…'``."""
    charset = str(node.this).lstrip("_").lower()
    value = _octets(node.expression, mode)
    if charset == "binary":
        return value
    if charset not in ("utf8mb4", "utf8", "utf8mb3") and not (
        charset in _ASCII_COMPATIBLE and value.isascii()
    ):
        raise UnsupportedSQL(f"the introducer _{charset} before these bytes is not supported")
    return value.decode("utf-8", "surrogateescape")


def _concatenated(node: exp.Expr, mode: SQLMode) -> SQLValue:
    """Concatenate adjacent string literals."""
    if not all(isinstance(part, exp.Literal) for part in node.expressions):
        raise UnsupportedSQL(f"{node.sql(dialect='mysql')[:80]!r} is not supported")
    return "".join(str(_plain(part, mode)) for part in node.expressions)


def is_typed_literal(node: exp.Expr) -> bool:
    """Return whether a CAST node is a literal ``DATE'…'``, ``TIME'…'`` or ``TIMESTAMP'…'``.

    sqlglot parses such a literal as a CAST, but without the options that a real CAST has.
    """
    text = node.this
    is_text = isinstance(text, exp.Literal) and text.is_string
    return is_text and "safe" not in node.args and node.args["to"].this in _TYPED_LITERALS


def typed_literal(node: exp.Expr, mode: SQLMode) -> SQLValue:
    """Return the value of a typed literal.

    :raises ScenarioError: if its text is not a date or time.
    """
    text, kind = str(node.this.this), node.args["to"].this
    is_written = kind not in _FORMS or _FORMS[kind].fullmatch(text.strip())
    value = _TYPED_LITERALS[kind](text, mode) if is_written else None
    if value is None or (isinstance(value, DateTimeValue) and not allowed(value, mode)):
        raise ScenarioError(f"Incorrect {kind.value} value: {text!r}", value=text)
    return value


def _fraction_digits(text: str) -> int:
    return min(len(text.partition(".")[2]), 6)


_FORMS = {
    exp.DType.DATE: re.compile(r"0*\d{1,4}(?:\D0*\d{1,2}){2}|\d{6}|\d{8}", re.ASCII),
    exp.DType.TIME: re.compile(
        r"-?(?:(?:\d{1,2}\s+)?0*\d{0,3}(?::0*\d{1,2}){0,2}|\d{1,7})?(?:\.\d*)?", re.ASCII
    ),
    exp.DType.TIMESTAMPTZ: re.compile(
        r"0*\d{1,4}(?:\D0*\d{1,2}){2}\s+0*\d{0,2}(?:\D0*\d{1,2}){0,2}(?:\.\d*)?(?:[+-]\d\d:\d\d)?", re.ASCII
    ),
}
"""Texts of literals; other texts are dates only elsewhere. Source: tidb ``datePattern`` and others."""
_TYPED_LITERALS: dict[exp.DType, Callable[[str, SQLMode], SQLValue]] = {
    exp.DType.DATE: lambda text, mode: as_datetime(text, -1, mode),
    exp.DType.TIME: lambda text, _: as_duration(text, _fraction_digits(text)),
    exp.DType.TIMESTAMPTZ: lambda text, mode: as_datetime(text, _fraction_digits(text), mode),
}


def _boolean(node: exp.Expr, _: SQLMode) -> SQLValue:
    return bool(node.this)


def _octets(node: exp.Expr, mode: SQLMode) -> bytes:
    value = LITERALS[type(node)](node, mode) if type(node) in LITERALS else None
    if isinstance(value, bytes):
        return bytes(value)
    return str(value).encode("utf-8", "surrogateescape")


LITERALS: dict[type[exp.Expr], Callable[[exp.Expr, SQLMode], SQLValue]] = {
    exp.Literal: _plain,
    exp.National: lambda node, _: str(node.this),
    exp.HexString: lambda node, _: hex_value(str(node.this)),
    exp.BitString: lambda node, _: bits_value(str(node.this)),
    exp.Introducer: _introduced,
    exp.Null: lambda _, __: None,
    exp.Boolean: _boolean,
    exp.Concat: _concatenated,
}


def literal_text(value: SQLValue) -> str:
    """Return the SQL literal of a value: of the same type, or the text of a date or a time."""
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"CAST(x'{value.hex()}' AS BINARY)"
    if isinstance(value, Decimal):
        digits = f"{value:f}"
        return _signed(digits if "." in digits else f"{digits}.")
    if isinstance(value, float):
        digits = repr(value)
        return _signed(digits if "e" in digits else f"{digits}e0")
    if isinstance(value, int):
        return _signed(str(int(value)))
    return quoted_text(to_text(value))


def _signed(digits: str) -> str:
    """Put a blank before a sign, so that two signs do not begin a comment."""
    return f" {digits}" if digits.startswith("-") else digits
