"""Stage 7: one Spark partition per Kafka partition, sorted by the delivery key.

The key is total, so the order is the same on every run, whatever the parallelism.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ticdc_producer.model.dataframes import DELIVERY_KEY
from ticdc_producer.pipeline.topic_partitions import Slots

_QUICK_KEY = ("at", "rank", "table_id", "place")
"""The delivery key without what faults alone set. A number is compared much more quickly than a place, which
begins with the table's id."""


def order(events: DataFrame, slots: Slots, *, faultless: bool = False) -> DataFrame:
    """Events in delivery order; Spark partition ``n`` is slot ``n``.

    :param events: with ``slot`` and the delivery key, whatever other columns they have.
    :param faultless: all are of the first epoch, there is one of each, and places are those of ``split``.
        Spark compares the first column of a sort as a number before it looks at rows, which is a third of the
        work only if that column differs.
    """
    # What the slot tells, and what is the same for all, need not be shuffled.
    again = slots.named(F.col("slot"))
    if faultless:
        again |= {name: F.lit(0) for name in ("epoch", "copy")}
    # repartition(n, col) hashes and may put two Kafka partitions into one task.
    moved = events.drop(*again).repartitionById(len(slots), "slot")
    ordered = moved.sortWithinPartitions(*(_QUICK_KEY if faultless else DELIVERY_KEY))
    return ordered.withColumns(again).select(*events.columns)
