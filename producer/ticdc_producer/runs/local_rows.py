"""Expected rows with TIMESTAMP values in the changefeed's time zone, as in the stream."""

from __future__ import annotations

from collections.abc import Sequence

from ticdc_producer.model.table import TableInfo
from ticdc_producer.pipeline.local_time import is_utc, timestamp_columns
from ticdc_producer.protocols.zone import local_timestamp, zone_of
from ticdc_producer.scenario.history import RowImage


def local_rows(table: TableInfo, rows: Sequence[RowImage], time_zone: str) -> tuple[RowImage, ...]:
    """Convert rows that the driver holds.

    :param time_zone: the changefeed's time zone.
    """
    columns = timestamp_columns(table)
    if is_utc(time_zone) or not columns:
        return tuple(rows)
    zone = zone_of(time_zone)
    return tuple(
        tuple(local_timestamp(value, zone) if index in columns else value for index, value in enumerate(row))
        for row in rows
    )
