"""Aggregate functions: one value of the rows of a group.

Rules: tidb ``pkg/executor/aggfuncs``, ``pkg/expression/aggregation/base_func.go`` (types of results).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.coerce_text import to_bytes, to_text
from ticdc_producer.model.values.json_document import json_of, to_json_text
from ticdc_producer.model.values.number_text import EXACT
from ticdc_producer.model.values.sql_value import DateTimeValue, Duration, SQLMode, SQLValue, Unsigned
from ticdc_producer.scenario.sql.expression import arithmetic
from ticdc_producer.scenario.sql.expression.compare import extreme
from ticdc_producer.scenario.sql.expression.eval_type import (
    TEMPORALS,
    Digits,
    E,
    EvalType,
    ExpressionType,
    arithmetic_kind,
)
from ticdc_producer.scenario.sql.functions.function import Arguments, TypeRule, first_type, text_type

_MOST_BYTES = 1024
"""TiDB's default of group_concat_max_len."""
_ALL_BITS = (1 << 64) - 1
_DIGITS_OF_COUNT = 22


class Group(NamedTuple):
    """The arguments of an aggregate function in the rows of a group.

    :param rows: without those in which an argument is NULL, unless the function counts them.
    :param collation: of the first argument.
    :param separator: SEPARATOR of GROUP_CONCAT.
    """

    rows: Sequence[Sequence[SQLValue]]
    mode: SQLMode
    collation: str = ""
    separator: str = ","


@dataclass(frozen=True, slots=True)
class AggregateFunction:
    """One aggregate function.

    :param type: of its result: a kind, or a rule.
    :param max_arguments: -1 for no limit; ``min_arguments``: the smallest number.
    :param takes_distinct: whether TiDB accepts DISTINCT.
    :param with_nulls: whether ``run`` gets the rows in which an argument is NULL.
    """

    run: Callable[[Group], SQLValue]
    type: EvalType | TypeRule
    min_arguments: int = 1
    max_arguments: int = 1
    takes_distinct: bool = False
    with_nulls: bool = False


def _count(group: Group) -> SQLValue:
    return len(group.rows)


def _sum(group: Group) -> SQLValue:
    """Add the values, exactly if they are exact numbers, else as DOUBLE; NULL without values."""
    total: SQLValue = None
    for (value,) in group.rows:
        number = arithmetic.operand(value, group.mode)
        is_double = isinstance(number, float) or isinstance(value, DateTimeValue | Duration)
        number = float(number) if is_double else Decimal(number)
        total = number if total is None else arithmetic.add(total, number, group.mode)
    return total


def _avg(group: Group) -> SQLValue:
    """Return the mean, whose scale is that of the values plus four. Source: tidb ``avgOriginal4Decimal``."""
    total = _sum(group)
    if total is None or isinstance(total, float):
        return None if total is None else total / len(group.rows)
    exact = Decimal(total) if isinstance(total, int | Decimal) else Decimal(0)
    scale = min(arithmetic.scale_of(exact) + arithmetic.DIV_INCREMENT, arithmetic.MAX_SCALE)
    quotient = EXACT.divide(exact, Decimal(len(group.rows)))
    return quotient.quantize(Decimal(1).scaleb(-scale), context=EXACT)


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
        return ExpressionType(
            kind if kind in (E.NULL, E.UNKNOWN) else arithmetic_kind((kind, E.DECIMAL)), digits
        )

    return rule


def _extreme(sign: int) -> AggregateFunction:
    return AggregateFunction(
        lambda group: extreme([row[0] for row in group.rows], group.collation, group.mode, sign),
        first_type,
        takes_distinct=True,
    )


def _group_concat(group: Group) -> SQLValue:
    rows = group.rows
    if not rows:
        return None
    binary = any(isinstance(value, bytes) for row in rows for value in row)
    data = group.separator.encode().join(b"".join(to_bytes(value) for value in row) for row in rows)
    if len(data) > _MOST_BYTES:
        if group.mode.strict:
            raise ScenarioError(f"GROUP_CONCAT has {len(data)} bytes, more than {_MOST_BYTES}")
        data = data[:_MOST_BYTES]
    return data if binary else data.decode("utf-8", "surrogateescape")


def _bits(initial: int, operation: Callable[[int, int], int]) -> AggregateFunction:
    def run(group: Group) -> SQLValue:
        result = initial
        for (value,) in group.rows:
            result = operation(result, arithmetic.to_bits(value, group.mode))
        return Unsigned(result)

    return AggregateFunction(run, E.UNSIGNED)


def _json_array(group: Group) -> SQLValue:
    return to_json_text([json_of(value) for (value,) in group.rows]) if group.rows else None


def _json_object(group: Group) -> SQLValue:
    if any(name is None for name, _ in group.rows):
        raise ScenarioError("JSON documents may not contain NULL member names.")
    return to_json_text({to_text(name): json_of(value) for name, value in group.rows}) if group.rows else None


def _variance(sample: int, finish: Callable[[float], float] = float) -> AggregateFunction:
    """Make a function of the variance, which is computed in doubles, row by row.

    Source: tidb ``func_varpop.go`` (``calculateIntermediate``).

    :param sample: 1 for the variance of a sample, which needs two values; else 0.
    """

    def run(group: Group) -> SQLValue:
        count, total, squares = 0, 0.0, 0.0
        for (value,) in group.rows:
            number = float(arithmetic.operand(value, group.mode))
            count, total = count + 1, total + number
            if count > 1:
                distance = count * number - total
                squares += distance * distance / (count * (count - 1))
        return finish(squares / (count - sample)) if count > sample else None

    return AggregateFunction(run, E.DOUBLE, takes_distinct=True)


def _any_value(group: Group) -> SQLValue:
    return group.rows[0][0] if group.rows else None


AGGREGATES = {
    "ANY_VALUE": AggregateFunction(_any_value, first_type, with_nulls=True),
    "AVG": AggregateFunction(_avg, _sum_type(arithmetic.DIV_INCREMENT), takes_distinct=True),
    "BIT_AND": _bits(_ALL_BITS, lambda a, b: a & b),
    "BIT_OR": _bits(0, lambda a, b: a | b),
    "BIT_XOR": _bits(0, lambda a, b: a ^ b),
    "COUNT": AggregateFunction(_count, E.INTEGER, takes_distinct=True),
    "GROUP_CONCAT": AggregateFunction(_group_concat, text_type, 1, -1, takes_distinct=True),
    "JSON_ARRAYAGG": AggregateFunction(_json_array, E.JSON, with_nulls=True),
    "JSON_OBJECTAGG": AggregateFunction(_json_object, E.JSON, 2, 2, with_nulls=True),
    "MAX": _extreme(1),
    "MIN": _extreme(-1),
    **dict.fromkeys(("STD", "STDDEV", "STDDEV_POP"), _variance(0, math.sqrt)),
    "STDDEV_SAMP": _variance(1, math.sqrt),
    "SUM": AggregateFunction(_sum, _sum_type(0), takes_distinct=True),
    **dict.fromkeys(("VARIANCE", "VAR_POP"), _variance(0)),
    "VAR_SAMP": _variance(1),
}
