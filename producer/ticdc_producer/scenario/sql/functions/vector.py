"""Functions of vectors. Distances are summed in numbers of 32 bits, and the norm in those of 64.

Rules: tidb ``pkg/types/vector_functions.go``, ``pkg/expression/builtin_vec.go``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from ticdc_producer.model.values.coerce_text import to_text
from ticdc_producer.model.values.sql_value import SQLValue
from ticdc_producer.model.values.vector import element_pairs, single, vector_of
from ticdc_producer.scenario.sql.expression.eval_type import E
from ticdc_producer.scenario.sql.functions.function import Function, any_arguments, value_function
from ticdc_producer.scenario.sql.functions.number import finite


def _sum(numbers: Iterable[float]) -> float:
    """Return a sum in numbers of 32 bits, to which each summand is rounded."""
    total = 0.0
    for number in numbers:
        total = single(total + single(number))
    return total


def _distance(name: str, formula: Callable[[list[tuple[float, float]]], float]) -> Function:
    """Make a function of two vectors with the same dimensions."""

    def run(left: SQLValue, right: SQLValue) -> SQLValue:
        result = formula([*element_pairs(vector_of(left), vector_of(right))])
        return None if math.isnan(result) else finite(name.lower(), result)

    return value_function(run, 2, type=E.DOUBLE)


def _l1(pairs: list[tuple[float, float]]) -> float:
    return _sum(abs(single(a - b)) for a, b in pairs)


def _l2(pairs: list[tuple[float, float]]) -> float:
    return math.sqrt(_sum(single(a - b) ** 2 for a, b in pairs))


def _product(pairs: Iterable[tuple[float, float]]) -> float:
    return _sum(a * b for a, b in pairs)


def _cosine(pairs: list[tuple[float, float]]) -> float:
    squares = _product((a, a) for a, _ in pairs) * _product((b, b) for _, b in pairs)
    if squares == 0:
        return math.nan
    return 1 - min(max(_product(pairs) / math.sqrt(squares), -1.0), 1.0)


def _norm(value: SQLValue) -> SQLValue:
    total = 0.0
    for element in vector_of(value).elements:
        total += element * element
    return math.sqrt(total)


FUNCTIONS = {
    "VEC_AS_TEXT": value_function(lambda value: str(vector_of(value)), 1, type=E.TEXT),
    "VEC_COSINE_DISTANCE": _distance("VEC_COSINE_DISTANCE", _cosine),
    "VEC_DIMS": value_function(lambda value: len(vector_of(value).elements), 1, type=E.INTEGER),
    "VEC_FROM_TEXT": value_function(
        lambda value: vector_of(to_text(value)), 1, type=E.UNKNOWN, default=any_arguments
    ),
    "VEC_L1_DISTANCE": _distance("VEC_L1_DISTANCE", _l1),
    "VEC_L2_DISTANCE": _distance("VEC_L2_DISTANCE", _l2),
    "VEC_L2_NORM": value_function(_norm, 1, type=E.DOUBLE),
    "VEC_NEGATIVE_INNER_PRODUCT": _distance("VEC_NEGATIVE_INNER_PRODUCT", lambda pairs: -_product(pairs)),
}
