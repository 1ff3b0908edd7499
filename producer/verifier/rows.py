"""Single rows: the partition they stand in, and updates that should have been split."""

from __future__ import annotations

from pyspark.sql import functions as sf

from producer.verifier.options import VerifyOptions
from producer.verifier.routing import expected_partition
from producer.verifier.stream import FIRST_ROW, Violation, place


def strayed(options: VerifyOptions) -> Violation:
    """INV-ROW-PARTITION: rows in another partition than their dispatch rule gives."""
    expected = expected_partition(sf.col("dispatch_key"), options.partitions)
    severity = sf.when(sf.col("certain"), "error").otherwise("warning")
    text = "rule %s: dispatch key %d belongs in partition %d, found in %d"
    detail = sf.format_string(text, "rule", "dispatch_key", expected, "partition")
    wrong = (sf.col("kind") == "row") & (expected != sf.col("partition"))
    return Violation(severity, (place(),), detail, wrong)


def unsplit(options: VerifyOptions) -> Violation:  # noqa: ARG001 - one signature for all
    """INV-KEY-UPDATE-SPLIT: updates that change a handle or unique column."""
    detail = sf.concat(sf.lit("changes "), sf.array_join("key_change", ", "))
    wrong = sf.expr(f"{FIRST_ROW} and size(key_change) > 0")
    return Violation(sf.lit("error"), (place(),), detail, wrong)
