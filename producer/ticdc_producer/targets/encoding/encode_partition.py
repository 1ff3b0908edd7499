"""Encodes all events of a partition at once, with the message that carries each event."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ticdc_producer.errors import EncodeError
from ticdc_producer.model import shapes
from ticdc_producer.model.event import ClaimObject
from ticdc_producer.model.shapes import MESSAGES
from ticdc_producer.protocols.arrow_text import Numbers, as_int64
from ticdc_producer.protocols.message_batch import MessageBatch
from ticdc_producer.targets.encoding.encode import EncodePlan, PartitionEncoder
from ticdc_producer.targets.encoding.message_rows import MessageRows


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
        """One row per event of the next messages.

        :return: shape ``EVENT_OFFSETS``, in the order of the messages; offsets begin with 0.
        """
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
        """One row per event that no message carries; call it after all messages.

        :return: shape ``EVENT_OFFSETS``, in the order of the events.
        """
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
        columns = (*partition, pa.array(event), offset, index, large, rejected)
        typed = [
            pa.nulls(rows, field.type)
            if column is None
            else column
            if column.type == field.type
            else column.cast(field.type)
            for column, field in zip(columns, shapes.EVENT_OFFSETS, strict=True)
        ]
        return pa.record_batch(typed, schema=shapes.EVENT_OFFSETS)


@dataclass(frozen=True)
class EncodedPartition:
    """The messages of one partition.

    :param batches: the messages in delivery order.
    :param offsets: the offset and index of each event (shape ``EVENT_OFFSETS``).
    :param rejected: events that TiCDC would not send, by event ordinal.
    :param faults: the faults of messages, with ``trap``, ``offset`` and ``commit_ts``.
    """

    topic: str
    partition: int
    batches: Sequence[MessageBatch]
    offsets: pa.RecordBatch
    rejected: dict[int, EncodeError]
    faults: Sequence[dict[str, Any]]

    def rows(self) -> pa.Table:
        """The messages with offsets from 0 (shape ``MESSAGES``)."""
        batches = MessageRows(self.topic, self.partition).rows(self.batches)
        return pa.Table.from_batches(batches, MESSAGES)

    def claims(self) -> Iterator[ClaimObject]:
        """The claim-check objects of the messages."""
        for batch in self.batches:
            for objects in batch.claims.values():
                yield from objects


def encode_partition(
    plan: EncodePlan, topic: str, partition: int, events: pa.RecordBatch
) -> EncodedPartition:
    """Encode the events of a partition.

    :param events: in delivery order (shape ``EVENT_STREAM``).
    :raises EncodeError: for a row that TiCDC refuses, unless the plan skips such rows.
    """
    encoder = PartitionEncoder(plan, topic, partition)
    offsets = PartitionEventOffsets(topic, partition, encoder)
    batches, carried = [], []
    for batch in encoder.batches([events]):
        batches.append(batch)
        carried.append(offsets.carried(batch))
    return EncodedPartition(
        topic,
        partition,
        batches,
        pa.concat_batches([*carried, offsets.rejected()]),
        encoder.rejected,
        [note for note in encoder.faults if "trap" in note],
    )
