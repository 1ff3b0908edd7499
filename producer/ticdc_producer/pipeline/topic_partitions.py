"""Slots: the (topic, partition) pairs of a run, numbered."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F


@dataclass(frozen=True)
class Slots:
    """All topics of a run with the same number of partitions each.

    :param topics: sorted by name; part of the output's order, so the same on every run.
    """

    topics: tuple[str, ...]
    partitions: int

    def __len__(self) -> int:
        return len(self.topics) * self.partitions

    def number(self, topic: Column, partition: Column) -> Column:
        """The slot of a topic's partition."""
        place = F.array_position(F.lit(list(self.topics)), topic) - F.lit(1)
        return (place * F.lit(self.partitions) + partition).cast("int")

    def named(self, slot: Column) -> dict[str, Column]:
        """``topic`` and ``partition`` of a slot."""
        topics = F.lit(list(self.topics))
        return {
            "topic": F.get(topics, (slot / self.partitions).cast("int")),
            "partition": (slot % self.partitions).cast("int"),
        }

    def of(self, topic: str) -> range:
        """The slots of one topic."""
        first = self.topics.index(topic) * self.partitions
        return range(first, first + self.partitions)

    def name(self, slot: int) -> tuple[str, int]:
        """Topic and partition of a slot."""
        return self.topics[slot // self.partitions], slot % self.partitions
