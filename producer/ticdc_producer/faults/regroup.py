"""Reorders rows of different dispatch keys as TiCDC's batcher does.

The batcher takes up to 2048 rows at a time, groups them by dispatch key and sends the groups in the order
of a Go map. No row is moved across a DDL or resolved event, because all earlier rows were acknowledged
before it (docs/stream-semantics.md §8).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from ticdc_producer.faults.seeded_hash import seeded_hash, threshold
from ticdc_producer.model.dataframes import DELIVERY_KEY
from ticdc_producer.model.event import Kind

ROUND = 2048


def regrouped(events: DataFrame, seed: int, rate: float) -> DataFrame:
    """The event stream with the rows of some rounds grouped by dispatch key.

    :param events: the event stream in any order, without removed events.
    :param rate: share of the rounds.
    """
    by_partition = Window.partitionBy("partition_index").orderBy(*DELIVERY_KEY)
    barrier = (F.col("kind") != Kind.ROW).cast("int")
    up_to_here = by_partition.rowsBetween(Window.unboundedPreceding, 0)
    rounds = events.withColumn("run", F.sum(barrier).over(up_to_here))
    run = ("partition_index", "restart_epoch", "run")
    in_run = F.row_number().over(Window.partitionBy(*run).orderBy(*DELIVERY_KEY))
    rounds = rounds.withColumn("round", F.floor((in_run - 1) / ROUND).cast("int"))
    row = F.col("kind") == Kind.ROW
    round_hash = seeded_hash(
        seed, "regrouped", F.col("partition_index"), F.col("restart_epoch"), F.col("run"), F.col("round")
    )
    rounds = rounds.withColumns(
        {
            "last": F.max(F.when(row, F.col("deliver_after_ts"))).over(Window.partitionBy(*run)),
            "mixed": (round_hash < threshold(rate)) & row,
        }
    )
    group = F.when(F.col("mixed"), F.xxhash64(F.lit(seed), "round", "dispatch_key")).otherwise(F.lit(0))
    order_key = F.concat(
        _bytes(F.col("round")), _bytes(group), _bytes(F.col("deliver_after_ts")), F.col("txn_order_key")
    )
    is_fault = F.col("mixed") & F.col("fault").isNull()
    reordered = rounds.withColumns(
        {
            "txn_order_key": F.when(row, order_key).otherwise(F.col("txn_order_key")),
            "deliver_after_ts": F.when(row, F.col("last")).otherwise(F.col("deliver_after_ts")),
            "fault": F.when(is_fault, "regrouped-batches").otherwise(F.col("fault")),
        }
    )
    return reordered.select(*events.columns)


def _bytes(number: Column) -> Column:
    return F.unhex(F.lpad(F.hex(number), 16, "0"))
