"""Drops the events of a partition that TiCDC sent again (docs/stream-semantics.md §9)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.errors import TopicError
from ticdc_producer.model.shapes import BatchFunction
from ticdc_producer.verifier.event_layouts import Images
from ticdc_producer.verifier.fingerprint import Flags, Hashes, Numbers, combined, text_hashes

MOST_EVENTS = 1 << 22
"""Events after a resolved event that are remembered, with 8 bytes each."""
_TEXTS = ("kind", "schema", "table", "op", "query")
ResolvedTS: TypeAlias = Mapping[tuple[str, int], int]
"""The highest resolved-ts by topic and partition."""


@dataclass
class _PartitionMarks:
    """What is remembered of a partition.

    :param resolved_ts: the highest that was read.
    :param seen: hashes of the events since the resolved event that set it, sorted.
    """

    resolved_ts: int = 0
    seen: Hashes = field(default_factory=lambda: np.empty(0, np.uint64))


def without_duplicates(before: Callable[[], ResolvedTS] = dict) -> BatchFunction:
    """Return the function that drops duplicates from events (shape ``DECODED``) in order of their offsets.

    An event is dropped if its commit-ts is not above the partition's resolved-ts, or if it is equal to an
    event since the newest resolved event that raised the resolved-ts. Errors and events without commit-ts
    stay.

    :param before: returns the resolved-ts of the partitions before the first event.
    """

    def drop(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        marks = {partition: _PartitionMarks(ts) for partition, ts in before().items()}
        for batch in batches:
            if not batch.num_rows:
                continue
            first: Flags = np.zeros(batch.num_rows, bool)
            for partition, rows in _partitions(batch):
                mark = marks.setdefault(partition, _PartitionMarks())
                first[rows] = _first(batch.take(pa.array(rows)), mark, partition)
            yield batch if first.all() else batch.filter(pa.array(first))

    return drop


def _partitions(batch: pa.RecordBatch) -> Iterator[tuple[tuple[str, int], Numbers]]:
    """Yield the partitions of a batch, and the rows of each."""
    topics = batch.column("topic").dictionary_encode()
    codes = topics.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    numbers = batch.column("partition").to_numpy(zero_copy_only=False).astype(np.int64)
    names = topics.dictionary.to_pylist()
    for code, number in np.unique(np.stack([codes, numbers], axis=1), axis=0).tolist():
        yield (names[code], number), np.flatnonzero((codes == code) & (numbers == number))


def _first(events: pa.RecordBatch, mark: _PartitionMarks, partition: tuple[str, int]) -> Flags:
    """Return which events of a partition are no duplicates, and remember them."""
    commit_ts = pc.fill_null(events.column("commit_ts"), 0).to_numpy(zero_copy_only=False)
    resolved = pc.equal(events.column("kind"), "resolved").to_numpy(zero_copy_only=False)
    highest = np.maximum.accumulate(np.where(resolved, commit_ts, 0))
    before = np.maximum(np.concatenate([[0], highest[:-1]]), mark.resolved_ts)
    raises = resolved & (commit_ts > before)
    # An event belongs to the segment after the resolved events before it.
    segments = np.cumsum(raises) - raises
    hashes = _event_hashes(events)
    known = commit_ts > 0
    first: Flags = ~known | (commit_ts > before)
    first &= ~known | ~((segments == 0) & np.isin(hashes, mark.seen))
    keys = combined(hashes, segments)
    candidates = np.flatnonzero(first & known)
    _, earliest = np.unique(keys[candidates], return_index=True)
    once: Flags = np.zeros(len(first), bool)
    once[candidates[earliest]] = True
    first &= ~known | once
    last = int(segments[-1] + raises[-1])
    mark.resolved_ts = max(mark.resolved_ts, int(highest[-1]))
    newest = hashes[first & known & ~raises & (segments == last)]
    mark.seen = np.union1d(mark.seen, newest) if last == 0 else np.unique(newest)
    if len(mark.seen) > MOST_EVENTS:
        what = f"partition {partition[1]} has more than {MOST_EVENTS} events after a resolved event"
        raise TopicError(what, topic=partition[0], hint="duplicates=drop needs resolved events; use keep")
    return first


def _event_hashes(events: pa.RecordBatch) -> Hashes:
    """Return a hash of what each event says, without its position."""
    numbers = [
        pc.fill_null(events.column(name), -1).to_numpy(zero_copy_only=False).astype(np.int64)
        for name in ("commit_ts", "table_id")
    ]
    images = [Images(events.column(name)).hashes for name in ("before", "after")]
    texts = [text_hashes(pc.fill_null(events.column(name), "")) for name in _TEXTS]
    return combined(*numbers, *images, *texts)
