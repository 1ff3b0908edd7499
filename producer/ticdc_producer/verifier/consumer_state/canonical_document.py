"""ENUM, SET, JSON and VECTOR values of a consumer's table in a comparable form."""

from __future__ import annotations

import json
from collections.abc import Iterable
from decimal import Decimal

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.float_text import narrow, plain_text
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.verifier.consumer_state.canonical_number import canonical_integer


def canonical_enum(column: ColumnInfo, value: object) -> bytes:
    """ENUM: a member's name, or its number from 1; the empty error value is 0."""
    text = value.decode() if isinstance(value, bytes) else value
    if not isinstance(text, str):
        return canonical_integer(column, value)
    if text in column.elements:
        return str(column.elements.index(text) + 1).encode()
    return b"0" if text == "" else canonical_integer(column, text)


def canonical_set(column: ColumnInfo, value: object) -> bytes:
    """SET: members separated by commas, a collection of members, or the bitmask as a number."""
    text = value.decode() if isinstance(value, bytes) else value
    if isinstance(text, str):
        names: Iterable[str] = text.split(",") if text else ()
    elif isinstance(text, set | frozenset | list | tuple):
        names = text
    else:
        return canonical_integer(column, value)
    members = set(names)
    if not members <= set(column.elements):
        return canonical_integer(column, text)
    return str(sum(1 << bit for bit, name in enumerate(column.elements) if name in members)).encode()


def canonical_json(_: ColumnInfo, value: object) -> bytes:
    """JSON: the document with sorted keys; equal numbers have equal text, such as 1 and 1.0."""
    text = value.decode() if isinstance(value, bytes) else value
    document = json.loads(text, parse_float=Decimal, parse_int=Decimal) if isinstance(text, str) else text
    return _rendered(document).encode("utf-8", "surrogatepass")


def _rendered(value: object) -> str:
    match value:
        case None | bool():
            return json.dumps(value)
        case int() | float() | Decimal():
            return _number(Decimal(repr(value)) if isinstance(value, float) else Decimal(value))
        case str():
            return json.dumps(value, ensure_ascii=False)
        case dict():
            parts = (f"{_rendered(str(name))}: {_rendered(one)}" for name, one in sorted(value.items()))
            return f"{{{', '.join(parts)}}}"
        case list() | tuple():
            return f"[{', '.join(map(_rendered, value))}]"
    raise ValueError(value)


def _number(number: Decimal) -> str:
    if not number:
        return "0"
    plain = -10 < number.adjusted() < 40
    return f"{number.normalize():f}" if plain else str(number.normalize())


def canonical_vector(_: ColumnInfo, value: object) -> bytes:
    """VECTOR: its numbers as 32-bit floats."""
    text = value.decode() if isinstance(value, bytes) else value
    numbers = json.loads(text) if isinstance(text, str) else text
    if not isinstance(numbers, list | tuple):
        raise ValueError(value)
    code = MySQLType.FLOAT
    return b"[" + b",".join(plain_text(narrow(float(one), code), code) for one in numbers) + b"]"
