"""All that is found in groups of equal key: what a task adds up over its groups."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ticdc_producer.verifier.events import EventKind
from ticdc_producer.verifier.fingerprint import Flags
from ticdc_producer.verifier.invariants.invariant import Invariant
from ticdc_producer.verifier.passes.batch_groups import BatchGroups, GroupedRows, SuspectedGroups
from ticdc_producer.verifier.passes.key_groups import KeyGroups
from ticdc_producer.verifier.passes.row_history import KeyChecks
from ticdc_producer.verifier.passes.table_shapes import TableShapes
from ticdc_producer.verifier.passes.uncovered import UncoveredRows
from ticdc_producer.verifier.violations import ViolationCounts


@dataclass
class KeyFindings:
    """What was found in groups of equal key.

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
        copies = ~groups.first_delivery & (groups.events.kind != EventKind.LEFT_KEY)
        self.duplicates += int(copies.sum())
        self.suspected += int(checks.history.wrong_old.sum())
        self.batch_suspected.add(GroupedRows.part_of(groups.events).take(batch_suspected(groups)))

    def merge(self, others: Iterable[KeyFindings]) -> None:
        """Add what was found in other groups."""
        for other in others:
            self.violations.merge([other.violations])
            self.shapes.merge([other.shapes])
            self.uncovered.merge([other.uncovered])
            self.duplicates += other.duplicates
            self.suspected += other.suspected
            self.batch_suspected.merge([other.batch_suspected])


def batch_suspected(groups: KeyGroups) -> Flags:
    """Rows without which the batching groups need no check: copies, rows that are older than an earlier one
    of their table, and deletes that are not newer than an insert before them.
    """
    events = groups.events
    late = events.commit_ts < events.table_ts
    after_insert = events.commit_ts <= events.insert_ts
    found: Flags = (events.kind == EventKind.ROW) & (~groups.first_delivery | late | after_insert)
    return found


def batch_groups(groups: KeyGroups) -> BatchGroups:
    """The rows of these groups, to be grouped by batching group."""
    rows = groups.events.kind == EventKind.ROW
    return BatchGroups(
        GroupedRows.part_of(groups.events).take(rows),
        groups.first_delivery[rows],
        groups.late_in_key[0][rows],
        groups.options,
    )
