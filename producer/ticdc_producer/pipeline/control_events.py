"""Stage 5: DDL events and resolved events, to every partition they go to.

DDL: every partition of its topic, of Canal-JSON partition 0. Resolved: every partition of every topic
that is active then, and of the default topic. Both stand behind the rows of their own time stamp: rows
whose commit-ts equals a DDL's were decoded with the schema before it. Source: tiflow ``mq_ddl_sink.go``,
``ddl_manager.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from ticdc_producer.model import tso
from ticdc_producer.model.clock import Clock
from ticdc_producer.model.dataframes import EVENT_STREAM, in_shape
from ticdc_producer.model.event import Kind
from ticdc_producer.pipeline.commit import commit_ts
from ticdc_producer.pipeline.topic_partitions import Slots

RANKS = {Kind.ROW: 0, Kind.DDL: 1, Kind.RESOLVED: 2}


@dataclass(frozen=True, kw_only=True)
class DDLPlace:
    """Where one DDL goes.

    :param index: its place in the catalog's list of DDLs.
    :param seq: order among DDLs of one time stamp.
    """

    index: int
    seq: int
    commit_ts: int
    topic: str


@dataclass(frozen=True, kw_only=True)
class ActiveTopic:
    """A topic and the time from which on resolved events go to it."""

    topic: str
    since: int


@dataclass(frozen=True, kw_only=True)
class ResolvedPlan:
    """When resolved events are sent.

    :param commits: number of commits in the history.
    :param after_transaction: one after every commit, with its ts; else every ``every_ms`` of the clock,
        after each DDL and after the last commit.
    :param sent: whether the protocol sends any.
    :param explicit: ``(ts, at)`` of explicit ones, ``at`` being the ts they are delivered behind.
    """

    clock: Clock
    commits: int
    after_transaction: bool = True
    every_ms: int = 0
    explicit: tuple[tuple[int, int], ...] = ()
    sent: bool = True


def ddl_events(
    spark: SparkSession, places: Sequence[DDLPlace], slots: Slots, *, to_all: bool = True
) -> DataFrame:
    """DDL events of the event stream.

    :param to_all: to every partition of the DDL's topic; else to partition 0.
    """
    rows = [
        (slot, place.commit_ts, place.index, place.seq.to_bytes(8, "big"))
        for place in places
        for slot in slots.of(place.topic)[: None if to_all else 1]
    ]
    frame = spark.createDataFrame(rows, "slot int, commit_ts long, ddl int, place binary")
    return _shaped(frame, slots, Kind.DDL)


def resolved_events(
    spark: SparkSession,
    plan: ResolvedPlan,
    ddl_ts: Iterable[int],
    topics: Sequence[ActiveTopic],
    slots: Slots,
) -> DataFrame:
    """Resolved events of the event stream, none twice.

    :param ddl_ts: time stamps of the DDLs that are sent.
    """
    times = reduce(DataFrame.unionByName, _times(spark, plan, ddl_ts))
    # Of equal time stamps the one that is delivered first stays.
    times = times.groupBy("commit_ts").agg(F.min("at").alias("at"))
    rows = [(slot, active.since) for active in topics for slot in slots.of(active.topic)]
    active = spark.createDataFrame(rows, "slot int, since long")
    events = times.join(F.broadcast(active), F.col("since") <= F.col("at")).drop("since")
    # Explicit ones may be delivered behind the same commit; the lower comes first.
    place = F.unhex(F.lpad(F.hex("commit_ts"), 16, "0"))
    return _shaped(events.withColumn("place", place), slots, Kind.RESOLVED)


def _times(spark: SparkSession, plan: ResolvedPlan, ddl_ts: Iterable[int]) -> list[DataFrame]:
    """``commit_ts, at`` of the resolved events of each reason."""
    if not plan.sent:
        return [spark.createDataFrame([], "commit_ts long, at long")]
    explicit = spark.createDataFrame(list(plan.explicit), "commit_ts long, at long")
    if plan.commits == 0:
        return [explicit]
    if plan.after_transaction:
        commits = spark.range(plan.commits).select(commit_ts(plan.clock, F.col("id")).alias("commit_ts"))
        return [explicit, commits.withColumn("at", F.col("commit_ts"))]
    last = plan.clock.ts(plan.commits - 1)
    single = [(ts, ts) for ts in {*ddl_ts, last}]
    return [explicit, spark.createDataFrame(single, "commit_ts long, at long"), _ticks(spark, plan, last)]


def _ticks(spark: SparkSession, plan: ResolvedPlan, last: int) -> DataFrame:
    start = tso.physical(plan.clock.start)
    count = (tso.physical(last) - start) // plan.every_ms
    physical = F.lit(start) + (F.col("id") + 1) * F.lit(plan.every_ms)
    ticks = spark.range(count).select(F.shiftleft(physical, tso.LOGICAL_BITS).alias("commit_ts"))
    return ticks.where(F.col("commit_ts") <= last).withColumn("at", F.col("commit_ts"))


def _shaped(frame: DataFrame, slots: Slots, kind: Kind) -> DataFrame:
    """Fill in what rows have and these events have not."""
    given: dict[str, Column] = {
        **slots.named(F.col("slot")),
        "kind": F.lit(int(kind)).cast("byte"),
        "rank": F.lit(RANKS[kind]).cast("byte"),
        "at": F.col("at") if "at" in frame.columns else F.col("commit_ts"),
        "epoch": F.lit(0),
        "copy": F.lit(0),
    }
    columns = [
        given[field.name].alias(field.name)
        if field.name in given
        else F.col(field.name)
        if field.name in frame.columns
        else F.lit(None).cast(field.dataType).alias(field.name)
        for field in EVENT_STREAM.fields
    ]
    return in_shape(frame.select(*columns), EVENT_STREAM)
