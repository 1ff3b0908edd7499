"""Commit-ts order of first-time rows (stream-semantics §8)."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import Column
from pyspark.sql import functions as sf

from producer.verify.options import VerifyOptions
from producer.verify.stream import FIRST_ROW, TABLE, Mark, Violation, latest, place, so_far


def marks() -> Iterator[Mark]:
    """Newer rows of the same physical table, the same row, the same batch."""
    row = sf.expr(FIRST_ROW)
    groups = {"in_table": (*TABLE, "table_id"), "of_row": ("row_key",), "in_batch": ("batch_key",)}
    for name, group in groups.items():
        newer = f"newer_{name}"
        yield Mark(newer, latest(row).over(so_far(*group)), f"{FIRST_ROW} and commit_ts < {newer}.commit_ts")


def table_order(options: VerifyOptions) -> Violation:
    """INV-ORDER-TABLE: per partition and physical table, commit-ts never falls.

    Batching groups rows by dispatch key, so that only table dispatch promises it for a whole table.
    """
    promised = sf.lit(options.strict_seed) | sf.col("rule").eqNullSafe("table")
    return _late(sf.col("newer_in_table"), sf.when(promised, "error").otherwise("warning"))


def key_order(options: VerifyOptions) -> Violation:  # noqa: ARG001
    """INV-ORDER-KEY: per partition and dispatch key, and per partition and row key, commit-ts never falls.

    Under table dispatch the dispatch key is the table, which INV-ORDER-TABLE covers.
    """
    of_row = sf.when(sf.col("row_key").isNotNull(), sf.col("newer_of_row"))
    in_batch = sf.when(sf.col("rule").isin("index-value", "columns"), sf.col("newer_in_batch"))
    return _late(sf.coalesce(of_row, in_batch), sf.lit("error"))


def _late(newer: Column, severity: Column) -> Violation:
    detail = sf.format_string(
        "commit-ts %d comes after %d, which is %d ms later",
        "commit_ts",
        newer["commit_ts"],
        sf.shiftright(newer["commit_ts"], 18) - sf.shiftright("commit_ts", 18),
    )
    return Violation(newer.isNotNull(), severity, (place(newer), place()), detail)
