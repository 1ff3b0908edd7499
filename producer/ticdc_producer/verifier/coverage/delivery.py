"""Views of delivery: repeated, reordered and late events, and the sizes of messages.

    events of a partition ──message by message──▶ what came before them ──island by island──▶ restarts

A part has the largest message and the largest island in memory.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Batches, Dataset, Order, Part, Tagged
from ticdc_producer.model.column_functions import starts_of, whole_groups
from ticdc_producer.model.trap_coverage import Feature
from ticdc_producer.verifier.coverage.keys import OPS
from ticdc_producer.verifier.coverage.occurrences import FeatureCounts, ViewEvents
from ticdc_producer.verifier.coverage.ordered_events import (
    DeliveredEvents,
    OrderedEvents,
    OrderedPartition,
    PartitionName,
    by_partition,
    indexes,
)
from ticdc_producer.verifier.events import NOTHING, EventKind, Rule

_EVENT = "event"
_PARTITION = ("topic", "partition")
_KINDS = ["", *(kind.name.lower() for kind in EventKind)]
_UNCHANGED = (
    "commit_ts", "first_delivery", "first_row", "row_again", "repeated", "rows_again", "stale", "replaying",
)  # fmt: skip
"""Columns of the view ``event`` that ``OrderedEvents`` have as they are."""


def delivery_counts(
    events: Dataset, features: tuple[Feature, ...], max_batch_size: int | None, tables: Mapping[str, int]
) -> FeatureCounts:
    """Return the counts of the views ``event``, ``island``, ``partition`` and ``message``.

    :param events: ``DeliveredEvents``.
    :param max_batch_size: maximum number of events in a message; None: unknown.
    :param tables: by topic the number of tables that have rows.
    """
    counts, in_order = FeatureCounts(features), events.shuffle(_PARTITION, Order((*_PARTITION, "position")))
    ordered = partial(_ordered_events, features, max_batch_size, tables)
    with in_order.stored(ordered, {_EVENT: OrderedEvents.arrow_schema()}) as stored:
        replayed_max: dict[str, int] = {}
        for of_part, newest in stored.results:
            counts.merge([of_part])
            for topic, ts in newest:
                replayed_max[topic] = max(ts, replayed_max.get(topic, NOTHING))
        counts.merge(stored[_EVENT].results(partial(_event_counts, features, replayed_max)))
    return counts


def _ordered_events(
    features: tuple[Feature, ...],
    max_batch_size: int | None,
    tables: Mapping[str, int],
    _part: Part,
    batches: Batches,
) -> Generator[Tagged, None, tuple[FeatureCounts, list[tuple[str, int]]]]:
    """Yield ``OrderedEvents``, and return the other counts and the newest row that each partition repeats."""
    counts, partitions = FeatureCounts(features), dict[PartitionName, OrderedPartition]()

    def in_order() -> Batches:
        for batch in whole_groups(batches, (*_PARTITION, "offset")):
            for name, events in by_partition(DeliveredEvents.of(batch)):
                _add_messages(counts, events, max_batch_size)
                partition = partitions.setdefault(name, OrderedPartition(name, int(events.position[0])))
                yield partition.ordered(events).to_batch()

    for batch in whole_groups(in_order(), (*_PARTITION, "island")):
        for name, events in by_partition(OrderedEvents.of(batch)):
            replayed = partitions[name].replayed(events)
            _add_islands(counts, replayed, tables.get(name[0], 0))
            yield _EVENT, replayed.to_batch()
    _add_partitions(counts, [*partitions.values()])
    return counts, [(name[0], partition.replayed_max) for name, partition in partitions.items()]


def _add_messages(counts: FeatureCounts, events: DeliveredEvents, max_batch_size: int | None) -> None:
    rows = np.flatnonzero(events.kind == EventKind.ROW)
    _, first, sizes = np.unique(events.offset[rows], return_index=True, return_counts=True)
    positions, columns = ViewEvents.of_events(events).take(rows[first]), {"rows": pa.array(sizes)}
    counts.add("message", positions, columns, {"max_batch_size": max_batch_size})


def _add_islands(counts: FeatureCounts, events: OrderedEvents, of_tables: int) -> None:
    """Count the islands of a partition with several repeated rows, each at the first of them.

    >>> counts = FeatureCounts((Feature("island", "tables = 2"),))
    >>> columns = {"table": ["a", "b", "a"], "island": [1, 1, 2], "rows_again": [2, 2, 1]}
    >>> columns |= {"topic": "t", "position": [4, 5, 6], "row_again": True}
    >>> _add_islands(counts, OrderedEvents.with_columns(3, **columns), of_tables=2)
    >>> [(of_feature.count, of_feature.first) for of_feature in counts.counts.values()]
    [(1, ('t', 0, 0, 4))]
    """
    again = events.take(events.row_again & (events.rows_again > 1))
    starts, (codes, tables) = starts_of(again.island), again.tables
    different = np.unique(np.cumsum(starts) * len(tables) + codes) // max(len(tables), 1)
    columns = {
        "stale": pa.array(again.stale[starts]),
        "tables": pa.array(np.unique(different, return_counts=True)[1]),
    }
    positions = ViewEvents.of_events(again).take(np.flatnonzero(starts))
    counts.add("island", positions, columns, {"of_tables": of_tables})


def _add_partitions(counts: FeatureCounts, partitions: Sequence[OrderedPartition]) -> None:
    if not partitions:
        return
    topics, numbers = zip(*(partition.name for partition in partitions), strict=True)
    first = np.array([partition.first for partition in partitions])
    columns = {name: pa.array([getattr(of, name) for of in partitions]) for name in ("rows", "resolved")}
    counts.add("partition", ViewEvents.of(pa.array(topics), np.array(numbers), first), columns)


def _event_counts(
    features: tuple[Feature, ...], replayed_max: Mapping[str, int], _part: Part, batches: Batches
) -> FeatureCounts:
    counts = FeatureCounts(features)
    for batch in batches:
        events = OrderedEvents.of(batch)
        columns = _event_columns(events, replayed_max)
        counts.add("event", ViewEvents.of_events(events), columns)
    return counts


def _event_columns(events: OrderedEvents, replayed_max: Mapping[str, int]) -> dict[str, pa.Array]:
    """Return the columns of the view ``event``."""
    topics, names = events.topics
    times = {name: getattr(events, name) for name in ("resolved_max", "row_max", "table_max")}
    times["replayed_max"] = np.array([replayed_max.get(name, NOTHING) for name in names], np.int64)[topics]
    by_value = np.isin(events.rule, [Rule.INDEX_VALUE, Rule.COLUMNS])
    key_change = pc.if_else(pc.equal(events.key_change, ""), None, events.key_change)
    return {
        "kind": pa.array(_KINDS).take(pa.array(events.kind)),
        "op": pa.array(OPS).take(pa.array(events.op)),
        "index": pa.array(indexes(events)),
        "key_change": pc.split_pattern(key_change, ", "),
        "by_value": pa.array(by_value, mask=events.rule == Rule.UNKNOWN),
        **{name: pa.array(getattr(events, name)) for name in _UNCHANGED},
        **{name: pa.array(values, mask=values == NOTHING) for name, values in times.items()},
    }
