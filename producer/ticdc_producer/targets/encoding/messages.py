"""The event stream as a DataFrame of messages."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import DataFrame

from ticdc_producer.errors import EncodeError
from ticdc_producer.model.dataframes import MESSAGES
from ticdc_producer.targets.encoding.encode import EncodePlan, PartitionEncoder
from ticdc_producer.targets.encoding.message_rows import MessageLines
from ticdc_producer.targets.encoding.row_batches import NEEDED
from ticdc_producer.targets.encoding.split_by_partition import by_place

REFUSED = "refused"
"""``type`` of the line that stands for a row which TiCDC would not send; its value says why, as JSON, and
which event of the partition it was."""

FAULT = "fault"
"""``type`` of the line that tells a fault of messages: which one and where."""

NOTES = (REFUSED, FAULT)
"""Types of the lines that are about the messages, and no messages."""


def messages(events: DataFrame, plan: EncodePlan) -> DataFrame:
    """Messages of an event stream in delivery order, with offsets from 0 in each partition.

    The timestamp is the physical part of the first event's commit-ts. Lines of the types ``NOTES`` follow
    the messages of their partition.

    :param events: the ordered event stream; the events of a Kafka partition stand together.
    """

    def encode(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for (topic, partition), events in by_place(batches):
            yield from _encoded(plan, topic, partition, events)

    return events.select(*NEEDED).mapInArrow(encode, MESSAGES)


def _encoded(
    plan: EncodePlan, topic: str, partition: int, events: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    encoder, lines = PartitionEncoder(plan, topic, partition), MessageLines(topic, partition)
    yield from lines.lines(encoder.batches(events))
    yield from lines.notes(map(_refusal, encoder.refused, encoder.refused.values()))
    told = (fault for fault in encoder.faults if "trap" in fault)
    yield from lines.notes((FAULT, 0, json.dumps(fault).encode()) for fault in told)


def _refusal(place: int, error: EncodeError) -> tuple[str, int, bytes]:
    fields = {"error": error.what, "code": error.code, "table": error.table, "commit_ts": error.commit_ts}
    return REFUSED, error.commit_ts, json.dumps({**fields, "event": place}).encode()
