"""Commit-ts order of first-time rows (stream-semantics §8)."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from producer.verify.identity import fingerprint
from producer.verify.stream import TABLE, Stream, latest, place, so_far, violations


def table_order(stream: Stream) -> DataFrame:
    """INV-ORDER-TABLE: per partition and physical table, commit-ts never falls.

    Batching groups rows by dispatch key, so that only table dispatch promises it for a whole table.
    """
    promised = sf.lit(stream.options.strict_seed) | sf.col("rule").eqNullSafe("table")
    return _falls(stream.rows, (*TABLE, "table_id"), sf.when(promised, "error").otherwise("warning"))


def key_order(stream: Stream) -> DataFrame:
    """INV-ORDER-KEY: per partition and dispatch key, and per partition and row key, commit-ts never falls."""
    keyed = stream.rows.withColumn("order_key", sf.explode(_order_keys()))
    return _falls(keyed, ("order_key",), sf.lit("error"))


def _order_keys() -> Column:
    """The keys whose order a row is part of, each once.

    The dispatch key of a table rule is the table, which INV-ORDER-TABLE covers; a dispatch key made of
    the handle key covers the row key.
    """
    dispatch = fingerprint(sf.col("schema"), sf.col("table"), sf.col("table_id"), sf.col("dispatch_key"))
    by_value = sf.col("rule").isin("index-value", "columns") & sf.col("dispatch_key").isNotNull()
    covers_row_key = by_value & sf.col("hashes_handle")
    keys = sf.array(
        sf.when(by_value, dispatch), sf.when(~sf.coalesce(covers_row_key, sf.lit(False)), sf.col("row_key"))
    )
    return sf.array_compact(keys)


def _falls(rows: DataFrame, group: tuple[str, ...], severity: Column) -> DataFrame:
    highest = latest(sf.lit(True)).over(so_far(*group))
    late = rows.withColumn("highest", highest).filter("commit_ts < highest.commit_ts")
    return violations(
        late,
        severity,
        (place("highest"), place()),
        sf.format_string(
            "commit-ts %d comes after %d, which is %d ms later",
            "commit_ts",
            "highest.commit_ts",
            sf.shiftright("highest.commit_ts", 18) - sf.shiftright("commit_ts", 18),
        ),
    )
