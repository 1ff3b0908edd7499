"""Writes the messages of a Kafka partition.

In a large run, one Spark task writes one partition, in order. A retried task continues at the end of the
partition instead of repeating messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, repeat
from threading import Event
from typing import Any

import pyarrow as pa
from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka import Message as Delivered
from pyspark.sql import DataFrame

from ticdc_producer.errors import DeliveryError, ForeignMessageError, ProducerError
from ticdc_producer.kafka.client import CONNECT_SECONDS, Brokers, Properties
from ticdc_producer.kafka.client_errors import hint_for
from ticdc_producer.model.shapes import BatchFunction
from ticdc_producer.protocols.message_batch import MessageBatch
from ticdc_producer.targets.encoding.claims import ClaimWriter
from ticdc_producer.targets.encoding.encode import EncodePlan, PartitionEncoder
from ticdc_producer.targets.encoding.ordered_events import OrderedEvents
from ticdc_producer.targets.encoding.row_batches import NEEDED
from ticdc_producer.targets.encoding.stored_messages import sendable, stored_messages
from ticdc_producer.targets.kafka.delivery_stats import DeliveryStats
from ticdc_producer.targets.kafka.resume import PartitionResume
from ticdc_producer.targets.kafka.topics import Offsets

DELIVERIES = (
    "topic string, partition int, type string, messages long, events long, bytes long, failure string, "
    "hint string, foreign long"
)
"""The reports of the workers: message counts per partition and kind, or a failure.

``foreign`` is the offset of a message that the run did not write.
"""

_ARROW = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("type", pa.string()),
        ("messages", pa.int64()),
        ("events", pa.int64()),
        ("bytes", pa.int64()),
        ("failure", pa.string()),
        ("hint", pa.string()),
        ("foreign", pa.int64()),
    ]
)
_FLUSH_SECONDS = 1.0
_NOW = 0
"""Makes ``produce`` use the current time."""


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """How the workers write to Kafka.

    :param brokers: the Kafka cluster, sent to the workers with its secrets.
    :param properties: librdkafka properties of the producer.
    :param starts: end offset of each partition before this run.
    :param claims: URI of the storage for claim-check objects, empty if there is none.
    """

    brokers: Brokers
    properties: Properties
    starts: Offsets
    claims: str = ""

    def partition_writer(self, topic: str, partition: int) -> PartitionWriter:
        """The writer of one partition."""
        return PartitionWriter(self.brokers, self.properties, topic, partition, self.claims)


def deliver(events: OrderedEvents, plan: EncodePlan, delivery: Delivery) -> DataFrame:
    """Encode an event stream and write it.

    :param events: the ordered event stream, one Spark partition per Kafka partition.
    :return: the reports (``DELIVERIES``); evaluating them writes the messages.
    """

    def messages(topic: str, partition: int, batches: Iterator[pa.RecordBatch]) -> Iterator[MessageBatch]:
        return PartitionEncoder(plan, topic, partition).batches(batches)

    return events.mapped(_writing(messages, delivery), DELIVERIES, NEEDED)


def deliver_stored(entries: DataFrame, delivery: Delivery) -> DataFrame:
    """Write the messages of an encoded stream.

    :param entries: shape ``ENCODED``, one Spark partition per Kafka partition.
    :return: as for ``deliver``.
    """

    def messages(_topic: str, _partition: int, batches: Iterator[pa.RecordBatch]) -> Iterator[MessageBatch]:
        return stored_messages(batches)

    return sendable(entries).mapInArrow(_writing(messages, delivery), DELIVERIES)


def _writing(
    messages: Callable[[str, int, Iterator[pa.RecordBatch]], Iterator[MessageBatch]], delivery: Delivery
) -> BatchFunction:
    """The function of a task that writes the messages of its partition."""

    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        filled = (batch for batch in batches if batch.num_rows)
        first = next(filled, None)
        if first is None:
            return
        topic, partition = first.column("topic")[0].as_py(), first.column("partition")[0].as_py()
        try:
            writer = delivery.partition_writer(topic, partition)
            report = writer.write(
                messages(topic, partition, chain([first], filled)), delivery.starts[topic, partition]
            )
        except ProducerError as error:
            # A row instead of an exception: the driver needs the message, not Spark's stack trace.
            foreign = error.offset if isinstance(error, ForeignMessageError) else None
            yield _report([(topic, partition, "", 0, 0, 0, error.what, error.hint, foreign)])
        else:
            yield _report(report)

    return write


def _report(rows: list[tuple[object, ...]]) -> pa.RecordBatch:
    columns = zip(*rows, strict=True)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, _ARROW, strict=True)]
    return pa.record_batch(arrays, schema=_ARROW)


class PartitionWriter:
    """Writes the messages of one Kafka partition.

    :param brokers: the Kafka cluster, to find existing messages.
    :param properties: librdkafka properties of the producer.
    :param claims: URI of the storage for claim-check objects, empty if there is none.
    :param interrupt: set by another thread to let ``write`` raise an error as soon as it can.
    """

    def __init__(
        self,
        brokers: Brokers,
        properties: Properties,
        topic: str,
        partition: int,
        claims: str = "",
        interrupt: Event | None = None,
    ) -> None:
        self._brokers = brokers
        self._properties = properties
        self._topic = topic
        self._partition = partition
        self._failure: KafkaError | None = None
        self._interrupt = interrupt or Event()
        self._claims = ClaimWriter(claims) if claims else None

    def write(self, messages: Iterable[MessageBatch], start: int) -> list[tuple[object, ...]]:
        """Write the messages that the partition lacks, and wait until they are acknowledged.

        :param start: offset of the first message.
        :return: rows of ``DELIVERIES``, one per kind of message.
        :raises DeliveryError: if the broker rejects a message.
        :raises ForeignMessageError: if the partition has messages that the run did not write.
        :raises StorageError: if the storage rejects a claim-check object.
        """
        resume = PartitionResume(self._brokers, self._topic, self._partition, start)
        stats = DeliveryStats()
        missing = resume.skip_existing(stats.counted(messages))
        callbacks = {"error_cb": self._on_error, "on_delivery": self._on_delivery}
        producer = Producer({**self._properties, **callbacks})
        self._connect(producer)
        try:
            for part in (part for batch in missing for part in batch.parts()):
                self._send(producer, part)
            while producer.flush(_FLUSH_SECONDS):
                self._check()
            self._check()
        except BaseException:
            # Messages in flight may still be delivered. A retried task may read the partition's end only
            # when they are settled.
            producer.purge(in_queue=True, in_flight=False)
            producer.flush(CONNECT_SECONDS)
            raise
        resume.check_end(stats.messages)
        failed = (None, None, None)
        return [
            (self._topic, self._partition, kind, count.messages, count.events, count.size, *failed)
            for kind, count in sorted(stats.kinds.items())
        ]

    def _connect(self, producer: Producer) -> None:
        """Connect to a broker before the first message; an error is reported if the broker stays away.

        An idempotent producer needs an id from a broker, and it requests the id when it receives metadata.
        If they come through the bootstrap address, no broker is connected by its name yet, and the producer
        waits half a second before it tries again. So a second request follows, to the broker itself.
        """
        with suppress(KafkaException):
            if producer.list_topics(self._topic, timeout=_FLUSH_SECONDS).orig_broker_id < 0:
                producer.list_topics(self._topic, timeout=_FLUSH_SECONDS)

    def _send(self, producer: Producer, part: MessageBatch) -> None:
        """Queue messages, and raise the errors of earlier ones."""
        if self._claims is not None:
            for claims in part.claims.values():
                self._claims.write(claims)
        # Hot path: positional arguments, cached bound method.
        produce = producer.produce
        for record in self._records(part):
            try:
                produce(*record)
            except (BufferError, KafkaException) as error:
                self._send_late(producer, record, error)
        producer.poll(0)
        self._check()

    def _records(self, part: MessageBatch) -> Iterable[tuple[Any, ...]]:
        """The arguments of ``produce``: topic, value, key, partition, and headers if there are any."""
        rows, values = len(part), part.value.to_pylist()
        columns = (repeat(self._topic, rows), values, part.keys(), repeat(self._partition, rows))
        if not part.headers:
            return zip(*columns, strict=True)
        headers = ([*part.headers.get(index, ())] for index in range(rows))
        # ``produce`` takes the callback under two names; both are None.
        return zip(*columns, repeat(None, rows), repeat(None, rows), repeat(_NOW, rows), headers, strict=True)

    def _send_late(self, producer: Producer, record: tuple[Any, ...], error: Exception) -> None:
        """Wait for acknowledgements while the queue is full; any other error is a failure."""
        while isinstance(error, BufferError):
            producer.poll(_FLUSH_SECONDS)
            self._check()
            try:
                producer.produce(*record)
            except (BufferError, KafkaException) as again:
                error = again
            else:
                return
        self._failure = error.args[0]  # such as a message that is too large
        self._check()

    def _on_delivery(self, error: KafkaError | None, _message: Delivered) -> None:
        if error is not None and self._failure is None:
            self._failure = error

    def _on_error(self, error: KafkaError) -> None:
        if error.fatal() and self._failure is None:
            self._failure = error

    def _check(self) -> None:
        if self._interrupt.is_set():
            what, hint = "the run was interrupted", "`resume` continues it"
            raise DeliveryError(what, topic=self._topic, partition=self._partition, hint=hint)
        if self._failure is not None:
            raise DeliveryError(
                self._failure.str(),
                topic=self._topic,
                partition=self._partition,
                hint=hint_for(self._failure),
            )
