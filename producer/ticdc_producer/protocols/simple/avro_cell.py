"""Reads values of Simple's Avro encoding as canonical text."""

from __future__ import annotations

import math
from typing import NamedTuple

from ticdc_producer.model.float_text import plain_text
from ticdc_producer.model.mysql_type import INTEGERS, LOBS, NUMBERED, STRINGS, MySQLType, type_names
from ticdc_producer.protocols.simple import avro_layout as layout
from ticdc_producer.protocols.value_parsers import BadValue, Parser

_TEXTS = type_names(STRINGS | LOBS, binary=False)
_BYTES = type_names(STRINGS | LOBS, binary=True)
_LONGS = type_names(INTEGERS | NUMBERED)
_UINT64 = (1 << 64) - 1


class AvroCell(NamedTuple):
    """A value and its branch in the union. A TIMESTAMP is a pair of time zone and text."""

    branch: int
    value: int | float | bytes | tuple[str, str]


def cell_text(kind: str, cell: AvroCell, read: Parser) -> bytes:
    """Canonical text of a value.

    :param kind: SQL type name of the column.
    :param read: parses the text that the JSON encoding has for the value.
    :raises BadValue: for a value that the column cannot hold.
    """
    if cell.branch != _branch_of(kind):
        raise BadValue("VALUE", "the branch of its type")
    match cell.value:
        case bytes():
            return _of_bytes(kind, cell.value, read)
        case (str(), str() as text):
            return read(text)
        case float():
            return _of_float(kind, cell.value)
        case int():
            wraps = kind in ("bigint unsigned", "bit", "set")
            return read(str(cell.value & _UINT64 if wraps else cell.value))
    raise BadValue("VALUE", "a value")


def _branch_of(kind: str) -> int:
    bare = kind.removesuffix(" unsigned")
    if kind == "bigint unsigned":
        return layout.UNSIGNED_BIGINT
    if bare in _LONGS:
        return layout.LONG
    if bare in _BYTES:
        return layout.BYTES
    others = {"float": layout.FLOAT, "double": layout.DOUBLE, "timestamp": layout.TIMESTAMP}
    return others.get(bare, layout.STRING)


def _of_bytes(kind: str, content: bytes, read: Parser) -> bytes:
    if kind in _BYTES or kind in _TEXTS:  # text may contain bytes that are not UTF-8
        return content
    try:
        return read(content.decode())
    except UnicodeDecodeError:
        raise BadValue("VALUE", "UTF-8") from None


def _of_float(kind: str, number: float) -> bytes:
    if not math.isfinite(number):
        raise BadValue("VALUE", "a finite number")
    return plain_text(number, MySQLType.FLOAT if kind.startswith("float") else MySQLType.DOUBLE)
