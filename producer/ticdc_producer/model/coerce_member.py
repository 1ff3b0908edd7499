"""Coerces values of ENUM, SET and JSON columns.

Rules: tidb ``pkg/types/enum.go``, ``set.go``; JSON text: ``pkg/types/json_binary.go``.
"""

from __future__ import annotations

import math
from decimal import Decimal

from ticdc_producer.model.coerce_text import to_bytes, to_text
from ticdc_producer.model.collation import sort_key
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.json_document import json_of
from ticdc_producer.model.json_text import json_text, print_json
from ticdc_producer.model.number_text import as_number
from ticdc_producer.model.sql_mode import SQLMode, value_error
from ticdc_producer.model.sql_value import ErrorMember, JsonText, SQLValue


def coerce_enum(column: ColumnInfo, value: SQLValue, mode: SQLMode) -> bytes:
    """ENUM: the name of a member, compared by the column's collation, or its number from 1.

    The error value of another ENUM column remains one (tidb ``pkg/types/datum.go``, ``convertToMysqlEnum``).
    """
    if isinstance(value, ErrorMember):
        return b"0"
    if isinstance(value, str | bytes):
        number = _member_number(column, to_bytes(value))
        if number == 0:
            number = _number_in_text(to_text(value), len(column.elements))
    else:
        number = _whole(value)
    if not 1 <= number <= len(column.elements):
        return mode.reject(column.name, value, "Data truncated: no such ENUM member", b"0")
    return str(number).encode()


def coerce_set(column: ColumnInfo, value: SQLValue, mode: SQLMode) -> bytes:
    """SET: the names of members, separated by commas, or a bit mask."""
    if not isinstance(value, str | bytes):
        return _set_of_bits(column, value, _whole(value), mode)
    text = to_text(value)
    bits = 0
    for name in text.split(",") if text else []:
        number = _member_number(column, to_bytes(name))
        if number == 0:
            from_number = _number_in_text(text, (1 << len(column.elements)) - 1)
            if from_number:
                return str(from_number).encode()
            mode.reject(column.name, value, "Data truncated: no such SET member", b"")
        else:
            bits |= 1 << number - 1
    return str(bits).encode()


def coerce_json(column: ColumnInfo, value: SQLValue, _: SQLMode) -> bytes:
    """JSON: text is parsed and printed as TiDB prints it; a number becomes a JSON number."""
    if isinstance(value, JsonText):
        return value.encode("utf-8", "surrogateescape")
    if isinstance(value, bytes):
        raise value_error(column.name, value, "Invalid JSON: cannot be made from binary data")
    if isinstance(value, int | float | Decimal) and math.isfinite(value):
        return print_json(json_of(int(value) if isinstance(value, bool) else value)).encode()
    if not isinstance(value, str):
        raise value_error(column.name, value, "Invalid JSON: only text and numbers can be stored")
    try:
        return json_text(str(value)).encode()
    except ValueError as error:
        raise value_error(column.name, value, f"Invalid JSON text ({error})") from error


def _member_number(column: ColumnInfo, name: bytes) -> int:
    """Number of the member with this name, from 1; 0 if there is none."""
    wanted = sort_key(name, column.collation)
    for number, element in enumerate(column.elements, start=1):
        if sort_key(element.encode("utf-8", "surrogateescape"), column.collation) == wanted:
            return number
    return 0


def _number_in_text(text: str, highest: int) -> int:
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= 20 else 0
    return number if number <= highest else 0


def _whole(value: SQLValue) -> int:
    number, _ = as_number(value)
    if isinstance(number, int):
        return int(number)
    exact = Decimal(number)
    return int(exact) if exact.is_finite() and exact.adjusted() < 30 else -1


def _set_of_bits(column: ColumnInfo, value: SQLValue, bits: int, mode: SQLMode) -> bytes:
    allowed = (1 << len(column.elements)) - 1
    if not 0 <= bits <= allowed:
        return mode.reject(
            column.name, value, "Data truncated: no such SET members", str(bits & allowed).encode()
        )
    return str(bits).encode()
