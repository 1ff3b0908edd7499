"""Adds the commit-ts of each commit, and converts TIMESTAMP to the changefeed's time zone."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ticdc_producer.model.clock import Clock
from ticdc_producer.pipeline.local_time import is_utc
from ticdc_producer.spark.generated.table_metadata import TableMetadata, join_table_metadata


def commit_ts(clock: Clock, commit_seq: Column) -> Column:
    """The commit-ts of a commit number, by arithmetic on each row."""
    branches = [
        (first, F.lit(start) + (commit_seq - F.lit(first)) * F.lit(clock.step))
        for first, start in clock.segments
    ]
    _, ts = branches[0]
    for first, here in branches[1:]:
        ts = F.when(commit_seq >= F.lit(first), here).otherwise(ts)
    return ts.cast("long")


def commit(changes: DataFrame, clock: Clock) -> DataFrame:
    """Add ``commit_ts`` to a change log."""
    return changes.withColumn("commit_ts", commit_ts(clock, F.col("commit_seq")))


def localise(changes: DataFrame, table_metadata: TableMetadata, time_zone: str) -> DataFrame:
    """Render TIMESTAMP columns in the changefeed's time zone.

    The change log holds them as UTC text; TiCDC's mounter prints them in its own zone (server option
    ``tz``). Zero dates are unchanged.

    :param time_zone: an IANA name or an offset such as ``+08:00``.
    """
    if is_utc(time_zone):
        return changes
    joined = join_table_metadata(changes, table_metadata.rows, "timestamp_columns")
    for image in ("before", "after"):
        rendered = F.transform(
            F.col(image),
            lambda value, index: F.when(
                F.array_contains("timestamp_columns", index), local_text(value, time_zone)
            ).otherwise(value),
        )
        joined = joined.withColumn(image, rendered)
    return joined.drop("timestamp_columns")


def local_text(value: Column, time_zone: str) -> Column:
    """Convert a TIMESTAMP of the change log to a time zone; zero dates are unchanged."""
    text = value.cast("string")
    seconds, fraction = F.substring(text, 1, 19), F.substring(text, 20, 7)
    # TIMESTAMP_NTZ, so that the time zone of the Spark session has no effect.
    utc = F.to_timestamp_ntz(seconds)
    local = F.convert_timezone(F.lit("UTC"), F.lit(time_zone), utc)
    text_in_zone = F.concat(F.date_format(local, "yyyy-MM-dd HH:mm:ss"), fraction)
    return F.when(F.startswith(text, F.lit("0000-")), value).otherwise(text_in_zone.cast("binary"))
