"""Rows above the resolved-ts that all partitions of their topic have: INV-COMPLETE."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from ticdc_producer.verifier.passes.key_groups import KeyGroups
from ticdc_producer.verifier.violations import EventPositions, Violations

_Row: TypeAlias = tuple[int, int, int]
"""Commit-ts, partition and position."""


@dataclass
class UncoveredRows:
    """By topic the number of uncovered rows, the oldest and the newest one, and the resolved-ts."""

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
        ends = [(oldest, newest) for _, oldest, newest, _ in uncovered]

        def detail(number: int) -> str:
            count, oldest, newest, covered = uncovered[number]
            span = (newest[0] >> 18) - (oldest[0] >> 18)
            return (
                f"{count} rows in {span} ms after resolved-ts {covered}, the highest that all partitions have"
            )

        return Violations(
            "info",
            np.arange(len(topics)),
            topics,
            tuple(
                EventPositions(*(np.array([rows[end][part] for rows in ends], np.int64) for part in (1, 2)))
                for end in (0, 1)
            ),
            detail,
        )
