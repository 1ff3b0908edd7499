"""Row messages and barriers in one order.

Rows are framed many at a time, whatever stands between them: framing a few rows costs as much as framing
thousands, and a stream may have a resolved event every few rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from ticdc_producer.model.event import Message
from ticdc_producer.protocols.arrow_text import Numbers, numbers
from ticdc_producer.protocols.base import Encoder
from ticdc_producer.protocols.encoded_rows import EncodedRows
from ticdc_producer.protocols.message_batch import MessageBatch, of_messages, woven
from ticdc_producer.targets.encoding.row_batches import EncodedPart


class Interleaver:
    """Frames the rows of some parts, and sends each barrier at its place.

    Barriers wait here for the rows before them, so the parts should end where one has come.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._waiting: list[Message] = []
        self._sent = 0
        # Of each row that is not in a message yet: how many barriers come before it.
        self._stretches: Numbers = np.zeros(0, np.int64)

    def batches(self, parts: Iterable[EncodedPart]) -> Iterator[MessageBatch]:
        """Messages in delivery order.

        :raises EncodeError: the refusal of a row that has one.
        """
        for batch in self._encoder.messages(self._rows(parts)):
            yield self._with_barriers(batch)
        if self._waiting:
            yield of_messages(self._waiting)

    def _rows(self, parts: Iterable[EncodedPart]) -> Iterator[EncodedRows]:
        for part in parts:
            stretches = part.before + (self._sent + len(self._waiting))
            self._waiting.extend(part.barriers)
            if part.rows is not None and len(part.rows):
                self._stretches = np.append(self._stretches, stretches)
                yield part.rows.with_column("stretch", pa.array(stretches))

    def _with_barriers(self, batch: MessageBatch) -> MessageBatch:
        rows = numbers(batch.events)
        behind = np.cumsum(rows)
        stretches = self._stretches[behind - rows] - self._sent
        self._stretches = self._stretches[int(behind[-1]) :]
        due = int(stretches[-1])
        if not due:
            return batch
        barriers, self._waiting = self._waiting[:due], self._waiting[due:]
        self._sent += due
        return woven(batch, barriers, np.searchsorted(stretches, np.arange(due), side="right"))
