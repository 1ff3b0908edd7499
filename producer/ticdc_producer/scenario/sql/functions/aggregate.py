"""Aggregate functions: one value of the rows of a group.

Rules: tidb ``pkg/executor/aggfuncs``, ``pkg/expression/aggregation/base_func.go`` (types of results).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.coerce_text import to_bytes, to_text
from ticdc_producer.model.values.json_document import json_of, to_json_text
from ticdc_producer.model.values.sql_value import SQLValue
from ticdc_producer.scenario.sql.expression import arithmetic
from ticdc_producer.scenario.sql.expression.eval_type import (
    TEMPORALS,
    Digits,
    E,
    EvalType,
    ExpressionType,
    arithmetic_kind,
    computed_type,
)
from ticdc_producer.scenario.sql.functions.accumulator import (
    Accumulator,
    AggregateSettings,
    AllRows,
    Avg,
    BitFold,
    Count,
    Extreme,
    Sum,
    Variance,
)
from ticdc_producer.scenario.sql.functions.function import Arguments, TypeRule, first_type, text_type

_ALL_BITS = (1 << 64) - 1
_DIGITS_OF_COUNT = 22


@dataclass(frozen=True, slots=True)
class AggregateFunction:
    """One aggregate function.

    :param start: returns the state before the first row.
    :param type: of its result: a kind, or a rule.
    :param max_arguments: -1 for no limit; ``min_arguments``: the smallest number.
    :param takes_distinct: whether TiDB accepts DISTINCT.
    :param with_nulls: whether rows in which an argument is NULL are added.
    """

    start: Callable[[AggregateSettings], Accumulator]
    type: EvalType | TypeRule
    min_arguments: int = 1
    max_arguments: int = 1
    takes_distinct: bool = False
    with_nulls: bool = False

    def counts(self, row: Sequence[SQLValue]) -> bool:
        """Return whether a row is added."""
        return self.with_nulls or None not in row

    def run(self, rows: Iterable[Sequence[SQLValue]], settings: AggregateSettings) -> SQLValue:
        """Return the value of the rows that count."""
        accumulator = self.start(settings)
        for row in rows:
            accumulator.add(row)
        return accumulator.value()


def _sum_type(more_decimals: int) -> TypeRule:
    """Return the type of SUM and AVG: of dates and times it is DOUBLE.

    Source: tidb ``typeInfer4Sum``, ``typeInfer4Avg``.
    """

    def rule(_: Arguments, types: Sequence[ExpressionType]) -> ExpressionType:
        kind, digits = types[0]
        if kind in TEMPORALS:
            return ExpressionType(E.DOUBLE)
        if digits is not None:
            decimals = min(digits.decimals + more_decimals, arithmetic.MAX_SCALE)
            digits = Digits(digits.whole + _DIGITS_OF_COUNT, decimals)
        return computed_type(
            kind if kind in (E.NULL, E.UNKNOWN) else arithmetic_kind((kind, E.DECIMAL)), digits
        )

    return rule


def _group_concat(rows: Sequence[Sequence[SQLValue]], settings: AggregateSettings) -> SQLValue:
    binary = any(isinstance(value, bytes) for row in rows for value in row)
    data = settings.separator.encode().join(b"".join(to_bytes(value) for value in row) for row in rows)
    most = settings.mode.group_concat_max_len
    if len(data) > most:
        if settings.mode.strict:
            raise ScenarioError(f"GROUP_CONCAT has {len(data)} bytes, more than {most}")
        data = data[:most]
    return data if binary else data.decode("utf-8", "surrogateescape")


def _json_array(rows: Sequence[Sequence[SQLValue]], _: AggregateSettings) -> SQLValue:
    return to_json_text([json_of(value) for (value,) in rows])


def _json_object(rows: Sequence[Sequence[SQLValue]], _: AggregateSettings) -> SQLValue:
    if any(name is None for name, _ in rows):
        raise ScenarioError("JSON documents may not contain NULL member names.")
    if any(isinstance(name, bytes) for name, _ in rows):
        raise ScenarioError("Cannot create a JSON value from a string with CHARACTER SET 'binary'")
    return to_json_text({to_text(name): json_of(value) for name, value in rows})


def _bits(initial: int, operation: Callable[[int, int], int]) -> AggregateFunction:
    return AggregateFunction(partial(BitFold, operation=operation, result=initial), E.UNSIGNED)


def _extreme(sign: int) -> AggregateFunction:
    return AggregateFunction(partial(Extreme, sign=sign), first_type, takes_distinct=True)


def _variance(sample: int, finish: Callable[[float], float] = float) -> AggregateFunction:
    start = partial(Variance, sample=sample, finish=finish)
    return AggregateFunction(start, E.DOUBLE, takes_distinct=True)


def _of_rows(
    function: Callable[[Sequence[Sequence[SQLValue]], AggregateSettings], SQLValue],
) -> Callable[[AggregateSettings], Accumulator]:
    return partial(AllRows, function=function)


AGGREGATES = {
    "ANY_VALUE": AggregateFunction(_of_rows(lambda rows, _: rows[0][0]), first_type, with_nulls=True),
    "AVG": AggregateFunction(Avg, _sum_type(arithmetic.DIV_INCREMENT), takes_distinct=True),
    "BIT_AND": _bits(_ALL_BITS, lambda a, b: a & b),
    "BIT_OR": _bits(0, lambda a, b: a | b),
    "BIT_XOR": _bits(0, lambda a, b: a ^ b),
    "COUNT": AggregateFunction(Count, E.INTEGER, takes_distinct=True),
    "GROUP_CONCAT": AggregateFunction(_of_rows(_group_concat), text_type, 1, -1, takes_distinct=True),
    "JSON_ARRAYAGG": AggregateFunction(_of_rows(_json_array), E.JSON, with_nulls=True),
    "JSON_OBJECTAGG": AggregateFunction(_of_rows(_json_object), E.JSON, 2, 2, with_nulls=True),
    "MAX": _extreme(1),
    "MIN": _extreme(-1),
    **dict.fromkeys(("STD", "STDDEV", "STDDEV_POP"), _variance(0, math.sqrt)),
    "STDDEV_SAMP": _variance(1, math.sqrt),
    "SUM": AggregateFunction(Sum, _sum_type(0), takes_distinct=True),
    **dict.fromkeys(("VARIANCE", "VAR_POP"), _variance(0)),
    "VAR_SAMP": _variance(1),
}
