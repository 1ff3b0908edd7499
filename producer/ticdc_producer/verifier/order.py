"""Checks of the commit-ts order of first-time rows (docs/stream-semantics.md §8)."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from ticdc_producer.verifier.stream import (
    PARTITION,
    TABLE_PART,
    Stream,
    Violation,
    event_ref,
    latest,
    preceding_events,
)

_BY_VALUE = "rule in ('index-value', 'columns')"


def check_order_table(stream: Stream) -> DataFrame:
    """INV-ORDER-TABLE: per partition and physical table, commit-ts never decreases.

    Batching groups rows by dispatch key, so only table dispatch guarantees it for a whole table.
    """
    guaranteed = sf.lit(stream.options.strict_table_order) | sf.col("rule").eqNullSafe("table")
    late = _late(stream.rows, TABLE_PART)
    return _violations(late, sf.when(guaranteed, "error").otherwise("warning"))


def check_order_key(stream: Stream) -> DataFrame:
    """INV-ORDER-KEY: per partition and dispatch key or row key, commit-ts never decreases.

    Under table dispatch the dispatch key is the table, which INV-ORDER-TABLE covers. A dispatch key that
    hashes the handle key covers the row key.
    """
    covered = f"{_BY_VALUE} and dispatch_key is not null and hashes_handle"
    of_row = stream.rows.filter(f"row_key is not null and not coalesce({covered}, false)")
    in_batch = stream.batched_rows.filter(_BY_VALUE)
    both = _late(of_row, ("row_key",)).union(_late(in_batch, (*TABLE_PART, "batch_value")))
    return _violations(both.dropDuplicates([*PARTITION, "position"]), sf.lit("error"))


def _late(rows: DataFrame, group: tuple[str, ...]) -> DataFrame:
    """Rows older than an earlier row of their group; only groups with a candidate row are sorted."""
    candidates = rows.filter("newer_row is not null").select(*PARTITION, *group).distinct()
    grouped = rows.select(*PARTITION, "position", "commit_ts", "rule", *group)
    in_candidates = grouped.join(candidates, [*PARTITION, *group], "left_semi")
    newer = in_candidates.withColumn("newer", latest(sf.lit(True)).over(preceding_events(*group)))
    late = newer.filter("commit_ts < newer.commit_ts")
    return late.select(*PARTITION, "position", "commit_ts", "rule", "newer")


def _violations(late: DataFrame, severity: Column) -> DataFrame:
    detail = sf.format_string(
        "commit-ts %d comes after %d, which is %d ms later",
        "commit_ts",
        "newer.commit_ts",
        sf.shiftright("newer.commit_ts", 18) - sf.shiftright("commit_ts", 18),
    )
    return late.select(
        *Violation(severity, (event_ref(sf.col("newer.position")), event_ref()), detail).found()
    )
