"""Reads a topic with another Kafka client than the one that the package uses, and counts its messages."""

from __future__ import annotations

from typing import TypeAlias

from kafka import KafkaConsumer, TopicPartition

from ticdc_producer.errors import BrokerError
from ticdc_producer.targets.kafka.topics import Topics

Message: TypeAlias = tuple[bytes | None, bytes | None, list[tuple[str, bytes]]]
"""Key, value and headers."""


def read_topic(bootstrap: str, topic: str) -> dict[int, list[Message]]:
    """All messages of a topic by partition."""
    consumer = KafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest", group_id=None)
    partitions = [TopicPartition(topic, n) for n in sorted(consumer.partitions_for_topic(topic))]
    consumer.assign(partitions)
    ends = consumer.end_offsets(partitions)
    messages: dict[int, list[Message]] = {partition.partition: [] for partition in partitions}
    while any(len(messages[partition.partition]) < ends[partition] for partition in partitions):
        polled = consumer.poll(timeout_ms=60_000)
        assert polled, f"{topic}: no message came"
        for records in polled.values():
            for record in records:
                messages[record.partition].append((record.key, record.value, list(record.headers)))
    consumer.close()
    return messages


def number_of_messages(bootstrap: str, topic: str) -> int:
    """Return the number of messages of a topic; 0 if it does not exist."""
    topics = Topics(bootstrap)
    existing = topics.existing()
    if topic not in existing:
        return 0
    try:
        return sum(topics.ends({topic: existing[topic]}).values())
    except BrokerError:  # a new topic has no leader yet
        return 0
