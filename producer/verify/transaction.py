"""What one transaction may leave in a stream: "transaction" is what shares a table and a commit-ts."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from producer.verify.options import VerifyOptions
from producer.verify.stream import FIRST_ROW, PLACE, Mark, Stream, Violation, place, so_far

FRAGMENT = 2048
"""Rows after which TiCDC may cut a transaction; the order holds inside each fragment."""


def marks() -> Iterator[Mark]:
    """An insert before a delete, with the number of rows that the transaction has so far."""
    transaction = so_far("batch_key", "commit_ts")
    insert = sf.max(sf.when(sf.expr(FIRST_ROW) & (sf.col("op") == "insert"), sf.struct(*PLACE))).over(
        transaction
    )
    rows = sf.count_if(sf.expr(FIRST_ROW)).over(transaction)
    event = sf.when(insert.isNotNull(), insert.withField("rows", rows))
    yield Mark("insert_before", event, f"{FIRST_ROW} and op = 'delete'")


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
    detail = sf.format_string("%d events (%s) of one row with commit-ts %d", "n", "ops", "commit_ts")
    events = (sf.col("earliest"), sf.col("latest"))
    return several.filter(~pair).select(*Violation(sf.lit(True), sf.lit("error"), events, detail).found())


def inserts_first(options: VerifyOptions) -> Violation:  # noqa: ARG001
    """INV-TXN-DELETE-FIRST: a delete after an insert, in one transaction, partition and batching group."""
    insert = sf.col("insert_before")
    doubtful = sf.col("rule").isNull() | (insert["rows"] >= FRAGMENT)
    severity = sf.when(doubtful, "warning").otherwise("error")
    detail = sf.format_string("the delete comes after an insert; both have commit-ts %d", "commit_ts")
    return Violation(insert.isNotNull(), severity, (place(insert), place()), detail)
