"""Resolved events: after R nothing older comes, and every partition hears of R (stream-semantics §7.1)."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from producer.verify.routing import topic_partitions
from producer.verify.stream import Stream, latest, place, so_far, violations


def rows_behind(stream: Stream) -> DataFrame:
    """INV-RESOLVED: rows older than a resolved event before them; equal is only worth knowing."""
    severity = sf.when(sf.col("commit_ts") < sf.col("mark.commit_ts"), "error").otherwise("info")
    return _behind(stream, "row", sf.col("commit_ts") <= sf.col("mark.commit_ts"), severity)


def ddls_behind(stream: Stream) -> DataFrame:
    """INV-RESOLVED-DDL: DDLs older than a resolved event before them; equal is the rule at a barrier."""
    return _behind(stream, "ddl", sf.col("commit_ts") < sf.col("mark.commit_ts"), sf.lit("error"))


def _behind(stream: Stream, kind: str, late: Column, severity: Column) -> DataFrame:
    events = stream.events.filter(
        sf.col("kind").isin(kind, "resolved") & (sf.col("first") | (sf.col("kind") != kind))
    )
    mark = latest(sf.col("kind") == "resolved").over(so_far())
    return violations(
        events.withColumn("mark", mark).filter((sf.col("kind") == kind) & late),
        severity,
        (place("mark"), place()),
        sf.format_string(
            f"{kind} with commit-ts %d comes after resolved-ts %d, which is %d ms later",
            "commit_ts",
            "mark.commit_ts",
            sf.shiftright("mark.commit_ts", 18) - sf.shiftright("commit_ts", 18),
        ),
    )


def not_everywhere(stream: Stream) -> DataFrame:
    """INV-RESOLVED-BROADCAST: resolved ts that a partition lacks although it goes on to later ones.

    Sending can be cut short, so that the newest ts of a topic may stand in some partitions only; a
    partition that falls further behind is told as information.
    """
    resolved = stream.events.filter("kind = 'resolved'")
    heard = resolved.groupBy("topic", "commit_ts").agg(
        sf.collect_set("partition").alias("heard_in"), sf.min(place()).alias("witness")
    )
    lacking = _lacking(heard, stream).join(
        sf.broadcast(_last_of_partition(resolved)), ["topic", "partition"], "left"
    )
    newest = resolved.groupBy("topic").agg(sf.max("commit_ts").alias("newest"))
    told = lacking.join(sf.broadcast(newest), "topic").filter("commit_ts < newest")
    goes_on = sf.coalesce(sf.col("last.commit_ts") > sf.col("commit_ts"), sf.lit(False))
    return violations(
        told,
        sf.when(goes_on, "error").otherwise("info"),
        (sf.col("witness"), sf.when(goes_on, place("last"))),
        sf.format_string(
            "resolved-ts %d is missing in partition %d; it stands in %s",
            "commit_ts", "partition", sf.array_join(sf.sort_array("heard_in"), ", "),
        ),
    )  # fmt: skip


def _lacking(heard: DataFrame, stream: Stream) -> DataFrame:
    """One row per event of which ``heard_in`` is short, and partition that lacks it."""
    topics = topic_partitions(stream.events.sparkSession, stream.options.partitions)
    everywhere = sf.sequence(sf.lit(0), sf.col("partition_count") - 1)
    return heard.join(sf.broadcast(topics), "topic").select(
        heard["*"], sf.explode(sf.array_except(everywhere, sf.col("heard_in"))).alias("partition")
    )


def _last_of_partition(events: DataFrame) -> DataFrame:
    return events.groupBy("topic", "partition").agg(latest(sf.lit(True)).alias("last"))
