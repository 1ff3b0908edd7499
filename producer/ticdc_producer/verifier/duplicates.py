"""Checks of repeated rows: a restart repeats a suffix in its order, then new rows follow.

Source: docs/stream-semantics.md §9. A row's step is the ordinal of its commit-ts in its batching group.
Rows of one commit-ts may therefore swap, and a copy has the step of its original. Copies with consecutive
steps form a run. A run within one message is a retry of a producer, which can occur anywhere.
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
    event_ref,
)

_GROUP = (*PARTITION, *TABLE_PART, "batch_value")


def check_dup_order(stream: Stream) -> DataFrame:
    """INV-DUP-ORDER: replays with gaps."""
    skips = _runs_after_replay(stream).where("not first_delivery and step > previous.last_step + 1")
    text = "the replay continues with commit-ts %d; %d commit-ts before it were left out"
    return _violations(skips, text, sf.col("step") - sf.col("previous.last_step") - 1)


def check_dup_complete(stream: Stream) -> DataFrame:
    """INV-DUP-COMPLETE: replays that end before the newest row sent earlier, followed by new rows."""
    ends = _runs_after_replay(stream).where("first_delivery and previous.last_step < reached")
    text = "new row with commit-ts %d; the replay before it lacks the last %d commit-ts"
    return _violations(ends, text, sf.col("reached") - sf.col("previous.last_step"))


def _violations(runs: DataFrame, text: str, lacking: Column) -> DataFrame:
    detail = sf.format_string(text, "commit_ts", lacking)
    events = (event_ref(sf.col("previous.last_position")), event_ref())
    return runs.select(*Violation(sf.lit("warning"), events, detail).found())


def _runs_after_replay(stream: Stream) -> DataFrame:
    """Runs after a replay: ``previous`` is the replay, ``reached`` the highest step before the run."""
    in_turn = Window.partitionBy(*_GROUP).orderBy("position")
    preceding = in_turn.rowsBetween(Window.unboundedPreceding, -1)
    runs = _runs(stream).withColumn("reached", sf.max("highest").over(preceding))
    lasting = runs.where("first_delivery or offsets > 1")
    previous = sf.lag(sf.struct("first_delivery", "last_step", "last_position")).over(in_turn)
    return lasting.withColumn("previous", previous).where("not previous.first_delivery")


def _runs(stream: Stream) -> DataFrame:
    """The runs of the groups that have copies."""
    rows = stream.events.where("kind = 'row'").withColumn("batch_value", batch_value())
    repeated = rows.where(f"not ({FIRST_ROW})").select(*_GROUP).distinct()
    step = sf.dense_rank().over(Window.partitionBy(*_GROUP).orderBy("commit_ts"))
    steps = rows.join(repeated, [*_GROUP], "left_semi").withColumn("step", step)
    in_turn = Window.partitionBy(*_GROUP).orderBy("position")
    before = sf.lag(sf.struct("first_delivery", "step")).over(in_turn)
    next_step = "step in (before.step, before.step + 1)"
    continues = f"first_delivery = before.first_delivery and (first_delivery or {next_step})"
    starts = steps.withColumn("before", before).withColumn(
        "starts", sf.when(sf.expr(f"coalesce({continues}, false)"), 0).otherwise(1)
    )
    numbered = starts.withColumn("run", sf.sum("starts").over(in_turn))
    return numbered.groupBy(*_GROUP, "run").agg(
        sf.first("first_delivery").alias("first_delivery"),
        sf.min("position").alias("position"),
        sf.min(sf.struct("position", "step", "commit_ts")).alias("start"),
        sf.max(sf.struct("position", "step")).alias("end"),
        sf.max("step").alias("highest"),
        sf.count_distinct(event_ref()["offset"]).alias("offsets"),
    ).select(
        *_GROUP, "first_delivery", "position", "highest", "offsets", "start.step", "start.commit_ts",
        sf.col("end.step").alias("last_step"), sf.col("end.position").alias("last_position"),
    )  # fmt: skip
