"""Rows of different keys that swap places, as TiCDC's batcher makes them.

It takes up to 2048 rows at a time, groups them by dispatch key and sends the groups in the order of a Go map.
Nothing crosses a DDL or resolved event, before which all rows were acknowledged (stream-semantics §8).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from ticdc_producer.faults.chance import below, drawn
from ticdc_producer.model.dataframes import DELIVERY_KEY
from ticdc_producer.model.event import Kind

ROUND = 2048


def regrouped(events: DataFrame, seed: int, rate: float) -> DataFrame:
    """The event stream with some rounds of rows grouped by key.

    :param events: event stream in any order; without events that were taken away.
    :param rate: share of the rounds.
    """
    whole = Window.partitionBy("slot").orderBy(*DELIVERY_KEY)
    barrier = (F.col("kind") != Kind.ROW).cast("int")
    cut = events.withColumn("run", F.sum(barrier).over(whole.rowsBetween(Window.unboundedPreceding, 0)))
    run = ("slot", "epoch", "run")
    in_run = F.row_number().over(Window.partitionBy(*run).orderBy(*DELIVERY_KEY))
    cut = cut.withColumn("round", F.floor((in_run - 1) / ROUND).cast("int"))
    rows = F.when(F.col("kind") == Kind.ROW, F.col("at"))
    chosen = drawn(seed, "regrouped", F.col("slot"), F.col("epoch"), F.col("run"), F.col("round")) < below(
        rate
    )
    known = cut.withColumns(
        {
            "last": F.max(rows).over(Window.partitionBy(*run)),
            "mixed": chosen & (F.col("kind") == Kind.ROW),
        }
    )
    order = F.when(F.col("mixed"), F.xxhash64(F.lit(seed), "round", "dispatch_key")).otherwise(F.lit(0))
    place = F.concat(_bytes(F.col("round")), _bytes(order), _bytes(F.col("at")), F.col("place"))
    row = F.col("kind") == Kind.ROW
    told = F.when(F.col("mixed") & F.col("fault").isNull(), "regrouped-batches").otherwise(F.col("fault"))
    moved = known.withColumns(
        {
            "place": F.when(row, place).otherwise(F.col("place")),
            "at": F.when(row, F.col("last")).otherwise(F.col("at")),
            "fault": told,
        }
    )
    return moved.select(*events.columns)


def _bytes(number: Column) -> Column:
    return F.unhex(F.lpad(F.hex(number), 16, "0"))
