"""Topics that are read: their brokers, partitions and offsets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ticdc_producer.config import Changefeed
from ticdc_producer.errors import ChangefeedError, TopicError
from ticdc_producer.kafka.client import Brokers
from ticdc_producer.targets.kafka.read import OffsetRange
from ticdc_producer.targets.kafka.topics import Offsets, Topics


def brokers_of(changefeed: Changefeed) -> Brokers:
    """Return the brokers to read from.

    :raises ChangefeedError: if the sink URI names no brokers.
    """
    if changefeed.sink_uri.embedded:
        hint = "kafka://HOST:PORT/TOPIC"
        raise ChangefeedError("the sink URI names no broker to read from", parameter="sink-uri", hint=hint)
    return changefeed.brokers


def offset_ranges(starts: Offsets, ends: Mapping[tuple[str, int], int]) -> list[OffsetRange]:
    """Return the messages between start and end offsets, one range per partition."""
    return [
        OffsetRange(topic=topic, partition=partition, start=starts[topic, partition], end=end)
        for (topic, partition), end in sorted(ends.items())
    ]


def partitions_of(cluster: Topics, names: Sequence[str]) -> dict[str, int]:
    """Return the number of partitions of the given topics.

    :raises TopicError: for a topic that does not exist.
    """
    existing = cluster.existing()
    for name in names:
        if name not in existing:
            raise TopicError("the topic does not exist", topic=name)
    return {name: existing[name] for name in names}


def whole_topics(brokers: Brokers, names: Sequence[str]) -> list[OffsetRange]:
    """Return the ranges of all messages of the given topics.

    :raises TopicError: for a topic that does not exist.
    """
    cluster = Topics(brokers)
    partitions = partitions_of(cluster, names)
    return offset_ranges(cluster.starts(partitions), cluster.ends(partitions))
