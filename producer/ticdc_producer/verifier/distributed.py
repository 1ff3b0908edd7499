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
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import from_arrow_schema

from ticdc_producer.model.dataframes import DECODED
from ticdc_producer.model.whole_groups import whole_groups
from ticdc_producer.spark.materialize import materialized
from ticdc_producer.spark.task_results import task_results, task_rows, with_results
from ticdc_producer.verifier import batch_groups as batching
from ticdc_producer.verifier.comparison import MATCHED, Comparison, DeliveryOrder, Differences, match
from ticdc_producer.verifier.events import OBSERVED, EventKind, Events
from ticdc_producer.verifier.finding import Finding
from ticdc_producer.verifier.findings import add_stream_violations, example_events, findings, kinds
from ticdc_producer.verifier.invariants import row_state
from ticdc_producer.verifier.invariants.registry import INVARIANTS
from ticdc_producer.verifier.key_checks import KeyChecks
from ticdc_producer.verifier.key_groups import KeyGroups
from ticdc_producer.verifier.key_pass import KeyFindings, batch_groups
from ticdc_producer.verifier.observe import Observer
from ticdc_producer.verifier.old_image import SUSPECTED, old_image_violations, suspected
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.partition_marks import carried_marks
from ticdc_producer.verifier.slices import Decode, Slices, SliceStates, observed_events, states_before
from ticdc_producer.verifier.stream_facts import StreamFacts
from ticdc_producer.verifier.table_state import (
    BY_CONTENT,
    MAX_EXAMPLES,
    STATE_ROWS,
    RowDifferences,
    StateComparison,
    compare_rows,
    delivered_state,
    expected_state,
    final_rows,
    state_comparison,
)
from ticdc_producer.verifier.violations import EventID, ViolationCounts

_Batches: TypeAlias = Iterator[pa.RecordBatch]
_KEY = ("key", "key_check")
_LOCATION = ("topic", "partition", "offset", "index")


@dataclass(frozen=True)
class ExpectedState:
    """The expected rows at a time.

    :param rows: shape ``table_state.STATE``.
    :param not_compared: tables missing in it, for the report.
    :param until: the time as TSO; None: the end.
    """

    rows: DataFrame
    not_compared: Collection[str]
    until: int | None = None


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
    messages: DataFrame,
    decode: Decode,
    options: VerifyOptions,
    expected: DataFrame | None = None,
    expected_states: Callable[[StreamFacts], Sequence[ExpectedState]] = lambda _facts: (),
) -> CheckedMessages:
    """Verify messages of any number.

    :param messages: shape ``MESSAGES``. A task has the messages of a partition in the order of their offsets,
        and those of two tasks do not overlap.
    :param expected: the expected events (shape ``EXPECTED_EVENTS``).
    :param expected_states: returns the expected rows, given what one pass over the stream shows.
    """
    with ExitStack() as stack:
        observed = stack.enter_context(materialized(observed_events(messages, decode, options)))
        slices: list[Slices] = task_results(observed)
        facts, violations = StreamFacts(options), ViolationCounts(options.examples)
        facts.merge(one.facts for one in slices)
        violations.merge(one.violations for one in slices)
        reader = _Reader(facts, states_before(slices))
        run = _Run(messages, decode, task_rows(observed), reader, expected)
        return run.checked(violations, expected_states(facts), stack)


@dataclass(frozen=True)
class _Reader:
    """What a task needs to know of the stream to read groups of its events."""

    facts: StreamFacts
    states_before: SliceStates

    @property
    def options(self) -> VerifyOptions:
        return self.facts.options

    def groups(self, batches: _Batches) -> Iterator[tuple[KeyGroups, Events]]:
        """Groups of delivered events, and the same with the expected events."""
        for batch in whole_groups(batches, _KEY):
            both = carried_marks(Events.of(batch), self.states_before)
            own = both.take(~both.expected & (both.kind != EventKind.ERROR))
            yield KeyGroups(own, self.options, self.facts), both


@dataclass(frozen=True)
class _Run:
    messages: DataFrame
    decode: Decode
    observed: DataFrame
    reader: _Reader
    expected: DataFrame | None

    def checked(
        self, violations: ViolationCounts, states: Sequence[ExpectedState], stack: ExitStack
    ) -> CheckedMessages:
        tables = [
            {
                (row["schema"], row["table"])
                for row in state.rows.select("schema", "table").distinct().collect()
            }
            for state in states
        ]
        until = [state.until for state in states]
        grouped = stack.enter_context(materialized(self._checked_groups(until, tables)))
        found = KeyFindings(ViolationCounts(self.reader.options.examples))
        found.violations.merge([violations])
        differences = Differences()
        for one in task_results(grouped):
            found.merge([one.findings])
            differences.merge([one.differences])
        add_stream_violations(found, self.reader.options)
        self._check_suspected(found.violations, found)
        rows = task_rows(grouped)
        return CheckedMessages(
            findings(found.violations, self.reader.facts, self._rows_at(example_events(found.violations))),
            kinds(self.reader.facts, found),
            None if self.expected is None else self._comparison(differences, rows),
            self._states(states, tables, rows),
        )

    def _checked_groups(
        self, until: Sequence[int | None], tables: Sequence[Collection[tuple[str, str]]]
    ) -> DataFrame:
        reader, compares = self.reader, self.expected is not None

        def check(batches: _Batches) -> Generator[pa.RecordBatch, None, _Groups]:
            found = _Groups(KeyFindings(ViolationCounts(reader.options.examples)))
            for groups, both in reader.groups(batches):
                found.findings.add(KeyChecks(groups), INVARIANTS)
                if compares:
                    differences, matched = match(both)
                    found.differences.merge([differences])
                    yield _padded(matched)
                for number, (ts, names) in enumerate(zip(until, tables, strict=True)):
                    final = final_rows(groups.events, reader.options, reader.facts.ddls, ts)
                    yield _padded(delivered_state(final, number, names))
            return found

        events = self.observed
        if self.expected is not None:
            events = events.unionByName(_observed_events(self.expected, self.reader.options, expected=True))
        return with_results(_in_groups(events), check, _GROUP_ROWS)

    def _check_suspected(self, violations: ViolationCounts, found: KeyFindings) -> None:
        if found.batch_suspected:
            for one in task_results(self._checked_batches()):
                violations.merge([one])
        if found.suspected:
            for one in task_results(self._checked_old_images()):
                violations.merge([one])

    def _checked_batches(self) -> DataFrame:
        reader = self.reader

        def rows(batches: _Batches) -> _Batches:
            for groups, _ in reader.groups(batches):
                yield batching.to_batch(batch_groups(groups))

        def check(batches: _Batches) -> Generator[pa.RecordBatch, None, ViolationCounts]:
            found = ViolationCounts(reader.options.examples)
            for batch in whole_groups(batches, batching.GROUP):
                groups = batching.from_batch(batch, reader.options)
                for invariant in INVARIANTS:
                    if invariant.by_batch:
                        found.add(invariant.id, invariant.by_batch(groups))
            yield from ()
            return found

        shape = from_arrow_schema(batching.GROUPED)
        grouped = _in_groups(self.observed).mapInArrow(rows, shape)
        in_order = grouped.repartition(*batching.GROUP).sortWithinPartitions(*batching.GROUP)
        return with_results(in_order, check, _NO_ROWS)

    def _checked_old_images(self) -> DataFrame:
        reader = self.reader

        def pairs(batches: _Batches) -> _Batches:
            for groups, _ in reader.groups(batches):
                yield suspected(KeyChecks(groups).history)

        def check(batches: _Batches) -> Generator[pa.RecordBatch, None, ViolationCounts]:
            found = ViolationCounts(reader.options.examples)
            for batch in batches:
                found.add(row_state.OLD_IMAGE.id, old_image_violations(batch.to_pylist(), reader.options))
            yield from ()
            return found

        candidates = _in_groups(self.observed).mapInArrow(pairs, from_arrow_schema(SUSPECTED))
        rows = self._decoded(self.messages).where("kind = 'row'")
        before = rows.select(
            "topic", *(sf.col(name).alias(f"previous_{name}") for name in (*_LOCATION[1:], "after"))
        )
        joined = candidates.join(rows, [*_LOCATION]).join(
            before, ["topic", *(f"previous_{name}" for name in _LOCATION[1:])]
        )
        return with_results(joined, check, _NO_ROWS)

    def _comparison(self, differences: Differences, rows: DataFrame) -> Comparison:
        add_out_of_order(differences, rows.where(sf.col("state").isNull()))
        return differences.comparison(
            _rows_at(self.expected, differences.expected_examples),
            self._rows_at(differences.delivered_examples),
        )

    def _states(
        self, states: Sequence[ExpectedState], tables: Sequence[Collection[tuple[str, str]]], rows: DataFrame
    ) -> list[StateComparison]:
        if not states:
            return []

        def compare(batches: _Batches) -> Generator[pa.RecordBatch, None, dict[int, RowDifferences]]:
            found: dict[int, RowDifferences] = {}
            for batch in whole_groups(batches, BY_CONTENT):
                for number, differences in compare_rows(batch).items():
                    found.setdefault(number, RowDifferences()).merge(differences)
            yield from ()
            return found

        delivered = rows.where(sf.col("state").isNotNull()).select(*STATE_ROWS.names)
        both = reduce(
            DataFrame.unionByName,
            (_expected_rows(state.rows, number) for number, state in enumerate(states)),
            delivered,
        )
        in_groups = both.repartition(*BY_CONTENT).sortWithinPartitions(*BY_CONTENT)
        found: dict[int, RowDifferences] = {}
        for one in task_results(with_results(in_groups, compare, _NO_ROWS)):
            for number, differences in one.items():
                found.setdefault(number, RowDifferences()).merge(differences)
        return [
            self._state(state, len(tables[number]), found.get(number, RowDifferences()))
            for number, state in enumerate(states)
        ]

    def _state(self, state: ExpectedState, tables: int, differences: RowDifferences) -> StateComparison:
        return state_comparison(
            differences,
            tables,
            state.not_compared,
            _rows_of(state.rows, {content for *_, content in differences.lacking}),
            self._rows_at(differences.unexpected_events).values(),
        )

    def _decoded(self, messages: DataFrame) -> DataFrame:
        return messages.mapInArrow(self.decode, DECODED)

    def _rows_at(self, events: Iterable[EventID]) -> dict[EventID, dict[str, Any]]:
        """The decoded events at some positions; only their messages are decoded."""
        wanted = sorted(set(events))
        if not wanted:
            return {}
        chosen = _at(self.messages, wanted, _LOCATION[:3])
        return _rows_at(self._decoded(chosen), wanted)


def compare_events(expected: DataFrame, decoded: DataFrame) -> Comparison:
    """Compare expected events with decoded ones, without any other check.

    :param expected: shape ``EXPECTED_EVENTS``.
    :param decoded: shape ``DECODED``; messages that do not decode are ignored.
    """
    options = VerifyOptions()

    def matches(batches: _Batches) -> Generator[pa.RecordBatch, None, Differences]:
        found = Differences()
        for batch in whole_groups(batches, _KEY):
            differences, matched = match(Events.of(batch))
            found.merge([differences])
            yield matched
        return found

    both = _observed_events(expected, options, expected=True).unionByName(
        _observed_events(decoded, options, expected=False)
    )
    with materialized(with_results(_in_groups(both), matches, MATCHED)) as grouped:
        differences = Differences()
        differences.merge(task_results(grouped))
        add_out_of_order(differences, task_rows(grouped))
    return differences.comparison(
        _rows_at(expected, differences.expected_examples), _rows_at(decoded, differences.delivered_examples)
    )


def add_out_of_order(differences: Differences, matched: DataFrame) -> None:
    """Add the events that were delivered before one that they were expected after.

    :param matched: with the columns of ``comparison.MATCHED``.
    """

    def order(batches: _Batches) -> Generator[pa.RecordBatch, None, Differences]:
        found, delivery = Differences(), DeliveryOrder()
        for batch in batches:
            found.merge([delivery.add(batch)])
        yield from ()
        return found

    partition = ("topic", "partition")
    rows = matched.select(*MATCHED.names).repartition(*partition)
    in_order = rows.sortWithinPartitions(*partition, "expected_position")
    differences.merge(task_results(with_results(in_order, order, _NO_ROWS)))


def _in_groups(events: DataFrame) -> DataFrame:
    return events.repartition(*_KEY).sortWithinPartitions(*_KEY)


def _at(frame: DataFrame, events: Sequence[EventID], names: Sequence[str]) -> DataFrame:
    """The rows of a frame with the positions of some events."""
    types = ("string", "int", "long", "int")[: len(names)]
    schema = ", ".join(f"`{name}` {kind}" for name, kind in zip(names, types, strict=True))
    keys = sorted({event[: len(names)] for event in events})
    wanted = frame.sparkSession.createDataFrame(keys, schema)
    return frame.join(sf.broadcast(wanted), [*names], "left_semi")


def _rows_at(frame: DataFrame | None, events: Iterable[EventID]) -> dict[EventID, dict[str, Any]]:
    """The decoded or expected events at some positions."""
    wanted = sorted(set(events))
    if frame is None or not wanted:
        return {}
    rows = _at(frame, wanted, _LOCATION).toArrow().to_pylist()
    return {tuple(row[name] for name in _LOCATION): row for row in rows}


def _observed_events(events: DataFrame, options: VerifyOptions, *, expected: bool) -> DataFrame:
    def observe(batches: _Batches) -> _Batches:
        observer = Observer(options)
        for batch in batches:
            if batch.num_rows:
                yield observer.observe(batch, expected=expected).events.batch()

    return events.mapInArrow(observe, from_arrow_schema(OBSERVED))


def _expected_rows(state: DataFrame, number: int) -> DataFrame:
    def rows(batches: _Batches) -> _Batches:
        for batch in batches:
            yield expected_state(batch, number)

    return state.mapInArrow(rows, from_arrow_schema(STATE_ROWS))


def _rows_of(state: DataFrame, contents: Collection[int]) -> list[dict[str, Any]]:
    """Rows of a state with some contents, at most as many as are shown."""
    if not contents:
        return []

    def chosen(batches: _Batches) -> _Batches:
        for batch in batches:
            rows = expected_state(batch, 0)
            numbers = rows.column("position").to_numpy()
            yield batch.take(pa.array(numbers[np.isin(rows.column("content").to_numpy(), list(contents))]))

    found = state.mapInArrow(chosen, state.schema).limit(MAX_EXAMPLES).toArrow().to_pylist()
    return list(found)


_GROUP_ROWS = pa.schema([*MATCHED, *(field for field in STATE_ROWS if field.name not in MATCHED.names)])
"""Rows of :data:`MATCHED`, without ``state``, and of :data:`STATE_ROWS`."""
_NO_ROWS = pa.schema([("nothing", pa.bool_())])


def _padded(rows: pa.RecordBatch) -> pa.RecordBatch:
    columns = [
        rows.column(field.name) if field.name in rows.schema.names else pa.nulls(rows.num_rows, field.type)
        for field in _GROUP_ROWS
    ]
    return pa.record_batch(columns, schema=_GROUP_ROWS)
