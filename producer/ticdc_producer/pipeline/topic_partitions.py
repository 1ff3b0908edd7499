"""Partition indexes: the (topic, partition) pairs of a run, numbered."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TopicPartitions:
    """All topics of a run, each with the same number of partitions.

    :param topics: sorted by name; they determine the order of the output.
    """

    topics: tuple[str, ...]
    partitions: int

    def __len__(self) -> int:
        return len(self.topics) * self.partitions

    def of(self, topic: str) -> range:
        """The partition indexes of one topic."""
        first = self.topics.index(topic) * self.partitions
        return range(first, first + self.partitions)

    def name(self, partition_index: int) -> tuple[str, int]:
        """Topic and partition of a partition index."""
        return self.topics[partition_index // self.partitions], partition_index % self.partitions
