"""Stage: TIMESTAMP values in the changefeed's time zone.

The change log has them as UTC text; TiCDC's mounter prints them in its own zone (server option ``tz``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.temporal_text import offset_zone
from ticdc_producer.pipeline.row_images import Numbers, numbers, present, replaced_values, starts

_SECONDS = len("2021-12-20 13:30:49")
_ZERO_DATE = b"0000-"


def localise(changes: pa.RecordBatch, tables: Iterable[TableInfo], time_zone: str) -> pa.RecordBatch:
    """Convert the TIMESTAMP columns of a change log; zero dates are unchanged.

    :param changes: shape ``CHANGE_LOG``, possibly with more columns.
    :param time_zone: an IANA name or an offset such as ``+08:00``.
    :return: the same columns and rows, in the same order.
    """
    columns = {table.version: indexes for table in tables if (indexes := timestamp_columns(table))}
    if is_utc(time_zone) or not columns:
        return changes
    versions = numbers(changes.column("table_version"))
    for name in ("before", "after"):
        index = changes.schema.get_field_index(name)
        images = local_images(changes.column(index), columns, versions, time_zone)
        changes = changes.set_column(index, changes.schema.field(index), images)
    return changes


def local_images(
    images: pa.ListArray, columns: Mapping[int, Sequence[int]], versions: Numbers, time_zone: str
) -> pa.ListArray:
    """Convert some columns of row images.

    :param columns: the indexes of the TIMESTAMP columns of each table version.
    :param versions: table version of each row.
    """
    first, exists = starts(images), present(images)
    found = [
        first[exists & (versions == version)] + index
        for version, indexes in columns.items()
        for index in indexes
    ]
    positions = np.concatenate(found)
    values = images.values.take(pa.array(positions))
    return replaced_values(images, positions, local_texts(values, time_zone))


def local_texts(values: pa.Array, time_zone: str) -> pa.Array:
    """Convert TIMESTAMP texts from UTC to a time zone; zero dates are unchanged."""
    zero = pc.starts_with(values, _ZERO_DATE)
    texts = pc.if_else(zero, None, values).cast(pa.string())
    utc = pc.utf8_slice_codeunits(texts, 0, _SECONDS).cast(pa.timestamp("s")).cast(pa.int64())
    local = _local_seconds(numbers(utc.fill_null(0)), _zone(time_zone))
    local = pa.array(local).cast(pa.timestamp("s")).cast(pa.string())
    converted = pc.binary_join_element_wise(local, pc.utf8_slice_codeunits(texts, _SECONDS), "")
    return pc.if_else(zero, values, converted.cast(pa.binary()))


def _zone(time_zone: str) -> tzinfo:
    return offset_zone(time_zone) if time_zone.startswith(("+", "-")) else ZoneInfo(time_zone)


def _local_seconds(times: Numbers, zone: tzinfo) -> Numbers:
    """Local time of some times, both in seconds.

    Arrow would look for the zones in the operating system alone, which may have none.
    """
    distinct, rows = np.unique(times, return_inverse=True)
    local = [datetime.fromtimestamp(time, zone).replace(tzinfo=UTC).timestamp() for time in distinct.tolist()]
    return np.array(local, np.int64)[rows]


def is_utc(time_zone: str) -> bool:
    """Whether a zone is UTC, the zone of TIMESTAMP values in the change log."""
    return time_zone.upper() in ("UTC", "Z", "+00:00")


def timestamp_columns(table: TableInfo) -> list[int]:
    """Image indexes of the TIMESTAMP columns."""
    return [i for i, column in enumerate(table.sent_columns) if column.type == MySQLType.TIMESTAMP]
