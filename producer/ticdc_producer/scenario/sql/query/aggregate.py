"""The value of an aggregate function for a group of rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from sqlglot import exp

from ticdc_producer.model.values.sql_value import SQLValue
from ticdc_producer.scenario.sql.expression.aggregate_call import Aggregate
from ticdc_producer.scenario.sql.expression.collation import collation_of
from ticdc_producer.scenario.sql.expression.compare import DEFAULT_COLLATION
from ticdc_producer.scenario.sql.expression.evaluate import evaluate
from ticdc_producer.scenario.sql.expression.ordering import SortKey, sort_rows
from ticdc_producer.scenario.sql.functions.accumulator import AggregateSettings
from ticdc_producer.scenario.sql.query.equality import distinct_key
from ticdc_producer.scenario.sql.query.scope import Combination, QueryScope

Arguments: TypeAlias = Sequence[SQLValue]


def aggregate_value(call: Aggregate, group: Sequence[Combination], scope: QueryScope) -> SQLValue:
    """Return the value of an aggregate function for a group.

    :raises ScenarioError: for values that the function rejects.
    """
    rows = [_arguments(call, combination, scope) for combination in _ordered(call, group, scope)]
    rows = [row for row in rows if call.function.counts(row)]
    collations = [collation_of(argument, scope) or DEFAULT_COLLATION for argument in call.arguments]
    if call.distinct:
        rows = _distinct(rows, collations)
    return call.function.run(rows, AggregateSettings(scope.mode, "".join(collations[:1]), call.separator))


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
