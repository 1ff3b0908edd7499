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

import pyarrow as pa

from ticdc_producer.engine.dataset import Batches, Dataset, Engine, Order, Sides, Stored, Tagged
from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.engine.spool import empty
from ticdc_producer.model.event_line import DecodedRow
from ticdc_producer.model.fidelity import COARSE
from ticdc_producer.model.shapes import DECODED, DECODED_WIRE, BatchFunction
from ticdc_producer.replica.rows import GROUP, ROWS, Replica, row_changes
from ticdc_producer.verifier.comparison import (
    MATCHED,
    ComparedEvents,
    Comparison,
    Differences,
    match,
)
from ticdc_producer.verifier.events import EventID, EventKind, Events
from ticdc_producer.verifier.finding import Finding
from ticdc_producer.verifier.findings import add_stream_violations, example_events, findings, kinds
from ticdc_producer.verifier.invariants.registry import enabled_invariants
from ticdc_producer.verifier.match import (
    ExpectedState,
    ExpectedStream,
    add_out_of_order,
    compare_states,
)
from ticdc_producer.verifier.message_comparison import MessageComparison, comparison_of, message_comparison
from ticdc_producer.verifier.messages import LOCATION, Messages, events_at
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.passes import batch_groups as batching
from ticdc_producer.verifier.passes.key_groups import KeyGroups
from ticdc_producer.verifier.passes.key_pass import KeyFindings, batch_groups
from ticdc_producer.verifier.passes.old_image import SUSPECTED, suspected, suspected_violations
from ticdc_producer.verifier.passes.partition_marks import marks_across_slices
from ticdc_producer.verifier.passes.row_history import KeyChecks
from ticdc_producer.verifier.passes.slices import EVENT, Slices, SliceStates, observed_slices, states_before
from ticdc_producer.verifier.passes.slices import KINDS as OBSERVED
from ticdc_producer.verifier.passes.undecided_tables import undecided_tables
from ticdc_producer.verifier.snapshot import Snapshot
from ticdc_producer.verifier.stream_stats import StreamStats
from ticdc_producer.verifier.table_state import (
    StateComparison,
    StateRows,
    delivered_state,
    final_rows,
    followed_state,
)
from ticdc_producer.verifier.violations import ViolationCounts
from ticdc_producer.verifier.wire import WireDecoder

SUSPECTED_ROW, FLAGS, MATCH, STATE_ROW = "suspected", "mark", "matched", "state"
_GROUP_ROWS = {
    STATE_ROW: StateRows.arrow_schema(),
    SUSPECTED_ROW: SUSPECTED,
    FLAGS: batching.DUPLICATE_FLAGS,
    MATCH: MATCHED,
}
"""The records that groups of equal key yield: rows of states, events whose old image must be compared, flags
for the batching groups, and matched events."""
_DELIVERED, _EXPECTED, _SNAPSHOT = "delivered", "expected", "snapshot"
_POSITION = ("offset", "index")


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
    """The results of the groups of a part."""

    findings: KeyFindings
    differences: Differences = field(default_factory=Differences)


def check(decoded: pa.Table, options: VerifyOptions) -> list[Finding]:
    """Check decoded events against every enabled invariant; the most severe findings come first.

    An invariant that could not be checked gives a finding of severity ``not checked``; one that holds
    gives none.

    :param decoded: shape ``DECODED``.
    """
    engine = LocalEngine()
    in_order = decoded.sort_by([(name, "ascending") for name in LOCATION])
    events = engine.of_batches(in_order.cast(DECODED).combine_chunks().to_batches(), DECODED)
    return check_messages(engine, Messages(events), lambda batches: batches, options).findings


def check_messages(
    engine: Engine,
    messages: Messages,
    decode: BatchFunction,
    options: VerifyOptions,
    expected: ExpectedStream | None = None,
    expected_states: Callable[[StreamStats], Sequence[ExpectedState]] = lambda _stats: (),
    wire: WireDecoder | None = None,
    snapshot: Snapshot | None = None,
) -> CheckedMessages:
    """Verify messages of any number.

    :param decode: decodes messages (shape ``MESSAGES``) to events (shape ``DECODED``; ``DECODED_WIRE`` with
        ``wire``).
    :param expected_states: returns the expected rows, given the statistics of one pass over the stream.
    :param wire: reads what the expected messages are compared by; None: their bytes are not compared.
    :param snapshot: the tables and rows with which a consumer starts; None: none are known.
    """
    with ExitStack() as stack:
        shape = DECODED if wire is None else DECODED_WIRE
        decoded = messages.rows.merged().map(decode, shape).reused()
        observed = stack.enter_context(decoded.stored(partial(observed_slices, options), OBSERVED))
        slices: Sequence[Slices] = observed.results
        tables = () if snapshot is None else snapshot.tables
        stats, violations = StreamStats(options, snapshot=tables), ViolationCounts(options.examples)
        stats.merge(part.stats for part in slices)
        violations.merge(part.violations for part in slices)
        if stats.ddls and options.fidelity.commit_ts in COARSE:
            stats.undecided_tables |= undecided_tables(observed[EVENT], stats)
        reader = _Reader(stats, states_before(slices)[0])
        run = _Run(engine, messages, decode, decoded, observed[EVENT], reader, expected, wire, snapshot)
        return run.checked(violations, expected_states(stats), stack)


@dataclass(frozen=True)
class _Reader:
    """A reader of groups of the stream's events."""

    stats: StreamStats
    states_before: SliceStates

    @property
    def options(self) -> VerifyOptions:
        return self.stats.options

    def groups(self, sides: Iterator[Sides]) -> Iterator[tuple[KeyGroups, ComparedEvents | None]]:
        """Yield groups of delivered events, and the same with the expected events if there are any."""
        for groups in sides:
            delivered = marks_across_slices(Events.of(groups[_DELIVERED]), self.states_before)
            own = delivered.take(delivered.kind != EventKind.ERROR)
            snapshot = Events.of(groups[_SNAPSHOT]) if _SNAPSHOT in groups else None
            yield KeyGroups(own, self.options, self.stats, snapshot), _both(delivered, groups)


def _both(delivered: Events, groups: Sides) -> ComparedEvents | None:
    if _EXPECTED not in groups:
        return None
    compared = ComparedEvents.of_events(delivered, expected=False)
    return ComparedEvents.joined([compared, ComparedEvents.of(groups[_EXPECTED])])


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
    wire: WireDecoder | None
    snapshot: Snapshot | None

    @property
    def options(self) -> VerifyOptions:
        return self.reader.options

    @property
    def _message_comparison(self) -> MessageComparison | None:
        if self.expected is None:
            return None
        return message_comparison(self.engine, self.wire, self.expected, self.messages)

    def checked(
        self, violations: ViolationCounts, states: Sequence[ExpectedState], stack: ExitStack
    ) -> CheckedMessages:
        same = self._is_as_expected()
        groups = self.engine.grouped(self._sides(same=same), "key")
        grouped = stack.enter_context(groups.stored(self._check_of(states), _GROUP_ROWS))
        key_findings = self._key_findings(grouped, violations)
        differences = Differences()
        differences.merge(part.differences for part in grouped.results)
        if same:
            differences.expected = self.reader.stats.events
        elif self.expected is not None:
            add_out_of_order(differences, grouped[MATCH])
            if self._message_comparison is not None:
                self._message_comparison.compare_forms(differences, self.options)
        examples = self.decoded_at(
            [*example_events(key_findings.violations), *differences.delivered_examples]
        )
        return CheckedMessages(
            findings(key_findings.violations, self.reader.stats, examples),
            kinds(self.reader.stats, key_findings),
            None
            if self.expected is None
            else comparison_of(differences, self.expected, examples, self._message_comparison),
            compare_states(self.engine, states, self._delivered(states, grouped[STATE_ROW]), self.decoded_at),
        )

    def _is_as_expected(self) -> bool:
        """Return whether the events are the expected ones, in their order."""
        if self.expected is None:
            return False
        common = set(self.expected.events.schema.names) & set(self.decoded.schema.names)
        return self.decoded.is_same_as(self.expected.events, sorted(common.difference(_POSITION)))

    def _sides(self, *, same: bool) -> dict[str, Dataset]:
        """Return the events that are grouped.

        :param same: the events are the expected ones, so none needs its partner.
        """
        sides = {_DELIVERED: self.observed}
        if self.expected is not None and not same:
            sides[_EXPECTED] = self.expected.compared(self.options)
        if self.snapshot is not None:
            sides[_SNAPSHOT] = self.snapshot.observed(self.options)
        return sides

    def _key_findings(self, grouped: Stored[_Groups], violations: ViolationCounts) -> KeyFindings:
        """Return the findings of all groups, and check what they suspect.

        :param violations: those of the pass over the partitions.
        """
        key_findings = KeyFindings(ViolationCounts(self.options.examples))
        key_findings.violations.merge([violations])
        key_findings.merge(part.findings for part in grouped.results)
        add_stream_violations(key_findings, self.options)
        if key_findings.batch_suspected:
            key_findings.violations.merge(self._checked_batches(grouped[FLAGS], key_findings.batch_suspected))
        if key_findings.suspected:
            key_findings.violations.merge(
                self._checked_old_images(grouped[SUSPECTED_ROW], key_findings.suspected)
            )
        return key_findings

    def _check_of(
        self, states: Sequence[ExpectedState]
    ) -> Callable[[Iterator[Sides]], Generator[Tagged, None, _Groups]]:
        """Return the function that checks groups of equal key.

        :param states: the rows of their tables are delivered by groups, unless DDLs changed these tables.
        """
        reader = self.reader
        tables = [
            (state.until, {*state.tables} - reader.stats.replica(state.until).history.names)
            for state in states
        ]

        def check_groups(sides: Iterator[Sides]) -> Generator[Tagged, None, _Groups]:
            results = _Groups(KeyFindings(ViolationCounts(reader.options.examples)))
            for groups, both in reader.groups(sides):
                checks = KeyChecks(groups)
                results.findings.add(checks, enabled_invariants(reader.options))
                yield SUSPECTED_ROW, suspected(checks.history)
                yield FLAGS, batching.duplicate_flags(batch_groups(groups))
                if both is not None:
                    differences, matched = match(both)
                    results.differences.merge([differences])
                    yield MATCH, matched
                for number, (ts, names) in enumerate(tables):
                    final = final_rows(groups.with_snapshot, reader.options, reader.stats.ddls, ts)
                    yield STATE_ROW, delivered_state(final, number, names).to_batch()
            return results

        return check_groups

    def _delivered(self, states: Sequence[ExpectedState], rows: Dataset) -> Dataset:
        """Return the delivered rows of all tables (``StateRows``).

        :param rows: of tables that no DDL changed.
        """
        followed = [
            self._followed(replica, number, state)
            for number, state in enumerate(states)
            for replica in [self.reader.stats.replica(state.until)]
            if not replica.history.names.isdisjoint(state.tables)
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

        rows = self.decoded.map(changes, ROWS)
        if self.snapshot is not None:
            rows = rows.union(self.snapshot.events.map(changes, ROWS))
        by_group = rows.shuffle(GROUP, Order(GROUP))
        return by_group.map_groups(final, GROUP, StateRows.arrow_schema())

    def _checked_batches(
        self, flags: Dataset, suspected_groups: batching.SuspectedGroups
    ) -> list[ViolationCounts]:
        """Check batching groups.

        :param flags: ``batch_groups.DUPLICATE_FLAGS`` of all rows.
        """
        options = self.options

        def suspected_rows(batches: Batches) -> Batches:
            for batch in batches:
                events = Events.of(batch)
                own = batching.GroupedRows.part_of(events)
                yield own.to_groups((events.kind == EventKind.ROW) & suspected_groups.contain(own))

        def check_groups(sides: Iterator[Sides]) -> ViolationCounts:
            violations = ViolationCounts(options.examples)
            for groups in sides:
                rows = batching.GroupedRows.of_groups(groups["rows"])
                marked = batching.with_duplicate_flags(rows, groups["flags"], options)
                for invariant in enabled_invariants(options):
                    if invariant.by_batch:
                        violations.add(invariant.id, invariant.by_batch(marked))
            return violations

        sides = {"rows": self.observed.map(suspected_rows, batching.GROUPED), "flags": flags}
        return self.engine.grouped(sides, "batch_group").results(check_groups)

    def _checked_old_images(self, pairs: Dataset, number: int) -> list[ViolationCounts]:
        """Compare the images of suspected events with those of the events before them.

        :param pairs: ``old_image.SUSPECTED``.
        :param number: of rows in ``pairs``.
        """
        messages, decode = self.messages.rows, self.decode
        return suspected_violations(
            self.engine,
            pairs,
            number,
            messages,
            decode,
            self.options,
            self.decoded_at,
            None if self.snapshot is None else self.snapshot.events,
        )

    def decoded_at(self, events: Iterable[EventID]) -> dict[EventID, DecodedRow]:
        """Return the decoded events at some positions; only their messages are decoded.

        Those of the snapshot have negative offsets.
        """
        positions = set(events)
        early = {position for position in positions if position[2] < 0}
        rows = {} if self.snapshot is None else events_at(self.snapshot.events, early)
        return rows | self.messages.decoded_at(positions - early, self.decode, self.decoded.schema)


_NO_STATE_ROWS = empty(StateRows.arrow_schema())
