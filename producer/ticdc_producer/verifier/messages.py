"""Messages that were read, and the lookup of a few of them or of their events by their positions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa

from ticdc_producer.engine.dataset import Batches, Dataset
from ticdc_producer.model.column_functions import Numbers
from ticdc_producer.model.event_line import DecodedRow
from ticdc_producer.model.shapes import BatchFunction
from ticdc_producer.verifier.events import EventID, Offset

LOCATION = ("topic", "partition", "offset", "index")
MOST_EVENTS = 100_000
"""Events that are looked up at once."""


@dataclass(frozen=True)
class Messages:
    """Messages that were read.

    :param rows: shape ``MESSAGES``. A part has the messages of a partition in the order of their offsets,
        and those of two parts do not overlap.
    :param read_at: reads the messages at some offsets, in ascending order; None: they are searched in
        ``rows``.
    """

    rows: Dataset
    read_at: Callable[[Sequence[Offset]], Dataset] | None = None

    def at(self, offsets: Sequence[Offset]) -> Dataset:
        """Return a few of the messages.

        :param offsets: in ascending order.
        """
        return rows_at(self.rows, offsets) if self.read_at is None else self.read_at(offsets)

    def decoded_at(
        self, events: Iterable[EventID], decode: BatchFunction, shape: pa.Schema
    ) -> dict[EventID, DecodedRow]:
        """Return the decoded events at some positions; only their messages are decoded.

        :param decode: decodes messages to events of the shape.
        """
        in_sequence = sorted(set(events))
        if not in_sequence:
            return {}
        messages = self.at(sorted({event[:3] for event in in_sequence}))
        return events_at(messages.map(decode, shape), in_sequence)


def events_at(
    events: Dataset, positions: Iterable[EventID], *, in_order: bool = False
) -> dict[EventID, DecodedRow]:
    """Return the decoded or expected events at some positions.

    :param events: shape ``DECODED`` or ``EXPECTED_EVENTS``.
    :param in_order: whether each part has one partition, in the order of its offsets: it is read up to the
        last of the positions.
    """
    in_sequence = sorted(set(positions))
    if not in_sequence:
        return {}
    rows = rows_at(events, in_sequence, in_order=in_order).small(MOST_EVENTS)
    return {tuple(row[name] for name in LOCATION): row for row in rows.to_pylist()}


def rows_at(rows: Dataset, keys: Sequence[EventID | Offset], *, in_order: bool = False) -> Dataset:
    """Return the rows at some positions.

    :param rows: with the columns of ``LOCATION``, or the first three of them.
    :param keys: their values.
    :param in_order: as for :func:`events_at`.
    """
    offsets: defaultdict[tuple[str, int], set[int]] = defaultdict(set)
    for topic, partition, offset, *_ in keys:
        offsets[topic, partition].add(offset)
    select = partial(_rows_at, frozenset(keys), dict(offsets), in_order)
    return rows.map(select, rows.schema)


def _rows_at(
    keys: Collection[EventID | Offset],
    offsets: Mapping[tuple[str, int], Collection[int]],
    in_order: bool,
    batches: Batches,
) -> Iterator[pa.RecordBatch]:
    """Yield the rows with some keys; those in order end with the batch of the last one.

    >>> batch = pa.record_batch({"topic": ["t"] * 4, "partition": [0] * 4, "offset": [2, 3, 4, 5]})
    >>> keys, offsets = {("t", 0, 3), ("t", 0, 5)}, {("t", 0): {3, 5}}
    >>> rows = _rows_at(keys, offsets, True, [batch.slice(0, 2), batch.slice(2)])
    >>> [batch.column("offset").to_pylist() for batch in rows]
    [[3], [5]]
    """
    every = np.array(sorted({offset for of_partition in offsets.values() for offset in of_partition}))
    names = LOCATION[: len(next(iter(keys)))]
    for batch in batches:
        if not batch.num_rows:
            continue
        own: Numbers = batch.column("offset").to_numpy()
        candidates = np.flatnonzero(np.isin(own, every))
        if len(candidates):
            few = batch.select([*names]).take(pa.array(candidates)).to_pylist()
            selected = [tuple(row.values()) in keys for row in few]
            yield batch.take(pa.array(candidates[selected]))
        if in_order:
            partition = batch.column("topic")[0].as_py(), batch.column("partition")[0].as_py()
            if int(own[-1]) > max(offsets.get(partition, ()), default=-1):
                return
