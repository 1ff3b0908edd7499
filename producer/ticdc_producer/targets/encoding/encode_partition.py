"""Encodes all events of a partition at once, with the position of each event."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ticdc_producer.errors import EncodeError
from ticdc_producer.model.event import ClaimObject
from ticdc_producer.model.shapes import EVENT_OFFSETS, MESSAGES
from ticdc_producer.protocols.message_batch import MessageBatch
from ticdc_producer.targets.encoding.encode import EncodePlan, PartitionEncoder
from ticdc_producer.targets.encoding.event_offsets import PartitionEventOffsets
from ticdc_producer.targets.encoding.message_rows import MessageRows


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
        pa.concat_batches([pa.RecordBatch.from_pylist([], EVENT_OFFSETS), *carried, offsets.rejected()]),
        encoder.rejected,
        [note for note in encoder.faults if "trap" in note],
    )
