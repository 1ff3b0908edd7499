"""Events of one task, taken apart by the topic and partition that they go to."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import numpy as np
import pyarrow as pa

from ticdc_producer.protocols.arrow_text import numbers


def by_place(
    batches: Iterator[pa.RecordBatch],
) -> Iterator[tuple[tuple[str, int], Iterator[pa.RecordBatch]]]:
    """``(topic, partition)`` and its events, in the order in which they come.

    :param batches: the events of one place stand together. Those of a place are to be taken before the next
        place is asked for.
    """
    runs = (run for batch in batches if batch.num_rows for run in _runs(batch))
    for place, same in groupby(runs, key=lambda run: run[0]):
        yield place, (events for _, events in same)


def _runs(batch: pa.RecordBatch) -> Iterator[tuple[tuple[str, int], pa.RecordBatch]]:
    topics = batch.column("topic").dictionary_encode()
    places = numbers(topics.indices), numbers(batch.column("partition"))
    changes = [np.flatnonzero(np.diff(part)) + 1 for part in places]
    starts = np.unique(np.concatenate([[0], *changes])).tolist()
    for start, end in zip(starts, [*starts[1:], batch.num_rows], strict=True):
        place = batch.column("topic")[start].as_py(), batch.column("partition")[start].as_py()
        yield place, batch.slice(start, end - start)
