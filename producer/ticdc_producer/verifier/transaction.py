"""What one transaction may leave in a stream: "transaction" is what shares a table and a commit-ts."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from ticdc_producer.verifier.stream import PARTITION, TABLE_PART, Stream, Violation, place

FRAGMENT = 2048
"""Rows after which TiCDC may cut a transaction; the order holds inside each fragment."""


def _positions_of(op: str) -> Column:
    return sf.when(sf.col("op") == op, sf.col("position"))


def uncollapsed(stream: Stream) -> DataFrame:
    """INV-COLLAPSE: row keys with more in one transaction than one event, or a delete and then an insert.

    TiKV keeps one mutation per row key, and only the split of an update whose handle stays as it was
    makes two events of it.
    """
    per_key = stream.rows.filter("row_key is not null").groupBy("topic", "row_key", "commit_ts")
    several = per_key.agg(
        sf.count("*").alias("n"),
        sf.min(_positions_of("delete")).alias("deleted"),
        sf.min(_positions_of("insert")).alias("inserted"),
        (sf.min("partition") != sf.max("partition")).alias("scattered"),
        sf.min(place()).alias("earliest"),
        sf.max(place()).alias("latest"),
        sf.array_join(sf.sort_array(sf.collect_set("op")), ", ").alias("ops"),
    ).filter("n > 1")
    # Two partitions have no common order: which half came first cannot be told there.
    pair = sf.expr(
        "n = 2 and coalesce(scattered and deleted + inserted is not null or deleted < inserted, false)"
    )
    detail = sf.format_string("%d events (%s) of one row with commit-ts %d", "n", "ops", "commit_ts")
    events = (sf.col("earliest"), sf.col("latest"))
    return several.filter(~pair).select(*Violation(sf.lit("error"), events, detail).found())


def inserts_first(stream: Stream) -> DataFrame:
    """INV-TXN-DELETE-FIRST: a delete after an insert, in one transaction, partition and batching group.

    Partitions are tables. Where rows do not name theirs, those of partitioned tables are left out, and
    where nobody knows which these are, a violation is a warning.
    """
    group = [*PARTITION, *TABLE_PART, "batch_value", "commit_ts"]
    partitioned = sf.concat("schema", sf.lit("."), "table").isin([*(stream.options.partitioned or ())])
    suspected = stream.batched_rows.filter(sf.col("after_insert") & ~partitioned).select(*group).distinct()
    rows = stream.batched_rows.select(*group, "position", "op", "rule").join(suspected, group, "left_semi")
    transactions = rows.groupBy(*group).agg(
        sf.min(_positions_of("insert")).alias("inserted"),
        sf.max(_positions_of("delete")).alias("deleted"),
        sf.count("*").alias("n"),
        sf.first("rule").alias("rule"),
    )
    untold = not stream.options.table_ids and stream.options.partitioned is None
    doubtful = sf.lit(untold) | sf.col("rule").isNull() | (sf.col("n") > FRAGMENT)
    severity = sf.when(doubtful, "warning").otherwise("error")
    detail = sf.format_string("the delete comes after an insert; both have commit-ts %d", "commit_ts")
    events = (place(sf.col("inserted")), place(sf.col("deleted")))
    return transactions.filter("inserted < deleted").select(*Violation(severity, events, detail).found())
