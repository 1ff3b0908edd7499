"""Looks up the events and rows that are examples, in datasets of any size."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from ticdc_producer.engine.dataset import Batches, Dataset
from ticdc_producer.verifier.fingerprint import Numbers
from ticdc_producer.verifier.table_state import MAX_EXAMPLES, expected_state
from ticdc_producer.verifier.violations import EventID

LOCATION = ("topic", "partition", "offset", "index")
_MOST_EVENTS = 100_000
"""Events that are looked up at once."""


def events_at(
    events: Dataset, wanted: Iterable[EventID], *, in_order: bool = False
) -> dict[EventID, dict[str, Any]]:
    """Return the decoded or expected events at some positions.

    :param events: shape ``DECODED`` or ``EXPECTED_EVENTS``.
    :param in_order: whether each part has one partition, in the order of its offsets: it is read up to the
        last event that is wanted.
    """
    positions = sorted(set(wanted))
    if not positions:
        return {}
    rows = rows_at(events, positions, in_order=in_order).small(_MOST_EVENTS)
    return {tuple(row[name] for name in LOCATION): row for row in rows.to_pylist()}


def rows_at(rows: Dataset, keys: Sequence[tuple[Any, ...]], *, in_order: bool = False) -> Dataset:
    """Return the rows at some positions.

    :param rows: with the columns of ``LOCATION``, or the first three of them.
    :param keys: their values.
    :param in_order: as for :func:`events_at`.
    """
    offsets: defaultdict[tuple[str, int], set[int]] = defaultdict(set)
    for topic, partition, offset, *_ in keys:
        offsets[topic, partition].add(offset)
    chosen = partial(_rows_at, frozenset(keys), dict(offsets), in_order)
    return rows.map(chosen, rows.schema)


def _rows_at(
    keys: Collection[tuple[Any, ...]],
    offsets: Mapping[tuple[str, int], Collection[int]],
    in_order: bool,
    batches: Batches,
) -> Iterator[pa.RecordBatch]:
    every = np.array(sorted({offset for of_partition in offsets.values() for offset in of_partition}))
    names = LOCATION[: len(next(iter(keys)))]
    for batch in batches:
        if not batch.num_rows:
            continue
        own: Numbers = batch.column("offset").to_numpy()
        candidates = np.flatnonzero(np.isin(own, every))
        if len(candidates):
            few = batch.select([*names]).take(pa.array(candidates)).to_pylist()
            wanted = [tuple(row.values()) in keys for row in few]
            yield batch.take(pa.array(candidates[wanted]))
        if in_order:
            partition = batch.column("topic")[0].as_py(), batch.column("partition")[0].as_py()
            if int(own[-1]) > max(offsets.get(partition, ()), default=-1):
                return


def rows_with(state: Dataset, contents: Collection[int]) -> list[dict[str, Any]]:
    """Return rows of a state (shape ``STATE``) with some contents, at most as many as are listed.

    :param state: all its rows.
    """
    if not contents:
        return []
    hashes = np.array(sorted(contents))

    def chosen(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = expected_state(batch, 0)
            yield batch.take(pa.array(rows.position[np.isin(rows.content, hashes)])).slice(0, MAX_EXAMPLES)

    found = state.map(chosen, state.schema).small(_MOST_EVENTS).slice(0, MAX_EXAMPLES)
    return [*found.to_pylist()]
