"""Functions that cut, pad and change strings. Lengths are bytes for binary strings, else characters.

Rules: tidb ``pkg/expression/builtin_string.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from sqlglot import exp

from ticdc_producer.model.values.coerce_text import to_bytes, to_text
from ticdc_producer.model.values.number_text import bigint
from ticdc_producer.model.values.sql_value import SQLMode, SQLValue
from ticdc_producer.scenario.sql.expression.eval_type import E
from ticdc_producer.scenario.sql.functions.function import (
    MAX_PACKET,
    Arguments,
    Function,
    first_text_type,
    is_binary,
    text_type,
    to_integer,
    to_string,
    too_long,
    value_function,
)


def _length(value: SQLValue) -> SQLValue:
    return len(to_bytes(value))


def _bit_length(value: SQLValue) -> SQLValue:
    return 8 * len(to_bytes(value))


def _char_length(value: SQLValue) -> SQLValue:
    return len(to_string(value))


def _upper(value: SQLValue) -> SQLValue:
    return _each_character(value, _upper_character)


def _lower(value: SQLValue) -> SQLValue:
    return _each_character(value, _lower_character)


def _each_character(value: SQLValue, change: Callable[[str], str]) -> SQLValue:
    text = to_string(value)
    return text if isinstance(text, bytes) else "".join(map(change, text))


def _upper_character(character: str) -> str:
    """Return a character in upper case by Unicode's simple mapping, as Go does.

    The result is always one character, so ``ß`` is unchanged.
    """
    return next((other for other in (character.upper(), character.title()) if len(other) == 1), character)


def lower(text: str) -> str:
    """Return a text in lower case by Unicode's simple mapping, as Go does; its length is unchanged."""
    return "".join(map(_lower_character, text))


def _lower_character(character: str) -> str:
    return "i" if character == "\u0130" else character.lower()


def _reverse(value: SQLValue) -> SQLValue:
    return to_string(value)[::-1]


def _left(value: SQLValue, count: SQLValue) -> SQLValue:
    return to_string(value)[: max(to_integer(count), 0)]


def _right(value: SQLValue, count: SQLValue) -> SQLValue:
    text, length = to_string(value), max(to_integer(count), 0)
    return text[max(len(text) - length, 0) :]


def _substring(value: SQLValue, start: SQLValue, length: SQLValue = None) -> SQLValue:
    """Return a part of a string.

    Positions start at 1; negative ones count from the end, and position 0 gives an empty string.
    """
    text, first = to_string(value), to_integer(start)
    begin = first - 1 if first > 0 else len(text) + first
    count = len(text) if length is None else to_integer(length)
    if first == 0 or begin < 0 or count <= 0:
        return text[:0]
    return text[begin : begin + count]


def _substring_index(value: SQLValue, separator: SQLValue, count: SQLValue) -> SQLValue:
    text, mark, number = to_text(value), to_text(separator), bigint(count)
    if not mark or number == 0:
        return ""
    parts = text.split(mark)
    return mark.join(parts[:number] if number > 0 else parts[number:])


def _padded(arguments: Sequence[SQLValue], mode: SQLMode, *, before: bool) -> SQLValue:
    length = to_integer(arguments[1])
    if length < 0 or length * 4 > MAX_PACKET:
        too_long("lpad" if before else "rpad", mode)
        return None
    binary = is_binary(arguments[0], arguments[2])
    text, fill = (_units(argument, binary) for argument in (arguments[0], arguments[2]))
    missing = length - len(text)
    if missing > 0 and not fill:
        return _from_units("", binary)
    padding = (fill * (missing // len(fill) + 1))[:missing] if missing > 0 else ""
    return _from_units((padding + text if before else text + padding)[:length], binary)


def _units(value: SQLValue, binary: bool) -> str:
    """Return text with one character per unit that counts: a byte of a binary string, else a character."""
    return to_bytes(value).decode("latin-1") if binary else to_text(value)


def _from_units(units: str, binary: bool) -> SQLValue:
    return units.encode("latin-1") if binary else units


def _trim(value: SQLValue, what: SQLValue, side: SQLValue) -> SQLValue:
    """Remove all leading or trailing repetitions of ``what``."""
    if is_binary(value):
        return to_bytes(_trim(to_text(value), to_text(what), side))
    text, mark = to_text(value), to_text(what)
    if not mark:
        return text
    begin, end = 0, len(text)
    while side in ("LEADING", "BOTH") and text.startswith(mark, begin, end):
        begin += len(mark)
    while side in ("TRAILING", "BOTH") and text.endswith(mark, begin, end):
        end -= len(mark)
    return text[begin:end]


def _trim_operands(node: exp.Expr) -> Arguments:
    """Return the arguments of ``TRIM([side] [what] FROM value)``."""
    what = node.args.get("expression") or exp.Literal.string(" ")
    return node.this, what, exp.Literal.string(node.args.get("position") or "BOTH")


def _replace(value: SQLValue, old: SQLValue, new: SQLValue) -> SQLValue:
    if is_binary(value, old, new):
        source, mark = to_bytes(value), to_bytes(old)
        return source.replace(mark, to_bytes(new)) if mark else source
    text, sought = to_text(value), to_text(old)
    return text.replace(sought, to_text(new)) if sought else text


def _insert(value: SQLValue, position: SQLValue, length: SQLValue, new: SQLValue) -> SQLValue:
    """Replace characters from a position (``INSERT``); none if the position is outside of the string."""
    binary = is_binary(value, new)
    text, start, count = _units(value, binary), to_integer(position) - 1, to_integer(length)
    if not 0 <= start < len(text):
        return _from_units(text, binary)
    end = start + count if 0 <= count <= len(text) - start else len(text)
    return _from_units(text[:start] + _units(new, binary) + text[end:], binary)


def _is_upper_uuid(arguments: Arguments) -> bool:
    """Return whether the first argument of REPLACE is ``UPPER(UUID())``, which a DEFAULT may have."""
    first = arguments[0] if arguments else None
    upper = first.this if isinstance(first, exp.Cast) else first  # CONVERT(… USING charset)
    called = [node.name.upper() for node in upper.walk()] if isinstance(upper, exp.Anonymous) else []
    return called == ["UPPER", "UUID"]


FUNCTIONS = {
    "BIT_LENGTH": value_function(_bit_length, 1, takes_bytes=True, type=E.INTEGER),
    "CHARACTER_LENGTH": value_function(_char_length, 1, type=E.INTEGER),
    "CHAR_LENGTH": value_function(_char_length, 1, type=E.INTEGER),
    "INSERT": value_function(_insert, 4, integers=(1, 2), type=text_type),
    "LCASE": value_function(_lower, 1, type=text_type),
    "LEFT": value_function(_left, 2, integers=(1,), type=text_type),
    "LENGTH": value_function(_length, 1, takes_bytes=True, type=E.INTEGER),
    "LOWER": value_function(_lower, 1, type=text_type, indexed=True),
    "LPAD": Function(partial(_padded, before=True), 3, 3, integers=(1,), type=text_type),
    "LTRIM": value_function(partial(_trim, what=" ", side="LEADING"), 1, type=text_type),
    "MID": value_function(_substring, 2, 3, integers=(1, 2), type=text_type),
    "OCTET_LENGTH": value_function(_length, 1, takes_bytes=True, type=E.INTEGER),
    "REPLACE": value_function(_replace, 3, type=first_text_type, default=_is_upper_uuid),
    "REVERSE": value_function(_reverse, 1, type=text_type, indexed=True),
    "RIGHT": value_function(_right, 2, integers=(1,), type=text_type),
    "RPAD": Function(partial(_padded, before=False), 3, 3, integers=(1,), type=text_type),
    "RTRIM": value_function(partial(_trim, what=" ", side="TRAILING"), 1, type=text_type),
    "SUBSTR": value_function(_substring, 2, 3, integers=(1, 2), type=text_type),
    "SUBSTRING": value_function(
        _substring,
        2,
        3,
        integers=(1, 2),
        type=text_type,
        syntax={exp.Substring: ("this", "start", "length", "zero_start")},  # sqlglot reads four arguments
    ),
    "SUBSTRING_INDEX": value_function(_substring_index, 3, integers=(2,), type=first_text_type),
    "TRIM": value_function(_trim, 3, type=first_text_type, syntax={exp.Trim: _trim_operands}),
    "UCASE": value_function(_upper, 1, type=text_type),
    "UPPER": value_function(_upper, 1, type=text_type, indexed=True),
}
