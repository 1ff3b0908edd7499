"""Merges row messages with barriers (DDL and resolved messages) in delivery order.

Rows are framed in large batches even if there are barriers between them: framing a few rows costs as much
as framing thousands, and a stream may have a resolved event every few rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from ticdc_producer.model.event import Message
from ticdc_producer.protocols.arrow_text import Numbers, as_int64
from ticdc_producer.protocols.base import Encoder
from ticdc_producer.protocols.encoded_rows import EncodedRows
from ticdc_producer.protocols.message_batch import MessageBatch, from_messages, interleave
from ticdc_producer.targets.encoding.row_batches import EncodedPart


class Interleaver:
    """Frames the rows of some parts, and inserts each barrier at its position.

    Barriers are held until the rows before them are framed, so the parts should end after a barrier.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._waiting: list[Message] = []
        self._sent = 0
        # For each row that is not in a message yet: the number of barriers before it.
        self._segments: Numbers = np.zeros(0, np.int64)

    def batches(self, parts: Iterable[EncodedPart]) -> Iterator[MessageBatch]:
        """Messages in delivery order.

        :raises EncodeError: if TiCDC refuses a row.
        """
        for batch in self._encoder.messages(self._rows(parts)):
            yield self._with_barriers(batch)
        if self._waiting:
            yield from_messages(self._waiting)

    def _rows(self, parts: Iterable[EncodedPart]) -> Iterator[EncodedRows]:
        for part in parts:
            segments = part.before + (self._sent + len(self._waiting))
            self._waiting.extend(part.barriers)
            if part.rows is not None and len(part.rows):
                self._segments = np.append(self._segments, segments)
                yield part.rows.with_column("segment", pa.array(segments))

    def _with_barriers(self, batch: MessageBatch) -> MessageBatch:
        rows = as_int64(batch.events)
        behind = np.cumsum(rows)
        segments = self._segments[behind - rows] - self._sent
        self._segments = self._segments[int(behind[-1]) :]
        due = int(segments[-1])
        if not due:
            return batch
        barriers, self._waiting = self._waiting[:due], self._waiting[due:]
        self._sent += due
        return interleave(batch, barriers, np.searchsorted(segments, np.arange(due), side="right"))
