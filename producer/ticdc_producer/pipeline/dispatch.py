"""Stage: the topic and partition of every row change, as a row event of the event stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ticdc_producer.dispatch.row_hashes import partition_hashes
from ticdc_producer.dispatch.rules import Route
from ticdc_producer.model.event import Kind, Op
from ticdc_producer.model.shapes import EVENT_STREAM
from ticdc_producer.pipeline.row_images import Numbers, column_values, numbers, typed


@dataclass(frozen=True)
class TopicPartitions:
    """All topics of a run, each with the same number of partitions.

    :param topics: sorted by name; they determine the order of the output.
    """

    topics: tuple[str, ...]
    partitions: int

    def __len__(self) -> int:
        return len(self.topics) * self.partitions

    def of(self, topic: str) -> range:
        """The partition indexes of one topic."""
        first = self.topics.index(topic) * self.partitions
        return range(first, first + self.partitions)

    def name(self, partition_index: int) -> tuple[str, int]:
        """Topic and partition of a partition index."""
        return self.topics[partition_index // self.partitions], partition_index % self.partitions


def dispatch(
    changes: pa.RecordBatch, routes: Mapping[int, Route], topic_partitions: TopicPartitions
) -> pa.RecordBatch:
    """Turn row changes into row events (shape ``EVENT_STREAM``), in the same order.

    :param changes: results of ``mutations.split``, with images that ``event_filter.select`` reduced.
    :param routes: the route of each table version.
    """
    rows = changes.num_rows
    versions, commit_ts = (numbers(changes.column(name)) for name in ("table_version", "commit_ts"))
    topic = np.zeros(rows, np.int64)
    partition = np.zeros(rows, np.int64)
    keys, order = [pa.array([], pa.string())], [np.zeros(0, np.int64)]
    for version in np.unique(versions).tolist():
        route, concerned = routes[version], np.flatnonzero(versions == version)
        hashed = _hashes(changes, route, concerned, commit_ts)
        topic[concerned] = topic_partitions.topics.index(route.topic)
        partition[concerned] = hashed % topic_partitions.partitions
        by_table = route.rule == "table"
        keys.append(
            pa.repeat(route.table_key, len(concerned)) if by_table else pa.array(hashed).cast(pa.string())
        )
        order.append(concerned)
    given = {
        "partition_index": topic * topic_partitions.partitions + partition,
        "topic": pa.array(topic_partitions.topics, pa.string()).take(pa.array(topic)),
        "partition": partition,
        "kind": np.full(rows, int(Kind.ROW)),
        "dispatch_key": pa.concat_arrays(keys).take(pa.array(np.argsort(np.concatenate(order)))),
        "deliver_after_ts": changes.column("commit_ts"),
        **dict.fromkeys(("restart_epoch", "kind_order", "delivery_no"), np.zeros(rows, np.int64)),
    }
    return event_batch({**{name: changes.column(name) for name in changes.schema.names}, **given}, rows)


def event_batch(columns: Mapping[str, pa.Array | Numbers], rows: int) -> pa.RecordBatch:
    """A batch of the shape ``EVENT_STREAM``; columns that are not given are NULL.

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
    return pa.record_batch(arrays, schema=EVENT_STREAM)


def _hashes(changes: pa.RecordBatch, route: Route, rows: Numbers, commit_ts: Numbers) -> Numbers:
    """The number of each row whose remainder is its partition."""
    if route.rule == "ts":
        return commit_ts[rows]
    deleted = numbers(changes.column("op"))[rows] == Op.DELETE
    old, new = np.flatnonzero(deleted), np.flatnonzero(~deleted)
    before, after = changes.column("before"), changes.column("after")
    values = [
        pa.concat_arrays([column_values(before, rows[old], index), column_values(after, rows[new], index)])
        for _, index in route.key_columns
    ]
    hashed = np.empty(len(rows), np.int64)
    hashed[np.concatenate([old, new])] = partition_hashes(route, values, len(rows))
    return hashed
