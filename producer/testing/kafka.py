"""Records into topics and topics away again, without Spark: a test's messages are few and made already."""

from __future__ import annotations

from collections.abc import Iterable

from confluent_kafka import KafkaError, KafkaException, Message, Producer
from confluent_kafka.admin import AdminClient

from producer.changefeed import Changefeed
from producer.changefeed.kafka_client import CONNECT_SECONDS, connection, producer_properties
from producer.errors import DeliveryError
from producer.model.record import Record
from producer.sink.topics import Topics

_FLUSH_SECONDS = 90
"""Longer than the producer tries to deliver a message, so that it has told what became of each."""


def create(bootstrap: str, changefeed: Changefeed, topics: Iterable[str]) -> None:
    """Topics as the changefeed wants them: partitions, replicas, size of messages.

    :raises BrokerError: if no broker answers in time.
    :raises TopicError: if one is there and holds messages.
    """
    Topics(bootstrap).prepare(changefeed, topics, append=False)


def send(bootstrap: str, changefeed: Changefeed, records: Iterable[Record]) -> None:
    """Write records to their partitions, in their order.

    :raises DeliveryError: for the first that the broker did not take.
    """
    refused: list[DeliveryError] = []

    def told(error: KafkaError | None, message: Message) -> None:
        if error is not None:
            topic, partition = str(message.topic()), message.partition() or 0
            refused.append(DeliveryError(str(error.str()), topic=topic, partition=partition))

    producer = Producer({**producer_properties(changefeed, bootstrap), "on_delivery": told})
    for record in records:
        _produce(producer, record)
    producer.flush(_FLUSH_SECONDS)
    if refused:
        raise refused[0]


def _produce(producer: Producer, record: Record) -> None:
    while True:
        try:
            producer.produce(
                record.topic,
                key=record.key,
                value=record.value,
                partition=record.partition,
                headers=list(record.headers),
            )
        except BufferError:
            producer.poll(1)
        except KafkaException as error:
            raise DeliveryError(
                str(error.args[0].str()), topic=record.topic, partition=record.partition
            ) from None
        else:
            producer.poll(0)
            return


def delete(bootstrap: str, topics: Iterable[str]) -> None:
    """Ask for topics to be deleted; a broker that does not is none of the test's business."""
    admin = AdminClient(connection(bootstrap))
    for answer in admin.delete_topics(sorted(topics), request_timeout=CONNECT_SECONDS).values():
        answer.exception(CONNECT_SECONDS)
