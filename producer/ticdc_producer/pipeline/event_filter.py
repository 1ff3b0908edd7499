"""Stage: remove the mutations that event filters ignore, before updates are split.

Source: tiflow ``cdc/entry/mounter.go``, ``pkg/filter`` (``sql_event_filter.go``, ``expr_filter.go``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from operator import or_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ticdc_producer.config.filter_section import EventFilter, FilterSection
from ticdc_producer.dispatch.matcher import Matcher
from ticdc_producer.model.event import Op
from ticdc_producer.model.table import TableInfo
from ticdc_producer.pipeline.value_condition import check_expression, value_condition

_OPS = {"insert": (Op.INSERT,), "update": (Op.UPDATE,), "delete": (Op.DELETE,), "all dml": tuple(Op)}


def event_filter(mutations: DataFrame, tables: Iterable[TableInfo], section: FilterSection) -> DataFrame:
    """Remove the mutations that an event filter ignores.

    :param mutations: with ``commit_ts``, TIMESTAMP values in the changefeed's zone.
    :param tables: the versions that are replicated.
    :raises ChangefeedError: for a value expression that cannot be evaluated.
    """
    ignored = [*_ignored(tuple(tables), section)]
    if not ignored:
        return mutations
    return mutations.where(~F.coalesce(reduce(or_, ignored), F.lit(False)))


def filtered_tables(tables: Iterable[TableInfo], section: FilterSection) -> Iterator[TableInfo]:
    """The tables whose rows may be ignored; their final rows then differ from upstream."""
    rules = [_matcher(rule) for rule in section.event_filters if drops_rows(rule)]
    for table in tables:
        if section.ignore_txn_start_ts or any(rule.accepts(table.schema, table.name) for rule in rules):
            yield table


def check_expressions(table: TableInfo, section: FilterSection) -> None:
    """Check the value expressions for one table without Spark.

    :raises ChangefeedError: for one that cannot be evaluated.
    """
    for rule in section.event_filters:
        if _matcher(rule).accepts(table.schema, table.name):
            for _, _, expression in _expressions(rule):
                if expression:
                    check_expression(expression, table)


def drops_rows(rule: EventFilter) -> bool:
    """Whether an event filter can ignore row changes."""
    return bool(_ops(rule)) or any(expression for _, _, expression in _expressions(rule))


def _ignored(tables: Sequence[TableInfo], section: FilterSection) -> Iterator[Column]:
    if section.ignore_txn_start_ts:
        yield (F.col("commit_ts") - 1).isin(*section.ignore_txn_start_ts)
    for rule in section.event_filters:
        matcher = _matcher(rule)
        concerned = [table for table in tables if matcher.accepts(table.schema, table.name)]
        if concerned and (ops := _ops(rule)):
            of_tables = F.col("table_version").isin(*(table.version for table in concerned))
            yield of_tables & F.col("op").isin(*map(int, ops))
        for table in concerned:
            for op, image, expression in _expressions(rule):
                if expression:
                    of_table = (F.col("table_version") == table.version) & (F.col("op") == int(op))
                    # A condition that is NULL must not hide the result of another one.
                    holds = F.coalesce(value_condition(expression, table, image), F.lit(False))
                    yield F.when(of_table, holds).otherwise(F.lit(False))


def _matcher(rule: EventFilter) -> Matcher:
    return Matcher(rule.matcher, case_sensitive=True)


def _ops(rule: EventFilter) -> set[Op]:
    return {op for event in rule.ignore_event for op in _OPS.get(event.lower(), ())}


def _expressions(rule: EventFilter) -> tuple[tuple[Op, str, str], ...]:
    return (
        (Op.INSERT, "after", rule.ignore_insert_value_expr),
        (Op.UPDATE, "before", rule.ignore_update_old_value_expr),
        (Op.UPDATE, "after", rule.ignore_update_new_value_expr),
        (Op.DELETE, "before", rule.ignore_delete_value_expr),
    )
