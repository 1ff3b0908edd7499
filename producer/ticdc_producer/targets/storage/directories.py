"""Stage before writing: determine the directory of every row event."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ticdc_producer.config import Changefeed
from ticdc_producer.model import tso
from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.dataframes import EVENT_STREAM, in_shape
from ticdc_producer.model.shapes import DELIVERY_KEY
from ticdc_producer.targets.storage.plan import StoragePlan

_FORMATS = {"day": "yyyy-MM-dd", "month": "yyyy-MM", "year": "yyyy"}


def in_directories(rows: DataFrame, plan: StoragePlan, catalog: Catalog, changefeed: Changefeed) -> DataFrame:
    """Row events with their directory as ``topic``, in commit order; the rows of each directory are
    contiguous.

    The date of a transaction is that of its commit, in the changefeed's time zone; TiCDC uses the date of
    writing.

    :param rows: row events (shape ``EVENT_STREAM``), unordered.
    """
    separated = changefeed.enable_partition_separator
    folders = [
        (version, folder, separated and bool(catalog.tables[version].partitions))
        for version, folder in sorted(plan.folders.items())
    ]
    known = rows.sparkSession.createDataFrame(
        folders, "table_version int, folder string, by_partition boolean"
    )
    parts = [F.col("folder"), F.when(F.col("by_partition"), F.col("table_id").cast("string"))]
    if changefeed.date_separator != "none":
        parts.append(_date(changefeed.date_separator, changefeed.time_zone))
    with_directory = rows.join(F.broadcast(known), "table_version").withColumns(
        {"topic": F.concat_ws("/", *parts), "partition": F.lit(0), "partition_index": F.lit(0)}
    )
    return (
        in_shape(with_directory, EVENT_STREAM)
        .repartition("topic")
        .sortWithinPartitions("topic", *DELIVERY_KEY)
    )


def _date(separator: str, time_zone: str) -> Column:
    # TIMESTAMP_NTZ, so that the time zone of the Spark session has no effect.
    seconds = F.shiftright("commit_ts", tso.LOGICAL_BITS) / 1000
    epoch = F.to_timestamp_ntz(F.lit("1970-01-01 00:00:00"))
    utc = epoch + F.make_dt_interval(secs=seconds.cast("decimal(18,6)"))
    return F.date_format(F.convert_timezone(F.lit("UTC"), F.lit(time_zone), utc), _FORMATS[separator])
