"""Which messages of a topic are meant: offsets to ranges. No Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ticdc_producer.config import Changefeed
from ticdc_producer.errors import ChangefeedError, TopicError
from ticdc_producer.kafka.client import Brokers
from ticdc_producer.targets.kafka.read import Range
from ticdc_producer.targets.kafka.topics import Offsets, Topics


def ranges(starts: Offsets, ends: Mapping[tuple[str, int], int]) -> list[Range]:
    """What stands between two sets of offsets, partition by partition."""
    return [
        Range(topic=topic, partition=partition, start=starts[topic, partition], end=end)
        for (topic, partition), end in sorted(ends.items())
    ]


def whole_topics(brokers: Brokers, names: Sequence[str]) -> list[Range]:
    """Everything that some topics hold.

    :raises TopicError: for a topic that is not there.
    """
    cluster = Topics(brokers)
    there = cluster.existing()
    for name in names:
        if name not in there:
            raise TopicError("there is no such topic", topic=name)
    wanted = {name: there[name] for name in names}
    return ranges(cluster.starts(wanted), cluster.ends(wanted))


def brokers_of(feed: Changefeed) -> Brokers:
    """The brokers to read from.

    :raises ChangefeedError: if the sink URI names none.
    """
    if feed.sink_uri.embedded:
        hint = "kafka://HOST:PORT/TOPIC"
        raise ChangefeedError("the sink URI names no broker to read from", parameter="sink-uri", hint=hint)
    return feed.brokers
