"""Functions that make strings from values.

Rules: tidb ``pkg/expression/builtin_string.go``.
"""

from __future__ import annotations

from collections.abc import Sequence

from ticdc_producer.errors import UnsupportedSQL
from ticdc_producer.model.coerce_text import to_bytes, to_text
from ticdc_producer.model.sql_mode import SQLMode
from ticdc_producer.model.sql_value import SQLValue
from ticdc_producer.scenario.sql.arithmetic import to_bits
from ticdc_producer.scenario.sql.functions.function import (
    MAX_PACKET,
    Function,
    is_binary,
    to_integer,
    value_function,
)


def _concat(*arguments: SQLValue) -> SQLValue:
    if is_binary(*arguments):
        joined = b"".join(to_bytes(argument) for argument in arguments)
        return joined if len(joined) <= MAX_PACKET else None
    text = "".join(to_text(argument) for argument in arguments)
    return text if len(text) <= MAX_PACKET else None


def _concat_ws(arguments: Sequence[SQLValue], _: SQLMode) -> SQLValue:
    """``CONCAT_WS``: NULL arguments are skipped; a NULL separator gives NULL."""
    separator, parts = arguments[0], [part for part in arguments[1:] if part is not None]
    if separator is None:
        return None
    with_separators = [item for part in parts for item in (separator, part)][1:]
    return _concat(*with_separators)


def _repeat(text: SQLValue, count: SQLValue) -> SQLValue:
    times = max(to_integer(count), 0)
    if len(to_bytes(text)) * times > MAX_PACKET:
        return None
    return bytes(text) * times if isinstance(text, bytes) else to_text(text) * times


def _space(count: SQLValue) -> SQLValue:
    return _repeat(" ", count)


def _quote(arguments: Sequence[SQLValue], _: SQLMode) -> SQLValue:
    if arguments[0] is None:
        return "NULL"
    marks = {"'": "\\'", "\\": "\\\\", "\0": "\\0", "\x1a": "\\Z"}
    return "'" + "".join(marks.get(character, character) for character in to_text(arguments[0])) + "'"


def _make_set(arguments: Sequence[SQLValue], _: SQLMode) -> SQLValue:
    if arguments[0] is None:
        return None
    bits = to_bits(arguments[0])
    chosen = (part for bit, part in enumerate(arguments[1:]) if bits >> bit & 1)
    return ",".join(to_text(part) for part in chosen if part is not None)


def _export_set(
    bits: SQLValue, on: SQLValue, off: SQLValue, separator: SQLValue = ",", count: SQLValue = 64
) -> SQLValue:
    number, length = to_bits(bits), to_integer(count)
    positions = range(length if 0 <= length <= 64 else 64)
    return to_text(separator).join(to_text(on if number >> bit & 1 else off) for bit in positions)


def _char(arguments: Sequence[SQLValue], _: SQLMode) -> SQLValue:
    """``CHAR(n, … [USING charset])``: numbers as big-endian bytes, without NULLs."""
    charset = to_text(arguments[0]).lower()
    numbers = [to_bits(value) & 0xFFFFFFFF for value in arguments[1:] if value is not None]
    octets = b"".join(n.to_bytes(max(1, (n.bit_length() + 7) // 8), "big") for n in numbers)
    if charset == "binary":
        return octets
    if charset not in ("utf8mb4", "utf8", "utf8mb3") and not octets.isascii():
        raise UnsupportedSQL(f"bytes beyond ASCII in CHAR USING {charset} are not supported")
    try:
        return octets.decode()
    except UnicodeDecodeError:
        return None


FUNCTIONS = {
    "CHAR": Function(_char, 2, -1, accepts_null=True),
    "CONCAT": value_function(_concat, 1, -1),
    "CONCAT_WS": Function(_concat_ws, 2, -1, accepts_null=True),
    "EXPORT_SET": value_function(_export_set, 3, 5),
    "MAKE_SET": Function(_make_set, 2, -1, accepts_null=True),
    "QUOTE": Function(_quote, 1, 1, accepts_null=True),
    "REPEAT": value_function(_repeat, 2),
    "SPACE": value_function(_space, 1),
}
