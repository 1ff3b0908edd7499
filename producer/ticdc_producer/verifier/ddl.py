"""DDL events: where they go, and what they keep apart (stream-semantics §7.2)."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.stream import PARTITION, Stream, Violation, barred, place

_SAME_TABLE = """events.topic = ddls.topic and events.partition = ddls.partition
    and events.schema = ddls.schema and (events.table = ddls.table or ddls.table = '')"""
"""A DDL without table concerns all tables of its database."""


def rows_after(stream: Stream) -> DataFrame:
    """INV-DDL-BARRIER-BEFORE: rows with commit-ts ≤ x after the DDL with ts x.

    An error for the DDL's own tables. Only classic TiCDC holds back the rows of every table, so that
    other tables give a warning.
    """
    late = stream.rows.filter("ddl_before is not null")
    ddls = stream.events.filter("kind = 'ddl'")
    barrier = f"ddls.position < events.position and events.commit_ts {barred(stream.options)} ddls.commit_ts"
    own = _concerned(late, ddls, barrier, "left").groupBy(*_events(*PARTITION, "position", "commit_ts"))
    judged = own.agg(
        sf.max(sf.struct("ddls.commit_ts", "ddls.position")).alias("own"),
        sf.first("events.ddl_before").alias("any"),
    ).withColumn(
        "barrier", sf.coalesce(sf.when(sf.col("own.position").isNotNull(), sf.col("own")), sf.col("any"))
    )
    severity = sf.when(sf.col("own.position").isNotNull(), "error").otherwise("warning")
    text = "row with commit-ts %d comes after a DDL with ts %d"
    detail = sf.format_string(text, "commit_ts", "barrier.commit_ts")
    return judged.select(*Violation(severity, (place(sf.col("barrier.position")), place()), detail).found())


def rows_before(stream: Stream) -> DataFrame:
    """INV-DDL-BARRIER-AFTER: rows of the DDL's table with commit-ts > x before its first copy.

    One violation per DDL; the witness is the newest row before it.
    """
    early = sf.broadcast(stream.events.filter("kind = 'ddl' and newer_row is not null"))
    barrier = "events.position < ddls.position and events.commit_ts > ddls.commit_ts"
    passed = _concerned(stream.rows, early, barrier, "inner")
    newest = sf.max(sf.struct("events.commit_ts", "events.position")).alias("row")
    judged = passed.groupBy(*_ddls(*PARTITION, "position", "commit_ts")).agg(newest)
    text = "row with commit-ts %d comes before the DDL with ts %d"
    detail = sf.format_string(text, "row.commit_ts", "commit_ts")
    return judged.select(
        *Violation(sf.lit("error"), (place(sf.col("row.position")), place()), detail).found()
    )


def _concerned(rows: DataFrame, ddls: DataFrame, barrier: str, how: str) -> DataFrame:
    """Rows with the DDLs of their table that meet a condition."""
    condition = sf.expr(f"{_SAME_TABLE} and {barrier}")
    return rows.alias("events").join(ddls.alias("ddls"), condition, how)


def _events(*names: str) -> list[Column]:
    return [sf.col(f"events.{name}") for name in names]


def _ddls(*names: str) -> list[Column]:
    return [sf.col(f"ddls.{name}") for name in names]


def misplaced(stream: Stream) -> DataFrame:
    """INV-DDL-BROADCAST: DDLs that a partition lacks, or has although only partition 0 should.

    A partition that has later events went on without the DDL; one that has none may be cut short.
    """
    ddls = stream.events.filter("kind = 'ddl'").groupBy("topic", "identity", "commit_ts")
    heard = ddls.agg(sf.collect_set("partition").alias("heard_in"), sf.min(place()).alias("witness"))
    due = sf.col("partitions") if stream.options.ddl_broadcast else sf.array(sf.lit(0))
    wrong = sf.array_union(sf.array_except(due, "heard_in"), sf.array_except("heard_in", due))
    found = (
        heard.join(sf.broadcast(stream.topics), "topic")
        .withColumn("partition", sf.explode(wrong))
        .withColumn("lacks", ~sf.array_contains("heard_in", sf.col("partition")))
        .withColumn("last", sf.try_element_at("last_event", sf.col("partition")))
    )
    went_on = sf.coalesce(sf.col("last.commit_ts") > sf.col("commit_ts"), sf.lit(False))
    detail = sf.format_string(
        "DDL with ts %d %s partition %d; it stands in %s",
        "commit_ts",
        sf.when(sf.col("lacks"), "is missing in").otherwise("does not belong in"),
        "partition",
        sf.array_join(sf.sort_array("heard_in"), ", "),
    )
    severity = sf.when(went_on | ~sf.col("lacks"), "error").otherwise("warning")
    events = (sf.col("witness"), sf.when(went_on & sf.col("lacks"), place(sf.col("last.position"))))
    return found.select(*Violation(severity, events, detail).found())


def disordered(options: VerifyOptions) -> Violation:
    """INV-DDL-ORDER: new DDLs older than one before them; equal is what a DDL of several tables gives."""
    before = sf.col("ddl_before")
    text = "DDL with ts %d comes after a DDL with ts %d"
    detail = sf.format_string(text, "commit_ts", before["commit_ts"])
    severity = sf.lit("error" if options.commit_ts == "exact" else "warning")
    wrong = sf.expr("kind = 'ddl' and ddl_before is not null")
    return Violation(severity, (place(before["position"]), place()), detail, wrong)


def copies_differ(stream: Stream) -> DataFrame:
    """INV-DDL-SAME: DDLs of one ts that partitions have in other words, or in another order.

    A partition that has fewer of them is left to INV-DDL-BROADCAST.
    """
    ddls = stream.events.where("kind = 'ddl' and first").groupBy(*PARTITION, "commit_ts")
    heard = ddls.agg(
        sf.sort_array(sf.collect_list(sf.struct("position", "identity"))).alias("ddls"),
        sf.count("*").alias("n"),
        sf.min(place()).alias("witness"),
    ).withColumn("content", sf.col("ddls.identity"))
    copies = heard.groupBy("topic", "commit_ts", "n").agg(
        sf.count_distinct("content").alias("versions"),
        sf.min(sf.struct("content", "witness")).alias("one"),
        sf.max(sf.struct("content", "witness")).alias("other"),
    )
    events = (sf.least("one.witness", "other.witness"), sf.greatest("one.witness", "other.witness"))
    detail = sf.format_string("copies of the DDL with ts %d differ between partitions", "commit_ts")
    return copies.where("versions > 1").select(*Violation(sf.lit("error"), events, detail).found())
