"""Aggregate functions: compute one value of the rows of a group.

Rules: tidb ``pkg/executor/aggfuncs``, ``pkg/expression/aggregation/base_func.go`` (types of results).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import TypeAlias

from sqlglot import exp

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.coerce_text import to_bytes, to_text
from ticdc_producer.model.values.json_document import json_of, to_json_text
from ticdc_producer.model.values.number_text import EXACT
from ticdc_producer.model.values.sql_value import SQLMode, SQLValue, Unsigned
from ticdc_producer.scenario.sql.expression import arithmetic
from ticdc_producer.scenario.sql.expression.call_normalizer import Aggregate
from ticdc_producer.scenario.sql.expression.compare import DEFAULT_COLLATION, collation_of, compare
from ticdc_producer.scenario.sql.expression.evaluate import evaluate
from ticdc_producer.scenario.sql.expression.ordering import SortKey, sort_rows
from ticdc_producer.scenario.sql.query.equality import distinct_key
from ticdc_producer.scenario.sql.query.scope import Combination, QueryScope

Arguments: TypeAlias = Sequence[SQLValue]

_MOST_BYTES = 1024
"""TiDB's default of group_concat_max_len."""
_ALL_BITS = (1 << 64) - 1


def aggregate_value(call: Aggregate, group: Sequence[Combination], scope: QueryScope) -> SQLValue:
    """Return the value of an aggregate function for a group.

    :raises ScenarioError: for values that the function rejects.
    """
    if call.name == "COUNT" and not call.arguments:
        return len(group)
    rows = _ordered(call, group, scope)
    values = [_arguments(call, combination, scope) for combination in rows]
    if call.name not in _WITH_NULLS:
        values = [row for row in values if None not in row]
    collations = [collation_of(argument, scope) or DEFAULT_COLLATION for argument in call.arguments]
    if call.distinct:
        values = _distinct(values, collations)
    if call.name == "GROUP_CONCAT":
        return _group_concat(values, call.separator, scope.mode)
    if call.name in ("MIN", "MAX"):
        return extreme([row[0] for row in values], collations[0], scope.mode, call.name)
    return _SIMPLE[call.name](values, scope.mode)


def _ordered(call: Aggregate, group: Sequence[Combination], scope: QueryScope) -> Sequence[Combination]:
    if not call.order:
        return group
    keys = [_sort_key(ordered, scope) for ordered in call.order]
    return sort_rows(group, keys, scope.mode)


def _sort_key(ordered: exp.Expr, scope: QueryScope) -> SortKey[Combination]:
    node = ordered.this
    return SortKey(
        lambda combination: _value(node, combination, scope),
        collation_of(node, scope) or DEFAULT_COLLATION,
        bool(ordered.args.get("desc")),
    )


def _value(node: exp.Expr, combination: Combination, scope: QueryScope) -> SQLValue:
    scope.combination = combination
    return evaluate(node, scope)


def _arguments(call: Aggregate, combination: Combination, scope: QueryScope) -> Arguments:
    scope.combination = combination
    return [evaluate(argument, scope) for argument in call.arguments]


def _distinct(rows: Iterable[Arguments], collations: Sequence[str]) -> list[Arguments]:
    rows_by_key: dict[object, Arguments] = {}
    for row in rows:
        key = tuple(distinct_key(*pair) for pair in zip(row, collations, strict=True))
        rows_by_key.setdefault(key, row)
    return list(rows_by_key.values())


def _count(rows: Sequence[Arguments], _: SQLMode) -> SQLValue:
    return len(rows)


def _sum(rows: Sequence[Arguments], mode: SQLMode) -> SQLValue:
    """Add the values, exactly if they are exact numbers, else as DOUBLE; NULL without values."""
    total: SQLValue = None
    for (value,) in rows:
        number = arithmetic.operand(value, mode)
        number = number if isinstance(number, float) else Decimal(number)
        total = number if total is None else arithmetic.add(total, number, mode)
    return total


def _avg(rows: Sequence[Arguments], mode: SQLMode) -> SQLValue:
    """Return the mean, whose scale is that of the values plus four. Source: tidb ``avgOriginal4Decimal``."""
    total = _sum(rows, mode)
    if total is None or isinstance(total, float):
        return None if total is None else total / len(rows)
    exact = Decimal(total) if isinstance(total, int | Decimal) else Decimal(0)
    scale = min(arithmetic.scale_of(exact) + arithmetic.DIV_INCREMENT, arithmetic.MAX_SCALE)
    quotient = EXACT.divide(exact, Decimal(len(rows)))
    return quotient.quantize(Decimal(1).scaleb(-scale), context=EXACT)


def extreme(values: Sequence[SQLValue], collation: str, mode: SQLMode, name: str) -> SQLValue:
    """Return the first of the largest (``MAX``) or smallest values (``MIN``); NULL without values."""
    sign = 1 if name == "MAX" else -1
    best = values[0] if values else None
    for value in values[1:]:
        order = compare(value, best, collation, mode)
        if order is not None and order * sign > 0:
            best = value
    return best


def _group_concat(rows: Sequence[Arguments], separator: str, mode: SQLMode) -> SQLValue:
    if not rows:
        return None
    binary = any(isinstance(value, bytes) for row in rows for value in row)
    data = separator.encode().join(b"".join(to_bytes(value) for value in row) for row in rows)
    if len(data) > _MOST_BYTES:
        if mode.strict:
            raise ScenarioError(f"GROUP_CONCAT has {len(data)} bytes, more than {_MOST_BYTES}")
        data = data[:_MOST_BYTES]
    return data if binary else data.decode("utf-8", "surrogateescape")


def _bits(initial: int, operation: Callable[[int, int], int]) -> Callable[..., SQLValue]:
    def run(rows: Sequence[Arguments], mode: SQLMode) -> SQLValue:
        result = initial
        for (value,) in rows:
            result = operation(result, arithmetic.to_bits(value, mode))
        return Unsigned(result)

    return run


def _json_array(rows: Sequence[Arguments], _: SQLMode) -> SQLValue:
    return to_json_text([json_of(value) for (value,) in rows]) if rows else None


def _json_object(rows: Sequence[Arguments], _: SQLMode) -> SQLValue:
    if any(name is None for name, _ in rows):
        raise ScenarioError("JSON documents may not contain NULL member names.")
    return to_json_text({to_text(name): json_of(value) for name, value in rows}) if rows else None


def _any_value(rows: Sequence[Arguments], _: SQLMode) -> SQLValue:
    return rows[0][0] if rows else None


_WITH_NULLS = ("ANY_VALUE", "JSON_ARRAYAGG", "JSON_OBJECTAGG")
_SIMPLE: dict[str, Callable[[Sequence[Arguments], SQLMode], SQLValue]] = {
    "ANY_VALUE": _any_value,
    "AVG": _avg,
    "BIT_AND": _bits(_ALL_BITS, lambda a, b: a & b),
    "BIT_OR": _bits(0, lambda a, b: a | b),
    "BIT_XOR": _bits(0, lambda a, b: a ^ b),
    "COUNT": _count,
    "JSON_ARRAYAGG": _json_array,
    "JSON_OBJECTAGG": _json_object,
    "SUM": _sum,
}
FUNCTIONS = sorted({*_SIMPLE, "GROUP_CONCAT", "MAX", "MIN"})
"""The names of all aggregate functions."""
