"""One Spark partition per Kafka partition, sorted by the delivery key.

The key is unique, so the order is the same on every run, independent of the parallelism.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ticdc_producer.model.shapes import DELIVERY_KEY
from ticdc_producer.pipeline.topic_partitions import TopicPartitions
from ticdc_producer.spark.partition_columns import topic_and_partition

_QUICK_KEY = ("deliver_after_ts", "kind_order", "table_id", "txn_order_key")
"""The delivery key without the columns that only faults set. ``txn_order_key`` begins with the table id;
comparing the number first is much faster."""


def order(events: DataFrame, topic_partitions: TopicPartitions, *, faultless: bool = False) -> DataFrame:
    """Sort events by the delivery key; Spark partition ``n`` has ``partition_index`` ``n``.

    :param events: with ``partition_index``, the delivery key and any other columns.
    :param faultless: whether the events have no faults: one restart epoch, one delivery each, and the
        ``txn_order_key`` of ``split``. The sort is faster then: Spark compares the first column as a number
        before it looks at rows, which helps only if that column differs.
    """
    # Columns that follow from the partition index, or are constant, need not be shuffled.
    derived = topic_and_partition(topic_partitions, F.col("partition_index"))
    if faultless:
        derived |= {name: F.lit(0) for name in ("restart_epoch", "delivery_no")}
    # repartition(n, col) hashes and may put two Kafka partitions into one task.
    moved = events.drop(*derived).repartitionById(len(topic_partitions), "partition_index")
    ordered = moved.sortWithinPartitions(*(_QUICK_KEY if faultless else DELIVERY_KEY))
    return ordered.withColumns(derived).select(*events.columns)
