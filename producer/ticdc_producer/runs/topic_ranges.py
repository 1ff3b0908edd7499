"""Few messages of topics, read by one process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.kafka.client import Brokers
from ticdc_producer.model.shapes import MESSAGES
from ticdc_producer.targets.decoding.dataframes import record_batches
from ticdc_producer.targets.kafka.read import OffsetRange, read

SMALL_BYTES = 64 << 20
"""Up to this many bytes of keys and values, one task reads and verifies messages."""


@dataclass(frozen=True, kw_only=True)
class TopicRanges:
    """Messages to read from Kafka."""

    brokers: Brokers
    ranges: Sequence[OffsetRange]

    def read(self) -> pa.Table | None:
        """The messages (shape ``MESSAGES``); None if they have more than :data:`SMALL_BYTES`."""
        batches, size = [], 0
        for part in self.ranges:
            for batch in record_batches(read(self.brokers, part)):
                size += _size(batch)
                if size > SMALL_BYTES:
                    return None
                batches.append(batch)
        return pa.Table.from_batches(batches, MESSAGES)


def _size(batch: pa.RecordBatch) -> int:
    return sum(pc.sum(pc.binary_length(batch.column(name))).as_py() or 0 for name in ("key", "value"))
