"""Expected rows with TIMESTAMP in the changefeed's time zone, as the stream shows it."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.pipeline.commit import is_utc, local_text
from ticdc_producer.protocols.zone import local_timestamp, zone_of
from ticdc_producer.scenario.history import RowImage


def local_rows(table: TableInfo, rows: Sequence[RowImage], time_zone: str) -> tuple[RowImage, ...]:
    """Rows that the driver holds.

    :param time_zone: the changefeed's.
    """
    places = _timestamps(table)
    if is_utc(time_zone) or not places:
        return tuple(rows)
    zone = zone_of(time_zone)
    return tuple(
        tuple(local_timestamp(value, zone) if place in places else value for place, value in enumerate(row))
        for row in rows
    )


def local_frame(table: TableInfo, rows: DataFrame, time_zone: str) -> DataFrame:
    """Rows of a DataFrame, whose column ``row`` is an image."""
    places = _timestamps(table)
    if is_utc(time_zone) or not places:
        return rows

    def shown(value: Column, place: Column) -> Column:
        return F.when(place.isin(*places), local_text(value, time_zone)).otherwise(value)

    return rows.withColumn("row", F.transform("row", shown))


def _timestamps(table: TableInfo) -> list[int]:
    return [i for i, column in enumerate(table.sent_columns) if column.type == MySQLType.TIMESTAMP]
