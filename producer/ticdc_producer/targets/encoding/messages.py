"""Encodes the event stream to a DataFrame of messages."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import DataFrame

from ticdc_producer.errors import EncodeError
from ticdc_producer.model.dataframes import MESSAGES
from ticdc_producer.targets.encoding.encode import EncodePlan, PartitionEncoder, rejection
from ticdc_producer.targets.encoding.message_rows import MessageRows
from ticdc_producer.targets.encoding.row_batches import NEEDED
from ticdc_producer.targets.encoding.split_by_partition import split_by_partition

REFUSED = "refused"
"""``type`` of the side row of an event that TiCDC would not send; its value has, as JSON, the reason and
the event's ordinal in the partition."""

FAULT = "fault"
"""``type`` of the side row of a message fault; its value has, as JSON, the trap and the offset."""

SIDE_ROWS = (REFUSED, FAULT)
"""Types of the rows that describe messages but are not messages."""


def messages(events: DataFrame, plan: EncodePlan) -> DataFrame:
    """Messages of an event stream in delivery order, with offsets from 0 in each partition.

    The timestamp is the physical part of the first event's commit-ts. Rows of the types ``SIDE_ROWS`` follow
    the messages of their partition.

    :param events: the ordered event stream; the events of each Kafka partition are contiguous.
    """

    def encode(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for (topic, partition), events in split_by_partition(batches):
            yield from _encoded(plan, topic, partition, events)

    return events.select(*NEEDED).mapInArrow(encode, MESSAGES)


def _encoded(
    plan: EncodePlan, topic: str, partition: int, events: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    encoder, output = PartitionEncoder(plan, topic, partition), MessageRows(topic, partition)
    yield from output.rows(encoder.batches(events))
    yield from output.side_rows(map(_refusal, encoder.rejected, encoder.rejected.values()))
    faults = (fault for fault in encoder.faults if "trap" in fault)
    yield from output.side_rows((FAULT, 0, json.dumps(fault).encode()) for fault in faults)


def _refusal(ordinal: int, error: EncodeError) -> tuple[str, int, bytes]:
    return REFUSED, error.commit_ts, json.dumps(rejection(ordinal, error)).encode()
