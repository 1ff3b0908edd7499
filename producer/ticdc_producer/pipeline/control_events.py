"""Stage 5: DDL events and resolved events, for every partition that receives them.

A DDL is sent to all partitions of its topic, with Canal-JSON to partition 0 only. A resolved event is sent
to all partitions of every topic that is active at that time, and of the default topic. Both follow the rows
with the same time stamp: rows whose commit-ts equals that of a DDL were decoded with the schema before the
DDL. Source: tiflow ``mq_ddl_sink.go``, ``ddl_manager.go``.
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
from ticdc_producer.pipeline.topic_partitions import TopicPartitions

KIND_ORDER = {Kind.ROW: 0, Kind.DDL: 1, Kind.RESOLVED: 2}


@dataclass(frozen=True, kw_only=True)
class DDLRoute:
    """The topic of one DDL.

    :param index: index in the catalog's list of DDLs.
    :param seq: order among DDLs with one time stamp.
    """

    index: int
    seq: int
    commit_ts: int
    topic: str


@dataclass(frozen=True, kw_only=True)
class ActiveTopic:
    """A topic that gets resolved events from the TSO ``since`` on."""

    topic: str
    since: int


@dataclass(frozen=True, kw_only=True)
class ResolvedPlan:
    """When resolved events are sent.

    :param commits: number of commits in the history.
    :param after_transaction: send one after every commit, with its commit-ts; otherwise every ``every_ms``
        of the commit clock, after each DDL and after the last commit.
    :param sent: whether the protocol has resolved events.
    :param explicit: the explicit ones: resolved-ts, and the TSO after whose commits it is delivered.
    """

    clock: Clock
    commits: int
    after_transaction: bool = True
    every_ms: int = 0
    explicit: tuple[tuple[int, int], ...] = ()
    sent: bool = True


def ddl_events(
    spark: SparkSession, routes: Sequence[DDLRoute], topic_partitions: TopicPartitions, *, to_all: bool = True
) -> DataFrame:
    """DDL events of the event stream.

    :param to_all: whether to send DDLs to all partitions of their topic; otherwise to partition 0.
    """
    rows = [
        (partition_index, route.commit_ts, route.index, route.seq.to_bytes(8, "big"))
        for route in routes
        for partition_index in topic_partitions.of(route.topic)[: None if to_all else 1]
    ]
    events = spark.createDataFrame(rows, "partition_index int, commit_ts long, ddl int, txn_order_key binary")
    return _shaped(events, topic_partitions, Kind.DDL)


def resolved_events(
    spark: SparkSession,
    plan: ResolvedPlan,
    ddl_ts: Iterable[int],
    topics: Sequence[ActiveTopic],
    topic_partitions: TopicPartitions,
) -> DataFrame:
    """Resolved events of the event stream, without duplicates.

    :param ddl_ts: commit-ts of the DDLs that are sent.
    """
    times = reduce(DataFrame.unionByName, _times(spark, plan, ddl_ts))
    # If several have one resolved-ts, send the one that is delivered first.
    times = times.groupBy("commit_ts").agg(F.min("deliver_after_ts").alias("deliver_after_ts"))
    rows = [(index, active.since) for active in topics for index in topic_partitions.of(active.topic)]
    active = spark.createDataFrame(rows, "partition_index int, since long")
    events = times.join(F.broadcast(active), F.col("since") <= F.col("deliver_after_ts")).drop("since")
    # Several explicit ones may follow the same commit; the lowest is sent first.
    order_key = F.unhex(F.lpad(F.hex("commit_ts"), 16, "0"))
    return _shaped(events.withColumn("txn_order_key", order_key), topic_partitions, Kind.RESOLVED)


def _times(spark: SparkSession, plan: ResolvedPlan, ddl_ts: Iterable[int]) -> list[DataFrame]:
    """``commit_ts`` and ``deliver_after_ts`` of the resolved events, a DataFrame per reason."""
    if not plan.sent:
        return [spark.createDataFrame([], "commit_ts long, deliver_after_ts long")]
    explicit = spark.createDataFrame(list(plan.explicit), "commit_ts long, deliver_after_ts long")
    if plan.commits == 0:
        return [explicit]
    if plan.after_transaction:
        commits = spark.range(plan.commits).select(commit_ts(plan.clock, F.col("id")).alias("commit_ts"))
        return [explicit, commits.withColumn("deliver_after_ts", F.col("commit_ts"))]
    last = plan.clock.ts(plan.commits - 1)
    single = [(ts, ts) for ts in {*ddl_ts, last}]
    return [
        explicit,
        spark.createDataFrame(single, "commit_ts long, deliver_after_ts long"),
        _ticks(spark, plan, last),
    ]


def _ticks(spark: SparkSession, plan: ResolvedPlan, last: int) -> DataFrame:
    start = tso.physical(plan.clock.start)
    count = (tso.physical(last) - start) // plan.every_ms
    physical = F.lit(start) + (F.col("id") + 1) * F.lit(plan.every_ms)
    ticks = spark.range(count).select(F.shiftleft(physical, tso.LOGICAL_BITS).alias("commit_ts"))
    return ticks.where(F.col("commit_ts") <= last).withColumn("deliver_after_ts", F.col("commit_ts"))


def _shaped(events: DataFrame, topic_partitions: TopicPartitions, kind: Kind) -> DataFrame:
    """Add the columns of ``EVENT_STREAM`` that these events lack."""
    given: dict[str, Column] = {
        **topic_partitions.named(F.col("partition_index")),
        "kind": F.lit(int(kind)).cast("byte"),
        "kind_order": F.lit(KIND_ORDER[kind]).cast("byte"),
        "deliver_after_ts": F.col("deliver_after_ts")
        if "deliver_after_ts" in events.columns
        else F.col("commit_ts"),
        "restart_epoch": F.lit(0),
        "delivery_no": F.lit(0),
    }
    columns = [
        given[field.name].alias(field.name)
        if field.name in given
        else F.col(field.name)
        if field.name in events.columns
        else F.lit(None).cast(field.dataType).alias(field.name)
        for field in EVENT_STREAM.fields
    ]
    return in_shape(events.select(*columns), EVENT_STREAM)
