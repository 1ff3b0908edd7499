"""Functions that print numbers in another base or with commas.

Rules: tidb ``pkg/expression/builtin_math.go`` (``Conv``), ``builtin_string.go`` (``Bin``, ``Format``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ticdc_producer.errors import UnsupportedSQL
from ticdc_producer.model.coerce_text import to_text
from ticdc_producer.model.number_text import as_number, rounded
from ticdc_producer.model.sql_mode import SQLMode
from ticdc_producer.model.sql_value import BinaryLiteral, SQLValue
from ticdc_producer.scenario.sql.arithmetic import operand
from ticdc_producer.scenario.sql.functions.function import Function, to_integer, value_function

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_MAX_UNSIGNED = (1 << 64) - 1
_LOCALES_WITH_COMMAS = frozenset(
    {"en_us", "en_gb", "en_au", "en_ca", "en_in", "en_nz", "en_ph", "en_za", "en_zw", "ja_jp"}
)


def _bin(value: SQLValue) -> SQLValue:
    return _conv(to_text(to_integer(value)), 10, 2)


def _oct(value: SQLValue) -> SQLValue:
    return _conv(to_text(value), 10, 8)


def _conv(value: SQLValue, source: SQLValue, target: SQLValue) -> SQLValue:
    """``CONV``: parse the leading digits in one base and print them in another, signed if it is negative."""
    text = str(value.number) if isinstance(value, BinaryLiteral) else to_text(value).strip()
    base, target_base = to_integer(source), to_integer(target)
    if not (2 <= abs(base) <= 36 and 2 <= abs(target_base) <= 36):
        return None
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
    """``FORMAT(number, digits[, locale])``: rounded, with commas between thousands."""
    value, digits = arguments[0], arguments[1]
    locale = to_text(arguments[2]).lower() if len(arguments) > 2 and arguments[2] is not None else "en_us"
    if value is None or digits is None:
        return None
    if locale not in _LOCALES_WITH_COMMAS:
        raise UnsupportedSQL(f"FORMAT for the locale {locale} is not supported", value=locale)
    scale = _clamp(to_integer(digits), 0, 30)
    number = as_number(value)[0] if isinstance(value, str | bytes) else operand(value)
    try:
        return f"{rounded(number, scale):,f}"
    except ArithmeticError:
        raise UnsupportedSQL("FORMAT of numbers beyond DECIMAL is not supported") from None


FUNCTIONS = {
    "BIN": value_function(_bin, 1),
    "CONV": value_function(_conv, 3),
    "FORMAT": Function(_format, 2, 3, accepts_null=True),
    "OCT": value_function(_oct, 1),
}
