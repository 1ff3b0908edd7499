"""The event stream as a DataFrame of messages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain

import pyarrow as pa
from pyspark.sql import DataFrame

from producer.errors import EncodeError
from producer.model import tso
from producer.model.event import Message
from producer.model.shapes import MESSAGES, MESSAGES_ARROW
from producer.sink.encode import EncodePlan, PartitionEncoder

REFUSED = "refused"
"""``type`` of the line that stands for a row which TiCDC would not send; its value says why, as JSON, and
which event of the partition it was."""

HANDLE_KEY_ONLY = "handle-key-only"
"""``type`` of the line that says which event of the partition was too large, and is sent as its handle
key."""

NOTES = (REFUSED, HANDLE_KEY_ONLY)
"""Types of the lines that are about the messages, and no messages."""

_CHUNK = 2048
_CHUNK_BYTES = 8 << 20


def messages(events: DataFrame, plan: EncodePlan) -> DataFrame:
    """Messages of an event stream in delivery order, with offsets from 0 in each partition.

    The timestamp is the physical part of the first event's commit-ts. Lines of the types ``NOTES`` follow
    the messages of their partition.

    :param events: the ordered event stream, one Spark partition per Kafka partition.
    """

    def encode(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        filled = (batch for batch in batches if batch.num_rows)
        first = next(filled, None)
        if first is None:
            return
        topic, partition = first.column("topic")[0].as_py(), first.column("partition")[0].as_py()
        encoder = PartitionEncoder(plan)
        lines = _lines(encoder.messages(chain([first], filled)), topic, partition)
        yield from _chunks(lines)
        yield from _chunks(
            _refusal(error, place, topic, partition) for place, error in encoder.refused.items()
        )
        yield from _chunks(
            (topic, partition, -1, None, json.dumps({"event": place}).encode(), [], 0, HANDLE_KEY_ONLY, 1)
            for place in encoder.handle_key_only
        )

    return events.mapInArrow(encode, MESSAGES)


def _lines(messages: Iterable[Message], topic: str, partition: int) -> Iterator[tuple[object, ...]]:
    for offset, message in enumerate(messages):
        headers = [{"key": name, "value": value} for name, value in message.headers]
        yield (
            topic, partition, offset, message.key, message.value, headers,
            tso.physical(message.commit_ts), message.type, message.events,
        )  # fmt: skip


def _refusal(error: EncodeError, place: int, topic: str, partition: int) -> tuple[object, ...]:
    fields = {"error": error.what, "code": error.code, "table": error.table, "commit_ts": error.commit_ts}
    value = json.dumps({**fields, "event": place}).encode()
    return topic, partition, -1, None, value, [], tso.physical(error.commit_ts), REFUSED, 1


def _chunks(lines: Iterable[tuple[object, ...]]) -> Iterator[pa.RecordBatch]:
    """Lines as Arrow batches of bounded size."""
    chunk: list[tuple[object, ...]] = []
    size = 0
    for line in lines:
        chunk.append(line)
        size += len(line[3] or b"") + len(line[4] or b"")  # type: ignore[arg-type]  # key and value are bytes
        if len(chunk) >= _CHUNK or size >= _CHUNK_BYTES:
            yield _batch(chunk)
            chunk, size = [], 0
    if chunk:
        yield _batch(chunk)


def _batch(chunk: list[tuple[object, ...]]) -> pa.RecordBatch:
    columns = zip(*chunk, strict=True)
    return pa.record_batch(
        [pa.array(column, type=field.type) for column, field in zip(columns, MESSAGES_ARROW, strict=True)],
        schema=MESSAGES_ARROW,
    )
