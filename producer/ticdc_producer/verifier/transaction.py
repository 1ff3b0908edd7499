"""Checks of transactions: the rows of a table with the same commit-ts."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from ticdc_producer.verifier.stream import PARTITION, TABLE_PART, Stream, Violation, event_ref

FRAGMENT = 2048
"""Number of rows after which TiCDC may cut a transaction; rows are ordered within each fragment."""


def _positions_of(op: str) -> Column:
    return sf.when(sf.col("op") == op, sf.col("position"))


def check_collapse(stream: Stream) -> DataFrame:
    """INV-COLLAPSE: row keys with more than one event, or a delete and then an insert, in a transaction.

    TiKV stores one mutation per row key; only the split of an update that leaves the handle unchanged makes
    two events of it.
    """
    per_key = stream.rows.filter("row_key is not null").groupBy("topic", "row_key", "commit_ts")
    several = per_key.agg(
        sf.count("*").alias("n"),
        sf.min(_positions_of("delete")).alias("deleted"),
        sf.min(_positions_of("insert")).alias("inserted"),
        (sf.min("partition") != sf.max("partition")).alias("in_two_partitions"),
        sf.min(event_ref()).alias("earliest"),
        sf.max(event_ref()).alias("latest"),
        sf.array_join(sf.sort_array(sf.collect_set("op")), ", ").alias("ops"),
    ).filter("n > 1")
    # Events in two partitions have no common order.
    pair = sf.expr(
        "n = 2 and coalesce(in_two_partitions and deleted + inserted is not null "
        "or deleted < inserted, false)"
    )
    detail = sf.format_string("%d events (%s) of one row with commit-ts %d", "n", "ops", "commit_ts")
    events = (sf.col("earliest"), sf.col("latest"))
    return several.filter(~pair).select(*Violation(sf.lit("error"), events, detail).found())


def check_txn_delete_first(stream: Stream) -> DataFrame:
    """INV-TXN-DELETE-FIRST: a delete after an insert, in one transaction, partition and batching group.

    Table partitions are physical tables of their own. If rows do not name theirs, partitioned tables are not
    checked; if the partitioned tables are unknown, a violation is a warning.
    """
    group = [*PARTITION, *TABLE_PART, "batch_value", "commit_ts"]
    partitioned = sf.concat("schema", sf.lit("."), "table").isin([*(stream.options.partitioned or ())])
    candidates = stream.batched_rows.filter(sf.col("after_insert") & ~partitioned).select(*group).distinct()
    rows = stream.batched_rows.select(*group, "position", "op", "rule").join(candidates, group, "left_semi")
    transactions = rows.groupBy(*group).agg(
        sf.min(_positions_of("insert")).alias("inserted"),
        sf.max(_positions_of("delete")).alias("deleted"),
        sf.count("*").alias("n"),
        sf.first("rule").alias("rule"),
    )
    unverifiable = not stream.options.table_ids and stream.options.partitioned is None
    uncertain = sf.lit(unverifiable) | sf.col("rule").isNull() | (sf.col("n") > FRAGMENT)
    severity = sf.when(uncertain, "warning").otherwise("error")
    detail = sf.format_string("the delete comes after an insert; both have commit-ts %d", "commit_ts")
    events = (event_ref(sf.col("inserted")), event_ref(sf.col("deleted")))
    return transactions.filter("inserted < deleted").select(*Violation(severity, events, detail).found())
