"""What a topic holds, read by a client that is not ours."""

from __future__ import annotations

from typing import TypeAlias

from kafka import KafkaConsumer
from kafka import TopicPartition as Place

Message: TypeAlias = tuple[bytes | None, bytes | None, list[tuple[str, bytes]]]
"""Key, value and headers."""


def read_topic(bootstrap: str, topic: str) -> dict[int, list[Message]]:
    """All messages of a topic by partition."""
    consumer = KafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest", group_id=None)
    places = [Place(topic, n) for n in sorted(consumer.partitions_for_topic(topic))]
    consumer.assign(places)
    ends = consumer.end_offsets(places)
    got: dict[int, list[Message]] = {place.partition: [] for place in places}
    while any(len(got[place.partition]) < ends[place] for place in places):
        for records in consumer.poll(timeout_ms=10_000).values():
            for record in records:
                got[record.partition].append((record.key, record.value, list(record.headers)))
    consumer.close()
    return got
