"""Stages: remove the mutations that event filters ignore, and the columns that no selector selects.

Source: tiflow ``cdc/entry/mounter.go``, ``pkg/filter`` (``sql_event_filter.go``, ``expr_filter.go``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import numpy as np
import pyarrow as pa

from ticdc_producer.config import Changefeed
from ticdc_producer.config.config_section import EventFilter
from ticdc_producer.dispatch.event_types import ignored_rows
from ticdc_producer.dispatch.matcher import Matcher, lower
from ticdc_producer.dispatch.table_filter import ColumnSelection, event_matcher
from ticdc_producer.model.column_functions import Flags, Numbers
from ticdc_producer.model.event import Op
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.shapes import MutationBatch
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import MAX_TS
from ticdc_producer.pipeline.row_images import column_values, numbers, same_values, selected_from
from ticdc_producer.pipeline.value_condition import value_condition


def event_filter(
    mutations: MutationBatch, tables: Iterable[TableInfo], changefeed: Changefeed
) -> MutationBatch:
    """Remove the mutations that an event filter ignores.

    :param mutations: with ``commit_ts`` (TSO), ``table_version``, ``op``, ``before`` and ``after``
        (``shapes.IMAGE`` with all columns), TIMESTAMP values in the changefeed's zone.
    :param tables: the versions that are replicated.
    :return: the same columns, in the same order.
    :raises ChangefeedError: for a value expression that cannot be evaluated.
    """
    if not changefeed.filter.event_filters and not changefeed.filter.ignore_txn_start_ts:
        return mutations
    ignored = np.zeros(mutations.num_rows, bool)
    for flags in _ignored(mutations, tuple(tables), changefeed):
        ignored |= flags
    return mutations.filter(pa.array(~ignored)) if ignored.any() else mutations


def filtered_tables(tables: Iterable[TableInfo], changefeed: Changefeed) -> Iterator[TableInfo]:
    """Yield the tables whose rows may be ignored; their final rows then differ from upstream."""
    matchers = [
        matcher
        for rule in changefeed.filter.event_filters
        for matcher, drops in (
            (
                event_matcher(rule, changefeed),
                bool(ignored_rows(rule, changefeed.profile) or rule.ignore_update_only_columns),
            ),
            (_row_matcher(rule), any(expression for *_, expression in _expressions(rule))),
        )
        if drops
    ]
    for table in tables:
        by_rule = any(matcher.accepts(*table.upstream_name) for matcher in matchers)
        if by_rule or changefeed.filter.ignore_txn_start_ts:
            yield table


def check_expressions(table: TableInfo, changefeed: Changefeed) -> None:
    """Check the value expressions for one table.

    :raises ChangefeedError: for an expression that cannot be evaluated.
    """
    for rule in changefeed.filter.event_filters:
        if _row_matcher(rule).accepts(*table.upstream_name):
            for _, _, expression in _expressions(rule):
                if expression:
                    value_condition(expression, table)


def _ignored(
    mutations: MutationBatch, tables: Sequence[TableInfo], changefeed: Changefeed
) -> Iterator[Flags]:
    """Yield for each rule whether it ignores each mutation.

    >>> from types import SimpleNamespace
    >>> rule = EventFilter(matcher=("s.*",), **{"ignore-event": ("delete",)})
    >>> section = SimpleNamespace(ignore_txn_start_ts=[7], event_filters=[rule])
    >>> changefeed = SimpleNamespace(filter=section, profile="classic")
    >>> table = TableInfo(schema="s", name="t", table_id=1, columns=())
    >>> columns = {"table_version": [0] * 3, "commit_ts": [8, 9, 9], "op": [Op.INSERT, Op.UPDATE, Op.DELETE]}
    >>> [flags.tolist() for flags in _ignored(pa.record_batch(columns), [table], changefeed)]
    [[True, False, False], [False, False, True]]
    """
    versions, ops = numbers(mutations.column("table_version")), numbers(mutations.column("op"))
    section = changefeed.filter
    if section.ignore_txn_start_ts:
        yield _of_start_ts(numbers(mutations.column("commit_ts")), section.ignore_txn_start_ts)
    for rule in section.event_filters:
        concerned = [*_concerned(tables, event_matcher(rule, changefeed))]
        of_tables = np.isin(versions, [table.version for table in concerned])
        yield of_tables & np.isin(ops, [int(op) for op in ignored_rows(rule, changefeed.profile)])
        if rule.ignore_update_only_columns:
            for table in concerned:
                updates = (versions == table.version) & (ops == int(Op.UPDATE))
                sent_for = _columns_sent_for(rule, table, case_sensitive=changefeed.case_sensitive)
                if sent_for is not None and updates.any():
                    yield _unchanged(mutations, updates, table, sent_for)
        for table in _concerned(tables, _row_matcher(rule)):
            for op, image, expression in _expressions(rule):
                ignored = (versions == table.version) & (ops == int(op))
                if expression and ignored.any():
                    rows = np.flatnonzero(ignored)
                    values = partial(column_values, mutations.column(image), rows)
                    ignored[rows] = value_condition(expression, table)(values, len(rows))
                    yield ignored


def _of_start_ts(commit_ts: Numbers, start_ts: Iterable[int]) -> Flags:
    """Return which mutations are of a transaction with one of some start-ts, which precedes its commit-ts.

    >>> _of_start_ts(np.array([8, 9, 10]), [8, 1 << 64]).tolist()
    [False, True, False]
    """
    possible = [ts for ts in start_ts if 0 <= ts <= MAX_TS]
    return np.isin(commit_ts - 1, np.array(possible, np.int64))


def _columns_sent_for(rule: EventFilter, table: TableInfo, *, case_sensitive: bool) -> list[int] | None:
    """Return the image indexes of the columns whose changes ``ignore-update-only-columns`` does not ignore.

    These are the columns that it does not name, and those of a primary or unique key. Source: ticdc
    ``pkg/filter/update_only_columns_filter.go``.

    :return: None if the table has none of the columns that the rule names.
    """
    fold = str if case_sensitive else lower
    names = {fold(name) for name in rule.ignore_update_only_columns}
    named = {offset for offset in table.sent if fold(table.columns[offset].name) in names}
    of_keys = {offset for index in table.unique_indexes for offset in index.offsets}
    sent_for = [i for i, offset in enumerate(table.sent) if offset not in named or offset in of_keys]
    return sent_for if named else None


def _unchanged(mutations: MutationBatch, updates: Flags, table: TableInfo, columns: Iterable[int]) -> Flags:
    """Return which of some updates of a table version change none of some columns."""
    rows = np.flatnonzero(updates)
    for index in columns:
        before, after = (column_values(mutations.column(name), rows, index) for name in ("before", "after"))
        if table.sent_columns[index].type in (MySQLType.FLOAT, MySQLType.DOUBLE):  # 0 is equal to -0
            before, after = (values.cast(pa.string()).cast(pa.float64()) for values in (before, after))
        rows = rows[same_values(before, after)]
    unchanged = np.zeros(len(updates), bool)
    unchanged[rows] = True
    return unchanged


def _concerned(tables: Iterable[TableInfo], matcher: Matcher) -> list[TableInfo]:
    return [table for table in tables if matcher.accepts(*table.upstream_name)]


def _row_matcher(rule: EventFilter) -> Matcher:
    """Return the tables of value expressions; their case always counts (``expr_filter.go``)."""
    return Matcher(rule.matcher, case_sensitive=True)


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
