"""Vectors of 32-bit floats: their text, comparison and arithmetic.

Rules: tidb ``pkg/types/vector.go`` (``ParseVectorFloat32``, ``String``), ``vector_functions.go``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from ctypes import c_float

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.values.coerce_text import to_text
from ticdc_producer.model.values.number_text import is_text, narrow, plain_text
from ticdc_producer.model.values.sql_value import SQLValue, VectorText, display_value

MAX_DIMENSIONS = 16383


def vector_of(value: SQLValue) -> VectorText:
    """Return a value as an expression casts it to a vector: a vector, or a text of one.

    :param value: anything but NULL.
    :raises ScenarioError: for others.
    """
    if isinstance(value, VectorText):
        return value
    if not is_text(value):
        raise ScenarioError("cannot cast to a vector", value=display_value(value))
    try:
        return parse_vector(to_text(value))
    except ValueError as error:
        raise ScenarioError(f"Incorrect vector value ({error})", value=display_value(value)) from error


def parse_vector(source: str) -> VectorText:
    """Return the vector of a text such as ``[1, 2.5]``.

    :raises ValueError: for text that is not a vector.

    >>> parse_vector("[1, 2.50, -3e0]")
    '[1,2.5,-3]'
    """
    try:
        elements = json.loads(source, parse_int=float, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("not a list of numbers") from None
    if not isinstance(elements, list) or not all(isinstance(element, float) for element in elements):
        raise ValueError("not a list of numbers")
    if len(elements) > MAX_DIMENSIONS:
        raise ValueError(f"more than {MAX_DIMENSIONS} dimensions")
    try:
        return _vector([narrow(element, MySQLType.FLOAT) for element in elements])
    except OverflowError:
        raise ValueError("infinite values are not allowed") from None


def _vector(elements: list[float]) -> VectorText:
    """Return the vector of some numbers of 32 bits.

    :raises OverflowError: if one is infinite.
    """
    if not all(map(math.isfinite, elements)):
        raise OverflowError
    return VectorText("[" + ",".join(map(_text, elements)) + "]", tuple(elements))


def _text(number: float) -> str:
    if number == 0:  # unlike FLOAT columns, vectors keep the sign of a zero
        return "-0" if math.copysign(1, number) < 0 else "0"
    return plain_text(number, MySQLType.FLOAT).decode()


def _refuse(word: str) -> float:
    raise ValueError(f"{word} is not a number")


def compare_vectors(left: VectorText, right: VectorText) -> int:
    """Compare two vectors element by element; a vector is larger than its beginning.

    >>> compare_vectors(parse_vector("[9, 1]"), parse_vector("[10]"))
    -1
    """
    return (left.elements > right.elements) - (left.elements < right.elements)


def element_pairs(left: VectorText, right: VectorText) -> Iterable[tuple[float, float]]:
    """Return the elements of two vectors, pair by pair.

    :raises ScenarioError: if the vectors have different dimensions.
    """
    if len(left.elements) != len(right.elements):
        sizes = f"{len(left.elements)} and {len(right.elements)}"
        raise ScenarioError(f"vectors have different dimensions: {sizes}", value=left[:80])
    return zip(left.elements, right.elements, strict=True)


def combine(left: VectorText, right: VectorText, operation: Callable[[float, float], float]) -> VectorText:
    """Return the vector of the results of an operation on each pair of elements.

    :raises ScenarioError: if the vectors have different dimensions, or a result does not fit 32 bits.
    """
    try:
        return _vector([single(operation(a, b)) for a, b in element_pairs(left, right)])
    except OverflowError:
        raise ScenarioError("value out of range: overflow", value=left[:80]) from None


def single(number: float) -> float:
    """Return a number rounded to 32 bits; one that does not fit is infinite."""
    return c_float(number).value
