"""Verifies messages of any number: the rules are those of a batch, on datasets of any engine.

    messages ──▶ decode, observe ──by row key──▶ duplicates, history, order, barriers; match; state
                                                     ──by partition──▶ order of matched events
                                                     ──by content──▶ rows of the tables

Only keys, fingerprints and positions move. The images of examples are decoded again.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pyarrow as pa

from ticdc_producer.engine.dataset import Batches, Dataset, Engine, Order, Sides, Tagged
from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.engine.spool import empty
from ticdc_producer.model.shapes import DECODED, EXPECTED_EVENTS, BatchFunction
from ticdc_producer.replica.rows import GROUP, ROWS, Replica, row_changes
from ticdc_producer.verifier.comparison import MATCHED, ComparedEvents, Comparison, Differences, match
from ticdc_producer.verifier.events import EventKind, Events
from ticdc_producer.verifier.finding import Finding
from ticdc_producer.verifier.findings import add_stream_violations, events_at, example_events, findings, kinds
from ticdc_producer.verifier.invariants.registry import invariants
from ticdc_producer.verifier.match import ExpectedState, ExpectedStream, add_out_of_order, compare_states
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.passes import batch_groups as batching
from ticdc_producer.verifier.passes.key_groups import KeyGroups
from ticdc_producer.verifier.passes.key_pass import KeyFindings, batch_groups
from ticdc_producer.verifier.passes.old_image import SUSPECTED, suspected, suspected_violations
from ticdc_producer.verifier.passes.partition_marks import carried_marks
from ticdc_producer.verifier.passes.row_history import KeyChecks
from ticdc_producer.verifier.passes.slices import (
    EVENT,
    Messages,
    Slices,
    SliceStates,
    observed_slices,
    states_before,
)
from ticdc_producer.verifier.passes.slices import KINDS as OBSERVED
from ticdc_producer.verifier.stream_facts import StreamFacts
from ticdc_producer.verifier.table_state import (
    StateComparison,
    StateRows,
    delivered_state,
    final_rows,
    followed_state,
)
from ticdc_producer.verifier.violations import EventID, ViolationCounts

SUSPECTED_ROW, MARK, MATCH, STATE_ROW = "suspected", "mark", "matched", "state"
_GROUP_ROWS = {
    STATE_ROW: StateRows.arrow_schema(),
    SUSPECTED_ROW: SUSPECTED,
    MARK: batching.MARKS,
    MATCH: MATCHED,
}
"""What groups of equal key show: rows of states, events whose old image must be compared, marks for the
batching groups, and matched events."""
_DELIVERED, _EXPECTED = "delivered", "expected"
_COMPARED = [name for name in EXPECTED_EVENTS.names if name not in ("offset", "index")]


@dataclass(frozen=True)
class CheckedMessages:
    """The result of a verification.

    :param comparison: with the expected events; None without any.
    :param states: one per expected state.
    """

    findings: list[Finding]
    kinds: dict[str, int]
    comparison: Comparison | None
    states: list[StateComparison]


@dataclass
class _Groups:
    """What a part shows in its groups."""

    findings: KeyFindings
    differences: Differences = field(default_factory=Differences)


def check(decoded: pa.Table, options: VerifyOptions) -> list[Finding]:
    """Check decoded events against every enabled invariant; the most severe findings come first.

    An invariant that could not be checked gives a finding of severity ``not checked``; one that holds
    gives none.

    :param decoded: shape ``DECODED``.
    """
    engine = LocalEngine()
    in_order = decoded.sort_by([(name, "ascending") for name in ("topic", "partition", "offset", "index")])
    events = engine.of_batches(in_order.cast(DECODED).combine_chunks().to_batches(), DECODED)
    return check_messages(engine, Messages(events), lambda batches: batches, options).findings


def check_messages(
    engine: Engine,
    messages: Messages,
    decode: BatchFunction,
    options: VerifyOptions,
    expected: ExpectedStream | None = None,
    expected_states: Callable[[StreamFacts], Sequence[ExpectedState]] = lambda _facts: (),
) -> CheckedMessages:
    """Verify messages of any number.

    :param decode: decodes messages (shape ``MESSAGES``) to events (shape ``DECODED``).
    :param expected_states: returns the expected rows, given what one pass over the stream shows.
    """
    with ExitStack() as stack:
        decoded = messages.rows.map(decode, DECODED).merged().reused()
        observed = stack.enter_context(decoded.stored(partial(observed_slices, options), OBSERVED))
        slices: Sequence[Slices] = observed.results
        facts, violations = StreamFacts(options), ViolationCounts(options.examples)
        facts.merge(part.facts for part in slices)
        violations.merge(part.violations for part in slices)
        reader = _Reader(facts, states_before(slices))
        run = _Run(engine, messages, decode, decoded, observed[EVENT], reader, expected)
        return run.checked(violations, expected_states(facts), stack)


@dataclass(frozen=True)
class _Reader:
    """What is needed to know of the stream to read groups of its events."""

    facts: StreamFacts
    states_before: SliceStates

    @property
    def options(self) -> VerifyOptions:
        return self.facts.options

    def groups(self, sides: Iterator[Sides]) -> Iterator[tuple[KeyGroups, ComparedEvents | None]]:
        """Yield groups of delivered events, and the same with the expected events if there are any."""
        for groups in sides:
            delivered = carried_marks(Events.of(groups[_DELIVERED]), self.states_before)
            own = delivered.take(delivered.kind != EventKind.ERROR)
            yield KeyGroups(own, self.options, self.facts), _both(delivered, groups)


def _both(delivered: Events, groups: Sides) -> ComparedEvents | None:
    if _EXPECTED not in groups:
        return None
    chosen = ComparedEvents.chosen(delivered, expected=False)
    return ComparedEvents.joined([chosen, ComparedEvents.of(groups[_EXPECTED])])


@dataclass(frozen=True)
class _Run:
    """A verification.

    :param decoded: shape ``DECODED``.
    :param observed: ``Events`` of all messages.
    """

    engine: Engine
    messages: Messages
    decode: BatchFunction
    decoded: Dataset
    observed: Dataset
    reader: _Reader
    expected: ExpectedStream | None

    @property
    def options(self) -> VerifyOptions:
        return self.reader.options

    def checked(
        self, violations: ViolationCounts, states: Sequence[ExpectedState], stack: ExitStack
    ) -> CheckedMessages:
        sides, same = {_DELIVERED: self.observed}, False
        if self.expected is not None:
            same = self.decoded.is_same_as(self.expected.events, _COMPARED)
            if not same:  # else no event needs its partner
                sides[_EXPECTED] = self.expected.compared(self.options)
        groups = self.engine.grouped(sides, "key")
        grouped = stack.enter_context(groups.stored(self._check_of(states), _GROUP_ROWS))
        found = KeyFindings(ViolationCounts(self.options.examples))
        found.violations.merge([violations])
        differences = Differences()
        of_groups: Sequence[_Groups] = grouped.results
        found.merge(part.findings for part in of_groups)
        differences.merge(part.differences for part in of_groups)
        add_stream_violations(found, self.options)
        if found.batch_suspected:
            found.violations.merge(self._checked_batches(grouped[MARK], found.batch_suspected))
        if found.suspected:
            found.violations.merge(self._checked_old_images(grouped[SUSPECTED_ROW], found.suspected))
        if same:
            differences.expected = self.reader.facts.events
        elif self.expected is not None:
            add_out_of_order(differences, grouped[MATCH])
        examples = self.decoded_at([*example_events(found.violations), *differences.delivered_examples])
        return CheckedMessages(
            findings(found.violations, self.reader.facts, examples),
            kinds(self.reader.facts, found),
            None
            if self.expected is None
            else differences.comparison(self.expected.at(differences.expected_examples), examples),
            compare_states(self.engine, states, self._delivered(states, grouped[STATE_ROW]), self.decoded_at),
        )

    def _check_of(
        self, states: Sequence[ExpectedState]
    ) -> Callable[[Iterator[Sides]], Generator[Tagged, None, _Groups]]:
        """Return the function that checks groups of equal key.

        :param states: the rows of their tables are delivered by groups, unless DDLs changed these tables.
        """
        reader = self.reader
        tables = [
            (state.until, {*state.tables} - reader.facts.replica(state.until).lineage.names)
            for state in states
        ]

        def check_groups(sides: Iterator[Sides]) -> Generator[Tagged, None, _Groups]:
            found = _Groups(KeyFindings(ViolationCounts(reader.options.examples)))
            for groups, both in reader.groups(sides):
                checks = KeyChecks(groups)
                found.findings.add(checks, invariants())
                yield SUSPECTED_ROW, suspected(checks.history)
                yield MARK, batching.marks(batch_groups(groups))
                if both is not None:
                    differences, matched = match(both)
                    found.differences.merge([differences])
                    yield MATCH, matched
                for number, (ts, names) in enumerate(tables):
                    final = final_rows(groups.events, reader.options, reader.facts.ddls, ts)
                    yield STATE_ROW, delivered_state(final, number, names).to_batch()
            return found

        return check_groups

    def _delivered(self, states: Sequence[ExpectedState], rows: Dataset) -> Dataset:
        """Return the delivered rows of all tables (``StateRows``).

        :param rows: of tables that no DDL changed.
        """
        followed = [
            self._followed(replica, number, state)
            for number, state in enumerate(states)
            for replica in [self.reader.facts.replica(state.until)]
            if not replica.lineage.names.isdisjoint(state.tables)
        ]
        return rows.union(*followed) if followed else rows

    def _followed(self, replica: Replica, number: int, state: ExpectedState) -> Dataset:
        """Return the rows of tables that DDLs changed; their images move, those of no other table."""
        until, tables = state.until, state.tables

        def changes(batches: Batches) -> Batches:
            return (row_changes(decoded, replica, until) for decoded in batches)

        def final(batch: pa.RecordBatch) -> pa.RecordBatch:
            rows = [*followed_state(batch, replica, number, tables)]
            return StateRows.joined(rows).to_batch() if rows else _NO_STATE_ROWS

        by_group = self.decoded.map(changes, ROWS).shuffle(GROUP, Order(GROUP))
        return by_group.map_groups(final, GROUP, StateRows.arrow_schema())

    def _checked_batches(
        self, marks: Dataset, suspected_groups: batching.SuspectedGroups
    ) -> list[ViolationCounts]:
        """Check batching groups.

        :param marks: ``batch_groups.MARKS`` of all rows.
        """
        options = self.options

        def chosen(batches: Batches) -> Batches:
            for batch in batches:
                events = Events.of(batch)
                own = batching.GroupedRows.part_of(events)
                yield own.to_groups((events.kind == EventKind.ROW) & suspected_groups.contain(own))

        def check_groups(sides: Iterator[Sides]) -> ViolationCounts:
            found = ViolationCounts(options.examples)
            for groups in sides:
                rows = batching.GroupedRows.of_groups(groups["rows"])
                marked = batching.with_marks(rows, groups["marks"], options)
                for invariant in invariants():
                    if invariant.by_batch:
                        found.add(invariant.id, invariant.by_batch(marked))
            return found

        sides = {"rows": self.observed.map(chosen, batching.GROUPED), "marks": marks}
        return self.engine.grouped(sides, "batch_group").results(check_groups)

    def _checked_old_images(self, pairs: Dataset, number: int) -> list[ViolationCounts]:
        """Compare the images of suspected events with those of the events before them.

        :param pairs: ``old_image.SUSPECTED``.
        :param number: of rows in ``pairs``.
        """
        messages, decode = self.messages.rows, self.decode
        return suspected_violations(
            self.engine, pairs, number, messages, decode, self.options, self.decoded_at
        )

    def decoded_at(self, events: Iterable[EventID]) -> dict[EventID, dict[str, Any]]:
        """Return the decoded events at some positions; only their messages are decoded."""
        wanted = set(events)
        if not wanted:
            return {}
        messages = self.messages.at(sorted({event[:3] for event in wanted}))
        return events_at(messages.map(self.decode, DECODED), wanted)


_NO_STATE_ROWS = empty(StateRows.arrow_schema())
