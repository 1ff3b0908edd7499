"""Reads messages between two offsets: those of a Kafka partition, or of a file in place of its topic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

from ticdc_producer.config.parameters import MAX_PARTITIONS
from ticdc_producer.engine.dataset import Batches, Dataset, Engine, Order
from ticdc_producer.errors import BrokerError, FolderError
from ticdc_producer.kafka.client import OUTAGE_TIMEOUT_S, Brokers, Properties, connection
from ticdc_producer.kafka.client_errors import broker_error
from ticdc_producer.model.event import Record
from ticdc_producer.model.shapes import MESSAGES, StoredMessageBatch
from ticdc_producer.targets.dump import file_lines
from ticdc_producer.targets.record_batches import BATCH_BYTES, BATCH_ROWS, message_batch, record_batches

_BATCH = 500
_POLL_SECONDS = 1
_SLICE = 100_000
"""Ranges up to this number of messages are not cut: another consumer would cost more."""
# Messages can be as large as max-message-bytes; a fetch must hold at least one.
_FETCH = {"fetch.message.max.bytes": 16 << 20, "queued.max.messages.kbytes": 64 << 10}

# A broker sends at least one message, however large it is. At the end of a partition it answers at once: it
# would wait half a second for more messages, and the next request would wait until then.
_FETCH_FEW: Properties = {"fetch.message.max.bytes": 64 << 10, "fetch.wait.max.ms": 10}


@dataclass(frozen=True, kw_only=True)
class OffsetRange:
    """Offsets of one partition from ``start`` up to, but excluding, ``end``."""

    topic: str
    partition: int
    start: int
    end: int

    @property
    def size(self) -> int:
        """Most messages that it has."""
        return self.end - self.start


def slices(ranges: Sequence[OffsetRange], tasks: int = 32) -> list[OffsetRange]:
    """Cut large ranges, so that several tasks can read one partition.

    :param tasks: number of tasks that run at the same time; the default suits most Spark sessions.
    """
    total = sum(part.size for part in ranges)
    size = max(_SLICE, -(-total // (2 * tasks)))
    return [
        OffsetRange(topic=part.topic, partition=part.partition, start=start, end=min(start + size, part.end))
        for part in ranges
        for start in range(part.start, max(part.end, part.start + 1), size)
    ]


def read(brokers: Brokers, part: OffsetRange) -> Iterator[Record]:
    """Read the messages of one range, in order.

    :raises BrokerError: if the broker stops answering before the end is reached.
    """
    for messages in _consumed(brokers, part):
        yield from map(_record, messages)


def _consumed(brokers: Brokers, part: OffsetRange) -> Iterator[list[Any]]:
    """Yield the client's messages of one range, in order, as many at once as have arrived."""
    if part.start >= part.end:
        return
    consumer = Consumer(consumer_properties(brokers))
    try:
        consumer.assign([TopicPartition(part.topic, part.partition, part.start)])
        while True:
            messages = _next(consumer, brokers)
            if messages[-1].offset() >= part.end - 1:
                yield [message for message in messages if message.offset() < part.end]
                return
            yield messages
    finally:
        consumer.close()


def read_at(brokers: Brokers, topic: str, partition: int, offsets: Sequence[int]) -> Iterator[Record]:
    """Read single messages of a partition.

    :param offsets: in ascending order; those of compacted messages are ignored.
    :raises BrokerError: if the broker stops answering.
    """
    consumer = Consumer(consumer_properties(brokers) | _FETCH_FEW)
    try:
        for offset in offsets:
            consumer.assign([TopicPartition(topic, partition, offset)])
            record = _record(_next(consumer, brokers)[0])
            if record.offset == offset:
                yield record
    finally:
        consumer.close()


def _next(consumer: Consumer, brokers: Brokers) -> list[Any]:
    """Return the client's messages that have arrived, at least one."""
    try:
        # Short calls, because Python handles an interrupt between two of them.
        polls = (consumer.poll(_POLL_SECONDS) for _ in range(OUTAGE_TIMEOUT_S // _POLL_SECONDS))
        first = next((message for message in polls if message is not None), None)
        # consume(n, timeout) blocks for all n messages; poll one, then drain.
        messages = [] if first is None else [first, *consumer.consume(_BATCH, timeout=0)]
    except KafkaException as error:
        raise broker_error(brokers, error) from None
    if not messages:
        raise BrokerError(f"no answer within {OUTAGE_TIMEOUT_S} s", address=str(brokers))
    check_messages(brokers, messages)
    return messages


def check_messages(brokers: Brokers, messages: Iterable[Message]) -> None:
    """Check that the client has no error in place of a message.

    :param messages: those of the client.
    :raises BrokerError: for the first error.
    """
    for message in messages:
        if (rejected := message.error()) is not None:
            raise broker_error(brokers, KafkaException(rejected))


def _record(message: Any) -> Record:  # the client's type hints allow None where an error is excluded
    _, timestamp = message.timestamp()
    return Record(
        topic=message.topic(),
        partition=message.partition(),
        offset=message.offset(),
        key=message.key(),
        value=message.value(),
        timestamp=timestamp,
        headers=tuple(message.headers() or ()),
    )


def consumer_properties(brokers: Brokers) -> Properties:
    """Return the properties of a consumer that is assigned partitions."""
    return {
        **connection(brokers),
        **_FETCH,
        "group.id": "ticdc-producer",
        "enable.auto.commit": False,
        "enable.partition.eof": False,
        "auto.offset.reset": "error",
    }


def topic_rows(engine: Engine, brokers: Brokers, ranges: Sequence[OffsetRange]) -> Dataset:
    """Return the messages of the offset ranges (shape ``MESSAGES``).

    A part reads a piece of one range, in the order of the offsets.
    """
    return range_rows(engine, brokers, slices(ranges, engine.parallelism))


def range_rows(engine: Engine, brokers: Brokers, parts: Sequence[OffsetRange]) -> Dataset:
    """Return the messages of the offset ranges (shape ``MESSAGES``), a part per range."""
    return engine.of_parts(len(parts), lambda part: _range_batches(brokers, parts[part]), MESSAGES)


def _range_batches(brokers: Brokers, part: OffsetRange) -> Batches:
    """Yield the messages of one range, in order; no object is made for a single message."""

    def batch(messages: Sequence[Any]) -> StoredMessageBatch:
        rows = len(messages)
        return client_batch(messages, [part.topic] * rows, [part.partition] * rows)

    arrived: list[Any] = []
    size = 0
    for messages in _consumed(brokers, part):
        arrived += messages
        size += sum(len(message) + len(message.key() or b"") for message in messages)  # len: of its value
        if len(arrived) >= BATCH_ROWS - _BATCH or size >= BATCH_BYTES:
            yield batch(arrived)
            arrived, size = [], 0
    if arrived:
        yield batch(arrived)


def client_batch(
    messages: Sequence[Message], topics: Sequence[str], partitions: Sequence[int]
) -> StoredMessageBatch:
    """Return messages of the client as a batch (shape ``MESSAGES``).

    :param topics: of each message, as ``partitions``; the reader of a range knows both.
    """
    return message_batch(
        {
            "topic": topics,
            "partition": partitions,
            "offset": [message.offset() for message in messages],
            "key": [message.key() for message in messages],
            "value": [message.value() for message in messages],
            "headers": [message.headers() or () for message in messages],
            "timestamp": [message.timestamp()[1] for message in messages],
        }
    )


def rows_at_offsets(engine: Engine, brokers: Brokers, offsets: Sequence[tuple[str, int, int]]) -> Dataset:
    """Return a few messages of topics (shape ``MESSAGES``), which one part reads.

    :param offsets: their topics, partitions and offsets, in ascending order.
    """

    def rows(_part: int) -> Batches:
        for (topic, partition), same in groupby(offsets, key=itemgetter(0, 1)):
            yield from record_batches(read_at(brokers, topic, partition, [offset for *_, offset in same]))

    return engine.of_parts(1, rows, MESSAGES)


_BY_OFFSET = ("topic", "partition", "offset")


def file_ranges(path: Path, topic: str, partitions: int) -> list[OffsetRange]:
    """Return the first and the last offset of each partition of a topic in a file, and check its lines.

    :param topic: of messages that do not name it.
    :param partitions: number of partitions that a topic has at least; the file may lack messages of some.
    :raises FolderError: for a line that is not a message with a position, and for a file without messages.
    """
    if path.is_fifo():
        hint = "write the messages to a file"
        raise FolderError("it is read several times, so it cannot be a pipe", path=str(path), hint=hint)
    bounds: dict[tuple[str, int], tuple[int, int]] = {}
    for line in file_lines(path, topic=topic, positioned=True):
        if line.partition >= MAX_PARTITIONS:
            what = f"partition {line.partition}: a topic has at most {MAX_PARTITIONS:,} partitions here"
            raise FolderError(what, path=str(path))
        partition_name = line.topic, line.partition
        start, end = bounds.get(partition_name, (line.offset, 0))
        bounds[partition_name] = min(start, line.offset), max(end, line.offset + 1)
    if not bounds:
        raise FolderError("the file has no messages", path=str(path))
    counts: dict[str, int] = {}
    for name, partition in sorted(bounds):
        counts[name] = max(partitions, partition + 1)
    return [
        OffsetRange(topic=name, partition=partition, start=start, end=end)
        for name, count in counts.items()
        for partition in range(count)
        for start, end in [bounds.get((name, partition), (0, 0))]
    ]


def file_messages(engine: Engine, path: Path, topic: str) -> Dataset:
    """Return the messages of a file (shape ``MESSAGES``).

    A part has the messages of a partition in the order of their offsets; the file may have another order.
    """
    absolute = path.absolute()

    def lines(_part: int) -> Batches:
        return record_batches(file_lines(absolute, topic=topic, positioned=True))

    return engine.of_parts(1, lines, MESSAGES).shuffle(_BY_OFFSET[:2], Order(_BY_OFFSET))
