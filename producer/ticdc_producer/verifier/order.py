"""Commit-ts order of first-time rows (stream-semantics §8)."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from ticdc_producer.verifier.stream import PARTITION, TABLE_PART, Stream, Violation, latest, place, so_far

_BY_VALUE = "rule in ('index-value', 'columns')"


def table_order(stream: Stream) -> DataFrame:
    """INV-ORDER-TABLE: per partition and physical table, commit-ts never falls.

    Batching groups rows by dispatch key, so that only table dispatch promises it for a whole table.
    """
    promised = sf.lit(stream.options.strict_seed) | sf.col("rule").eqNullSafe("table")
    late = _late(stream.rows, TABLE_PART)
    return _violations(late, sf.when(promised, "error").otherwise("warning"))


def key_order(stream: Stream) -> DataFrame:
    """INV-ORDER-KEY: per partition and dispatch key, and per partition and row key, commit-ts never falls.

    Under table dispatch the dispatch key is the table, which INV-ORDER-TABLE covers; a dispatch key made
    of the handle key covers the row key.
    """
    covered = f"{_BY_VALUE} and dispatch_key is not null and hashes_handle"
    of_row = stream.rows.filter(f"row_key is not null and not coalesce({covered}, false)")
    in_batch = stream.batched_rows.filter(_BY_VALUE)
    both = _late(of_row, ("row_key",)).union(_late(in_batch, (*TABLE_PART, "batch_value")))
    return _violations(both.dropDuplicates([*PARTITION, "position"]), sf.lit("error"))


def _late(rows: DataFrame, group: tuple[str, ...]) -> DataFrame:
    """Rows older than one before them in their group; only groups with a suspected row are sorted."""
    suspected = rows.filter("newer_row is not null").select(*PARTITION, *group).distinct()
    grouped = rows.select(*PARTITION, "position", "commit_ts", "rule", *group)
    looked_at = grouped.join(suspected, [*PARTITION, *group], "left_semi")
    newer = looked_at.withColumn("newer", latest(sf.lit(True)).over(so_far(*group)))
    late = newer.filter("commit_ts < newer.commit_ts")
    return late.select(*PARTITION, "position", "commit_ts", "rule", "newer")


def _violations(late: DataFrame, severity: Column) -> DataFrame:
    detail = sf.format_string(
        "commit-ts %d comes after %d, which is %d ms later",
        "commit_ts",
        "newer.commit_ts",
        sf.shiftright("newer.commit_ts", 18) - sf.shiftright("commit_ts", 18),
    )
    return late.select(*Violation(severity, (place(sf.col("newer.position")), place()), detail).found())
