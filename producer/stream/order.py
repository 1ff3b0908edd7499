"""Stage 7: one Spark partition per Kafka partition, sorted by the delivery key.

The key is total, so the order is the same on every run, whatever the parallelism.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from producer.model.shapes import DELIVERY_KEY
from producer.stream.slots import Slots


def order(events: DataFrame, slots: Slots, *, one_epoch: bool = False) -> DataFrame:
    """Events in delivery order; Spark partition ``n`` is slot ``n``.

    :param one_epoch: all of them are in the same. Spark compares the first column of a sort as a number
        before it looks at rows, which is a third of the work only if that column differs.
    """
    key = DELIVERY_KEY[1:] if one_epoch else DELIVERY_KEY
    # repartition(n, col) hashes and may put two Kafka partitions into one task.
    return events.repartitionById(len(slots), "slot").sortWithinPartitions(*key)
