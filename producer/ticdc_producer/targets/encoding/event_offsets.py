"""Computes which message carries each event of an event stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from ticdc_producer.model import shapes
from ticdc_producer.protocols.arrow_text import Numbers, as_int64
from ticdc_producer.protocols.message_batch import MessageBatch
from ticdc_producer.targets.encoding.encode import PartitionEncoder


class PartitionEventOffsets:
    """Computes the offsets and indexes of the events of one partition.

    :param encoder: its records of rejected and large events and of faults are complete for all messages
        that it has returned so far.
    """

    def __init__(self, topic: str, partition: int, encoder: PartitionEncoder) -> None:
        self._topic, self._partition = topic, partition
        self._encoder = encoder
        self._offset = self._sent = self._notes_read = 0

    def carried(self, batch: MessageBatch) -> pa.RecordBatch:
        """One row per event of the next messages."""
        counts = as_int64(batch.events).astype(np.int64)
        first = self._first_of_each(counts)
        index = np.arange(counts.sum()) - np.repeat(counts.cumsum() - counts, counts)
        event = self._with_rejected(np.repeat(first, counts) + index)
        offset = np.repeat(np.arange(self._offset, self._offset + len(counts)), counts)
        self._offset += len(counts)
        self._sent = int(first[-1] + counts[-1]) if len(counts) else self._sent
        large = np.isin(event, np.array(self._encoder.handle_key_only, np.int64))
        return self._rows(event, pa.array(offset), pa.array(index), pa.array(large), None)

    def _first_of_each(self, counts: Numbers) -> Numbers:
        """The ordinal, among the sent events, of each message's first event."""
        first = self._sent + counts.cumsum() - counts
        for jump in self._jumps():
            at = jump["offset"] - self._offset
            first[at:] += jump["event_ordinal"] - first[at]
        return first

    def _jumps(self) -> Iterator[dict[str, Any]]:
        """Notes of faults in the latest messages that make event ordinals jump."""
        notes, self._notes_read = self._encoder.faults[self._notes_read :], len(self._encoder.faults)
        return (note for note in notes if "event_ordinal" in note)

    def _with_rejected(self, sent: Numbers) -> Numbers:
        """Convert ordinals among the sent events to ordinals among all events."""
        rejected = np.fromiter(self._encoder.rejected, np.int64)
        return sent + np.searchsorted(rejected - np.arange(len(rejected)), sent, side="right")

    def rejected(self) -> pa.RecordBatch:
        """One row per event that no message carries; call it after all messages."""
        tables = pa.array([error.table for error in self._encoder.rejected.values()], pa.string())
        return self._rows(np.fromiter(self._encoder.rejected, np.int64), None, None, None, tables)

    def _rows(
        self,
        event: Numbers,
        offset: pa.Array | None,
        index: pa.Array | None,
        large: pa.Array | None,
        rejected: pa.Array | None,
    ) -> pa.RecordBatch:
        rows = len(event)
        partition = pa.repeat(self._topic, rows), pa.repeat(self._partition, rows)
        columns = [
            pa.nulls(rows) if column is None else column
            for column in (*partition, pa.array(event), offset, index, large, rejected)
        ]
        typed = [column.cast(field.type) for column, field in zip(columns, shapes.EVENT_OFFSETS, strict=True)]
        return pa.record_batch(typed, schema=shapes.EVENT_OFFSETS)
