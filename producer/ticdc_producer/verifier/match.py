"""Matches expected events and rows with delivered ones, grouped by equal keys."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa

from ticdc_producer.engine.dataset import Batches, Dataset, Engine, Order, Part, Sides, Tagged, union
from ticdc_producer.model.column_functions import whole_groups
from ticdc_producer.model.event_line import DecodedRow, StateRow
from ticdc_producer.verifier.comparison import (
    MATCHED,
    WINDOW,
    ComparedEvents,
    DeliveryOrder,
    Differences,
    match,
)
from ticdc_producer.verifier.events import EventID, without_tombstones
from ticdc_producer.verifier.messages import MOST_EVENTS, events_at
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.passes.observe import Observer
from ticdc_producer.verifier.table_state import (
    MAX_EXAMPLES,
    RowDifferences,
    StateComparison,
    StateRows,
    Tables,
    compare_rows,
    expected_state,
    state_comparison,
)
from ticdc_producer.verifier.wire import ExpectedMessages


@dataclass(frozen=True)
class ExpectedStream:
    """The events of a correct stream.

    :param events: shape ``EXPECTED_EVENTS`` in any order, or ``EXPECTED_WIRE`` with digests of bytes.
    :param in_order: whether each part has one partition, in the order of its offsets.
    :param wire: the messages with these events; None: they are unknown, or are not compared.
    """

    events: Dataset
    in_order: bool = False
    wire: ExpectedMessages | None = None

    def compared(self, options: VerifyOptions) -> Dataset:
        """Return the events as ``ComparedEvents``."""
        return compared_events(self.events, options, expected=True)

    def at(self, positions: Collection[EventID]) -> dict[EventID, DecodedRow]:
        """Return the events at some positions."""
        return events_at(self.events, positions, in_order=self.in_order)


@dataclass(frozen=True)
class ExpectedState:
    """The expected rows at a time.

    :param rows: returns the rows of some of the tables (shape ``STATE``), and possibly of others.
    :param tables: schema and table of the tables that are compared.
    :param uncomparable: other tables, for the report, with the reason.
    :param until: the time as TSO; None: the end.
    """

    rows: Callable[[Tables], Dataset]
    tables: Tables
    uncomparable: Mapping[str, str]
    until: int | None = None


def compared_events(events: Dataset, options: VerifyOptions, *, expected: bool) -> Dataset:
    """Return decoded or expected events as ``ComparedEvents``."""
    observe = partial(_compared, options, expected)
    return events.merged().map(observe, ComparedEvents.arrow_schema())


def _compared(options: VerifyOptions, expected: bool, batches: Batches) -> Batches:
    observer = Observer(options)
    for batch in map(without_tombstones, batches):
        if batch.num_rows:
            yield ComparedEvents.of_events(observer.observe(batch).events, expected=expected).to_batch()


_MATCH = "matched"


def event_differences(
    engine: Engine, expected: Dataset, decoded: Dataset, options: VerifyOptions
) -> Differences:
    """Return the differences between expected and decoded events.

    :param decoded: shape ``DECODED`` or ``DECODED_WIRE``; messages that do not decode are ignored.
    """

    def matches(sides: Iterator[Sides]) -> Generator[Tagged, None, Differences]:
        total = Differences()
        for groups in sides:
            differences, matched = match(
                ComparedEvents.joined([ComparedEvents.of(side) for side in groups.values()])
            )
            total.merge([differences])
            yield _MATCH, matched
        return total

    sides = {
        "delivered": compared_events(decoded, options, expected=False),
        "expected": compared_events(expected, options, expected=True),
    }
    with engine.grouped(sides, "key").stored(matches, {_MATCH: MATCHED}) as grouped:
        differences = Differences()
        differences.merge(grouped.results)
        add_out_of_order(differences, grouped[_MATCH])
    return differences


def add_out_of_order(differences: Differences, matched: Dataset) -> None:
    """Add the events that were delivered before one that they were expected after.

    :param matched: ``comparison.MATCHED``.
    """

    def order(_part: Part, batches: Batches) -> Differences:
        total, delivery = Differences(), DeliveryOrder()
        for batch in whole_groups(batches, WINDOW):
            total.merge([delivery.add(batch)])
        return total

    differences.merge(matched.shuffle(WINDOW[:2], Order(WINDOW)).results(order))


def compare_states(
    engine: Engine,
    states: Sequence[ExpectedState],
    delivered: Dataset,
    decoded_at: Callable[[Iterable[EventID]], dict[EventID, DecodedRow]],
) -> list[StateComparison]:
    """Compare expected rows with delivered ones.

    :param delivered: ``StateRows``, with the number of the state in ``states``.
    :param decoded_at: returns the decoded events at some positions.
    """
    if not states:
        return []
    expected = union([_numbered(state, number) for number, state in enumerate(states)])
    grouped = engine.grouped({"delivered": delivered, "expected": expected}, "content")
    by_state: dict[int, RowDifferences] = {}
    for of_part in grouped.results(_differences):
        _add(by_state, of_part)
    return [
        state_comparison(
            differences,
            len(state.tables),
            state.uncomparable,
            _lacking(state, differences),
            decoded_at(differences.unexpected_events).values(),
        )
        for number, state in enumerate(states)
        for differences in [by_state.get(number, RowDifferences())]
    ]


def _lacking(state: ExpectedState, differences: RowDifferences) -> list[StateRow]:
    """Return the missing rows that are examples; the rows of their tables are made again."""
    missing = differences.first_missing
    tables = {(schema, table) for schema, table, *_ in missing}
    return _rows_with(state.rows(tables), {content for *_, content in missing}) if tables else []


def _numbered(state: ExpectedState, number: int) -> Dataset:
    rows = state.rows(state.tables)
    return rows.map(partial(_state_rows, number), StateRows.arrow_schema())


def _state_rows(number: int, batches: Batches) -> Batches:
    return (expected_state(batch, number).to_batch() for batch in batches)


def _differences(sides: Iterator[Sides]) -> dict[int, RowDifferences]:
    by_state: dict[int, RowDifferences] = {}
    for groups in sides:
        rows = StateRows.joined([StateRows.of(side) for side in groups.values()])
        _add(by_state, compare_rows(rows))
    return by_state


def _add(by_state: dict[int, RowDifferences], others: dict[int, RowDifferences]) -> None:
    for number, differences in others.items():
        by_state.setdefault(number, RowDifferences()).merge(differences)


def _rows_with(state: Dataset, contents: Collection[int]) -> list[StateRow]:
    """Return rows of a state (shape ``STATE``) with some contents, at most as many as are listed.

    :param state: all its rows.
    """
    if not contents:
        return []
    hashes = np.array(sorted(contents))

    def matching(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = expected_state(batch, 0)
            yield batch.take(pa.array(rows.position[np.isin(rows.content, hashes)])).slice(0, MAX_EXAMPLES)

    matches = state.map(matching, state.schema).small(MOST_EVENTS).slice(0, MAX_EXAMPLES)
    return [*matches.to_pylist()]
