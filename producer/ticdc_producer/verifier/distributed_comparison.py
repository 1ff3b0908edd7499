"""Compares expected events and rows of any number with delivered ones; Spark brings equal ones together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeAlias

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema

from ticdc_producer.model.shapes import BatchFunction
from ticdc_producer.model.whole_groups import whole_groups
from ticdc_producer.spark.background_jobs import materialized
from ticdc_producer.spark.task_results import MapInArrow, results_of, task_results, task_rows, with_results
from ticdc_producer.verifier.comparison import (
    MATCHED,
    WINDOW,
    ComparedEvents,
    Comparison,
    DeliveryOrder,
    Differences,
    match,
)
from ticdc_producer.verifier.event_blocks import BUCKET, gathered, whole_buckets
from ticdc_producer.verifier.event_columns import BLOCKS
from ticdc_producer.verifier.event_lookup import events_at, rows_with
from ticdc_producer.verifier.observe import Observer
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.table_state import (
    RowDifferences,
    StateComparison,
    StateRows,
    Tables,
    compare_rows,
    expected_state,
    state_comparison,
)
from ticdc_producer.verifier.violations import EventID

_Batches: TypeAlias = Iterator[pa.RecordBatch]


@dataclass(frozen=True)
class ExpectedState:
    """The expected rows at a time.

    :param rows: given some of the tables, returns what applies functions to their rows
        (shape ``table_state.STATE``).
    :param tables: schema and table of the tables that are compared.
    :param not_compared: other tables, for the report, with the reason.
    :param until: the time as TSO; None: the end.
    """

    rows: Callable[[Tables], MapInArrow]
    tables: Tables
    not_compared: Mapping[str, str]
    until: int | None = None


def observer_of(options: VerifyOptions, *, expected: bool) -> BatchFunction:
    """A function that makes blocks of ``ComparedEvents`` of decoded or expected events."""

    def observe(batches: _Batches) -> _Batches:
        observer = Observer(options)
        events = (
            ComparedEvents.chosen(observer.observe(batch).events, expected=expected)
            for batch in batches
            if batch.num_rows
        )
        return (part.by_key() for part in gathered(events))

    return observe


class ExpectedStream(ABC):
    """The expected events of a stream of any size."""

    @abstractmethod
    def observed(self, options: VerifyOptions) -> DataFrame:
        """The events as ``event_columns.BLOCKS`` of ``ComparedEvents``, in any order."""

    @abstractmethod
    def at(self, wanted: Collection[EventID]) -> dict[EventID, dict[str, Any]]:
        """The events at some positions (shape ``EXPECTED_EVENTS``)."""


@dataclass(frozen=True)
class ExpectedFrame(ExpectedStream):
    """Expected events as a DataFrame.

    :param frame: shape ``EXPECTED_EVENTS``, in any order.
    """

    frame: DataFrame

    def observed(self, options: VerifyOptions) -> DataFrame:
        observe = observer_of(options, expected=True)
        return self.frame.mapInArrow(observe, from_arrow_schema(BLOCKS))

    def at(self, wanted: Collection[EventID]) -> dict[EventID, dict[str, Any]]:
        return events_at(self.frame, wanted)


def in_buckets(blocks: DataFrame) -> DataFrame:
    """Blocks of events sorted by bucket, whole buckets in one task.

    :param blocks: with the columns of ``event_columns.BLOCKS``.
    """
    return blocks.repartition(*BUCKET).sortWithinPartitions(*BUCKET)


def compare_events(expected: ExpectedStream, decoded: DataFrame) -> Comparison:
    """Compare expected events with decoded ones, without any other check.

    :param decoded: shape ``DECODED``; messages that do not decode are ignored.
    """
    options = VerifyOptions()

    def matches(batches: _Batches) -> Generator[pa.RecordBatch, None, Differences]:
        found = Differences()
        for batch in whole_buckets(batches):
            differences, matched = match(ComparedEvents.of(batch))
            found.merge([differences])
            yield matched
        return found

    delivered = decoded.mapInArrow(observer_of(options, expected=False), from_arrow_schema(BLOCKS))
    both = expected.observed(options).unionByName(delivered)
    with materialized(with_results(in_buckets(both).mapInArrow, matches, MATCHED)) as grouped:
        differences = Differences()
        differences.merge(task_results(grouped))
        add_out_of_order(differences, task_rows(grouped))
    return differences.comparison(
        expected.at(differences.expected_examples), events_at(decoded, differences.delivered_examples)
    )


def add_out_of_order(differences: Differences, matched: DataFrame) -> None:
    """Add the events that were delivered before one that they were expected after.

    :param matched: with the columns of ``comparison.MATCHED``.
    """

    def order(batches: _Batches) -> Differences:
        found, delivery = Differences(), DeliveryOrder()
        for batch in whole_groups(batches, WINDOW):
            found.merge([delivery.add(batch)])
        return found

    rows = matched.select(*MATCHED.names).repartition(*WINDOW[:2])
    differences.merge(results_of(rows.sortWithinPartitions(*WINDOW), order))


def compare_states(
    states: Sequence[ExpectedState],
    delivered: DataFrame,
    decoded_at: Callable[[Iterable[EventID]], dict[EventID, dict[str, Any]]],
) -> list[StateComparison]:
    """Compare expected rows with delivered ones.

    :param delivered: ``event_columns.BLOCKS`` of ``StateRows``, with the number of the state in ``states``.
    :param decoded_at: returns the decoded events at some positions.
    """
    if not states:
        return []
    expected = (_numbered(state.rows(state.tables), number) for number, state in enumerate(states))
    both = reduce(DataFrame.unionByName, expected, delivered)
    found: dict[int, RowDifferences] = {}
    for one in results_of(in_buckets(both), _differences):
        _add(found, one)
    return [
        state_comparison(
            differences,
            len(state.tables),
            state.not_compared,
            _lacking(state, differences),
            decoded_at(differences.unexpected_events).values(),
        )
        for number, state in enumerate(states)
        for differences in [found.get(number, RowDifferences())]
    ]


def _lacking(state: ExpectedState, differences: RowDifferences) -> list[dict[str, Any]]:
    """The missing rows that are examples; the rows of their tables are made anew."""
    tables = {(schema, table) for schema, table, *_ in differences.lacking}
    return rows_with(state.rows(tables), {content for *_, content in differences.lacking})


def _numbered(state: MapInArrow, number: int) -> DataFrame:
    def rows(batches: _Batches) -> _Batches:
        parts = gathered(expected_state(batch, number) for batch in batches)
        return (part.by_content() for part in parts)

    return state(rows, from_arrow_schema(BLOCKS))


def _differences(batches: _Batches) -> dict[int, RowDifferences]:
    found: dict[int, RowDifferences] = {}
    for batch in whole_buckets(batches):
        _add(found, compare_rows(StateRows.of(batch)))
    return found


def _add(found: dict[int, RowDifferences], others: dict[int, RowDifferences]) -> None:
    for number, differences in others.items():
        found.setdefault(number, RowDifferences()).merge(differences)
