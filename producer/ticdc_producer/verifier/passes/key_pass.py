"""The findings of groups of equal key: INV-SCHEMA, INV-COMPLETE, and the checks of a row's history."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from ticdc_producer.model.column_functions import Flags, sorted_groups
from ticdc_producer.model.event import Op
from ticdc_producer.verifier.events import EventKind
from ticdc_producer.verifier.invariants.row_state import history_severity
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.passes.batch_groups import BatchGroups, GroupedRows, SuspectedGroups
from ticdc_producer.verifier.passes.key_groups import KeyGroups
from ticdc_producer.verifier.passes.row_history import KeyChecks
from ticdc_producer.verifier.violations import Invariant, ViolationCounts, Violations

_Row: TypeAlias = tuple[int, int, int]
"""Commit-ts, partition and position."""


@dataclass
class UncoveredRows:
    """The uncovered rows of each topic: their number, the oldest and the newest one, and the resolved-ts."""

    rows: dict[str, tuple[int, _Row, _Row, int]] = field(default_factory=dict)

    def merge(self, others: Iterable[UncoveredRows]) -> None:
        """Add the rows of other groups."""
        for other in others:
            for topic, (count, oldest, newest, covered) in other.rows.items():
                self._add(topic, count, oldest, newest, covered)

    def add(self, groups: KeyGroups) -> None:
        """Add the uncovered rows of some groups."""
        events, first = groups.events, groups.first_rows
        codes, topics = events.topics
        for code, topic in enumerate(topics):
            if topic not in groups.options.partitions:
                continue
            covered = groups.stats.covered(topic)
            rows = np.flatnonzero(first & (codes == code) & (events.commit_ts > covered))
            if len(rows):
                order = rows[
                    np.lexsort((events.position[rows], events.partition[rows], events.commit_ts[rows]))
                ]
                oldest, newest = (
                    (int(events.commit_ts[row]), int(events.partition[row]), int(events.position[row]))
                    for row in (order[0], order[-1])
                )
                self._add(topic, len(rows), oldest, newest, covered)

    def _add(self, topic: str, count: int, oldest: _Row, newest: _Row, covered: int) -> None:
        before, first, last, _ = self.rows.get(topic, (0, oldest, newest, covered))
        self.rows[topic] = before + count, min(first, oldest), max(last, newest), covered

    def violations(self) -> Violations:
        """Return one violation per topic."""
        topics = sorted(self.rows)
        uncovered = [self.rows[topic] for topic in topics]

        def detail(number: int) -> str:
            count, oldest, newest, covered = uncovered[number]
            span = (newest[0] >> 18) - (oldest[0] >> 18)
            return (
                f"{count} rows in {span} ms after resolved-ts {covered}, the highest that all partitions have"
            )

        ends = [(oldest[1:], newest[1:]) for _, oldest, newest, _ in uncovered]
        return Violations.of_positions("info", topics, ends, detail)


Epoch: TypeAlias = tuple[str, str, str, int, int]
"""Topic, schema, table, physical table id (0 unless partitions have flags of their own), and commit-ts of the
DDL before."""


@dataclass
class TableShapes:
    """The shapes of the rows of each table and epoch, each with its first event."""

    seen: dict[Epoch, dict[int, _Row]] = field(default_factory=dict)

    def merge(self, others: Iterable[TableShapes]) -> None:
        """Add the shapes of other events."""
        for other in others:
            for epoch, shapes in other.seen.items():
                for shape, first in shapes.items():
                    self._see(epoch, shape, first)

    def add(self, groups: KeyGroups) -> None:
        """Add the shapes of whole rows. Rows with the handle key only do not count."""
        events = groups.events
        rows = groups.first_rows & events.whole & (events.shape != 0) & ~events.uncomparable
        whole_rows = events.take(rows)
        epoch_ts, _ = groups.stats.epochs.before(whole_rows)
        if groups.options.fidelity.commit_ts != "exact":  # within a millisecond, row and DDL have no order
            later = (epoch_ts < 0) | (whole_rows.commit_ts > epoch_ts)
            whole_rows, epoch_ts = whole_rows.take(later), epoch_ts[later]
        (topic_codes, topics), (table_codes, tables) = whole_rows.topics, whole_rows.tables
        by_partition = groups.options.fidelity.caches_flags
        table_ids = whole_rows.table_id if by_partition else np.zeros(len(whole_rows), np.int64)
        keys = (topic_codes, table_codes, table_ids, epoch_ts, whole_rows.shape)
        order_by = (whole_rows.commit_ts, whole_rows.partition, whole_rows.position)
        order, starts = sorted_groups(keys, *order_by)
        for row in order[starts].tolist():
            table = topics[topic_codes[row]], *tables[table_codes[row]]
            epoch = *table, int(table_ids[row]), int(epoch_ts[row])
            commit_ts, partition, position = (int(column[row]) for column in order_by)
            self._see(epoch, int(whole_rows.shape[row]), (commit_ts, partition, position))

    def _see(self, epoch: Epoch, shape: int, first: _Row) -> None:
        shapes = self.seen.setdefault(epoch, {})
        shapes[shape] = min(first, shapes.get(shape, first))

    def violations(self, options: VerifyOptions) -> Violations:
        """Return the rows whose columns differ from those of earlier rows, without a DDL between them."""
        changes = [
            (epoch, before, first)
            for epoch, shapes in sorted(self.seen.items())
            for in_turn in [sorted(shapes.values())]
            for before, first in pairwise(in_turn)
        ]

        def detail(number: int) -> str:
            _, schema, table, *_ = changes[number][0]
            return (
                f"columns of {schema}.{table} differ from those of its earlier rows, in names, types or flags"
            )

        topics = [epoch[0] for epoch, *_ in changes]
        rows = [(before[1:], first[1:]) for _, before, first in changes]
        return Violations.of_positions(history_severity(options), topics, rows, detail)


@dataclass
class KeyFindings:
    """The findings of groups of equal key.

    :param duplicates: number of events identical to an earlier one of their partition.
    :param suspected: number of events whose images must be compared for INV-OLD-IMAGE.
    :param batch_suspected: the batching groups that may violate one of their invariants.
    """

    violations: ViolationCounts
    shapes: TableShapes = field(default_factory=TableShapes)
    uncovered: UncoveredRows = field(default_factory=UncoveredRows)
    duplicates: int = 0
    suspected: int = 0
    batch_suspected: SuspectedGroups = field(default_factory=SuspectedGroups)

    def add(self, checks: KeyChecks, invariants: Sequence[Invariant]) -> None:
        """Check some groups."""
        groups = checks.groups
        for invariant in invariants:
            if invariant.by_key:
                self.violations.add(invariant.id, invariant.by_key(checks))
        self.shapes.add(groups)
        self.uncovered.add(groups)
        duplicates = ~groups.first_delivery & (groups.events.kind != EventKind.OLD_KEY)
        self.duplicates += int(duplicates.sum())
        self.suspected += int(checks.history.wrong_old.sum())
        self.batch_suspected.add(GroupedRows.part_of(groups.events).take(batch_suspected(groups)))

    def merge(self, others: Iterable[KeyFindings]) -> None:
        """Add the findings of other groups."""
        for other in others:
            self.violations.merge([other.violations])
            self.shapes.merge([other.shapes])
            self.uncovered.merge([other.uncovered])
            self.duplicates += other.duplicates
            self.suspected += other.suspected
            self.batch_suspected.merge([other.batch_suspected])


def batch_suspected(groups: KeyGroups) -> Flags:
    """Return the rows whose batching groups must be checked.

    These are duplicates, rows that are older than an earlier one of their table, and deletes that are not
    newer than an insert before them.
    """
    events = groups.events
    late = events.commit_ts < events.table_ts
    after_insert = (events.op == Op.DELETE) & (events.commit_ts <= events.insert_ts)
    flags: Flags = (events.kind == EventKind.ROW) & (~groups.first_delivery | late | after_insert)
    return flags


def batch_groups(groups: KeyGroups) -> BatchGroups:
    """Return the rows of these groups, to be grouped by batching group."""
    rows = groups.events.kind == EventKind.ROW
    return BatchGroups(
        GroupedRows.part_of(groups.events).take(rows),
        groups.first_delivery[rows],
        groups.late_in_key[0][rows],
        groups.options,
    )
