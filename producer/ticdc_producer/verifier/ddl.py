"""Checks of DDL events: their partitions, their order, and their barriers (docs/stream-semantics.md §7.2)."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.stream import PARTITION, Stream, Violation, ddl_barrier_operator, event_ref

_SAME_TABLE = """events.topic = ddls.topic and events.partition = ddls.partition
    and events.schema = ddls.schema and (events.table = ddls.table or ddls.table = '')"""
"""A DDL without table concerns all tables of its database."""


def check_ddl_barrier_before(stream: Stream) -> DataFrame:
    """INV-DDL-BARRIER-BEFORE: rows with commit-ts ≤ x after the DDL with ts x.

    An error for the DDL's own tables. For other tables it is a warning, because only classic TiCDC holds
    back the rows of every table.
    """
    late = stream.rows.filter("ddl_before is not null")
    ddls = stream.events.filter("kind = 'ddl'")
    operator = ddl_barrier_operator(stream.options)
    barrier = f"ddls.position < events.position and events.commit_ts {operator} ddls.commit_ts"
    own = _with_ddls(late, ddls, barrier, "left").groupBy(*_events(*PARTITION, "position", "commit_ts"))
    barriers = own.agg(
        sf.max(sf.struct("ddls.commit_ts", "ddls.position")).alias("own"),
        sf.first("events.ddl_before").alias("any"),
    ).withColumn(
        "barrier", sf.coalesce(sf.when(sf.col("own.position").isNotNull(), sf.col("own")), sf.col("any"))
    )
    severity = sf.when(sf.col("own.position").isNotNull(), "error").otherwise("warning")
    text = "row with commit-ts %d comes after a DDL with ts %d"
    detail = sf.format_string(text, "commit_ts", "barrier.commit_ts")
    return barriers.select(
        *Violation(severity, (event_ref(sf.col("barrier.position")), event_ref()), detail).found()
    )


def check_ddl_barrier_after(stream: Stream) -> DataFrame:
    """INV-DDL-BARRIER-AFTER: rows of the DDL's table with commit-ts > x before its first copy.

    One violation per DDL; its example is the newest row before it.
    """
    early = sf.broadcast(stream.events.filter("kind = 'ddl' and newer_row is not null"))
    barrier = "events.position < ddls.position and events.commit_ts > ddls.commit_ts"
    passed = _with_ddls(stream.rows, early, barrier, "inner")
    newest = sf.max(sf.struct("events.commit_ts", "events.position")).alias("row")
    violated = passed.groupBy(*_ddls(*PARTITION, "position", "commit_ts")).agg(newest)
    text = "row with commit-ts %d comes before the DDL with ts %d"
    detail = sf.format_string(text, "row.commit_ts", "commit_ts")
    return violated.select(
        *Violation(sf.lit("error"), (event_ref(sf.col("row.position")), event_ref()), detail).found()
    )


def _with_ddls(rows: DataFrame, ddls: DataFrame, barrier: str, how: str) -> DataFrame:
    """Pairs of a row and a DDL of its table that meet a condition."""
    condition = sf.expr(f"{_SAME_TABLE} and {barrier}")
    return rows.alias("events").join(ddls.alias("ddls"), condition, how)


def _events(*names: str) -> list[Column]:
    return [sf.col(f"events.{name}") for name in names]


def _ddls(*names: str) -> list[Column]:
    return [sf.col(f"ddls.{name}") for name in names]


def check_ddl_broadcast(stream: Stream) -> DataFrame:
    """INV-DDL-BROADCAST: DDLs that a partition lacks, or has although only partition 0 should.

    A partition with later events continued without the DDL; a partition without them may be truncated.
    """
    ddls = stream.events.filter("kind = 'ddl'").groupBy("topic", "identity", "commit_ts")
    occurrences = ddls.agg(
        sf.collect_set("partition").alias("found_in"), sf.min(event_ref()).alias("example")
    )
    due = sf.col("partitions") if stream.options.ddl_broadcast else sf.array(sf.lit(0))
    wrong = sf.array_union(sf.array_except(due, "found_in"), sf.array_except("found_in", due))
    found = (
        occurrences.join(sf.broadcast(stream.topics), "topic")
        .withColumn("partition", sf.explode(wrong))
        .withColumn("lacks", ~sf.array_contains("found_in", sf.col("partition")))
        .withColumn("last", sf.try_element_at("last_event", sf.col("partition")))
    )
    went_on = sf.coalesce(sf.col("last.commit_ts") > sf.col("commit_ts"), sf.lit(False))
    detail = sf.format_string(
        "DDL with ts %d %s partition %d; found in partitions %s",
        "commit_ts",
        sf.when(sf.col("lacks"), "is missing in").otherwise("does not belong in"),
        "partition",
        sf.array_join(sf.sort_array("found_in"), ", "),
    )
    severity = sf.when(went_on | ~sf.col("lacks"), "error").otherwise("warning")
    events = (sf.col("example"), sf.when(went_on & sf.col("lacks"), event_ref(sf.col("last.position"))))
    return found.select(*Violation(severity, events, detail).found())


def check_ddl_order(options: VerifyOptions) -> Violation:
    """INV-DDL-ORDER: new DDLs older than an earlier one; a DDL of several tables gives equal ts."""
    before = sf.col("ddl_before")
    text = "DDL with ts %d comes after a DDL with ts %d"
    detail = sf.format_string(text, "commit_ts", before["commit_ts"])
    severity = sf.lit("error" if options.commit_ts == "exact" else "warning")
    wrong = sf.expr("kind = 'ddl' and ddl_before is not null")
    return Violation(severity, (event_ref(before["position"]), event_ref()), detail, wrong)


def check_ddl_same(stream: Stream) -> DataFrame:
    """INV-DDL-SAME: DDLs of one ts whose text or order differs between partitions.

    Partitions that lack some of them violate INV-DDL-BROADCAST instead.
    """
    ddls = stream.events.where("kind = 'ddl' and first_delivery").groupBy(*PARTITION, "commit_ts")
    occurrences = ddls.agg(
        sf.sort_array(sf.collect_list(sf.struct("position", "identity"))).alias("ddls"),
        sf.count("*").alias("n"),
        sf.min(event_ref()).alias("example"),
    ).withColumn("content", sf.col("ddls.identity"))
    copies = occurrences.groupBy("topic", "commit_ts", "n").agg(
        sf.count_distinct("content").alias("versions"),
        sf.min(sf.struct("content", "example")).alias("one"),
        sf.max(sf.struct("content", "example")).alias("other"),
    )
    events = (sf.least("one.example", "other.example"), sf.greatest("one.example", "other.example"))
    detail = sf.format_string("copies of the DDL with ts %d differ between partitions", "commit_ts")
    return copies.where("versions > 1").select(*Violation(sf.lit("error"), events, detail).found())
