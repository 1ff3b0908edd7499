"""Stages: remove the mutations that event filters ignore, and the columns that no selector selects.

Source: tiflow ``cdc/entry/mounter.go``, ``pkg/filter`` (``sql_event_filter.go``, ``expr_filter.go``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import numpy as np
import pyarrow as pa

from ticdc_producer.config.config_section import EventFilter, FilterSection
from ticdc_producer.dispatch.matcher import Matcher
from ticdc_producer.dispatch.table_filter import ColumnSelection
from ticdc_producer.model.event import Op
from ticdc_producer.model.shapes import MutationBatch
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import MAX_TS
from ticdc_producer.pipeline.row_images import Flags, column_values, numbers, selected_from
from ticdc_producer.pipeline.value_condition import value_condition

_OPS = {"insert": (Op.INSERT,), "update": (Op.UPDATE,), "delete": (Op.DELETE,), "all dml": tuple(Op)}


def event_filter(
    mutations: MutationBatch, tables: Iterable[TableInfo], section: FilterSection
) -> MutationBatch:
    """Remove the mutations that an event filter ignores.

    :param mutations: with ``commit_ts`` (TSO), ``table_version``, ``op``, ``before`` and ``after``
        (``shapes.IMAGE`` with all columns), TIMESTAMP values in the changefeed's zone.
    :param tables: the versions that are replicated.
    :return: the same columns, in the same order.
    :raises ChangefeedError: for a value expression that cannot be evaluated.
    """
    if not section.event_filters and not section.ignore_txn_start_ts:
        return mutations
    ignored = np.zeros(mutations.num_rows, bool)
    for flags in _ignored(mutations, tuple(tables), section):
        ignored |= flags
    return mutations.filter(pa.array(~ignored)) if ignored.any() else mutations


def filtered_tables(tables: Iterable[TableInfo], section: FilterSection) -> Iterator[TableInfo]:
    """Yield the tables whose rows may be ignored; their final rows then differ from upstream."""
    rules = [_matcher(rule) for rule in section.event_filters if drops_rows(rule)]
    for table in tables:
        if section.ignore_txn_start_ts or any(rule.accepts(table.schema, table.name) for rule in rules):
            yield table


def check_expressions(table: TableInfo, section: FilterSection) -> None:
    """Check the value expressions for one table.

    :raises ChangefeedError: for an expression that cannot be evaluated.
    """
    for rule in section.event_filters:
        if _matcher(rule).accepts(table.schema, table.name):
            for _, _, expression in _expressions(rule):
                if expression:
                    value_condition(expression, table)


def drops_rows(rule: EventFilter) -> bool:
    """Return whether an event filter can ignore row changes."""
    return bool(_ops(rule)) or any(expression for _, _, expression in _expressions(rule))


def _ignored(
    mutations: MutationBatch, tables: Sequence[TableInfo], section: FilterSection
) -> Iterator[Flags]:
    """Yield for each rule whether it ignores each mutation."""
    versions, ops = numbers(mutations.column("table_version")), numbers(mutations.column("op"))
    if section.ignore_txn_start_ts:
        start_ts = numbers(mutations.column("commit_ts")) - 1
        possible = [ts for ts in section.ignore_txn_start_ts if 0 <= ts <= MAX_TS]
        yield np.isin(start_ts, np.array(possible, np.int64))
    for rule in section.event_filters:
        matcher = _matcher(rule)
        concerned = [table for table in tables if matcher.accepts(table.schema, table.name)]
        of_tables = np.isin(versions, [table.version for table in concerned])
        yield of_tables & np.isin(ops, [int(op) for op in _ops(rule)])
        for table in concerned:
            for op, image, expression in _expressions(rule):
                ignored = (versions == table.version) & (ops == int(op))
                if expression and ignored.any():
                    rows = np.flatnonzero(ignored)
                    columns = partial(column_values, mutations.column(image), rows)
                    ignored[rows] = value_condition(expression, table)(columns, len(rows))
                    yield ignored


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


def select(
    mutations: MutationBatch, tables: Iterable[TableInfo], selection: ColumnSelection
) -> MutationBatch:
    """Reduce ``before`` and ``after`` to the selected columns.

    :param mutations: with ``table_version``, ``before`` and ``after`` (``shapes.IMAGE``).
    :param tables: the versions that are replicated, with all their columns.
    :return: the same columns and rows, in the same order.
    """
    selected = reduced_tables(tables, selection)
    if not selected:
        return mutations
    versions = numbers(mutations.column("table_version"))
    for name in ("before", "after"):
        index = mutations.schema.get_field_index(name)
        images = selected_from(mutations.column(index), selected, versions)
        mutations = mutations.set_column(index, mutations.schema.field(index), images)
    return mutations


def reduced_tables(tables: Iterable[TableInfo], selection: ColumnSelection) -> dict[int, list[int]]:
    """Return the image indexes of the selected columns, by version of the tables that lose columns."""
    selected = {table.version: selected_columns(table, selection) for table in tables}
    return {version: columns for version, columns in selected.items() if columns is not None}


def selected_columns(table: TableInfo, selection: ColumnSelection) -> list[int] | None:
    """Return the image indexes of the selected columns; None if all are selected."""
    sent = selection.of(table).sent
    return None if sent == table.sent else [table.sent.index(offset) for offset in sent]
