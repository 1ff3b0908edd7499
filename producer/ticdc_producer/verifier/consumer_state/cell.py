"""One value, made comparable by the MySQL type of its column.

Both sides of a comparison end as canonical text (DESIGN "Value"), in JSON and VECTOR columns as a normal
form of the document. What cannot be read as the column's type stays what it is, behind a mark that no
canonical value begins with: it is a difference, and is shown.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable
from datetime import tzinfo
from typing import TypeAlias

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.fidelity import Losses
from ticdc_producer.model.mysql_type import FLOATS, INTEGERS, MySQLType
from ticdc_producer.verifier.consumer_state.document_cell import enum_cell, json_cell, set_cell, vector_cell
from ticdc_producer.verifier.consumer_state.number_cell import (
    bit_cell,
    decimal_cell,
    float_cell,
    integer_cell,
)
from ticdc_producer.verifier.consumer_state.temporal_cell import (
    DATETIME_CELL,
    date_cell,
    moment_cell,
    span_cell,
)

Reader: TypeAlias = Callable[[object], Value]
UNREADABLE = b"\xff\x00"
"""Stands before a value that is none of its column's type."""
_NO_TEXT = b"\xff"
_T = MySQLType


def actual_reader(column: ColumnInfo, zone: tzinfo, losses: Losses) -> Reader:
    """From a value as a database driver, Arrow or JSON gives it to what is compared.

    :param zone: the changefeed's: in it TIMESTAMP values that name a zone are shown.
    :param losses: of the protocol: values that no reader of it tells apart are equal.
    """
    cell, told = _cell_of(column, zone), _told(column, losses)

    def read(value: object) -> Value:
        if isinstance(value, bytearray | memoryview):
            value = bytes(value)
        try:
            canonical = None if value is None else cell(column, value)
        except (ValueError, TypeError, OverflowError, ArithmeticError, RecursionError):
            return UNREADABLE + _shown(value)
        return _reduced(told, canonical)

    return read


def expected_reader(column: ColumnInfo, losses: Losses) -> Callable[[Value], Value]:
    """From canonical text to what is compared."""
    told = _told(column, losses)
    normal = {_T.JSON: json_cell, _T.VECTOR_FLOAT32: vector_cell}.get(column.type)

    def read(value: Value) -> Value:
        return _reduced(told, value if value is None or normal is None else normal(column, value))

    return read


def _told(column: ColumnInfo, losses: Losses) -> Callable[[Value], Value]:
    """What is told of values. Bytes that are told in Base64 stay bytes, since it loses none of them."""
    told = losses.told(column)
    if _reduced(told, _NO_TEXT) != b64encode(_NO_TEXT):
        return told

    def decoded(value: Value) -> Value:
        reduced = told(value)
        return None if reduced is None else b64decode(reduced)

    return decoded


def _reduced(told: Callable[[Value], Value], value: Value) -> Value:
    """What is told of a value; a value that the upstream cannot have is told as it is."""
    try:
        return told(value)
    except (ValueError, TypeError, ArithmeticError, IndexError, AttributeError):
        return value


def _cell_of(column: ColumnInfo, zone: tzinfo) -> Callable[[ColumnInfo, object], bytes]:
    code = column.type
    if code in INTEGERS or code == _T.YEAR:
        return integer_cell
    if code in FLOATS:
        return float_cell
    if code == _T.TIMESTAMP:
        return moment_cell(zone)
    if code in _CELLS:
        return _CELLS[code]
    return _padded_cell if code == _T.STRING and not column.binary else text_cell


def text_cell(_: ColumnInfo, value: object) -> bytes:
    """Text as UTF-8, bytes as they are; of another type what Python prints."""
    match value:
        case bytes():
            return value
        case str():
            return value.encode("utf-8", "surrogateescape")
        case bool():
            return str(int(value)).encode()
        case dict() | list():
            return json.dumps(value, ensure_ascii=False).encode()
    return str(value).encode()


def _padded_cell(column: ColumnInfo, value: object) -> bytes:
    """CHAR: some databases fill it up with spaces, which MySQL takes away."""
    return text_cell(column, value).rstrip(b" ")


def _shown(value: object) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogateescape")


_CELLS: dict[MySQLType, Callable[[ColumnInfo, object], bytes]] = {
    _T.NEW_DECIMAL: decimal_cell,
    _T.BIT: bit_cell,
    _T.DATE: date_cell,
    _T.NEW_DATE: date_cell,
    _T.DATETIME: DATETIME_CELL,
    _T.DURATION: span_cell,
    _T.ENUM: enum_cell,
    _T.SET: set_cell,
    _T.JSON: json_cell,
    _T.VECTOR_FLOAT32: vector_cell,
}
