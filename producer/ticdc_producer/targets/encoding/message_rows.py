"""Messages of one Kafka partition as Arrow lines with a place (``MESSAGES_ARROW``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model import tso
from ticdc_producer.model.dataframes import MESSAGES_ARROW
from ticdc_producer.model.event import Kind, Message
from ticdc_producer.protocols.arrow_text import Numbers
from ticdc_producer.protocols.message_batch import MessageBatch, of_messages

_CHUNK = 2048
_CHUNK_BYTES = 8 << 20
_NO_HEADERS = pa.array([], MESSAGES_ARROW.field("headers").type.value_type)


class MessageLines:
    """Gives messages their offsets, from 0.

    The timestamp is the physical part of the first event's commit-ts.
    """

    def __init__(self, topic: str, partition: int) -> None:
        self._topic = topic
        self._partition = partition
        self._offset = 0

    def lines(self, batches: Iterable[MessageBatch]) -> Iterator[pa.RecordBatch]:
        """Lines in Arrow batches of bounded size."""
        return chunks(map(self._placed, batches))

    def notes(self, notes: Iterable[tuple[str, int, bytes]]) -> Iterator[pa.RecordBatch]:
        """Lines that are no messages, without a place of their own.

        :param notes: type, commit-ts and value of each.
        """
        return chunks(
            self._lines(of_messages([Message(None, value, kind, ts)]), np.full(1, -1))
            for kind, ts, value in notes
        )

    def _placed(self, batch: MessageBatch) -> pa.RecordBatch:
        start, self._offset = self._offset, self._offset + len(batch)
        return self._lines(batch, np.arange(start, self._offset))

    def _lines(self, batch: MessageBatch, offsets: Numbers) -> pa.RecordBatch:
        rows = len(batch)
        columns = [
            pa.repeat(self._topic, rows),
            pa.repeat(pa.scalar(self._partition, pa.int32()), rows),
            pa.array(offsets),
            batch.key,
            batch.value,
            pa.ListArray.from_arrays(pa.array(np.zeros(rows + 1, np.int32)), _NO_HEADERS),
            pc.shift_right(batch.commit_ts, tso.LOGICAL_BITS),
            pa.repeat(Kind.ROW.word, rows) if batch.types is None else batch.types,
            batch.events,
        ]
        typed = [column.cast(field.type) for column, field in zip(columns, MESSAGES_ARROW, strict=True)]
        return pa.record_batch(typed, schema=MESSAGES_ARROW)


def chunks(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same lines, small batches put together."""
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
