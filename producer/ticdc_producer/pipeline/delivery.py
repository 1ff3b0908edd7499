"""Stages: topic, partition and commit-ts of each change, and the order of the events in a partition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.dispatch.row_hashes import partition_hashes
from ticdc_producer.dispatch.rules import Route
from ticdc_producer.model.column_functions import Numbers
from ticdc_producer.model.event import ROW_ELSEWHERE, Kind, Op
from ticdc_producer.model.shapes import DELIVERY_KEY, EVENT_STREAM, ChangeBatch, EventBatch, MutationBatch
from ticdc_producer.model.tso import CommitClock
from ticdc_producer.pipeline.row_images import column_values, numbers, typed


def commit(changes: ChangeBatch, clock: CommitClock) -> ChangeBatch:
    """Add the commit-ts (TSO) as last column, ``commit_ts``.

    :param changes: shape ``CHANGE_LOG``, in any order; the order does not change.
    """
    times = commit_ts(clock, numbers(changes.column("commit_seq")))
    return changes.append_column("commit_ts", pa.array(times, pa.int64()))


def commit_ts(clock: CommitClock, commit_seq: Numbers) -> Numbers:
    """Return the commit-ts of commits.

    >>> clock = CommitClock(start=1000, pinned={2: 90_000_000_000})
    >>> commit_ts(clock, np.array([0, 1, 2, 3])).tolist()
    [1000, 262145000, 90000000000, 90262144000]
    """
    first, start, step = (np.array(column, np.int64) for column in zip(*clock.segments, strict=True))
    segment = np.searchsorted(first, commit_seq, side="right") - 1
    times: Numbers = start[segment] + (commit_seq - first[segment]) * step[segment]
    return times


def in_delivery_order(events: EventBatch) -> EventBatch:
    """Sort events by partition and delivery key.

    The key is unique in a partition, so the order is the same on every run.

    :param events: shape ``EVENT_STREAM``; sorted by ``partition_index``, then by ``DELIVERY_KEY``.
    """
    order = delivery_order(events)
    in_order = np.array_equal(order, np.arange(events.num_rows))
    return events if in_order else events.take(pa.array(order))


def delivery_order(events: EventBatch | pa.Table) -> Numbers:
    """Return the numbers of events in the order of ``in_delivery_order``.

    They are compared by numbers first, and by ``txn_order_key`` and ``delivery_no`` where these are equal.

    >>> events = pa.record_batch({
    ...     "partition_index": [0, 0, 0], "restart_epoch": [0, 0, 0], "deliver_after_ts": [9, 7, 7],
    ...     "kind_order": [0, 0, 0], "txn_order_key": [b"a", b"c", b"b"], "delivery_no": [0, 0, 0],
    ... })
    >>> delivery_order(events).tolist()
    [2, 1, 0]

    Arrow compares column by column for each pair of rows. Most rows differ in their time. Most other rows are
    in order already, and the few remaining rows are sorted by their bytes.
    """
    if events.num_rows < 2:
        return np.arange(events.num_rows)
    names = ("deliver_after_ts", "restart_epoch", "partition_index")
    kinds = numbers(events.column("kind_order")).astype(np.int8)  # numpy sorts bytes in linear time
    groups: list[npt.NDArray[np.integer[Any]]] = [kinds, *(numbers(events.column(name)) for name in names)]
    varying = [column for column in groups if (column != column[0]).any()] or groups[:1]
    order: Numbers = np.lexsort(varying)
    in_group = np.cumsum(_starts([column[order] for column in varying]))
    same_as_next = np.flatnonzero(in_group[1:] == in_group[:-1])
    wrong = np.unique(in_group[same_as_next[_descends(events, order, same_as_next)]])
    if len(wrong):
        rows = np.flatnonzero(np.isin(in_group, wrong))
        unsorted = events.select(["txn_order_key", "delivery_no"]).take(pa.array(order[rows]))
        group = unsorted.append_column("group", pa.array(in_group[rows]))
        keys = [(name, "ascending") for name in ("group", "txn_order_key", "delivery_no")]
        order[rows] = order[rows[pc.sort_indices(group, keys).to_numpy()]]
    return order


def _starts(columns: Sequence[npt.NDArray[np.integer[Any]]]) -> Numbers:
    """Return 1 for each row that differs from the previous row in any column, otherwise 0.

    >>> _starts([np.array([7, 7, 7, 8]), np.array([1, 1, 2, 2])]).tolist()
    [0, 0, 1, 1]
    """
    starts = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        starts[1:] |= column[1:] != column[:-1]
    return starts


def _descends(events: EventBatch, order: Numbers, rows: Numbers) -> npt.NDArray[np.bool_]:
    """Return whether rows have a higher ``txn_order_key`` or ``delivery_no`` than the next row."""
    keys, copies = events.column("txn_order_key"), numbers(events.column("delivery_no"))
    at, after = order[rows], order[rows + 1]
    left, right = keys.take(pa.array(at)), keys.take(pa.array(after))
    greater, equal = (
        flags.to_numpy(zero_copy_only=False) for flags in (pc.greater(left, right), pc.equal(left, right))
    )
    descends: npt.NDArray[np.bool_] = greater | equal & (copies[at] > copies[after])
    return descends


@dataclass(frozen=True)
class TopicPartitions:
    """All partitions of a run, which are numbered topic by topic.

    :param topics: sorted by name; they determine the order of the output.
    :param counts: number of partitions of each topic.

    >>> partitions = TopicPartitions(("a", "b"), (2, 3))
    >>> len(partitions), partitions.of("b"), partitions.name(3)
    (5, range(2, 5), ('b', 1))
    >>> partitions.first(np.array([1, 2, 4])).tolist(), partitions.sizes(np.array([1, 2, 4])).tolist()
    ([0, 2, 2], [2, 3, 3])
    """

    topics: tuple[str, ...]
    counts: tuple[int, ...]

    def __len__(self) -> int:
        return sum(self.counts)

    def of(self, topic: str) -> range:
        """Return the partition indexes of one topic."""
        number = self.topics.index(topic)
        return range(*self._bounds[number : number + 2].tolist())

    def name(self, partition_index: int) -> tuple[str, int]:
        """Return topic and partition of a partition index."""
        number = int(self.topic_numbers(np.array([partition_index]))[0])
        return self.topics[number], partition_index - int(self._bounds[number])

    def topic_numbers(self, partition_indexes: Numbers) -> Numbers:
        """Return the index of the topic of each partition index."""
        numbers: Numbers = np.searchsorted(self._bounds, partition_indexes, side="right") - 1
        return numbers

    def first(self, partition_indexes: Numbers) -> Numbers:
        """Return the index of partition 0 of the topic of each partition index."""
        return self._bounds[self.topic_numbers(partition_indexes)]

    def sizes(self, partition_indexes: Numbers) -> Numbers:
        """Return the number of partitions of the topic of each partition index."""
        return np.diff(self._bounds)[self.topic_numbers(partition_indexes)]

    @cached_property
    def _bounds(self) -> Numbers:
        """The partition index at which each topic begins, and that at which the last one ends."""
        return np.cumsum([0, *self.counts])


def dispatch(
    mutations: MutationBatch, routes: Mapping[int, Route], topic_partitions: TopicPartitions
) -> EventBatch:
    """Turn row changes into row events (shape ``EVENT_STREAM``), in the same order.

    >>> mutations = pa.record_batch({"table_version": [1, 0], "commit_ts": [7, 9]})
    >>> routes = {number: Route(topic, "ts", (), 0, "s.t") for number, topic in enumerate("ab")}
    >>> events = dispatch(mutations, routes, TopicPartitions(("a", "b"), (2, 3)))
    >>> events.select(["topic", "partition", "partition_index", "dispatch_key"]).to_pydict()
    {'topic': ['b', 'a'], 'partition': [1, 1], 'partition_index': [3, 1], 'dispatch_key': ['7', '9']}

    :param mutations: results of ``mutations.split``, with images that ``event_filter.select`` reduced.
    :param routes: the route of each table version.
    """
    rows = mutations.num_rows
    versions, commit_ts = (numbers(mutations.column(name)) for name in ("table_version", "commit_ts"))
    first, partition = np.zeros((2, rows), np.int64)
    keys, order = [pa.array([], pa.string())], [np.zeros(0, np.int64)]
    for version in np.unique(versions).tolist():
        route, concerned = routes[version], np.flatnonzero(versions == version)
        hashed, indexes = _hashes(mutations, route, concerned, commit_ts), topic_partitions.of(route.topic)
        first[concerned] = indexes.start
        partition[concerned] = hashed % len(indexes)
        by_table = route.rule == "table"
        keys.append(
            pa.repeat(route.table_key, len(concerned)) if by_table else pa.array(hashed).cast(pa.string())
        )
        order.append(concerned)
    topics = pa.array(topic_partitions.topics, pa.string())
    given = {
        "partition_index": first + partition,
        "topic": topics.take(pa.array(topic_partitions.topic_numbers(first))),
        "partition": partition,
        "kind": np.full(rows, int(Kind.ROW)),
        "dispatch_key": pa.concat_arrays(keys).take(pa.array(np.argsort(np.concatenate(order)))),
        "deliver_after_ts": mutations.column("commit_ts"),
        **dict.fromkeys(("restart_epoch", "kind_order", "delivery_no"), np.zeros(rows, np.int64)),
    }
    return event_batch({**{name: mutations.column(name) for name in mutations.schema.names}, **given}, rows)


def rows_elsewhere(events: EventBatch, topic_partitions: TopicPartitions) -> EventBatch:
    """Return the places that the rows of other partitions have in partition 0 of their topic.

    :param events: shape ``EVENT_STREAM``, in any order.
    :return: the same shape; the kind is ``ROW_ELSEWHERE``, and the delivery key that of the row, which no
        event of partition 0 has.
    """
    elsewhere = (numbers(events.column("kind")) == Kind.ROW) & (numbers(events.column("partition")) > 0)
    rows = events.filter(pa.array(elsewhere))
    count, copied = rows.num_rows, ("topic", "commit_ts", "table_version", "table_id", *DELIVERY_KEY)
    first = topic_partitions.first(numbers(rows.column("partition_index")))
    given = {
        "partition_index": first,
        "partition": np.zeros(count, np.int64),
        "kind": np.full(count, ROW_ELSEWHERE),
    }
    return event_batch({**{name: rows.column(name) for name in copied}, **given}, count)


def event_batch(columns: Mapping[str, pa.Array | Numbers], rows: int) -> EventBatch:
    """Build a batch of the shape ``EVENT_STREAM``; columns that are not given are NULL.

    :param columns: by name; other names than those of the shape are ignored.
    """
    arrays = []
    for field in EVENT_STREAM:
        column = columns.get(field.name)
        if column is None:
            arrays.append(pa.nulls(rows, field.type))
        else:
            array = pa.array(column) if isinstance(column, np.ndarray) else column
            arrays.append(typed(array, field.type))
    events: EventBatch = pa.record_batch(arrays, schema=EVENT_STREAM)
    return events


def _hashes(mutations: MutationBatch, route: Route, rows: Numbers, commit_ts: Numbers) -> Numbers:
    """Return the number of each row whose remainder is its partition; a delete has that of its old image.

    >>> from zlib import crc32
    >>> before, after = (pa.array(values) for values in ([None, [b"1"]], [[b"2"], None]))
    >>> mutations = pa.record_batch({"op": [Op.INSERT, Op.DELETE], "before": before, "after": after})
    >>> route = Route("topic", "columns", (("id", 0),), base_hash=0, table_key="s.t")
    >>> hashes = _hashes(mutations, route, np.array([0, 1]), commit_ts=np.array([5, 6]))
    >>> hashes.tolist() == [crc32(b"id2"), crc32(b"id1")]
    True
    """
    if route.rule == "ts":
        return commit_ts[rows]
    deleted = numbers(mutations.column("op"))[rows] == Op.DELETE
    old, new = np.flatnonzero(deleted), np.flatnonzero(~deleted)
    before, after = mutations.column("before"), mutations.column("after")
    values = [
        pa.concat_arrays([column_values(before, rows[old], index), column_values(after, rows[new], index)])
        for _, index in route.key_columns
    ]
    hashed = np.empty(len(rows), np.int64)
    hashed[np.concatenate([old, new])] = partition_hashes(route, values, len(rows))
    return hashed
