"""Verifies a small stream: one plain function on Arrow columns, without Spark or Kafka.

``run`` and ``verify`` call it in one Spark task. Tests and services can call it directly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.shapes import DECODED, EXPECTED_EVENTS
from ticdc_producer.replica.rows import row_changes
from ticdc_producer.verifier.comparison import (
    WINDOW,
    ComparedEvents,
    Comparison,
    DeliveryOrder,
    Differences,
    match,
)
from ticdc_producer.verifier.events import EventKind, Events
from ticdc_producer.verifier.finding import Finding
from ticdc_producer.verifier.findings import add_stream_violations, example_events, findings, kinds
from ticdc_producer.verifier.invariants import row_state
from ticdc_producer.verifier.invariants.registry import INVARIANTS
from ticdc_producer.verifier.key_groups import KeyGroups
from ticdc_producer.verifier.key_pass import KeyFindings, batch_groups
from ticdc_producer.verifier.observe import Observer, with_left_keys
from ticdc_producer.verifier.old_image import old_image_violations, suspected, with_images
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.partition_marks import PartitionMarks
from ticdc_producer.verifier.row_history import KeyChecks
from ticdc_producer.verifier.stream_facts import StreamFacts
from ticdc_producer.verifier.table_state import (
    RowDifferences,
    StateComparison,
    StateRows,
    compare_rows,
    delivered_state,
    expected_state,
    final_rows,
    followed_state,
    state_comparison,
)
from ticdc_producer.verifier.violations import EventID, ViolationCounts

_LOCATION = ("topic", "partition", "offset", "index")
_COMPARED = [name for name in EXPECTED_EVENTS.names if name not in ("offset", "index")]


def check(decoded: pa.Table, options: VerifyOptions) -> list[Finding]:
    """Check decoded events against every enabled invariant; the most severe findings come first.

    An invariant that could not be checked gives a finding of severity ``not checked``; one that holds
    gives none.

    :param decoded: shape ``DECODED``.
    """
    return CheckedStream(decoded, options).findings


@dataclass(frozen=True)
class CheckedStream:
    """A small stream with its findings, and its comparison with expected events and rows.

    :param decoded: shape ``DECODED``.
    """

    decoded: pa.Table
    options: VerifyOptions

    @cached_property
    def facts(self) -> StreamFacts:
        """What one pass over the partitions shows."""
        return self._observed[0]

    @cached_property
    def _rows(self) -> pa.RecordBatch:
        """The events in the order of their partitions."""
        return by_position(self.decoded.cast(DECODED))

    @cached_property
    def _observed(self) -> tuple[StreamFacts, ViolationCounts, Events]:
        facts, violations = StreamFacts(self.options), ViolationCounts(self.options.examples)
        observer = Observer(self.options)
        marked = PartitionMarks().mark(observer.observe(self._rows))
        facts.add(marked)
        for invariant in INVARIANTS:
            if invariant.by_event:
                violations.add(invariant.id, invariant.by_event(marked))
        return facts, violations, with_left_keys(marked.events, marked.observation)

    @cached_property
    def _checks(self) -> KeyChecks:
        facts, _, events = self._observed
        return KeyChecks(KeyGroups(events.take(events.kind != EventKind.ERROR), self.options, facts))

    @cached_property
    def _found(self) -> KeyFindings:
        checks, (_, violations, _) = self._checks, self._observed
        found = KeyFindings(ViolationCounts(self.options.examples))
        found.violations.merge([violations])
        found.add(checks, INVARIANTS)
        add_stream_violations(found, self.options)
        if found.batch_suspected:
            groups = batch_groups(checks.groups)
            for invariant in INVARIANTS:
                if invariant.by_batch:
                    found.violations.add(invariant.id, invariant.by_batch(groups))
        if found.suspected:
            rows = with_images(suspected(checks.history).to_pylist(), self.rows_at)
            found.violations.add(row_state.OLD_IMAGE.id, old_image_violations(rows, self.options))
        return found

    @cached_property
    def findings(self) -> list[Finding]:
        """What violates an invariant, and what could not be checked; the most severe comes first."""
        violations = self._found.violations
        return findings(violations, self.facts, self.rows_at(example_events(violations)))

    @cached_property
    def kinds(self) -> dict[str, int]:
        """Events by kind; ``duplicate`` counts the duplicates among them."""
        return kinds(self.facts, self._found)

    def comparison(self, expected: pa.Table) -> Comparison:
        """Compare with expected events.

        :param expected: shape ``EXPECTED_EVENTS``; offsets count from the first expected message.
        """
        batch = by_position(expected)
        if self._rows.select(_COMPARED).equals(batch.select(_COMPARED)):  # then no event needs its partner
            return Differences(expected=batch.num_rows).comparison({}, {})
        wanted = Observer(self.options).observe(batch).events
        delivered = ComparedEvents.chosen(self._checks.groups.events, expected=False)
        differences, matched = match(
            ComparedEvents.joined([delivered, ComparedEvents.chosen(wanted, expected=True)])
        )
        in_order = [(name, "ascending") for name in WINDOW]
        for part in pa.Table.from_batches([matched]).sort_by(in_order).to_batches():
            differences.merge([DeliveryOrder().add(part)])
        return differences.comparison(
            rows_at(batch, differences.expected_examples), self.rows_at(differences.delivered_examples)
        )

    def state(
        self, expected: pa.Table, not_compared: Mapping[str, str], until: int | None = None
    ) -> StateComparison:
        """Compare the rows at the end, or at a time stamp.

        :param expected: rows of the tables (``table_state.STATE``).
        :param not_compared: tables missing in ``expected``, for the report, with the reason.
        """
        tables = set(zip(*(expected.column(name).to_pylist() for name in ("schema", "table")), strict=True))
        replica = self.facts.replica(until)
        final = final_rows(self._checks.groups.events, self.options, self.facts.ddls, until)
        rows = [
            delivered_state(final, 0, tables - replica.lineage.names),
            *followed_state(row_changes(self._rows, replica, until), replica, 0, tables),
            expected_state(one_batch(expected), 0),
        ]
        differences = compare_rows(StateRows.joined(rows)).get(0, RowDifferences())
        numbers = [number for _, _, number, _ in differences.lacking]
        return state_comparison(
            differences,
            len(tables),
            not_compared,
            expected.take(pa.array(numbers, pa.int64())).to_pylist(),
            self.rows_at(differences.unexpected_events).values(),
        )

    def rows_at(self, events: Iterable[EventID]) -> dict[EventID, dict[str, Any]]:
        """The decoded events at some positions."""
        return rows_at(self._rows, events)


def rows_at(decoded: pa.RecordBatch, events: Iterable[EventID]) -> dict[EventID, dict[str, Any]]:
    """Some of the events of a batch, by their positions.

    :param decoded: shape ``DECODED`` or ``EXPECTED_EVENTS``, in any order.
    """
    wanted = sorted(set(events))
    if not wanted:
        return {}
    columns = [decoded.column(name).to_numpy(zero_copy_only=False) for name in _LOCATION[1:]]
    topics = decoded.column("topic").to_numpy(zero_copy_only=False)
    found = {}
    offsets = np.isin(columns[1], [event[2] for event in wanted])
    candidates = np.flatnonzero(offsets)
    by_event = {(topics[row], *(int(column[row]) for column in columns)): row for row in candidates.tolist()}
    for event in wanted:
        if event in by_event:
            found[event] = decoded.slice(by_event[event], 1).to_pylist()[0]
    return found


def by_position(events: pa.Table) -> pa.RecordBatch:
    """Events sorted by ``topic``, ``partition``, ``offset`` and ``index``.

    :param events: shape ``DECODED`` or ``EXPECTED_EVENTS``.
    """
    keys = [(name, "ascending") for name in _LOCATION]
    order = pc.sort_indices(events, sort_keys=keys)
    moved = (order.to_numpy() != np.arange(len(order))).any()
    return one_batch(events.take(order) if moved else events)


def one_batch(table: pa.Table) -> pa.RecordBatch:
    """The rows of a table of any shape, such as ``DECODED``, as one batch in the same order."""
    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=table.schema)
