"""Verifies a stream of any size: Spark distributes the functions that ``check`` composes for a small one.

::

    messages ▶ [ decode → observe → mark ] ──by row key──▶ [ history, order, barriers; match; state ]
                                           ──by partition──▶ [ order of matched events ]
                                           ──by content──▶ [ rows of the tables ]

Only keys, fingerprints and positions move. The images of examples are decoded again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import from_arrow_schema

from ticdc_producer.model.dataframes import DECODED
from ticdc_producer.model.shapes import BatchFunction
from ticdc_producer.model.whole_groups import whole_groups
from ticdc_producer.replica.rows import GROUP, ROWS, Replica, row_changes
from ticdc_producer.spark.background_jobs import materialized
from ticdc_producer.spark.task_results import results_of, task_results, task_rows, with_results
from ticdc_producer.verifier import batch_groups as batching
from ticdc_producer.verifier.comparison import MATCHED, ComparedEvents, Comparison, Differences, match
from ticdc_producer.verifier.distributed_comparison import (
    ExpectedState,
    ExpectedStream,
    add_out_of_order,
    compare_states,
    in_buckets,
)
from ticdc_producer.verifier.event_blocks import Gathering, gathered, whole_buckets
from ticdc_producer.verifier.event_columns import BLOCKS
from ticdc_producer.verifier.event_lookup import LOCATION, events_at
from ticdc_producer.verifier.events import EventKind, Events
from ticdc_producer.verifier.finding import Finding
from ticdc_producer.verifier.findings import add_stream_violations, example_events, findings, kinds
from ticdc_producer.verifier.invariants import row_state
from ticdc_producer.verifier.invariants.registry import INVARIANTS
from ticdc_producer.verifier.key_groups import KeyGroups
from ticdc_producer.verifier.key_pass import KeyFindings, batch_groups
from ticdc_producer.verifier.messages import Messages
from ticdc_producer.verifier.old_image import SUSPECTED, old_image_violations, suspected, with_images
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.partition_marks import carried_marks
from ticdc_producer.verifier.row_history import KeyChecks
from ticdc_producer.verifier.slices import Slices, SliceStates, observed_events, states_before
from ticdc_producer.verifier.stream_facts import StreamFacts
from ticdc_producer.verifier.table_state import (
    StateComparison,
    StateRows,
    delivered_state,
    final_rows,
    followed_state,
)
from ticdc_producer.verifier.violations import EventID, ViolationCounts

_Batches: TypeAlias = Iterator[pa.RecordBatch]


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
    """What one task found in its groups."""

    findings: KeyFindings
    differences: Differences = field(default_factory=Differences)


def check_messages(
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
        events = stack.enter_context(materialized(observed_events(messages, decode, options)))
        slices: list[Slices] = task_results(events)
        facts, violations = StreamFacts(options), ViolationCounts(options.examples)
        facts.merge(one.facts for one in slices)
        violations.merge(one.violations for one in slices)
        reader = _Reader(facts, states_before(slices))
        run = _Run(messages, decode, task_rows(events), reader, expected)
        return run.checked(violations, expected_states(facts), stack)


@dataclass(frozen=True)
class _Reader:
    """What a task needs to know of the stream to read groups of its events."""

    facts: StreamFacts
    states_before: SliceStates

    @property
    def options(self) -> VerifyOptions:
        return self.facts.options

    def groups(self, batches: _Batches) -> Iterator[tuple[KeyGroups, ComparedEvents]]:
        """Groups of delivered events, and the same with the expected events."""
        for batch in whole_buckets(batches):
            expected = pc.equal(batch.column("width"), ComparedEvents.width())
            delivered = carried_marks(Events.of(batch.filter(pc.invert(expected))), self.states_before)
            both = [
                ComparedEvents.chosen(delivered, expected=False),
                ComparedEvents.of(batch.filter(expected)),
            ]
            own = delivered.take(delivered.kind != EventKind.ERROR)
            yield KeyGroups(own, self.options, self.facts), ComparedEvents.joined(both)


@dataclass(frozen=True)
class _Run:
    messages: Messages
    decode: BatchFunction
    observed: DataFrame
    reader: _Reader
    expected: ExpectedStream | None

    def checked(
        self, violations: ViolationCounts, states: Sequence[ExpectedState], stack: ExitStack
    ) -> CheckedMessages:
        wanted = [(state.until, state.tables) for state in states]
        grouped = stack.enter_context(materialized(self._checked_groups(wanted)))
        found = KeyFindings(ViolationCounts(self.reader.options.examples))
        found.violations.merge([violations])
        differences = Differences()
        for one in task_results(grouped):
            found.merge([one.findings])
            differences.merge([one.differences])
        add_stream_violations(found, self.reader.options)
        rows = task_rows(grouped)
        if found.batch_suspected:
            marks = rows.where(sf.col("batch_mark").isNotNull()).select(*batching.MARKS.names)
            found.violations.merge(self._checked_batches(marks, found.batch_suspected))
        if found.suspected:
            pairs = rows.where(sf.col("previous_offset").isNotNull()).select(*SUSPECTED.names)
            found.violations.merge(self._checked_old_images(pairs, found.suspected))
        if self.expected is not None:
            add_out_of_order(differences, rows.where(sf.col("positions").isNotNull()))
        examples = self._decoded_at([*example_events(found.violations), *differences.delivered_examples])
        return CheckedMessages(
            findings(found.violations, self.reader.facts, examples),
            kinds(self.reader.facts, found),
            None
            if self.expected is None
            else differences.comparison(self.expected.at(differences.expected_examples), examples),
            compare_states(states, self._delivered(states, rows), self._decoded_at),
        )

    def _checked_groups(self, states: Sequence[tuple[int | None, Collection[tuple[str, str]]]]) -> DataFrame:
        """What is found in groups of equal key, and the rows of ``_GROUP_ROWS``.

        :param states: for each expected state its time and its tables.
        """
        reader, compares = self.reader, self.expected is not None
        wanted = [(ts, {*names} - reader.facts.replica(ts).lineage.names) for ts, names in states]

        def check(batches: _Batches) -> Generator[pa.RecordBatch, None, _Groups]:
            found = _Groups(KeyFindings(ViolationCounts(reader.options.examples)))
            left = Gathering[StateRows]()
            for groups, both in reader.groups(batches):
                checks = KeyChecks(groups)
                found.findings.add(checks, INVARIANTS)
                yield _padded(suspected(checks.history))
                yield _padded(batching.marks(batch_groups(groups)))
                if compares:
                    differences, matched = match(both)
                    found.differences.merge([differences])
                    yield _padded(matched)
                for number, (ts, names) in enumerate(wanted):
                    final = final_rows(groups.events, reader.options, reader.facts.ddls, ts)
                    for part in left.add(delivered_state(final, number, names)):
                        yield _padded(part.by_content())
            for part in left.rest():
                yield _padded(part.by_content())
            return found

        events = self.observed
        if self.expected is not None:
            events = events.unionByName(self.expected.observed(self.reader.options))
        return with_results(in_buckets(events).mapInArrow, check, _GROUP_ROWS)

    def _delivered(self, states: Sequence[ExpectedState], rows: DataFrame) -> DataFrame:
        """The delivered rows of all tables (``event_columns.BLOCKS`` of ``StateRows``).

        :param rows: of tables that no DDL changed.
        """
        delivered = rows.where(sf.col("width").isNotNull()).select(*BLOCKS.names)
        for number, state in enumerate(states):
            replica = self.reader.facts.replica(state.until)
            if not replica.lineage.names.isdisjoint(state.tables):
                delivered = delivered.unionByName(self._followed(replica, number, state))
        return delivered

    def _followed(self, replica: Replica, number: int, state: ExpectedState) -> DataFrame:
        """The rows of tables that DDLs changed; their images move, those of no other table."""
        decode, until, tables = self.decode, state.until, state.tables

        def changes(batches: _Batches) -> _Batches:
            return (row_changes(decoded, replica, until) for decoded in decode(batches))

        def final(batches: _Batches) -> _Batches:
            rows = (followed_state(batch, replica, number, tables) for batch in whole_groups(batches, GROUP))
            return (part.by_content() for part in gathered(chain.from_iterable(rows)))

        rows = self.messages.mapped(changes, from_arrow_schema(ROWS))
        in_order = rows.repartition(*GROUP).sortWithinPartitions(*GROUP)
        return in_order.mapInArrow(final, from_arrow_schema(BLOCKS))

    def _checked_batches(
        self, marks: DataFrame, suspected_groups: batching.SuspectedGroups
    ) -> list[ViolationCounts]:
        """Check batching groups.

        :param marks: ``batch_groups.MARKS`` of all rows.
        """
        reader = self.reader

        def chosen(batches: _Batches) -> Iterator[batching.GroupedRows]:
            for batch in batches:
                events = Events.of(batch)
                own = batching.GroupedRows.part_of(events)
                yield own.take((events.kind == EventKind.ROW) & suspected_groups.contain(own))

        def rows(batches: _Batches) -> _Batches:
            return (part.by_group() for part in gathered(chosen(batches)))

        def check(batches: _Batches) -> ViolationCounts:
            found = ViolationCounts(reader.options.examples)
            for batch in whole_buckets(batches):
                groups = batching.with_marks(batch, reader.options)
                for invariant in INVARIANTS:
                    if invariant.by_batch:
                        found.add(invariant.id, invariant.by_batch(groups))
            return found

        unmarked = self.observed.mapInArrow(rows, from_arrow_schema(BLOCKS))
        return results_of(in_buckets(unmarked.unionByName(marks, allowMissingColumns=True)), check)

    def _checked_old_images(self, pairs: DataFrame, number: int) -> list[ViolationCounts]:
        """Compare the images of suspected events with those of the events before them.

        Only the messages with these events are decoded. Each join names its method, because Spark broadcasts
        tables that are small on disk and large in memory.

        :param pairs: shape ``SUSPECTED``.
        :param number: of rows in ``pairs``.
        """
        reader = self.reader
        if number <= FEW_SUSPECTED:
            few = ViolationCounts(reader.options.examples)
            candidates = with_images(pairs.toArrow().to_pylist(), self._decoded_at)
            few.add(row_state.OLD_IMAGE.id, old_image_violations(candidates, reader.options))
            return [few]

        def check(batches: _Batches) -> ViolationCounts:
            found = ViolationCounts(reader.options.examples)
            for batch in batches:
                found.add(row_state.OLD_IMAGE.id, old_image_violations(batch.to_pylist(), reader.options))
            return found

        previous = [f"previous_{name}" for name in LOCATION[1:]]
        own = pairs.select(*LOCATION[:3])
        before = pairs.select("topic", *previous[:2]).toDF(*LOCATION[:3])
        where = own.union(before).distinct().hint("broadcast" if number <= _BROADCAST else "merge")
        messages = self.messages.frame.join(where, [*LOCATION[:3]], "left_semi")
        with materialized(messages.mapInArrow(self.decode, DECODED).where("kind = 'row'")) as rows:
            after = rows.select(
                "topic", *(rows[name].alias(f"previous_{name}") for name in (*LOCATION[1:], "after"))
            )
            images = pairs.join(rows.hint("merge"), [*LOCATION]).join(
                after.hint("merge"), ["topic", *previous]
            )
            return results_of(images, check)

    def _decoded_at(self, events: Iterable[EventID]) -> dict[EventID, dict[str, Any]]:
        """The decoded events at some positions; only their messages are decoded."""
        wanted = set(events)
        if not wanted:
            return {}
        messages = self.messages.at(sorted({event[:3] for event in wanted}))
        return events_at(messages(self.decode, DECODED), wanted)


_GROUP_ROWS = pa.schema(
    {field.name: field.type for field in (*SUSPECTED, *batching.MARKS, *MATCHED, *BLOCKS)}.items()
)
"""Rows of :data:`SUSPECTED`, which alone have ``previous_offset``, of ``batch_groups.MARKS``, which alone
have ``batch_mark``, of :data:`MATCHED`, which alone have ``positions``, and blocks of ``StateRows``, which
alone have ``width``."""
FEW_SUSPECTED = 1000
"""Up to this many suspected events, their messages are read one by one."""
_BROADCAST = 100_000
"""Suspected events whose positions each task gets; more of them are joined by a sort."""


def _padded(rows: pa.RecordBatch) -> pa.RecordBatch:
    columns = [
        rows.column(field.name).cast(field.type)
        if field.name in rows.schema.names
        else pa.nulls(rows.num_rows, field.type)
        for field in _GROUP_ROWS
    ]
    return pa.record_batch(columns, schema=_GROUP_ROWS)
