"""The columns of a table's rows between two DDLs: INV-SCHEMA."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from ticdc_producer.verifier.invariants.row_state import history_severity
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.passes.key_groups import KeyGroups, starts_of
from ticdc_producer.verifier.violations import EventPositions, Violations

Epoch: TypeAlias = tuple[str, str, str, int]
"""Topic, schema, table, and commit-ts of the DDL before."""
_First: TypeAlias = tuple[int, int, int]
"""Commit-ts, partition and position of an event."""


@dataclass
class TableShapes:
    """For each table and epoch the shapes of its rows, each with its first event."""

    seen: dict[Epoch, dict[int, _First]] = field(default_factory=dict)

    def merge(self, others: Iterable[TableShapes]) -> None:
        """Add the shapes of other events."""
        for other in others:
            for epoch, shapes in other.seen.items():
                for shape, first in shapes.items():
                    self._see(epoch, shape, first)

    def add(self, groups: KeyGroups) -> None:
        """Add the shapes of whole rows. Rows with the handle key only do not count."""
        events = groups.events
        rows = groups.first_rows & events.whole & (events.shape != 0) & ~events.untracked
        chosen = events.take(rows)
        epoch_ts, _ = groups.facts.epochs.before(chosen)
        if groups.options.fidelity.commit_ts != "exact":  # within a millisecond, row and DDL have no order
            later = (epoch_ts < 0) | (chosen.commit_ts > epoch_ts)
            chosen, epoch_ts = chosen.take(later), epoch_ts[later]
        (topic_codes, topics), (table_codes, tables) = chosen.topics, chosen.tables
        keys = (topic_codes, table_codes, epoch_ts, chosen.shape)
        order = np.lexsort((chosen.position, chosen.partition, chosen.commit_ts, *reversed(keys)))
        for row in order[starts_of(*(key[order] for key in keys))].tolist():
            epoch = topics[topic_codes[row]], *tables[table_codes[row]], int(epoch_ts[row])
            first = int(chosen.commit_ts[row]), int(chosen.partition[row]), int(chosen.position[row])
            self._see(epoch, int(chosen.shape[row]), first)

    def _see(self, epoch: Epoch, shape: int, first: _First) -> None:
        shapes = self.seen.setdefault(epoch, {})
        shapes[shape] = min(first, shapes.get(shape, first))

    def violations(self, options: VerifyOptions) -> Violations:
        """Rows whose columns differ from those of earlier rows, without a DDL between them."""
        found = [
            (epoch, before, first)
            for epoch, shapes in sorted(self.seen.items())
            for in_turn in [sorted(shapes.values())]
            for before, first in pairwise(in_turn)
        ]
        topics = sorted({epoch[0] for epoch, *_ in found})

        def detail(number: int) -> str:
            _, schema, table, _ = found[number][0]
            return (
                f"columns of {schema}.{table} differ from those of its earlier rows, in names, types or flags"
            )

        return Violations(
            history_severity(options),
            np.array([topics.index(epoch[0]) for epoch, *_ in found], np.int64),
            topics,
            tuple(
                EventPositions(*(np.array([one[event][part] for one in found], np.int64) for part in (1, 2)))
                for event in (1, 2)
            ),
            detail,
        )
