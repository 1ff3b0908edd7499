"""Orders in which a Kafka consumer may receive the messages of a topic.

Each partition is in the order of its offsets, and partitions are independent of each other. After a rebalance
a consumer reads a partition again from its last committed offset.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from random import Random

from ticdc_producer.conformance.fuzz.example import Order
from ticdc_producer.conformance.wire import KafkaRecord


def delivered(records: Sequence[KafkaRecord], order: Order, seed: int) -> list[KafkaRecord]:
    """The messages in an order of delivery.

    :param records: each partition in the order of its offsets.
    :param seed: determines what an order leaves open.
    """
    random = Random(seed)
    partitions = _by_partition(records)
    match order:
        case "in-turn":
            return sorted(records, key=lambda one: (one.offset, one.topic, one.partition))
        case "one-after-the-other":
            return [one for part in _shuffled(random, partitions) for one in part]
        case "far-apart":
            first, *others = _shuffled(random, partitions) or [[]]
            behind = first[: len(first) // 4]
            return [*behind, *_mixed(random, others), *first[len(behind) :]]
        case "mixed":
            return list(_mixed(random, partitions))
        case "rebalance":
            return _rebalanced(random, list(_mixed(random, partitions)))


def _by_partition(records: Sequence[KafkaRecord]) -> list[list[KafkaRecord]]:
    def position(one: KafkaRecord) -> tuple[str, int]:
        return one.topic, one.partition

    return [list(part) for _, part in groupby(sorted(records, key=position), key=position)]


def _shuffled(random: Random, partitions: Sequence[list[KafkaRecord]]) -> list[list[KafkaRecord]]:
    return random.sample(partitions, len(partitions))


def _mixed(random: Random, partitions: Sequence[Sequence[KafkaRecord]]) -> Iterator[KafkaRecord]:
    """Runs of messages of one partition and then of another."""
    left = [list(reversed(part)) for part in partitions if part]
    while left:
        part = random.choice(left)
        for _ in range(min(random.choice((1, 1, 2, 5)), len(part))):
            yield part.pop()
        if not part:
            left.remove(part)


def _rebalanced(random: Random, records: list[KafkaRecord]) -> list[KafkaRecord]:
    """The consumer commits its offsets, reads on, loses its partitions, and reads from the commit again."""
    if not records:
        return records
    lost = random.randrange(1, len(records) + 1)
    committed = random.randrange(lost)
    read_again = records[committed:lost]
    # The new assignment reads the partitions in another order.
    again = [one for part in _shuffled(random, _by_partition(read_again)) for one in part]
    return [*records[:lost], *again, *records[lost:]]
