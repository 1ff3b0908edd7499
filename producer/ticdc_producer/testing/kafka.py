"""Records into topics and topics away again, without Spark: a test's messages are few and made already."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from confluent_kafka.admin import AdminClient

from ticdc_producer.config import Changefeed
from ticdc_producer.kafka.client import CONNECT_SECONDS, Brokers, connection
from ticdc_producer.model.event import Message
from ticdc_producer.model.record import Record
from ticdc_producer.protocols.message_batch import of_messages
from ticdc_producer.targets.kafka.topics import Topics
from ticdc_producer.targets.kafka.write import PartitionWriter


def create(brokers: Brokers, changefeed: Changefeed, topics: Iterable[str]) -> None:
    """Topics as the changefeed wants them: partitions, replicas, size of messages.

    :raises BrokerError: if no broker answers in time.
    :raises TopicError: if one is there and holds messages.
    """
    Topics(brokers).prepare(changefeed, topics, append=False)


def send(brokers: Brokers, changefeed: Changefeed, records: Iterable[Record]) -> None:
    """Write records to their partitions, in their order; the topics hold nothing yet.

    :raises DeliveryError: for the first that the broker did not take.
    """
    properties = changefeed.producer_properties(brokers)
    in_turn = sorted(records, key=_partition)
    for (topic, partition), of_one in groupby(in_turn, key=_partition):
        messages = of_messages([_message(record) for record in of_one])
        PartitionWriter(brokers, properties, topic, partition).write([messages], start=0)


def _partition(record: Record) -> tuple[str, int]:
    return record.topic, record.partition


def _message(record: Record) -> Message:
    return Message(record.key, record.value, record.type, commit_ts=0, headers=record.headers)


def delete(brokers: Brokers, topics: Iterable[str]) -> None:
    """Ask for topics to be deleted; a broker that does not is none of the test's business."""
    admin = AdminClient(connection(brokers))
    for answer in admin.delete_topics(sorted(topics), request_timeout=CONNECT_SECONDS).values():
        answer.exception(CONNECT_SECONDS)
