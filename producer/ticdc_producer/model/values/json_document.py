"""JSON documents: parsed, printed as TiDB prints them, converted and compared.

Rules: tidb ``pkg/types/json_binary.go``, ``json_binary_functions.go`` (``Type``, ``CompareBinaryJSON``);
``docs/design.md#values``.
"""

from __future__ import annotations

import json
import math
from base64 import b64encode
from dataclasses import replace
from decimal import Decimal
from typing import NoReturn, TypeAlias

from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.values.number_text import as_float
from ticdc_producer.model.values.sql_value import (
    Bits,
    ColumnBytes,
    DateTimeValue,
    Duration,
    JsonText,
    SQLValue,
    TypedJson,
    Unsigned,
    stored_number,
)
from ticdc_producer.model.values.temporal_text import MAX_FSP

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"

MAX_DEPTH = 100
_MAX_SIGNED = (1 << 63) - 1
_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def json_text(source: str) -> str:
    """Print a JSON document as TiDB prints it.

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
    """Return the members of an object in TiDB's order."""
    return sorted(value.items(), key=lambda member: member[0].encode("utf-8", "surrogatepass"))


def quoted(text: str) -> str:
    """Print a JSON string with TiDB's escapes: U+2028 and U+2029 are escaped, ``<>&`` are not."""
    return '"' + "".join(_escaped(character) for character in text) + '"'


def json_double(number: float) -> str:
    """Print a double such as ``1.0``: shortest digits, with an exponent below 1e-15 and from 1e15."""
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


class JsonScalar(str):
    """A scalar that is printed as a string but has another type: a date, a time or binary data.

    :param kind: its type name in ``JSON_TYPE``.
    """

    kind: str

    def __new__(cls, text: str, kind: str) -> JsonScalar:
        value = super().__new__(cls, text)
        value.kind = kind
        return value


def json_of(value: SQLValue) -> JsonValue:
    """Convert an SQL value to JSON: text to a string, NULL to null, DECIMAL to a double."""
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, JsonText):
        return document_of(value)
    if isinstance(value, int):
        return value if isinstance(value, Unsigned) else int(value)
    if isinstance(value, Decimal):
        return as_float(stored_number(value))
    if isinstance(value, DateTimeValue | Duration):
        return _temporal(value)
    return _opaque(value) if isinstance(value, bytes) else str(value)


def unquoted(value: JsonText) -> str:
    """Return a JSON string without its quotes, and any other document as it is printed.

    Dates and times are printed in quotes. Source: tidb ``BinaryJSON.Unquote``.
    """
    document = document_of(value)
    return str(value) if isinstance(document, JsonScalar) or not isinstance(document, str) else document


def document_of(value: JsonText) -> JsonValue:
    """Return the document of JSON text, parsed if necessary."""
    document = value.document
    return parse_json(value) if document is None else document  # type: ignore[return-value]  # document is always a JsonValue


def to_json_text(document: JsonValue) -> JsonText:
    """Convert a document to an SQL value.

    :raises ValueError: if it is nested too deeply.
    """
    return JsonText(print_json(document), document)


def stored_json(value: JsonText) -> bytes:
    """Return the bytes that a column stores; they retain a document whose text does not show all types."""
    text = value.encode("utf-8", "surrogateescape")
    document = document_of(value) if value.document is not None else None
    return TypedJson(text, document) if _has_hidden_types(document) else text


def _has_hidden_types(document: JsonValue) -> bool:
    waiting = [document]
    while waiting:
        value = waiting.pop()
        if isinstance(value, JsonScalar | Unsigned):
            return True
        waiting.extend(children_of(value))
    return False


def json_type(value: JsonValue) -> str:
    """Return the type name of a value in ``JSON_TYPE``."""
    if value is None:
        return "NULL"
    if isinstance(value, JsonScalar):
        return value.kind
    if isinstance(value, Unsigned):
        return "UNSIGNED INTEGER"
    return next(name for kind, name in _TYPE_NAMES if isinstance(value, kind))


def depth_of(value: JsonValue) -> int:
    """Return the depth of a value; 1 for scalars, empty arrays and empty objects."""
    deepest, level = 0, [value]
    while level:
        deepest += 1
        level = [child for parent in level for child in children_of(parent)]
    return deepest


def check_depth(value: JsonValue) -> JsonValue:
    """Return the value unchanged.

    :raises ValueError: if it is nested deeper than MySQL allows.
    """
    if depth_of(value) - 1 > MAX_DEPTH:
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
    return value


def children_of(value: JsonValue) -> list[JsonValue]:
    """Return the elements of an array, or the values of an object in TiDB's order."""
    if isinstance(value, list):
        return value
    return [child for _, child in members(value)] if isinstance(value, dict) else []


def compare_json(left: JsonValue, right: JsonValue) -> int:
    """Compare by type, then by value; the result is negative, zero or positive."""
    kinds = _PRECEDENCE[json_type(left)], _PRECEDENCE[json_type(right)]
    if kinds[0] != kinds[1]:
        return kinds[0] - kinds[1]
    if left is None:
        return 0
    if isinstance(left, bool):
        return int(bool(right)) - int(left)  # true sorts before false, as in TiDB
    if isinstance(left, list) and isinstance(right, list):
        return _compare_arrays(left, right)
    if isinstance(left, dict) and isinstance(right, dict):
        return _compare_objects(left, right)
    if isinstance(left, int | float) and isinstance(right, int | float):
        return _compare_numbers(left, right)
    return _order(_octets(str(left)), _octets(str(right)))


def _temporal(value: DateTimeValue | Duration) -> JsonScalar:
    """Convert a date or time, always with six fractional digits."""
    if isinstance(value, Duration):
        return JsonScalar(Duration(value.microseconds, MAX_FSP).text(), "TIME")
    if value.fsp < 0:
        return JsonScalar(value.text(), "DATE")
    return JsonScalar(replace(value, fsp=MAX_FSP).text(), "DATETIME")


def _opaque(value: bytes) -> JsonValue:
    if isinstance(value, Bits):
        return Unsigned(value.number)
    code = value.code if isinstance(value, ColumnBytes) else int(MySQLType.VAR_STRING)
    return JsonScalar(f"base64:type{code}:{b64encode(value).decode()}", "BLOB")


def _compare_arrays(left: list[JsonValue], right: list[JsonValue]) -> int:
    for left_element, right_element in zip(left, right, strict=False):
        if order := compare_json(left_element, right_element):
            return order
    return len(left) - len(right)


def _compare_objects(left: dict[str, JsonValue], right: dict[str, JsonValue]) -> int:
    if len(left) != len(right):
        return len(left) - len(right)
    for (left_name, left_value), (right_name, right_value) in zip(members(left), members(right), strict=True):
        if order := _order(_octets(left_name), _octets(right_name)) or compare_json(left_value, right_value):
            return order
    return 0


def _compare_numbers(left: int | float, right: int | float) -> int:
    """Compare numbers. A double and an integer are equal if they differ by less than ``floatEpsilon``."""
    mixed = isinstance(left, float) != isinstance(right, float)
    if mixed and abs(float(left) - float(right)) < _EPSILON:
        return 0
    return int(left > right) - int(left < right)


def _order(left: bytes, right: bytes) -> int:
    return int(left > right) - int(left < right)


def _octets(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


_EPSILON = 1e-8
_TYPE_NAMES: tuple[tuple[type, str], ...] = (
    (bool, "BOOLEAN"), (int, "INTEGER"), (float, "DOUBLE"), (str, "STRING"), (list, "ARRAY"),
    (dict, "OBJECT"),
)  # fmt: skip
_PRECEDENCE = {
    "BLOB": -1, "BIT": -2, "OPAQUE": -3, "DATETIME": -4, "TIME": -5, "DATE": -6, "BOOLEAN": -7,
    "ARRAY": -8, "OBJECT": -9, "STRING": -10, "INTEGER": -11, "UNSIGNED INTEGER": -11, "DOUBLE": -11,
    "NULL": -12,
}  # fmt: skip
