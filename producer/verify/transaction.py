"""What one transaction may leave in a stream: "transaction" is what shares a table and a commit-ts."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from producer.verify.stream import PARTITION, TABLE, Stream, place, violations

FRAGMENT = 2048
"""Rows after which TiCDC may cut a transaction; the order holds inside each fragment."""


def _first_of(op: str) -> Column:
    return sf.min(sf.when(sf.col("op") == op, place()))


def uncollapsed(stream: Stream) -> DataFrame:
    """INV-COLLAPSE: row keys with more in one transaction than one event, or a delete and then an insert.

    TiKV keeps one mutation per row key, and only the split of an update whose handle stays as it was
    makes two events of it.
    """
    per_key = stream.rows.filter("row_key is not null").groupBy("topic", "row_key", "commit_ts")
    several = per_key.agg(
        sf.count("*").alias("n"),
        _first_of("delete").alias("deleted"),
        _first_of("insert").alias("inserted"),
        sf.min(place()).alias("earliest"),
        sf.max(place()).alias("latest"),
        sf.concat_ws(", ", sf.slice(sf.sort_array(sf.collect_set("op")), 1, 3)).alias("ops"),
    ).filter("n > 1")
    # Two partitions have no common order: which half came first cannot be told there.
    in_order = sf.expr("deleted.partition != inserted.partition or deleted < inserted")
    pair = (sf.col("n") == 2) & sf.coalesce(in_order, sf.lit(False))
    return violations(
        several.filter(~pair),
        sf.lit("error"),
        (sf.col("earliest"), sf.col("latest")),
        sf.format_string("%d events (%s) of one row with commit-ts %d", "n", "ops", "commit_ts"),
    )


def inserts_first(stream: Stream) -> DataFrame:
    """INV-TXN-DELETE-FIRST: a delete after an insert, in one transaction, partition and batching group."""
    by_value = sf.col("rule").isin("index-value", "columns")
    grouped = stream.rows.withColumn("batch_key", sf.when(by_value, sf.col("dispatch_key")))
    transactions = grouped.groupBy(*PARTITION, *TABLE, "table_id", "commit_ts", "batch_key").agg(
        _first_of("insert").alias("inserted"),
        sf.max(sf.when(sf.col("op") == "delete", place())).alias("deleted"),
        sf.count("*").alias("n"),
        sf.first("rule").alias("rule"),
    )
    doubtful = sf.col("rule").isNull() | (sf.col("n") > FRAGMENT)
    return violations(
        transactions.filter("inserted < deleted"),
        sf.when(doubtful, "warning").otherwise("error"),
        (sf.col("inserted"), sf.col("deleted")),
        sf.format_string("the delete comes after an insert; both have commit-ts %d", "commit_ts"),
    )
