"""Repeated rows: a suffix of what was sent comes again, in the same order, and then new rows (§9).

A row's step is the place of its commit-ts among those of its batching group, so that rows of one
commit-ts may swap, and a copy has the step of its original. Copies that go on step by step are one run. A
run inside one message is a producer's retry, which may stand anywhere.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from ticdc_producer.verifier.stream import (
    FIRST_ROW,
    PARTITION,
    TABLE_PART,
    Stream,
    Violation,
    batch_value,
    place,
)

_GROUP = (*PARTITION, *TABLE_PART, "batch_value")


def out_of_turn(stream: Stream) -> DataFrame:
    """INV-DUP-ORDER: a replay that leaves out rows on its way."""
    skips = _followed(stream).where("not first and step > previous.last_step + 1")
    text = "the replay goes on with commit-ts %d; %d commit-ts before it were left out"
    return _violations(skips, text, sf.col("step") - sf.col("previous.last_step") - 1)


def cut_short(stream: Stream) -> DataFrame:
    """INV-DUP-COMPLETE: a replay that ends before it is where the stream was, and new rows follow."""
    ends = _followed(stream).where("first and previous.last_step < reached")
    text = "new row with commit-ts %d; the replay before it lacks the last %d commit-ts"
    return _violations(ends, text, sf.col("reached") - sf.col("previous.last_step"))


def _violations(runs: DataFrame, text: str, lacking: Column) -> DataFrame:
    detail = sf.format_string(text, "commit_ts", lacking)
    events = (place(sf.col("previous.last_position")), place())
    return runs.select(*Violation(sf.lit("warning"), events, detail).found())


def _followed(stream: Stream) -> DataFrame:
    """Runs behind a replay: ``previous`` is the replay, ``reached`` the highest step before the run."""
    in_turn = Window.partitionBy(*_GROUP).orderBy("position")
    so_far = in_turn.rowsBetween(Window.unboundedPreceding, -1)
    runs = _runs(stream).withColumn("reached", sf.max("highest").over(so_far))
    lasting = runs.where("first or offsets > 1")
    previous = sf.lag(sf.struct("first", "last_step", "last_position")).over(in_turn)
    return lasting.withColumn("previous", previous).where("not previous.first")


def _runs(stream: Stream) -> DataFrame:
    """Rows and copies of the groups that have copies, run by run."""
    rows = stream.events.where("kind = 'row'").withColumn("batch_value", batch_value())
    repeated = rows.where(f"not ({FIRST_ROW})").select(*_GROUP).distinct()
    step = sf.dense_rank().over(Window.partitionBy(*_GROUP).orderBy("commit_ts"))
    steps = rows.join(repeated, [*_GROUP], "left_semi").withColumn("step", step)
    in_turn = Window.partitionBy(*_GROUP).orderBy("position")
    before = sf.lag(sf.struct("first", "step")).over(in_turn)
    goes_on = "first = before.first and (first or step in (before.step, before.step + 1))"
    starts = steps.withColumn("before", before).withColumn(
        "starts", sf.when(sf.expr(f"coalesce({goes_on}, false)"), 0).otherwise(1)
    )
    numbered = starts.withColumn("run", sf.sum("starts").over(in_turn))
    return numbered.groupBy(*_GROUP, "run").agg(
        sf.first("first").alias("first"),
        sf.min("position").alias("position"),
        sf.min(sf.struct("position", "step", "commit_ts")).alias("start"),
        sf.max(sf.struct("position", "step")).alias("end"),
        sf.max("step").alias("highest"),
        sf.count_distinct(place()["offset"]).alias("offsets"),
    ).select(
        *_GROUP, "first", "position", "highest", "offsets", "start.step", "start.commit_ts",
        sf.col("end.step").alias("last_step"), sf.col("end.position").alias("last_position"),
    )  # fmt: skip
