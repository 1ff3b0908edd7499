"""Coerces values of VECTOR columns: FLOATs in brackets.

Rules: tidb ``pkg/types/vector.go`` (``ParseVectorFloat32``, ``String``).
"""

from __future__ import annotations

import json
import math

from ticdc_producer.model.coerce_text import to_text
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.float_text import narrow, plain_text
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.sql_mode import SQLMode, value_error
from ticdc_producer.model.sql_value import SQLValue

MAX_DIMENSIONS = 16383


def coerce_vector(column: ColumnInfo, value: SQLValue, _: SQLMode) -> bytes:
    """VECTOR and VECTOR(n). An invalid vector is an error in every sql_mode."""
    if not isinstance(value, str | bytes):
        raise value_error(column.name, value, "Incorrect vector value")
    try:
        text, dimensions = vector_text(to_text(value))
    except ValueError as error:
        raise value_error(column.name, value, f"Incorrect vector value ({error})") from error
    if column.length >= 0 and dimensions != column.length:
        what = f"vector has {dimensions} dimensions, does not fit VECTOR({column.length})"
        raise value_error(column.name, value, what)
    return text.encode()


def vector_text(source: str) -> tuple[str, int]:
    """The canonical text of a vector, and its number of dimensions.

    :raises ValueError: for text that is not a vector.
    """
    try:
        elements = json.loads(source, parse_int=float, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("not a list of numbers") from None
    if not isinstance(elements, list) or not all(isinstance(element, float) for element in elements):
        raise ValueError("not a list of numbers")
    if len(elements) > MAX_DIMENSIONS:
        raise ValueError(f"more than {MAX_DIMENSIONS} dimensions")
    return "[" + ",".join(_element(element) for element in elements) + "]", len(elements)


def _element(number: float) -> str:
    if math.isinf(number):
        raise ValueError("infinite values are not allowed")
    try:
        real = narrow(number, MySQLType.FLOAT)
    except OverflowError:
        raise ValueError("infinite values are not allowed") from None
    if real == 0:  # unlike FLOAT columns, vectors keep the sign of a zero
        return "-0" if math.copysign(1, real) < 0 else "0"
    return plain_text(real, MySQLType.FLOAT).decode()


def _refuse(word: str) -> float:
    raise ValueError(f"{word} is not a number")
