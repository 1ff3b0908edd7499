"""Parses JSON and prints it as TiDB does, which is the canonical value of a JSON column.

Rules: tidb ``pkg/types/json_binary.go``; ``docs/design.md#values``.
"""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import NoReturn, TypeAlias

from ticdc_producer.model.sql_value import Unsigned

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"

MAX_DEPTH = 100
_MAX_SIGNED = (1 << 63) - 1
_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def json_text(source: str) -> str:
    """A JSON document as TiDB prints it.

    :raises ValueError: if ``source`` is not JSON, or is nested deeper than MySQL allows.
    """
    return print_json(parse_json(source))


def parse_json(source: str) -> JsonValue:
    """Parse a document. Integers beyond 64 bits become doubles; the last of duplicate members is used.

    :raises ValueError: if ``source`` is not JSON.
    """
    try:
        parsed: JsonValue = json.loads(
            source, parse_int=_integer, parse_float=_double, parse_constant=_refuse
        )
    except RecursionError:
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels") from None
    return parsed


def print_json(value: JsonValue, depth: int = 0) -> str:
    """Print a document, with members sorted by the bytes of their names and the separators ``, `` and ``: ``.

    :raises ValueError: if the value is nested too deeply.
    """
    if depth > MAX_DEPTH:
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quoted(k)}: {print_json(v, depth + 1)}" for k, v in members(value)) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(print_json(element, depth + 1) for element in value) + "]"
    return _scalar(value)


def members(value: dict[str, JsonValue]) -> list[tuple[str, JsonValue]]:
    """The members of an object in TiDB's order."""
    return sorted(value.items(), key=lambda member: member[0].encode("utf-8", "surrogatepass"))


def quoted(text: str) -> str:
    """A JSON string with TiDB's escapes: U+2028 and U+2029 are escaped, ``<>&`` are not."""
    return '"' + "".join(_escaped(character) for character in text) + '"'


def json_double(number: float) -> str:
    """A double such as ``1.0``, ``1e-16``: shortest digits, with an exponent below 1e-15 and from 1e15."""
    if number == 0:
        return "-0.0" if math.copysign(1, number) < 0 else "0.0"
    digits = Decimal(repr(float(number))).normalize()
    if 1e-15 <= abs(number) < 1e15:
        text = f"{digits:f}"
        return text if "." in text else text + ".0"
    mantissa, _, exponent = f"{digits:e}".partition("e")
    return f"{mantissa}e{int(exponent)}"


def _scalar(value: JsonValue) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return json_double(value)
    return quoted(str(value))


def _escaped(character: str) -> str:
    if character in _SHORT:
        return _SHORT[character]
    if character < " " or character in "\u2028\u2029":
        return f"\\u{ord(character):04x}"
    if "\ud800" <= character <= "\udfff":
        return "\ufffd"
    return character


def _integer(digits: str) -> int | float:
    if digits == "-0":
        return 0
    if len(digits) <= 20 and -(1 << 63) <= int(digits) < 1 << 64:
        number = int(digits)
        return Unsigned(number) if number > _MAX_SIGNED else number
    return _double(digits)


def _double(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"{digits} is too large")
    return number


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")
