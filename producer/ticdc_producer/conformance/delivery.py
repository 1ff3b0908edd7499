"""The orders in which a consumer may receive the messages of several partitions.

Each partition is in the order of its offsets, and partitions are independent of each other. After a rebalance
a consumer reads a partition again from its last committed offset.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from random import Random
from typing import Literal, TypeAlias, get_args

from ticdc_producer.conformance.wire import KafkaRecord

Order: TypeAlias = Literal["in-turn", "one-after-the-other", "far-apart", "mixed", "rebalance"]
"""Orders in which a Kafka consumer may receive the messages of several partitions."""
ORDERS: tuple[Order, ...] = get_args(Order)


def delivered(records: Sequence[KafkaRecord], order: Order, seed: int) -> list[KafkaRecord]:
    """Return the messages in an order of delivery.

    :param records: each partition in the order of its offsets.
    :param seed: determines everything that an order does not.
    """
    random = Random(seed)
    partitions = _by_partition(records)
    match order:
        case "in-turn":
            return sorted(records, key=lambda record: (record.offset, record.topic, record.partition))
        case "one-after-the-other":
            return [record for part in _shuffled(random, partitions) for record in part]
        case "far-apart":
            first, *others = _shuffled(random, partitions) or [[]]
            first_quarter = first[: len(first) // 4]
            return [*first_quarter, *_mixed(random, others), *first[len(first_quarter) :]]
        case "mixed":
            return list(_mixed(random, partitions))
        case "rebalance":
            return _rebalanced(random, list(_mixed(random, partitions)))


def delivery_text(records: Sequence[KafkaRecord]) -> str:
    """Return messages in their order as ``t/0@0-3, t/1@0``."""
    runs: list[tuple[str, int, int]] = []
    for record in records:
        partition = f"{record.topic}/{record.partition}"
        if runs and runs[-1][0] == partition and runs[-1][2] + 1 == record.offset:
            runs[-1] = (partition, runs[-1][1], record.offset)
        else:
            runs.append((partition, record.offset, record.offset))
    return ", ".join(f"{name}@{first}" + (f"-{last}" if last > first else "") for name, first, last in runs)


def _by_partition(records: Sequence[KafkaRecord]) -> list[list[KafkaRecord]]:
    def position(record: KafkaRecord) -> tuple[str, int]:
        return record.topic, record.partition

    return [list(part) for _, part in groupby(sorted(records, key=position), key=position)]


def _shuffled(random: Random, partitions: Sequence[list[KafkaRecord]]) -> list[list[KafkaRecord]]:
    return random.sample(partitions, len(partitions))


def _mixed(random: Random, partitions: Sequence[Sequence[KafkaRecord]]) -> Iterator[KafkaRecord]:
    """Yield runs of messages, each of one partition."""
    unread = [list(reversed(part)) for part in partitions if part]
    while unread:
        part = random.choice(unread)
        for _ in range(min(random.choice((1, 1, 2, 5)), len(part))):
            yield part.pop()
        if not part:
            unread.remove(part)


def _rebalanced(random: Random, records: list[KafkaRecord]) -> list[KafkaRecord]:
    """Simulate a rebalance.

    The consumer commits its offsets, reads on, loses its partitions, and reads from the commit again.
    """
    if not records:
        return records
    lost = random.randrange(1, len(records) + 1)
    committed = random.randrange(lost)
    read_again = records[committed:lost]
    # The new assignment reads the partitions in another order.
    again = [record for part in _shuffled(random, _by_partition(read_again)) for record in part]
    return [*records[:lost], *again, *records[lost:]]
