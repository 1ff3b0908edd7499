"""Resolved events: after R nothing older comes, and every partition hears of R (stream-semantics §7.1)."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.stream import Stream, Violation, place, stalled


def rows_behind(options: VerifyOptions) -> Violation:  # noqa: ARG001 - one signature for all
    """INV-RESOLVED: rows older than a resolved event before them; equal is only worth knowing."""
    older = sf.col("commit_ts") < sf.col("resolved_before.commit_ts")
    severity = sf.when(older, "error").otherwise("info")
    return _behind("kind = 'row' and resolved_before is not null", severity)


def ddls_behind(options: VerifyOptions) -> Violation:  # noqa: ARG001 - one signature for all
    """INV-RESOLVED-DDL: DDLs older than a resolved event before them; equal is the rule at a barrier."""
    return _behind("kind = 'ddl' and commit_ts < resolved_before.commit_ts", sf.lit("error"))


def falling(options: VerifyOptions) -> Violation:  # noqa: ARG001 - one signature for all
    """INV-RESOLVED-MONO: new resolved events lower than one before them; classic may so after a restart."""
    return _behind("kind = 'resolved' and commit_ts < resolved_before.commit_ts", sf.lit("warning"))


def stalling(options: VerifyOptions) -> Violation:
    """INV-RESOLVED-STALL: resolved events that come too long after the one before them."""
    before = sf.col("resolved_before")
    gap = sf.shiftright("commit_ts", 18) - sf.shiftright(before["commit_ts"], 18)
    limit = options.resolved_gap_ms
    detail = sf.format_string(f"%d ms after the resolved event before it; the limit is {limit} ms", gap)
    wrong = sf.expr(f"kind = 'resolved' and resolved_before is not null and {stalled(options)}")
    return Violation(sf.lit("info"), (place(before["position"]), place()), detail, wrong)


def unfinished(stream: Stream) -> DataFrame:
    """INV-COMPLETE: rows that no resolved-ts of all partitions covers; one account per topic."""
    last = "coalesce(try_element_at(last_resolved, one).commit_ts, 0L)"
    covered = sf.expr(f"array_min(transform(partitions, one -> {last}))")
    topics = sf.broadcast(stream.topics.select("topic", covered.alias("covered")))
    rows = stream.rows.join(topics, "topic").where("commit_ts > covered").groupBy("topic", "covered")
    told = rows.agg(
        sf.count("*").alias("n"),
        sf.min(sf.struct("commit_ts", "partition", "position")).alias("oldest"),
        sf.max(sf.struct("commit_ts", "partition", "position")).alias("newest"),
    )
    span = sf.shiftright("newest.commit_ts", 18) - sf.shiftright("oldest.commit_ts", 18)
    text = "%d rows in %d ms after resolved-ts %d, the last that all partitions have"
    events = tuple(
        place(sf.col(f"{one}.position"), sf.col(f"{one}.partition")) for one in ("oldest", "newest")
    )
    detail = sf.format_string(text, "n", span, "covered")
    return told.select(*Violation(sf.lit("info"), events, detail).found())


def _behind(wrong: str, severity: Column) -> Violation:
    detail = sf.format_string(
        "%s with commit-ts %d comes after resolved-ts %d, which is %d ms later",
        "kind",
        "commit_ts",
        "resolved_before.commit_ts",
        sf.shiftright("resolved_before.commit_ts", 18) - sf.shiftright("commit_ts", 18),
    )
    events = (place(sf.col("resolved_before.position")), place())
    return Violation(severity, events, detail, sf.expr(wrong))


def not_everywhere(stream: Stream) -> DataFrame:
    """INV-RESOLVED-BROADCAST: resolved ts that a partition lacks although it goes on to later ones.

    Sending can be cut short, so that the newest ts of a topic may stand in some partitions only; a
    partition that falls further behind is told as information.
    """
    resolved = stream.events.filter("kind = 'resolved'").groupBy("topic", "commit_ts")
    heard = resolved.agg(sf.collect_set("partition").alias("heard_in"), sf.min(place()).alias("witness"))
    known = heard.join(sf.broadcast(stream.topics), "topic").filter("commit_ts < newest_resolved")
    lacking = known.withColumn("partition", sf.explode(sf.array_except("partitions", "heard_in")))
    told = lacking.withColumn("last", sf.try_element_at("last_resolved", sf.col("partition")))
    goes_on = sf.coalesce(sf.col("last.commit_ts") > sf.col("commit_ts"), sf.lit(False))
    detail = sf.format_string(
        "resolved-ts %d is missing in partition %d; it stands in %s",
        "commit_ts",
        "partition",
        sf.array_join(sf.sort_array("heard_in"), ", "),
    )
    events = (sf.col("witness"), sf.when(goes_on, place(sf.col("last.position"))))
    return told.select(*Violation(sf.when(goes_on, "error").otherwise("info"), events, detail).found())
