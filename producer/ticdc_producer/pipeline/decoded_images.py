"""Row images as a decoder returns them: maps of column name to value, altered where a protocol alters values.

The codec's own functions project the values, one by one. Columns that a protocol carries unchanged are not
read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from ticdc_producer.model.column import ColumnFlag
from ticdc_producer.model.column_functions import Flags, Numbers
from ticdc_producer.model.event import Op
from ticdc_producer.model.fidelity import Fidelity, replace_invalid
from ticdc_producer.model.shapes import EVENT_COLUMN, EVENT_IMAGE, Batch
from ticdc_producer.model.table import TableInfo
from ticdc_producer.pipeline.row_images import numbers, present, replaced_values, same_values, starts


def project_values(events: Batch, tables: Iterable[TableInfo], fidelity: Fidelity) -> pa.RecordBatch:
    """Project the values of row images; invalid UTF-8 is handled elsewhere.

    >>> from types import SimpleNamespace
    >>> table = SimpleNamespace(version=0, sent_columns=["a", "b"])
    >>> fidelity = SimpleNamespace(value_projection=lambda column: bytes.upper if column == "b" else None)
    >>> images = pa.array([[b"x", b"y"], [b"x", b"z"]], pa.list_(pa.binary()))
    >>> events = pa.record_batch({"table_version": [0, 1], "before": images, "after": images})
    >>> project_values(events, [table], fidelity).column("after").to_pylist()
    [[b'x', b'Y'], [b'x', b'z']]

    :param events: with ``table_version``, ``before`` and ``after`` (``shapes.IMAGE``).
    :return: the same columns and rows, in the same order.
    """
    projections = {
        table.version: changed
        for table in tables
        if (
            changed := [
                (index, projection)
                for index, column in enumerate(table.sent_columns)
                if (projection := fidelity.value_projection(column))
            ]
        )
    }
    if not projections:
        return events
    versions = numbers(events.column("table_version").fill_null(-1))
    for name in ("before", "after"):
        field = events.schema.get_field_index(name)
        images = events.column(field)
        first, exists = starts(images), present(images)
        positions, projected = [np.zeros(0, np.int64)], [pa.nulls(0, pa.binary())]
        for version in np.intersect1d(versions, list(projections)).tolist():
            of_version = first[exists & (versions == version)]
            for index, projection in projections[version]:
                values = images.values.take(pa.array(of_version + index)).to_pylist()
                positions.append(of_version + index)
                projected.append(pa.array(map(projection, values), pa.binary()))
        # Once for all columns, because it moves every value.
        images = replaced_values(images, np.concatenate(positions), pa.concat_arrays(projected))
        events = events.set_column(field, events.schema.field(field), images)
    return events


@dataclass(frozen=True)
class DecodedTable:
    """The part of a table version that a reader of the messages knows."""

    table: TableInfo
    fidelity: Fidelity

    @cached_property
    def _columns(self) -> list[tuple[str, str, int, int, bool, bool]]:
        """Name, type, flag, image index, whether in the handle key, whether invalid UTF-8 is replaced."""
        table, fidelity = self.table, self.fidelity
        described = zip(table.sent_columns, table.sent_flags, table.visible_flags, strict=True)
        columns = [
            (
                fidelity.visible_name(column.name),
                fidelity.visible_type(column, visible),
                fidelity.visible_flag(visible),
                index,
                bool(flag & ColumnFlag.HANDLE_KEY),
                fidelity.replaces_invalid_utf8(column),
            )
            for index, (column, flag, visible) in enumerate(described)
        ]
        return sorted(columns, key=lambda column: column[0].encode()) if fidelity.sorted_columns else columns

    @cached_property
    def names(self) -> pa.Array:
        """The names of the columns, in the order in which they are sent."""
        return pa.array([column[0] for column in self._columns], pa.string())

    @cached_property
    def indexes(self) -> Numbers:
        """The image index of each column."""
        return np.array([column[3] for column in self._columns], np.int64)

    @cached_property
    def in_handle_key(self) -> Flags:
        """For each column, whether it belongs to the handle key."""
        return np.array([column[4] for column in self._columns], bool)

    @cached_property
    def damaged(self) -> Flags:
        """For each column, whether invalid UTF-8 is replaced in it."""
        return np.array([column[5] for column in self._columns], bool)

    def columns(self, sent: Flags) -> pa.ListArray:
        """Return names, types and flags of the columns that are sent: an array with one element."""
        described = [
            {"name": name, "type": kind, "flag": flag}
            for (name, kind, flag, *_), is_sent in zip(self._columns, sent.tolist(), strict=True)
            if is_sent
        ]
        return pa.array([described], pa.list_(EVENT_COLUMN))

    def sent(self, op: Op, *, handle_key_only: bool) -> Flags:
        """Return whether a row of this operation carries each column."""
        reduced = handle_key_only or (op == Op.DELETE and self.fidelity.deletes != "all")
        return self.in_handle_key if reduced else np.ones(len(self._columns), bool)

    def changed(self, before: pa.ListArray, after: pa.ListArray, rows: Numbers) -> Flags:
        """Return whether the old image of updates has each column, if it has the changed ones: a matrix.

        :param rows: the indexes of the updates.
        """
        types = [self.table.sent_columns[index].type for index in self.indexes.tolist()]
        pairs = [
            [images.values.take(pa.array(starts(images)[rows] + index)) for images in (before, after)]
            for index in self.indexes.tolist()
        ]
        return np.stack(
            [
                ~same_values(*pair) | (code in self.fidelity.always_old)
                for code, pair in zip(types, pairs, strict=True)
            ],
            axis=1,
        )

    def maps(self, images: pa.ListArray, rows: Numbers, included: Flags) -> pa.MapArray:
        """Return the images of rows as maps.

        >>> from ticdc_producer.model.column import ColumnInfo
        >>> from ticdc_producer.model.mysql_type import MySQLType
        >>> columns = tuple(ColumnInfo(name=name, type=MySQLType.LONG) for name in "ab")
        >>> table = DecodedTable(TableInfo(schema="s", name="t", table_id=1, columns=columns), Fidelity())
        >>> images = pa.array([[b"1", b"2"], [b"3", b"4"]], pa.list_(pa.binary()))
        >>> table.maps(images, np.array([1]), np.array([False, True])).to_pylist()
        [[('b', b'4')]]

        :param included: whether the map of a row has each column: a matrix, or an array for all rows.
        """
        matrix = np.broadcast_to(included, (len(rows), len(self.indexes)))
        row, column = np.nonzero(matrix)
        values = images.values.take(pa.array(starts(images)[rows][row] + self.indexes[column]))
        values = _repaired(values, self.damaged[column])
        offsets = np.concatenate([[0], np.cumsum(matrix.sum(axis=1))])
        keys = self.names.take(pa.array(column))
        return pa.MapArray.from_arrays(pa.array(offsets, pa.int32()), keys, values).cast(EVENT_IMAGE)


def _repaired(values: pa.Array, damaged: Flags) -> pa.Array:
    """Replace bytes that are not UTF-8 in damaged values by U+FFFD."""
    if not damaged.any() or _is_utf8(values.filter(pa.array(damaged))):
        return values
    repaired = [
        replace_invalid(value) if is_damaged and value is not None else value
        for value, is_damaged in zip(values.to_pylist(), damaged.tolist(), strict=True)
    ]
    return pa.array(repaired, pa.binary())


def _is_utf8(values: pa.Array) -> bool:
    try:
        values.cast(pa.string())
    except pa.ArrowInvalid:
        return False
    return True


def scattered(parts: Sequence[pa.Array], rows: Sequence[Numbers], count: int, kind: pa.DataType) -> pa.Array:
    """Combine parts that belong to different rows to one array; NULL for rows that are in no part.

    >>> rows = [np.array([3, 0]), np.array([1])]
    >>> scattered([pa.array(["a", "b"]), pa.array(["c"])], rows, 4, pa.string()).to_pylist()
    ['b', 'c', None, 'a']
    """
    sources = np.full(count, -1)
    position = 0
    for part, part_rows in zip(parts, rows, strict=True):
        sources[part_rows] = position + np.arange(len(part_rows))
        position += len(part)
    whole = pa.concat_arrays([*parts, pa.nulls(0, kind)])
    return whole.take(pa.array(sources, mask=sources < 0))
