"""Records into topics and topics away again, without Spark: a test's messages are few and made already."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from confluent_kafka.admin import AdminClient

from producer.changefeed import Changefeed
from producer.changefeed.kafka_client import CONNECT_SECONDS, connection, producer_properties
from producer.model.event import Message
from producer.model.record import Record
from producer.sink.kafka import PartitionWriter
from producer.sink.topics import Topics


def create(bootstrap: str, changefeed: Changefeed, topics: Iterable[str]) -> None:
    """Topics as the changefeed wants them: partitions, replicas, size of messages.

    :raises BrokerError: if no broker answers in time.
    :raises TopicError: if one is there and holds messages.
    """
    Topics(bootstrap).prepare(changefeed, topics, append=False)


def send(bootstrap: str, changefeed: Changefeed, records: Iterable[Record]) -> None:
    """Write records to their partitions, in their order; the topics hold nothing yet.

    :raises DeliveryError: for the first that the broker did not take.
    """
    properties = producer_properties(changefeed, bootstrap)
    in_turn = sorted(records, key=_partition)
    for (topic, partition), of_one in groupby(in_turn, key=_partition):
        PartitionWriter(properties, topic, partition).write(map(_message, of_one), start=0)


def _partition(record: Record) -> tuple[str, int]:
    return record.topic, record.partition


def _message(record: Record) -> Message:
    return Message(record.key, record.value, record.type, commit_ts=0, headers=record.headers)


def delete(bootstrap: str, topics: Iterable[str]) -> None:
    """Ask for topics to be deleted; a broker that does not is none of the test's business."""
    admin = AdminClient(connection(bootstrap))
    for answer in admin.delete_topics(sorted(topics), request_timeout=CONNECT_SECONDS).values():
        answer.exception(CONNECT_SECONDS)
