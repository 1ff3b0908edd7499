"""DDL events: where they go, and what they keep apart (stream-semantics §7.2)."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from producer.verify.options import VerifyOptions
from producer.verify.stream import FIRST_ROW, TABLE, Mark, Stream, Violation, latest, place, so_far

_LATE = f"{FIRST_ROW} and commit_ts <="
_EARLY = "kind = 'ddl' and first and commit_ts <"


def marks() -> Iterator[Mark]:
    """Newer DDLs before a row, and newer rows before a DDL; a DDL without table concerns its database."""
    ddl, row = sf.col("kind") == "ddl", sf.col("kind") == "row"
    ddl_of_schema = ddl & (sf.col("table") == "")
    yield Mark("any_ddl", latest(ddl).over(so_far()), f"{_LATE} any_ddl.commit_ts")
    yield Mark("table_ddl", latest(ddl).over(so_far(*TABLE)), f"{_LATE} table_ddl.commit_ts")
    yield Mark("schema_ddl", latest(ddl_of_schema).over(so_far("schema")), f"{_LATE} schema_ddl.commit_ts")
    yield Mark("table_row", latest(row).over(so_far(*TABLE)), f"{_EARLY} table_row.commit_ts")
    in_schema = f"{_EARLY} schema_row.commit_ts and table = ''"
    yield Mark("schema_row", latest(row).over(so_far("schema")), in_schema)


def rows_after(options: VerifyOptions) -> Violation:  # noqa: ARG001
    """INV-DDL-BARRIER-BEFORE: rows with commit-ts ≤ x after the DDL with ts x.

    An error for the DDL's own tables. Only classic TiCDC holds back the rows of every table, so that
    other tables give a warning.
    """
    own = sf.coalesce(sf.col("table_ddl"), sf.col("schema_ddl"))
    barrier = sf.coalesce(own, sf.col("any_ddl"))
    severity = sf.when(own.isNotNull(), "error").otherwise("warning")
    text = "row with commit-ts %d comes after a DDL with ts %d"
    detail = sf.format_string(text, "commit_ts", barrier["commit_ts"])
    return Violation(barrier.isNotNull(), severity, (place(barrier), place()), detail)


def rows_before(options: VerifyOptions) -> Violation:  # noqa: ARG001
    """INV-DDL-BARRIER-AFTER: rows of the DDL's table with commit-ts > x before its first copy.

    One violation per DDL; the witness is the newest row before it.
    """
    row = sf.coalesce(sf.col("table_row"), sf.col("schema_row"))
    detail = sf.format_string(
        "row with commit-ts %d comes before the DDL with ts %d", row["commit_ts"], "commit_ts"
    )
    return Violation(row.isNotNull(), sf.lit("error"), (place(row), place()), detail)


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
    severity = sf.when(went_on | ~sf.col("lacks"), "error").otherwise("warning")
    events = (sf.col("witness"), sf.when(went_on & sf.col("lacks"), place(sf.col("last"))))
    detail = sf.format_string(
        "DDL with ts %d %s partition %d; it stands in %s",
        "commit_ts",
        sf.when(sf.col("lacks"), "is missing in").otherwise("does not belong in"),
        "partition",
        sf.array_join(sf.sort_array("heard_in"), ", "),
    )
    return found.select(*Violation(sf.lit(True), severity, events, detail).found())
