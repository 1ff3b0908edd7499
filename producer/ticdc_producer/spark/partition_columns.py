"""Partition indexes as Spark columns."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from ticdc_producer.pipeline.topic_partitions import TopicPartitions


def partition_index(topic_partitions: TopicPartitions, topic: Column, partition: Column) -> Column:
    """The partition index of a topic and partition."""
    topic_index = F.array_position(F.lit(list(topic_partitions.topics)), topic) - F.lit(1)
    return (topic_index * F.lit(topic_partitions.partitions) + partition).cast("int")


def topic_and_partition(topic_partitions: TopicPartitions, index: Column) -> dict[str, Column]:
    """``topic`` and ``partition`` of a partition index."""
    topics = F.lit(list(topic_partitions.topics))
    return {
        "topic": F.get(topics, (index / topic_partitions.partitions).cast("int")),
        "partition": (index % topic_partitions.partitions).cast("int"),
    }
