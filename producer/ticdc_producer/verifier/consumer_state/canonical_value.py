"""Converts values of either side to a comparable form, by the MySQL type of their column.

The form is canonical text (``docs/design.md#values``); JSON and VECTOR values are normalized documents. A
value that is not of the column's type is left as it is, after a prefix that no canonical text has, so that
it is reported as a difference.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable
from datetime import tzinfo
from typing import TypeAlias

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.model.mysql_type import FLOATS, INTEGERS, MySQLType
from ticdc_producer.verifier.consumer_state.canonical_text import (
    CANONICAL_DATETIME,
    canonical_bit,
    canonical_date,
    canonical_datetime,
    canonical_decimal,
    canonical_duration,
    canonical_enum,
    canonical_float,
    canonical_integer,
    canonical_json,
    canonical_set,
    canonical_vector,
)

Reader: TypeAlias = Callable[[object], Value]
UNREADABLE = b"\xff\x00"
"""Prefix of a value that is not of its column's type."""
_NOT_UTF8 = b"\xff"
_T = MySQLType
_NORMALIZE: dict[MySQLType, Callable[[ColumnInfo, object], bytes]] = {
    _T.JSON: canonical_json,
    _T.VECTOR_FLOAT32: canonical_vector,
}


def actual_reader(column: ColumnInfo, zone: tzinfo, fidelity: Fidelity) -> Reader:
    """Return a function from a value of a database driver, Arrow or JSON to its comparable form.

    :param zone: the changefeed's time zone; TIMESTAMP values with a zone are converted to it.
    :param fidelity: the protocol's; values that its readers cannot distinguish are equal.
    """
    to_text, project = _canonical_function(column, zone), _projection(column, fidelity)

    def read(value: object) -> Value:
        if isinstance(value, bytearray | memoryview):
            value = bytes(value)
        try:
            canonical = None if value is None else to_text(column, value)
        except (ValueError, TypeError, OverflowError, ArithmeticError, RecursionError):
            return UNREADABLE + _raw_bytes(value)
        return _projected(project, canonical)

    return read


def expected_reader(column: ColumnInfo, fidelity: Fidelity) -> Callable[[Value], Value]:
    """Return a function from canonical text to the comparable form."""
    project = _projection(column, fidelity)
    normalize = _NORMALIZE.get(column.type)

    def read(value: Value) -> Value:
        return _projected(project, value if value is None or normalize is None else normalize(column, value))

    return read


def _projection(column: ColumnInfo, fidelity: Fidelity) -> Callable[[Value], Value]:
    """Return the function to the part of a value that the protocol carries; Base64 is decoded."""
    project = fidelity.full_projection(column)
    if _projected(project, _NOT_UTF8) != b64encode(_NOT_UTF8):
        return project

    def decoded(value: Value) -> Value:
        encoded = project(value)
        return None if encoded is None else b64decode(encoded)

    return decoded


def _projected(project: Callable[[Value], Value], value: Value) -> Value:
    """Return the projection of a value; a value that the upstream cannot have is returned unchanged."""
    try:
        return project(value)
    except (ValueError, TypeError, ArithmeticError, IndexError, AttributeError):
        return value


def _canonical_function(column: ColumnInfo, zone: tzinfo) -> Callable[[ColumnInfo, object], bytes]:
    code = column.type
    if code in INTEGERS or code == _T.YEAR:
        return canonical_integer
    if code in FLOATS:
        return canonical_float
    if code == _T.TIMESTAMP:
        return canonical_datetime(zone)
    if code in _CANONICAL:
        return _CANONICAL[code]
    return _canonical_char if is_trimmed(column) else canonical_text


def is_text(column: ColumnInfo) -> bool:
    """Return whether every text and all bytes are values of the column."""
    return not (
        column.type in INTEGERS
        or column.type in FLOATS
        or column.type in (_T.YEAR, _T.TIMESTAMP)
        or column.type in _CANONICAL
    )


def is_trimmed(column: ColumnInfo) -> bool:
    """Return whether spaces at the end of a value do not count."""
    return column.type == _T.STRING and not column.binary


def is_normalized(column: ColumnInfo) -> bool:
    """Return whether canonical text has a comparable form of its own."""
    return column.type in _NORMALIZE


def canonical_text(_: ColumnInfo, value: object) -> bytes:
    """Convert text to UTF-8, documents to JSON, other types as Python prints them; bytes are unchanged."""
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


def _canonical_char(column: ColumnInfo, value: object) -> bytes:
    """Convert a CHAR without the trailing spaces that some databases add and MySQL removes."""
    return canonical_text(column, value).rstrip(b" ")


def _raw_bytes(value: object) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogateescape")


_CANONICAL: dict[MySQLType, Callable[[ColumnInfo, object], bytes]] = {
    _T.NEW_DECIMAL: canonical_decimal,
    _T.BIT: canonical_bit,
    _T.DATE: canonical_date,
    _T.NEW_DATE: canonical_date,
    _T.DATETIME: CANONICAL_DATETIME,
    _T.DURATION: canonical_duration,
    _T.ENUM: canonical_enum,
    _T.SET: canonical_set,
    _T.JSON: canonical_json,
    _T.VECTOR_FLOAT32: canonical_vector,
}
