"""Checks of resolved events: no older events after them, and all partitions get them.

Source: docs/stream-semantics.md §7.1.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.stream import Stream, Violation, event_ref, stall_condition


def check_resolved(options: VerifyOptions) -> Violation:  # noqa: ARG001 - one signature for all
    """INV-RESOLVED: rows older than an earlier resolved event; an equal ts is information."""
    older = sf.col("commit_ts") < sf.col("resolved_before.commit_ts")
    severity = sf.when(older, "error").otherwise("info")
    return _after_resolved("kind = 'row' and resolved_before is not null", severity)


def check_resolved_ddl(options: VerifyOptions) -> Violation:  # noqa: ARG001 - one signature for all
    """INV-RESOLVED-DDL: DDLs older than an earlier resolved event; an equal ts is the rule at a barrier."""
    return _after_resolved("kind = 'ddl' and commit_ts < resolved_before.commit_ts", sf.lit("error"))


def check_resolved_mono(options: VerifyOptions) -> Violation:  # noqa: ARG001 - one signature for all
    """INV-RESOLVED-MONO: new resolved events below an earlier one; classic may send them after a restart."""
    return _after_resolved("kind = 'resolved' and commit_ts < resolved_before.commit_ts", sf.lit("warning"))


def check_resolved_stall(options: VerifyOptions) -> Violation:
    """INV-RESOLVED-STALL: resolved events that come too long after the previous one."""
    before = sf.col("resolved_before")
    gap = sf.shiftright("commit_ts", 18) - sf.shiftright(before["commit_ts"], 18)
    limit = options.resolved_gap_ms
    detail = sf.format_string(f"%d ms after the previous resolved event; the limit is {limit} ms", gap)
    wrong = sf.expr(f"kind = 'resolved' and resolved_before is not null and {stall_condition(options)}")
    return Violation(sf.lit("info"), (event_ref(before["position"]), event_ref()), detail, wrong)


def check_complete(stream: Stream) -> DataFrame:
    """INV-COMPLETE: rows above the resolved-ts that all partitions have; one finding per topic."""
    last = "coalesce(try_element_at(last_resolved, one).commit_ts, 0L)"
    covered = sf.expr(f"array_min(transform(partitions, one -> {last}))")
    topics = sf.broadcast(stream.topics.select("topic", covered.alias("covered")))
    rows = stream.rows.join(topics, "topic").where("commit_ts > covered").groupBy("topic", "covered")
    uncovered = rows.agg(
        sf.count("*").alias("n"),
        sf.min(sf.struct("commit_ts", "partition", "position")).alias("oldest"),
        sf.max(sf.struct("commit_ts", "partition", "position")).alias("newest"),
    )
    span = sf.shiftright("newest.commit_ts", 18) - sf.shiftright("oldest.commit_ts", 18)
    text = "%d rows in %d ms after resolved-ts %d, the highest that all partitions have"
    events = tuple(
        event_ref(sf.col(f"{one}.position"), sf.col(f"{one}.partition")) for one in ("oldest", "newest")
    )
    detail = sf.format_string(text, "n", span, "covered")
    return uncovered.select(*Violation(sf.lit("info"), events, detail).found())


def _after_resolved(wrong: str, severity: Column) -> Violation:
    detail = sf.format_string(
        "%s with commit-ts %d comes after resolved-ts %d, which is %d ms later",
        "kind",
        "commit_ts",
        "resolved_before.commit_ts",
        sf.shiftright("resolved_before.commit_ts", 18) - sf.shiftright("commit_ts", 18),
    )
    events = (event_ref(sf.col("resolved_before.position")), event_ref())
    return Violation(severity, events, detail, sf.expr(wrong))


def check_resolved_broadcast(stream: Stream) -> DataFrame:
    """INV-RESOLVED-BROADCAST: resolved-ts that a partition lacks although it has a later one.

    Sending can be interrupted, so the newest resolved-ts of a topic may be in some partitions only; a
    partition that lacks older ones at its end is reported as information.
    """
    resolved = stream.events.filter("kind = 'resolved'").groupBy("topic", "commit_ts")
    occurrences = resolved.agg(
        sf.collect_set("partition").alias("found_in"), sf.min(event_ref()).alias("example")
    )
    known = occurrences.join(sf.broadcast(stream.topics), "topic").filter("commit_ts < newest_resolved")
    lacking = known.withColumn("partition", sf.explode(sf.array_except("partitions", "found_in")))
    with_last = lacking.withColumn("last", sf.try_element_at("last_resolved", sf.col("partition")))
    continues = sf.coalesce(sf.col("last.commit_ts") > sf.col("commit_ts"), sf.lit(False))
    detail = sf.format_string(
        "resolved-ts %d is missing in partition %d; found in partitions %s",
        "commit_ts",
        "partition",
        sf.array_join(sf.sort_array("found_in"), ", "),
    )
    events = (sf.col("example"), sf.when(continues, event_ref(sf.col("last.position"))))
    return with_last.select(*Violation(sf.when(continues, "error").otherwise("info"), events, detail).found())
