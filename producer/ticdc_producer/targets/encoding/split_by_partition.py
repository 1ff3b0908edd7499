"""Splits the events of one task by topic and partition."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import numpy as np
import pyarrow as pa

from ticdc_producer.protocols.arrow_text import as_int64


def split_by_partition(
    batches: Iterator[pa.RecordBatch],
) -> Iterator[tuple[tuple[str, int], Iterator[pa.RecordBatch]]]:
    """Each ``(topic, partition)`` with its events, in order.

    :param batches: the events of each partition are contiguous. The events of one partition must be
        consumed before the next partition is requested.
    """
    runs = (run for batch in batches if batch.num_rows for run in _runs(batch))
    for partition, same in groupby(runs, key=lambda run: run[0]):
        yield partition, (events for _, events in same)


def _runs(batch: pa.RecordBatch) -> Iterator[tuple[tuple[str, int], pa.RecordBatch]]:
    topics = batch.column("topic").dictionary_encode()
    keys = as_int64(topics.indices), as_int64(batch.column("partition"))
    changes = [np.flatnonzero(np.diff(part)) + 1 for part in keys]
    starts = np.unique(np.concatenate([[0], *changes])).tolist()
    for start, end in zip(starts, [*starts[1:], batch.num_rows], strict=True):
        partition = batch.column("topic")[start].as_py(), batch.column("partition")[start].as_py()
        yield partition, batch.slice(start, end - start)
