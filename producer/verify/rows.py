"""Single rows: the partition they stand in, and updates that should have been split."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from producer.verify.stream import Stream, place, violations


def strayed(stream: Stream) -> DataFrame:
    """INV-ROW-PARTITION: rows in another partition than their dispatch rule gives."""
    return violations(
        stream.events.filter("kind = 'row' and expected != partition"),
        sf.when(sf.col("certain"), "error").otherwise("warning"),
        (place(),),
        sf.format_string(
            "rule %s: dispatch key %d belongs in partition %d, found in %d",
            "rule", "dispatch_key", "expected", "partition",
        ),
    )  # fmt: skip


def unsplit(stream: Stream) -> DataFrame:
    """INV-KEY-UPDATE-SPLIT: updates that change a handle or unique column."""
    return violations(
        stream.rows.filter("key_change is not null"),
        sf.lit("error"),
        (place(),),
        sf.concat(sf.lit("changes "), sf.col("key_change")),
    )
