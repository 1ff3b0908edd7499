"""Stage before the writing: every row event finds its directory."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ticdc_producer.config import Changefeed
from ticdc_producer.model import tso
from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.dataframes import DELIVERY_KEY, EVENT_STREAM, in_shape
from ticdc_producer.targets.storage.plan import StoragePlan

_FORMATS = {"day": "yyyy-MM-dd", "month": "yyyy-MM", "year": "yyyy"}


def in_directories(rows: DataFrame, plan: StoragePlan, catalog: Catalog, feed: Changefeed) -> DataFrame:
    """Row events with their directory as ``topic``, in commit order; a directory's stand together.

    A transaction's date is that of its commit, in the changefeed's time zone: TiCDC takes that of the write.

    :param rows: row events (shape ``EVENT_STREAM``), in no order.
    """
    separated = feed.enable_partition_separator
    folders = [
        (version, folder, separated and bool(catalog.tables[version].partitions))
        for version, folder in sorted(plan.folders.items())
    ]
    known = rows.sparkSession.createDataFrame(
        folders, "table_version int, folder string, by_partition boolean"
    )
    parts = [F.col("folder"), F.when(F.col("by_partition"), F.col("table_id").cast("string"))]
    if feed.date_separator != "none":
        parts.append(_date(feed.date_separator, feed.time_zone))
    placed = rows.join(F.broadcast(known), "table_version").withColumns(
        {"topic": F.concat_ws("/", *parts), "partition": F.lit(0), "slot": F.lit(0)}
    )
    return in_shape(placed, EVENT_STREAM).repartition("topic").sortWithinPartitions("topic", *DELIVERY_KEY)


def _date(separator: str, time_zone: str) -> Column:
    # Without a zone of its own, so that the Spark session's zone has no say.
    seconds = F.shiftright("commit_ts", tso.LOGICAL_BITS) / 1000
    epoch = F.to_timestamp_ntz(F.lit("1970-01-01 00:00:00"))
    utc = epoch + F.make_dt_interval(secs=seconds.cast("decimal(18,6)"))
    return F.date_format(F.convert_timezone(F.lit("UTC"), F.lit(time_zone), utc), _FORMATS[separator])
