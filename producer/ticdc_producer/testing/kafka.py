"""Creates, fills and deletes topics without Spark, because a test's messages are few and already encoded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby

from confluent_kafka.admin import AdminClient

from ticdc_producer.config import Changefeed
from ticdc_producer.kafka.client import CONNECT_SECONDS, Brokers, connection
from ticdc_producer.model.event import Message, Record
from ticdc_producer.protocols.message_batch import from_messages
from ticdc_producer.targets.kafka.topics import Offsets, Topics
from ticdc_producer.targets.kafka.write import PartitionWriter

_WRITERS = 8


def create(brokers: Brokers, changefeed: Changefeed, topics: Iterable[str]) -> Offsets:
    """Create topics with the changefeed's settings: partitions, replicas, maximum message size.

    :return: the end offset of each partition, for ``send``.
    :raises BrokerError: if no broker answers in time.
    :raises TopicError: if a topic exists and contains messages.
    """
    return Topics(brokers).prepare(changefeed, topics, append=False)


def send(brokers: Brokers, changefeed: Changefeed, records: Iterable[Record], starts: Offsets) -> None:
    """Write records to their partitions, in their order.

    :param starts: the end offset of each partition.
    :raises DeliveryError: for the first record that the broker did not accept.
    """
    properties = changefeed.producer_properties(brokers)

    def write(name: tuple[str, int], group: Sequence[Record]) -> None:
        messages = from_messages([_message(record) for record in group])
        PartitionWriter(brokers, properties, *name).write([messages], starts[name])

    partitions = [
        (name, [*group]) for name, group in groupby(sorted(records, key=_partition), key=_partition)
    ]
    with ThreadPoolExecutor(_WRITERS) as pool:
        for _ in pool.map(lambda partition: write(*partition), partitions):
            pass


def _partition(record: Record) -> tuple[str, int]:
    return record.topic, record.partition


def _message(record: Record) -> Message:
    return Message(record.key, record.value, record.type, commit_ts=0, headers=record.headers)


def delete(brokers: Brokers, topics: Iterable[str]) -> None:
    """Request the deletion of topics; errors are ignored, because they do not concern the test."""
    admin = AdminClient(connection(brokers))
    for answer in admin.delete_topics(sorted(topics), request_timeout=CONNECT_SECONDS).values():
        answer.exception(CONNECT_SECONDS)
