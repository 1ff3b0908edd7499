"""Messages of topics: few of them, read by one process, or any number, read by Spark tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from ticdc_producer.kafka.client import Brokers
from ticdc_producer.model.shapes import MESSAGES, BatchFunction
from ticdc_producer.spark.task_results import MapInArrow
from ticdc_producer.targets.decoding.dataframes import (
    mapped_kafka_messages,
    mapped_kafka_messages_at,
    record_batches,
)
from ticdc_producer.targets.kafka.read import OffsetRange, read
from ticdc_producer.verifier.messages import Messages, Offset

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


@dataclass(frozen=True, kw_only=True)
class TopicMessages(Messages):
    """Messages of topics, read by the tasks that need them."""

    spark: SparkSession
    brokers: Brokers
    ranges: Sequence[OffsetRange]

    def mapped(self, function: BatchFunction, schema: StructType | str) -> DataFrame:
        return mapped_kafka_messages(self.spark, self.brokers, self.ranges, function, schema)

    def at(self, offsets: Sequence[Offset]) -> MapInArrow:
        return partial(mapped_kafka_messages_at, self.spark, self.brokers, offsets)


def _size(batch: pa.RecordBatch) -> int:
    return sum(pc.sum(pc.binary_length(batch.column(name))).as_py() or 0 for name in ("key", "value"))
