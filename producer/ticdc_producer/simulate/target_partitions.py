"""Selects the generated changes of one partition by their keys, before their other values are drawn."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ticdc_producer.dispatch.row_hashes import partition_hashes
from ticdc_producer.dispatch.rules import Route
from ticdc_producer.model.column_functions import Flags
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.pipeline.delivery import commit_ts
from ticdc_producer.pipeline.event_stream import StreamPlan
from ticdc_producer.scenario.generate.arrays import Longs
from ticdc_producer.scenario.generate.cells import cells, no_expressions, sources
from ticdc_producer.scenario.generate.changes import in_parts
from ticdc_producer.scenario.generate.events import RowFilter
from ticdc_producer.scenario.generate.plan import ColumnPlan, GeneratePlan
from ticdc_producer.scenario.generate.row_history import RowChanges, Versions, first_versions

_MOST_TABULATED = 1 << 27
"""Up to this many rows, the partition of every row is computed beforehand."""
_AT_ONCE = 1 << 16
_SELECTED = ("table", "index-value", "columns", "ts")
"""The rules by which changes are selected here. Under another one each partition generates all changes, and
the pipeline leaves out those of the others."""


@dataclass(frozen=True)
class TargetPartition:
    """One partition as the target of generated changes.

    :param index: its index (``topic_partitions``).
    """

    stream: StreamPlan
    index: int

    def receives(self, plan: GeneratePlan) -> bool:
        """Return whether the partition's topic receives changes of a table."""
        topic, _ = self.stream.topic_partitions.name(self.index)
        return any(route.topic == topic for route in self._routes(plan))

    def rows(self, plan: GeneratePlan) -> RowFilter | None:
        """Return a filter for rows whose changes go to the partition; None if rows do not determine it."""
        dispatch = self._dispatch(plan)
        if dispatch is None or not dispatch.follows_from_row:
            return None
        return _RowPartitions(dispatch, self._partition)

    def changes(self, plan: GeneratePlan, changes: RowChanges) -> RowChanges:
        """Return the changes of which all or a part may go to the partition."""
        dispatch = self._dispatch(plan)
        if dispatch is None or dispatch.follows_from_row:
            return changes
        if dispatch.route.rule == "ts":
            times = commit_ts(self.stream.resolved.clock, changes.commit)
            return changes.take(np.flatnonzero(times % dispatch.partitions == self._partition))
        old, new = (
            dispatch.partition(changes.row, versions) == self._partition
            for versions in (changes.before, changes.after)
        )
        return changes.take(np.flatnonzero((old & changes.existed) | (new & changes.exists)))

    @property
    def _partition(self) -> int:
        return self.stream.topic_partitions.name(self.index)[1]

    def _routes(self, plan: GeneratePlan) -> list[Route]:
        """Return the routes of the table's versions that are replicated."""
        return [self.stream.routes[version] for version in _versions(plan) if version in self.stream.routes]

    def _dispatch(self, plan: GeneratePlan) -> _Dispatch | None:
        """Return the dispatch of the table's changes; None if it does not follow from their keys."""
        routes = self._routes(plan)
        if len(_versions(plan)) > 1 or not routes or routes[0].rule not in _SELECTED:
            return None
        (table,) = (
            replicated for replicated in self.stream.replicated if replicated.version == plan.table.version
        )
        sent = self.stream.selection.of(table).sent_columns
        by_name = {column.column.name: column for column in plan.columns}
        columns = [by_name[sent[index].name] for _, index in routes[0].key_columns]
        # Spark computes expressions; a TIMESTAMP is hashed in the changefeed's time zone.
        if any(column.expression or column.column.type == MySQLType.TIMESTAMP for column in columns):
            return None
        partitions = len(self.stream.topic_partitions.of(routes[0].topic))
        return _Dispatch(plan, routes[0], tuple(columns), partitions)


def _versions(plan: GeneratePlan) -> list[int]:
    return [table.version for table in plan.versions or (plan.table,)]


@dataclass(frozen=True)
class _Dispatch:
    """The dispatch rule of a table.

    :param columns: the hashed columns.
    """

    plan: GeneratePlan
    route: Route
    columns: tuple[ColumnPlan, ...]
    partitions: int

    @property
    def follows_from_row(self) -> bool:
        """Whether all changes of a row go to one partition."""
        moves = bool(self.columns) and bool(self.plan.key_changes)
        return self.route.rule != "ts" and not moves and all(column.keyed for column in self.columns)

    def partition(self, rows: Longs, versions: Versions) -> Longs:
        """Return the partition of rows with some versions."""
        values = [
            cells(self.plan, column, sources(self.plan, column, rows, versions), no_expressions)
            for column in self.columns
        ]
        return partition_hashes(self.route, values, len(rows)) % self.partitions


class _RowPartitions:
    """The filter of the rows that go to one partition."""

    def __init__(self, dispatch: _Dispatch, partition: int) -> None:
        self._dispatch, self._target = dispatch, partition

    def __call__(self, rows: Longs) -> Flags:
        plan = self._dispatch.plan
        if plan.revisits_rows and plan.all_rows <= _MOST_TABULATED:
            return self._tabulated[rows]
        return self._is_target(rows)

    @cached_property
    def _tabulated(self) -> Flags:
        parts = in_parts(self._dispatch.plan.all_rows, _AT_ONCE)
        return np.concatenate([np.zeros(0, bool), *map(self._is_target, parts)])

    def _is_target(self, rows: Longs) -> Flags:
        is_target: Flags = self._dispatch.partition(rows, first_versions(rows)) == self._target
        return is_target
