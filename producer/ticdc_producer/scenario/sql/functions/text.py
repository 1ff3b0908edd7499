"""Functions that cut, pad and change strings. Binary strings count bytes, all others characters.

Rules: tidb ``pkg/expression/builtin_string.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ticdc_producer.model.coerce_text import to_bytes, to_text
from ticdc_producer.model.sql_mode import SQLMode
from ticdc_producer.model.sql_value import SQLValue
from ticdc_producer.scenario.sql.functions.function import (
    MAX_PACKET,
    Function,
    is_binary,
    of_values,
    string_of,
    whole,
)


def _length(value: SQLValue) -> SQLValue:
    return len(to_bytes(value))


def _bit_length(value: SQLValue) -> SQLValue:
    return 8 * len(to_bytes(value))


def _char_length(value: SQLValue) -> SQLValue:
    return len(string_of(value))


def _upper(value: SQLValue) -> SQLValue:
    return _each_character(value, _upper_character)


def _lower(value: SQLValue) -> SQLValue:
    return _each_character(value, _lower_character)


def _each_character(value: SQLValue, change: Callable[[str], str]) -> SQLValue:
    text = string_of(value)
    return text if isinstance(text, bytes) else "".join(map(change, text))


def _upper_character(one: str) -> str:
    """Unicode's simple mapping, as Go has it: never more than one character (``ß`` stays)."""
    return next((other for other in (one.upper(), one.title()) if len(other) == 1), one)


def _lower_character(one: str) -> str:
    return "i" if one == "\u0130" else one.lower()


def _reverse(value: SQLValue) -> SQLValue:
    return string_of(value)[::-1]


def _left(value: SQLValue, count: SQLValue) -> SQLValue:
    return string_of(value)[: max(whole(count), 0)]


def _right(value: SQLValue, count: SQLValue) -> SQLValue:
    text, length = string_of(value), max(whole(count), 0)
    return text[max(len(text) - length, 0) :]


def _substring(value: SQLValue, start: SQLValue, length: SQLValue = None) -> SQLValue:
    """From 1 on, or from the end on if negative; place 0 is nowhere."""
    text, first = string_of(value), whole(start)
    begin = first - 1 if first > 0 else len(text) + first
    count = len(text) if length is None else whole(length)
    if first == 0 or begin < 0 or count <= 0:
        return text[:0]
    return text[begin : begin + count]


def _substring_index(value: SQLValue, separator: SQLValue, count: SQLValue) -> SQLValue:
    text, mark, number = to_text(value), to_text(separator), whole(count)
    if not mark or number == 0:
        return ""
    parts = text.split(mark)
    return mark.join(parts[:number] if number > 0 else parts[number:])


def _lpad(arguments: Sequence[SQLValue], _: SQLMode) -> SQLValue:
    return _padded(arguments, before=True)


def _rpad(arguments: Sequence[SQLValue], _: SQLMode) -> SQLValue:
    return _padded(arguments, before=False)


def _padded(arguments: Sequence[SQLValue], *, before: bool) -> SQLValue:
    length = whole(arguments[1])
    if length < 0 or length * 4 > MAX_PACKET:
        return None
    binary = is_binary(arguments[0], arguments[2])
    text, fill = (_units(argument, binary) for argument in (arguments[0], arguments[2]))
    missing = length - len(text)
    if missing > 0 and not fill:
        return None
    padding = (fill * (missing // len(fill) + 1))[:missing] if missing > 0 else ""
    return _joined((padding + text if before else text + padding)[:length], binary)


def _units(value: SQLValue, binary: bool) -> str:
    """Characters to count: of a binary string one for each byte."""
    return to_bytes(value).decode("latin-1") if binary else to_text(value)


def _joined(units: str, binary: bool) -> SQLValue:
    return units.encode("latin-1") if binary else units


def _ltrim(value: SQLValue) -> SQLValue:
    return _trim(value, " ", "LEADING")


def _rtrim(value: SQLValue) -> SQLValue:
    return _trim(value, " ", "TRAILING")


def _trim(value: SQLValue, what: SQLValue, side: SQLValue) -> SQLValue:
    """The whole of ``what`` is taken away, again and again."""
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


def _replace(value: SQLValue, old: SQLValue, new: SQLValue) -> SQLValue:
    if is_binary(value, old, new):
        source, mark = to_bytes(value), to_bytes(old)
        return source.replace(mark, to_bytes(new)) if mark else source
    text, sought = to_text(value), to_text(old)
    return text.replace(sought, to_text(new)) if sought else text


def _insert(value: SQLValue, place: SQLValue, length: SQLValue, new: SQLValue) -> SQLValue:
    """The characters from a place on, replaced; out of the string nothing is."""
    binary = is_binary(value)
    text, start, count = _units(value, binary), whole(place) - 1, whole(length)
    if not 0 <= start < len(text):
        return _joined(text, binary)
    end = start + count if 0 <= count <= len(text) - start else len(text)
    return _joined(text[:start] + _units(new, binary) + text[end:], binary)


FUNCTIONS = {
    "BIT_LENGTH": of_values(_bit_length, 1),
    "CHARACTER_LENGTH": of_values(_char_length, 1),
    "CHAR_LENGTH": of_values(_char_length, 1),
    "INSERT": of_values(_insert, 4),
    "LCASE": of_values(_lower, 1),
    "LEFT": of_values(_left, 2),
    "LENGTH": of_values(_length, 1),
    "LOWER": of_values(_lower, 1),
    "LPAD": Function(_lpad, 3, 3),
    "LTRIM": of_values(_ltrim, 1),
    "MID": of_values(_substring, 3),
    "OCTET_LENGTH": of_values(_length, 1),
    "REPLACE": of_values(_replace, 3),
    "REVERSE": of_values(_reverse, 1),
    "RIGHT": of_values(_right, 2),
    "RPAD": Function(_rpad, 3, 3),
    "RTRIM": of_values(_rtrim, 1),
    "SUBSTRING": of_values(_substring, 2, 3),
    "SUBSTRING_INDEX": of_values(_substring_index, 3),
    "TRIM": of_values(_trim, 3),
    "UCASE": of_values(_upper, 1),
    "UPPER": of_values(_upper, 1),
}
