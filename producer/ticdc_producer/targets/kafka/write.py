"""Writes the messages of Kafka partitions.

The messages of a partition are written in order, by one part. A part that is tried again continues at the
end of the partition instead of repeating messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import repeat
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka import Message as Delivered

from ticdc_producer.engine.dataset import Batches, Part, never
from ticdc_producer.errors import DeliveryError, ForeignMessageError, ProducerError
from ticdc_producer.kafka.client import CONNECT_SECONDS, Brokers, Properties
from ticdc_producer.kafka.client_errors import hint_for
from ticdc_producer.protocols.message_batch import MessageBatch
from ticdc_producer.targets.claims import ClaimWriter
from ticdc_producer.targets.encode_partition import split_by_partition
from ticdc_producer.targets.kafka.resume import PartitionResume
from ticdc_producer.targets.kafka.topics import Offsets
from ticdc_producer.targets.message_rows import DeliveryStats
from ticdc_producer.targets.record_batches import stored_messages

_FLUSH_SECONDS = 1.0
_NOW = 0
"""Makes ``produce`` use the current time."""


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """Settings for writing messages to Kafka.

    :param brokers: the Kafka cluster, sent to the tasks with its secrets.
    :param properties: librdkafka properties of the producer.
    :param starts: end offset of each partition before this run.
    :param claims: URI of the storage for claim-check objects, empty if there is none.
    """

    brokers: Brokers
    properties: Properties
    starts: Offsets
    claims: str = ""

    def write(self, part: Part, batches: Batches) -> None:
        """Write the messages that the partitions of a part lack, and wait until they are acknowledged.

        :param batches: stored messages of whole partitions in order, with ``stored_messages.SENT_COLUMNS``.
        :raises DeliveryError: for messages or claim-check objects that were rejected, and for events that
            could not be encoded when their messages were due.
        :raises ForeignMessageError: for a partition with a message that the run did not write.
        """
        for (topic, partition), messages in split_by_partition(batches):
            try:
                writer = PartitionWriter(
                    self.brokers, self.properties, topic, partition, self.claims, part.interrupted
                )
                writer.write(stored_messages(messages), self.starts[topic, partition])
            except (DeliveryError, ForeignMessageError):
                raise
            except ProducerError as error:
                raise DeliveryError(error.what, topic=topic, partition=partition, hint=error.hint) from error


class PartitionWriter:
    """A writer of the messages of one Kafka partition.

    :param brokers: the Kafka cluster, to find existing messages.
    :param properties: librdkafka properties of the producer.
    :param claims: URI of the storage for claim-check objects, empty if there is none.
    :param interrupted: whether ``write`` should raise an error as soon as it can.
    """

    def __init__(
        self,
        brokers: Brokers,
        properties: Properties,
        topic: str,
        partition: int,
        claims: str = "",
        interrupted: Callable[[], bool] = never,
    ) -> None:
        self._brokers = brokers
        self._properties = properties
        self._topic = topic
        self._partition = partition
        self._failure: KafkaError | None = None
        self._interrupted = interrupted
        self._claims = ClaimWriter(claims) if claims else None

    def write(self, messages: Iterable[MessageBatch], start: int) -> None:
        """Write the messages that the partition lacks, and wait until they are acknowledged.

        :param start: offset of the first message.
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
        """Return the arguments of ``produce``: topic, value, key, partition, and headers if there are any."""
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
        if self._interrupted():
            what, hint = "the run was interrupted", "`resume` continues it"
            raise DeliveryError(what, topic=self._topic, partition=self._partition, hint=hint)
        if self._failure is not None:
            raise DeliveryError(
                self._failure.str(),
                topic=self._topic,
                partition=self._partition,
                hint=hint_for(self._failure),
            )
