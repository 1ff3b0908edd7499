"""Blocks of events on their way from the tasks that read a stream to those that have whole buckets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.whole_groups import first_of_groups, whole_groups
from ticdc_producer.verifier.event_columns import EventColumns
from ticdc_producer.verifier.fingerprint import Numbers

BUCKET = ("bucket",)
_DIVIDED_BYTES = 16 << 20
"""Events that are divided into blocks at once, some 60,000: with fewer a block has few events."""
_PROCESSED_BYTES = 8 << 20
"""Buckets that a task processes at once, some 30,000 events: with fewer numpy is slower."""

Columns = TypeVar("Columns", bound=EventColumns)


class Gathering(Generic[Columns]):
    """Gathers parts of a stream until they have enough events for blocks."""

    def __init__(self) -> None:
        self._held: list[Columns] = []
        self._bytes = 0

    def add(self, part: Columns) -> Sequence[Columns]:
        """Add a part; returns all parts as one if they have enough events, else none."""
        self._held.append(part)
        self._bytes += part.nbytes
        return self.rest() if self._bytes >= _DIVIDED_BYTES else ()

    def rest(self) -> Sequence[Columns]:
        """All parts that were not returned, as one; none if there are none."""
        held, self._held, self._bytes = self._held, [], 0
        return [type(held[0]).joined(held)] if held else ()


def gathered(parts: Iterable[Columns]) -> Iterator[Columns]:
    """The same events in larger parts.

    :param parts: of one class.
    """
    gathering = Gathering[Columns]()
    for part in parts:
        yield from gathering.add(part)
    yield from gathering.rest()


def whole_buckets(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same blocks in batches of whole buckets.

    :param batches: with the columns of ``event_columns.BLOCKS``, sorted by bucket.
    """
    for batch in whole_groups(batches, BUCKET):
        sizes = _bytes_of(batch.column("numbers")) + _bytes_of(batch.column("texts"))
        starts = np.flatnonzero(first_of_groups(batch.select(BUCKET), BUCKET))
        parts = (np.cumsum(sizes) - sizes)[starts] // _PROCESSED_BYTES
        first = starts[np.flatnonzero(np.diff(parts, prepend=-1))]
        for start, end in zip(first, [*first[1:], batch.num_rows], strict=True):
            yield batch.slice(start, end - start)


def _bytes_of(texts: pa.Array) -> Numbers:
    lengths = pc.fill_null(pc.binary_length(texts), 0)
    found: Numbers = lengths.to_numpy(zero_copy_only=False).astype(np.int64)
    return found
