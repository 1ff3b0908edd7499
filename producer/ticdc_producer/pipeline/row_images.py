"""Operations on columns of row images, and TIMESTAMP values in the changefeed's time zone.

The change log has TIMESTAMP values as UTC text; TiCDC's mounter prints them in its own zone (server option
``tz``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.column_functions import Flags, Numbers, flat_positions
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.shapes import ChangeBatch
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.temporal_text import offset_zone


def numbers(column: pa.Array) -> Numbers:
    """Convert a column of integers without NULL to 64-bit numbers."""
    values: Numbers = column.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    return values


def flags(column: pa.Array) -> Flags:
    """Convert a column of booleans, NULL to false."""
    filled = pc.fill_null(column, False) if column.null_count else column
    values: Flags = filled.to_numpy(zero_copy_only=False)
    return values


def typed(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """Cast a column to a type.

    Most columns have the type already. Arrow's cast would take as long for them as for others.
    """
    return column if column.type == kind else column.cast(kind)


def present(images: pa.Array) -> Flags:
    """Return whether each row has an image."""
    return flags(images.is_valid())


def starts(images: pa.ListArray) -> Numbers:
    """Return the position of each image's first value in ``images.values``."""
    return numbers(images.offsets)[:-1]


def widths(images: pa.ListArray) -> Numbers:
    """Return the number of values of each image; 0 for NULL."""
    return np.where(present(images), np.diff(numbers(images.offsets)), 0)


def column_values(images: pa.ListArray, rows: Numbers, index: int) -> pa.Array:
    """Return one column of rows, which all have an image with this column."""
    return images.values.take(pa.array(starts(images)[rows] + index))


def same_values(left: pa.Array, right: pa.Array) -> Flags:
    """Return whether the values of each row are equal; NULL is equal to NULL."""
    both_null = pc.and_(left.is_null(), right.is_null())
    return flags(pc.if_else(both_null, True, pc.fill_null(pc.equal(left, right), False)))


def same_images(left: pa.ListArray, right: pa.ListArray) -> Flags:
    """Return whether the images of each row are equal; NULL is equal to NULL.

    >>> old = pa.array([[b"1", None], [b"1"], None, None], pa.list_(pa.binary()))
    >>> new = pa.array([[b"1", None], [b"2"], None, [b"1"]], pa.list_(pa.binary()))
    >>> same_images(old, new).tolist()
    [True, False, True, False]
    """
    both = present(left) & present(right)
    same = ~present(left) & ~present(right)
    left_widths = widths(left)
    comparable = np.flatnonzero(both & (left_widths == widths(right)))
    counts = left_widths[comparable]
    equal = same_values(
        left.values.take(pa.array(flat_positions(starts(left)[comparable], counts))),
        right.values.take(pa.array(flat_positions(starts(right)[comparable], counts))),
    )
    differing = np.bincount(np.repeat(np.arange(len(counts)), counts), weights=~equal, minlength=len(counts))
    same[comparable] = differing == 0
    return same


def selected_from(
    images: pa.ListArray, columns_of: Mapping[int, Sequence[int]], versions: Numbers
) -> pa.Array:
    """Reduce images to selected columns.

    >>> images = pa.array([[b"a", b"b", b"c"], [b"d"]], pa.list_(pa.binary()))
    >>> selected_from(images, {0: [2, 0]}, np.array([0, 1])).to_pylist()
    [[b'c', b'a'], [b'd']]

    :param columns_of: the indexes of the columns that remain, by table version; other versions keep all.
    :param versions: table version of each row.
    """
    counts, first, exists = widths(images), starts(images), present(images)
    unchanged = np.flatnonzero(exists & ~np.isin(versions, list(columns_of)))
    sources_of = [(unchanged, flat_positions(first[unchanged], counts[unchanged]))]
    for version, columns in columns_of.items():
        rows = np.flatnonzero(exists & (versions == version))
        sources_of.append((rows, (first[rows][:, None] + np.array(columns, np.int64)).ravel()))
        counts[rows] = len(columns)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    sources = np.empty(int(offsets[-1]), np.int64)
    for rows, positions in sources_of:
        sources[flat_positions(offsets[rows], counts[rows])] = positions
    return with_values(images, offsets, images.values.take(pa.array(sources)))


def replaced_values(images: pa.ListArray, positions: Numbers, values: pa.Array) -> pa.Array:
    """Replace some values of images.

    >>> images = pa.array([[b"a", b"b"], [b"c"]], pa.list_(pa.binary()))
    >>> replaced_values(images, np.array([1]), pa.array([b"x"], pa.binary())).to_pylist()
    [[b'a', b'x'], [b'c']]

    :param positions: of the replaced values in ``images.values``.
    """
    old = images.values
    sources = np.arange(len(old))
    sources[positions] = len(old) + np.arange(len(positions))
    return with_values(
        images, images.offsets.to_numpy(), pa.concat_arrays([old, values]).take(pa.array(sources))
    )


def without(images: pa.ListArray, rows: Flags) -> pa.Array:
    """Replace the images of some rows by NULL."""
    return pc.if_else(pa.array(rows), pa.scalar(None, images.type), images)


def with_values(images: pa.ListArray, offsets: Numbers, values: pa.Array) -> pa.Array:
    """Build images with the NULL rows of ``images`` and other values."""
    return pa.ListArray.from_arrays(
        pa.array(offsets, pa.int32()), values, type=images.type, mask=pa.array(~present(images))
    )


_SECONDS = len("2021-12-20 13:30:49")
_ZERO_DATE = b"0000-"


def localise(changes: ChangeBatch, tables: Iterable[TableInfo], time_zone: str) -> ChangeBatch:
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
    """Convert the TIMESTAMP columns of row images.

    :param columns: the indexes of the TIMESTAMP columns of each table version.
    :param versions: table version of each row.
    """
    first, exists = starts(images), present(images)
    of_columns = [
        first[exists & (versions == version)] + index
        for version, indexes in columns.items()
        for index in indexes
    ]
    positions = np.concatenate(of_columns)
    values = images.values.take(pa.array(positions))
    return replaced_values(images, positions, local_texts(values, time_zone))


def local_texts(values: pa.Array, time_zone: str) -> pa.Array:
    """Convert TIMESTAMP texts from UTC to a time zone; zero dates are unchanged.

    >>> texts = pa.array([b"2021-12-20 13:30:49.5", b"0000-00-00 00:00:00"], pa.binary())
    >>> local_texts(texts, "+08:00").to_pylist()
    [b'2021-12-20 21:30:49.5', b'0000-00-00 00:00:00']
    """
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
    """Convert times to local times, both in seconds.

    Arrow would look for the zones in the operating system alone, which may have none.
    """
    distinct, rows = np.unique(times, return_inverse=True)
    local = [datetime.fromtimestamp(time, zone).replace(tzinfo=UTC).timestamp() for time in distinct.tolist()]
    return np.array(local, np.int64)[rows]


def is_utc(time_zone: str) -> bool:
    """Return whether a zone is UTC, the zone of TIMESTAMP values in the change log."""
    return time_zone.upper() in ("UTC", "Z", "+00:00")


def timestamp_columns(table: TableInfo) -> list[int]:
    """Return the image indexes of the TIMESTAMP columns."""
    return [i for i, column in enumerate(table.sent_columns) if column.type == MySQLType.TIMESTAMP]
