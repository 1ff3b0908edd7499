"""Converts the messages of one Kafka partition to Arrow batches (shape ``MESSAGES``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model import tso
from ticdc_producer.model.event import Kind
from ticdc_producer.model.shapes import HEADERS, MESSAGES
from ticdc_producer.protocols.arrow_text import Numbers
from ticdc_producer.protocols.message_batch import MessageBatch

_CHUNK = 2048
_CHUNK_BYTES = 8 << 20
_NO_HEADERS = pa.array([], MESSAGES.field("headers").type.value_type)


class MessageRows:
    """Assigns offsets to messages, beginning with 0.

    The timestamp is the physical part of the first event's commit-ts.
    """

    def __init__(self, topic: str, partition: int) -> None:
        self._topic = topic
        self._partition = partition
        self._offset = 0

    def rows(self, batches: Iterable[MessageBatch]) -> Iterator[pa.RecordBatch]:
        """The messages as Arrow batches of bounded size."""
        return chunks(map(self.with_offsets, batches))

    def with_offsets(self, batch: MessageBatch) -> pa.RecordBatch:
        """The next messages (shape ``MESSAGES``)."""
        start, self._offset = self._offset, self._offset + len(batch)
        return self._batch(batch, np.arange(start, self._offset))

    def _batch(self, batch: MessageBatch, offsets: Numbers) -> pa.RecordBatch:
        count = len(batch)
        columns = [
            pa.repeat(self._topic, count),
            pa.repeat(pa.scalar(self._partition, pa.int32()), count),
            pa.array(offsets),
            batch.key,
            batch.value,
            _headers(batch),
            pc.shift_right(batch.commit_ts, tso.LOGICAL_BITS),
            pa.repeat(Kind.ROW.label, count) if batch.types is None else batch.types,
            batch.events,
        ]
        typed = [column.cast(field.type) for column, field in zip(columns, MESSAGES, strict=True)]
        return pa.record_batch(typed, schema=MESSAGES)


def _headers(batch: MessageBatch) -> pa.Array:
    if not batch.headers:  # no TiCDC encoder sets headers; those of other packages may
        return pa.ListArray.from_arrays(pa.array(np.zeros(len(batch) + 1, np.int32)), _NO_HEADERS)
    return pa.array([batch.headers.get(index, ()) for index in range(len(batch))], HEADERS)


def chunks(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Concatenate small batches."""
    chunk: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        chunk.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows >= _CHUNK or size >= _CHUNK_BYTES:
            yield pa.concat_batches(chunk)
            chunk, rows, size = [], 0, 0
    if chunk:
        yield pa.concat_batches(chunk)
