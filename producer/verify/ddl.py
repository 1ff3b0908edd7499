"""DDL events: where they go, and what they keep apart (stream-semantics §7.2)."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from producer.verify.routing import topic_partitions
from producer.verify.stream import PARTITION, TABLE, Stream, latest, place, so_far, violations


def misplaced(stream: Stream) -> DataFrame:
    """INV-DDL-BROADCAST: DDLs that a partition lacks, or has although only partition 0 should."""
    topics = topic_partitions(stream.events.sparkSession, stream.options.partitions)
    ddls = stream.events.filter("kind = 'ddl'").groupBy("topic", "identity", "commit_ts")
    heard = ddls.agg(sf.collect_set("partition").alias("heard_in"), sf.min(place()).alias("witness"))
    count = sf.col("partition_count") if stream.options.ddl_broadcast else sf.lit(1)
    due = sf.sequence(sf.lit(0), count - 1)
    placed = heard.join(sf.broadcast(topics), "topic").withColumn("due", due)
    return _lacking(placed, stream).union(_superfluous(placed))


def _lacking(placed: DataFrame, stream: Stream) -> DataFrame:
    """A partition that has later events went on without the DDL; one that has none may just be cut short."""
    last = stream.events.groupBy(*PARTITION).agg(latest(sf.lit(True)).alias("last"))
    lacking = placed.withColumn("partition", sf.explode(sf.array_except("due", "heard_in")))
    found = lacking.join(sf.broadcast(last), list(PARTITION), "left")
    went_on = sf.coalesce(sf.col("last.commit_ts") > sf.col("commit_ts"), sf.lit(False))
    return violations(
        found,
        sf.when(went_on, "error").otherwise("warning"),
        (sf.col("witness"), sf.when(went_on, place("last"))),
        sf.format_string("DDL with ts %d is missing in partition %d; it stands in %s", *_told()),
    )


def _superfluous(placed: DataFrame) -> DataFrame:
    found = placed.withColumn("partition", sf.explode(sf.array_except("heard_in", "due")))
    detail = sf.format_string("DDL with ts %d does not belong in partition %d; it stands in %s", *_told())
    return violations(found, sf.lit("error"), (sf.col("witness"),), detail)


def _told() -> tuple[Column, ...]:
    return sf.col("commit_ts"), sf.col("partition"), sf.array_join(sf.sort_array("heard_in"), ", ")


def rows_after(stream: Stream) -> DataFrame:
    """INV-DDL-BARRIER-BEFORE: rows with commit-ts ≤ x after the DDL with ts x.

    An error for the DDL's own tables. Only classic TiCDC holds back the rows of every table, so that
    other tables give a warning.
    """
    ddl = sf.col("kind") == "ddl"
    barriers = _with_peaks(stream.events.filter("kind = 'ddl' or kind = 'row' and first"), ddl)
    seen = barriers.withColumn("any", latest(ddl).over(so_far()))
    late = seen.filter("kind = 'row' and commit_ts <= any.commit_ts")
    own = sf.coalesce(sf.col("commit_ts") <= sf.col("own.commit_ts"), sf.lit(False))
    barrier = late.withColumn("barrier", sf.when(own, sf.col("own")).otherwise(sf.col("any")))
    return violations(
        barrier,
        sf.when(own, "error").otherwise("warning"),
        (place("barrier"), place()),
        sf.format_string(
            "row with commit-ts %d comes after a DDL with ts %d", "commit_ts", "barrier.commit_ts"
        ),
    )


def rows_before(stream: Stream) -> DataFrame:
    """INV-DDL-BARRIER-AFTER: rows of the DDL's table with commit-ts > x before its first copy.

    One violation per DDL; the witness is the newest row before it.
    """
    peaks = _with_peaks(stream.events.filter("first and kind in ('row', 'ddl')"), sf.col("kind") == "row")
    return violations(
        peaks.filter("kind = 'ddl' and own.commit_ts > commit_ts"),
        sf.lit("error"),
        (place("own"), place()),
        sf.format_string(
            "row with commit-ts %d comes before the DDL with ts %d", "own.commit_ts", "commit_ts"
        ),
    )


def _with_peaks(events: DataFrame, condition: Column) -> DataFrame:
    """Adds ``own``: the newest earlier event that meets the condition and whose tables overlap this event's.

    A DDL of a database (no table name) concerns all its tables.
    """
    of_schema = sf.col("table") == ""
    ddl = sf.col("kind") == "ddl"
    in_table = latest(condition).over(so_far(*TABLE))
    in_schema = latest(condition & (of_schema | ~ddl)).over(so_far("schema"))
    concerns_schema = sf.when(ddl & ~of_schema, sf.lit(None)).otherwise(in_schema)
    return events.withColumn("own", sf.greatest(in_table, concerns_schema))
