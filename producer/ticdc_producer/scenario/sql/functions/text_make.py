"""Functions that make strings from values, or print numbers in another base or with commas.

Rules: tidb ``pkg/expression/builtin_string.go``, ``builtin_math.go`` (``Conv``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from sqlglot import exp

from ticdc_producer.errors import UnsupportedSQL
from ticdc_producer.model.values.coerce_text import to_bytes, to_text
from ticdc_producer.model.values.number_text import as_number, rounded
from ticdc_producer.model.values.sql_value import BinaryLiteral, Quotient, SQLMode, SQLValue
from ticdc_producer.scenario.sql.expression.arithmetic import bits_of, number_of
from ticdc_producer.scenario.sql.expression.cast_type import check_charset
from ticdc_producer.scenario.sql.expression.eval_type import E, ExpressionType
from ticdc_producer.scenario.sql.functions.function import (
    MAX_PACKET,
    Arguments,
    Function,
    is_binary,
    text_type,
    to_integer,
    too_long,
    value_function,
)


def _concat(*arguments: SQLValue) -> SQLValue:
    if is_binary(*arguments):
        joined = b"".join(to_bytes(argument) for argument in arguments)
        return joined if len(joined) <= MAX_PACKET else None
    text = "".join(to_text(argument) for argument in arguments)
    return text if len(text) <= MAX_PACKET else None


def _concat_ws(arguments: Sequence[SQLValue], _: SQLMode) -> SQLValue:
    """Return ``CONCAT_WS``: NULL arguments are skipped; a NULL separator gives NULL."""
    separator, parts = arguments[0], [part for part in arguments[1:] if part is not None]
    if separator is None:
        return None
    with_separators = [item for part in parts for item in (separator, part)][1:]
    return _concat(*with_separators)


_MOST_OF_BLOB = (1 << 24) - 1
"""The longest result of SPACE. Source: tidb ``builtinSpaceSig`` (``mysql.MaxBlobWidth``)."""


def _repeat(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    text, times = arguments[0], max(to_integer(arguments[1]), 0)
    if len(to_bytes(text)) * times > MAX_PACKET:
        too_long("repeat", mode)
        return None
    times = min(times, MAX_PACKET)  # of an empty text any number gives the empty text
    return bytes(text) * times if isinstance(text, bytes) else to_text(text) * times


def _space(arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    spaces = _repeat([" ", *arguments], mode)
    return None if isinstance(spaces, str) and len(spaces) > _MOST_OF_BLOB else spaces


def _quote(arguments: Sequence[SQLValue], _: SQLMode) -> SQLValue:
    if arguments[0] is None:
        return "NULL"
    marks = {"'": "\\'", "\\": "\\\\", "\0": "\\0", "\x1a": "\\Z"}
    return "'" + "".join(marks.get(character, character) for character in to_text(arguments[0])) + "'"


def _make_set(arguments: Sequence[SQLValue], _: SQLMode) -> SQLValue:
    if arguments[0] is None:
        return None
    bits = bits_of(arguments[0])
    members = (part for bit, part in enumerate(arguments[1:]) if bits >> bit & 1)
    return ",".join(to_text(part) for part in members if part is not None)


def _export_set(
    bits: SQLValue, on: SQLValue, off: SQLValue, separator: SQLValue = ",", count: SQLValue = 64
) -> SQLValue:
    number, length = bits_of(bits), to_integer(count)
    positions = range(length if 0 <= length <= 64 else 64)
    return to_text(separator).join(to_text(on if number >> bit & 1 else off) for bit in positions)


def _char(arguments: Sequence[SQLValue], _: SQLMode) -> SQLValue:
    """Return ``CHAR(n, … [USING charset])``: numbers as big-endian bytes, without NULLs."""
    charset = to_text(arguments[0]).lower()
    check_charset(charset)
    octets = b"".join(_low_bytes(bits_of(value)) for value in arguments[1:] if value is not None)
    if charset == "binary":
        return octets
    if charset not in ("utf8mb4", "utf8", "utf8mb3") and not octets.isascii():
        raise UnsupportedSQL(f"bytes beyond ASCII in CHAR USING {charset} are not supported")
    try:
        return octets.decode()
    except UnicodeDecodeError:
        return None


def _low_bytes(number: int) -> bytes:
    """Return the lowest four bytes of a number, without leading zeros. Source: tidb ``builtinCharSig``."""
    size = max(1, min((number.bit_length() + 7) // 8, 4))
    return (number & 0xFFFFFFFF).to_bytes(size, "big")


def _char_operands(node: exp.Expr) -> Arguments:
    """Return the arguments of ``CHAR(n, … [USING charset])``: the charset, and the numbers."""
    charset = node.args.get("charset")
    return exp.Literal.string(charset.name if charset else "binary"), *node.expressions


def _char_type(arguments: Arguments, _: Sequence[ExpressionType]) -> ExpressionType:
    return ExpressionType(E.BYTES if arguments[0].name == "binary" else E.TEXT)


_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_MAX_UNSIGNED = (1 << 64) - 1


def _bin(value: SQLValue) -> SQLValue:
    return _conv(to_text(to_integer(value)), 10, 2)


def _oct(value: SQLValue) -> SQLValue:
    """Return ``OCT``; a text or number far below zero is all ones. Source: ``builtinOctStringSig``."""
    if isinstance(value, BinaryLiteral):
        return _conv(str(value.number), 10, 8)
    text = to_text(value).strip()
    digits = _read(text.removeprefix("-"), 10) if text.startswith("-") else 0
    return _conv(str(_MAX_UNSIGNED) if digits > _MAX_UNSIGNED else text, 10, 8)


def _conv(value: SQLValue, source: SQLValue, target: SQLValue) -> SQLValue:
    """Parse leading digits in one base and print them in another, signed if it is negative: ``CONV``."""
    base, target_base = to_integer(source), to_integer(target)
    if not (2 <= abs(base) <= 36 and 2 <= abs(target_base) <= 36):
        return None
    if isinstance(value, BinaryLiteral):  # its bits are the number, whatever the base: builtinConvSig
        text, base = f"{value.number:b}", 2
    else:
        text = to_text(value).strip()
    negative = text.startswith("-")
    magnitude = _read(text.lstrip("-") if negative else text.removeprefix("+"), abs(base))
    if base < 0:
        number = _clamp(-magnitude if negative else magnitude, -(1 << 63), (1 << 63) - 1)
    else:
        number = min(magnitude, _MAX_UNSIGNED)
        number = -number & _MAX_UNSIGNED if negative else number
    if target_base < 0:
        signed = number - (1 << 64) if number >= 1 << 63 else number
        return ("-" if signed < 0 else "") + _digits(abs(signed), -target_base)
    return _digits(number & _MAX_UNSIGNED, target_base)


def _read(text: str, base: int) -> int:
    allowed = re.escape(_DIGITS[:base])
    match = re.match(f"[{allowed}]*", text.upper())
    digits = match[0] if match else ""
    return int(digits[:200], base) if digits else 0


def _digits(number: int, base: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, base)
        digits = _DIGITS[digit] + digits
    return digits or "0"


def _clamp(number: int, low: int, high: int) -> int:
    return min(max(number, low), high)


def _format(arguments: Sequence[SQLValue], _: SQLMode) -> SQLValue:
    """Return ``FORMAT(number, digits[, locale])``: rounded, with commas between thousands.

    TiDB 8 warns of other locales than en_US, and uses it. Source: tidb ``builtinFormatWithLocaleSig``.
    """
    value, digits = arguments[0], arguments[1]
    if value is None or digits is None:
        return None
    scale = _clamp(to_integer(digits), 0, 30)
    number = as_number(value)[0] if isinstance(value, str | bytes) else number_of(value)
    number = number.rounded() if isinstance(number, Quotient) else number
    try:
        return f"{rounded(number, scale):,f}"
    except ArithmeticError:
        raise UnsupportedSQL("FORMAT of numbers beyond DECIMAL is not supported") from None


_BYTES = (
    ("bytes", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40), ("PiB", 1 << 50),
    ("EiB", 1 << 60),
)  # fmt: skip
_NANOSECONDS = (
    ("ns", 1), ("us", 10**3), ("ms", 10**6), ("s", 10**9), ("min", 60 * 10**9), ("h", 3600 * 10**9),
    ("d", 86_400 * 10**9),
)  # fmt: skip
_LONGEST_AMOUNT = 100_000


def _amount(units: Sequence[tuple[str, int]], value: SQLValue) -> SQLValue:
    """Return a number in the largest unit that it reaches. Source: tidb ``GetFormatBytes``."""
    number = float(as_number(value)[0]) if isinstance(value, str | bytes) else float(number_of(value))
    unit, size = [pair for pair in units if pair[1] == 1 or abs(number) >= pair[1]][-1]
    if size == 1:
        return f"{number:.0f} {unit}"
    return f"{number / size:.2{'e' if abs(number / size) >= _LONGEST_AMOUNT else 'f'}} {unit}"


FUNCTIONS = {
    "BIN": value_function(_bin, 1, integers=(0,), type=E.TEXT),
    "CHAR": Function(
        _char,
        2,
        -1,
        accepts_null=True,
        integers=range(1, 1000),
        type=_char_type,
        syntax={exp.Chr: _char_operands},
    ),
    "CONCAT": value_function(_concat, 1, -1, type=text_type),
    "CONCAT_WS": Function(_concat_ws, 2, -1, accepts_null=True, type=text_type),
    "CONV": value_function(_conv, 3, integers=(1, 2), type=E.TEXT),
    "EXPORT_SET": value_function(_export_set, 3, 5, integers=(0, 4), type=text_type),
    "FORMAT_BYTES": value_function(partial(_amount, _BYTES), 1, numbers=(0,), type=E.TEXT),
    "FORMAT_NANO_TIME": value_function(partial(_amount, _NANOSECONDS), 1, numbers=(0,), type=E.TEXT),
    "FORMAT": Function(_format, 2, 3, accepts_null=True, numbers=(0,), integers=(1,), type=E.TEXT),
    "MAKE_SET": Function(_make_set, 2, -1, accepts_null=True, integers=(0,), type=text_type),
    "OCT": value_function(_oct, 1, type=E.TEXT),
    "QUOTE": Function(_quote, 1, 1, accepts_null=True, type=E.TEXT),
    "REPEAT": Function(_repeat, 2, 2, integers=(1,), type=text_type),
    "SPACE": Function(_space, 1, 1, integers=(0,), type=E.TEXT),
}
