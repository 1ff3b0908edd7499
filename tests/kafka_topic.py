"""Reads a topic with another Kafka client than the one that the package uses."""

from __future__ import annotations

from typing import TypeAlias

from kafka import KafkaConsumer, TopicPartition

Message: TypeAlias = tuple[bytes | None, bytes | None, list[tuple[str, bytes]]]
"""Key, value and headers."""


def read_topic(bootstrap: str, topic: str) -> dict[int, list[Message]]:
    """All messages of a topic by partition."""
    consumer = KafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest", group_id=None)
    partitions = [TopicPartition(topic, n) for n in sorted(consumer.partitions_for_topic(topic))]
    consumer.assign(partitions)
    ends = consumer.end_offsets(partitions)
    messages: dict[int, list[Message]] = {one.partition: [] for one in partitions}
    while any(len(messages[one.partition]) < ends[one] for one in partitions):
        for records in consumer.poll(timeout_ms=10_000).values():
            for record in records:
                messages[record.partition].append((record.key, record.value, list(record.headers)))
    consumer.close()
    return messages
