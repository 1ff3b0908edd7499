"""The metadata of table versions and DDLs that illegal faults need, and relations between events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.faults.event_traps import has_op, integers, is_kind
from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.column_functions import Flags, Numbers
from ticdc_producer.model.event import Kind, Op
from ticdc_producer.model.shapes import DELIVERY_KEY, EventBatch
from ticdc_producer.model.table import TableInfo
from ticdc_producer.pipeline.mutations import row_key_start
from ticdc_producer.pipeline.row_images import column_values

_DRIFT_SUFFIX = "_drifted"


@dataclass(frozen=True, slots=True)
class TableMetadata:
    """The metadata of all table versions and DDLs.

    :param names: ``schema.table`` of each table version.
    :param handle_indexes: image indexes of the handle key columns of each version.
    :param unindexed: image indexes of the columns in no index of each version.
    :param drifted: the version that schema-drift replaces a version with.
    :param ddl_tables: ``schema.table`` of the DDLs of a single table that keeps its name, by DDL.
    :param row_key_start: position of the row key in ``txn_order_key``.
    """

    names: Sequence[str]
    handle_indexes: Sequence[Sequence[int]]
    unindexed: Sequence[Sequence[int]]
    drifted: Mapping[int, int]
    ddl_tables: Mapping[int, str]
    row_key_start: int


def with_drifted(catalog: Catalog) -> Catalog:
    """Add a further version of each table in which one column is renamed (schema-drift) to a catalog."""
    drifted = [_drifted(table) for table in catalog.tables if unindexed_columns(table)]
    count = len(catalog.tables)
    numbered = tuple(replace(table, version=count + number) for number, table in enumerate(drifted))
    return replace(catalog, tables=(*catalog.tables, *numbered))


def _drifted(table: TableInfo) -> TableInfo:
    offset = table.sent[unindexed_columns(table)[-1]]
    columns = list(table.columns)
    columns[offset] = replace(columns[offset], name=columns[offset].name + _DRIFT_SUFFIX)
    return replace(table, columns=tuple(columns))


def unindexed_columns(table: TableInfo) -> list[int]:
    """Return the image indexes of the columns that are in no index and not generated."""
    indexed = {offset for index in table.indexes for offset in index.offsets}
    return [
        number
        for number, offset in enumerate(table.sent)
        if offset not in indexed and not table.columns[offset].generated
    ]


def handle_indexes(table: TableInfo) -> list[int]:
    """Return the image indexes of the handle key columns; empty for a table without a handle key."""
    offsets = () if table.handle_index is None else table.handle_index.offsets
    indexes = (table.image_index(offset) for offset in offsets)
    return [number for number in indexes if number is not None]


def table_metadata(catalog: Catalog) -> TableMetadata:
    """Return the metadata of the tables and DDLs of a catalog.

    :param catalog: without the tables that ``with_drifted`` adds.
    """
    with_unindexed = [table.version for table in catalog.tables if unindexed_columns(table)]
    return TableMetadata(
        names=[table.qualified_name for table in catalog.tables],
        handle_indexes=[handle_indexes(table) for table in catalog.tables],
        unindexed=[unindexed_columns(table) for table in catalog.tables],
        drifted={version: len(catalog.tables) + number for number, version in enumerate(with_unindexed)},
        ddl_tables={
            number: f"{job.schema}.{job.table}"
            for number, job in enumerate(catalog.ddls)
            if job.table and (job.old_schema, job.old_table) == (job.schema, job.table)
        },
        row_key_start=row_key_start(catalog.tables[0].profile if catalog.tables else "classic"),
    )


@dataclass(frozen=True)
class Neighbours:
    """Relations between some events.

    >>> columns = {"kind": [Kind.RESOLVED] * 3, "partition_index": [0, 0, 1], "deliver_after_ts": [9, 5, 5]}
    >>> Neighbours(pa.record_batch(columns), table_metadata(Catalog(()))).has_later_resolved.tolist()
    [False, True, False]
    >>> columns = {"kind": [Kind.ROW] * 3, "op": [Op.INSERT, Op.DELETE, Op.UPDATE], "commit_ts": [5] * 3}
    >>> keys = [bytes(8) + order for order in (b"\\2\\1k", b"\\0\\1k", b"\\1\\1l")]
    >>> columns |= {"table_id": [7] * 3, "txn_order_key": keys, "split": [True, True, False]}
    >>> Neighbours(pa.record_batch(columns), table_metadata(Catalog(()))).deleted_half.tolist()
    [1, 1, -1]

    :param events: shape ``EVENT_STREAM``, in any order.
    """

    events: EventBatch
    metadata: TableMetadata

    @cached_property
    def next_of_row(self) -> Numbers:
        """The number of the next event of the same row in the partition, by handle key; -1 if none."""
        keys = self._handle_keys
        table = pa.table(
            {
                "partition_index": self.events.column("partition_index"),
                "table_id": self.events.column("table_id"),
                "key": pa.array(keys),
                **{name: self.events.column(name) for name in DELIVERY_KEY},
            }
        )
        order = pc.sort_indices(table, [(name, "ascending") for name in table.column_names]).to_numpy()
        same = np.ones(max(len(order) - 1, 0), bool)
        for column in (integers(self.events, "partition_index"), integers(self.events, "table_id"), keys):
            same &= column[order][1:] == column[order][:-1]
        following = np.full(len(order), -1)
        following[order[:-1][same]] = order[1:][same]
        following[keys < 0] = -1
        return following

    @cached_property
    def _handle_keys(self) -> Numbers:
        """A number per handle key; -1 for events that are not rows and for tables without a handle key."""
        versions, is_row = integers(self.events, "table_version"), is_kind(self.events, Kind.ROW)
        keys: list[tuple[bytes | None, ...] | None] = [None] * self.events.num_rows
        deleted = has_op(self.events, Op.DELETE)
        for version in np.unique(versions[is_row]).tolist():
            indexes = self.metadata.handle_indexes[version]
            for image, in_image in (("before", deleted), ("after", ~deleted)):
                rows = np.flatnonzero(is_row & in_image & (versions == version))
                columns = [column_values(self.events.column(image), rows, index) for index in indexes]
                values = zip(*(column.to_pylist() for column in columns), strict=True)
                for row, key in zip(rows.tolist() if columns else (), values, strict=True):
                    keys[row] = key
        codes = {key: number for number, key in enumerate(dict.fromkeys(keys))}
        return np.array([-1 if key is None else codes[key] for key in keys], np.int64)

    @cached_property
    def row_before(self) -> tuple[Numbers, Numbers]:
        """``deliver_after_ts`` and ``restart_epoch`` of the last row of an earlier commit in the partition;
        -1 if there is none.
        """
        return self._row_before(integers(self.events, "partition_index"))

    @cached_property
    def table_row_before(self) -> tuple[Numbers, Numbers]:
        """``row_before`` among the rows of the table that a DDL changes."""
        names = [
            self.metadata.names[version] if version >= 0 else self.metadata.ddl_tables.get(ddl, "")
            for version, ddl in zip(
                integers(self.events, "table_version").tolist(),
                integers(self.events, "ddl").tolist(),
                strict=True,
            )
        ]
        _, tables = np.unique(names, return_inverse=True)
        return self._row_before(integers(self.events, "partition_index") * (len(names) + 1) + tables)

    def _row_before(self, groups: Numbers) -> tuple[Numbers, Numbers]:
        """Return time and restart epoch of the last earlier row of each event's group; -1 if there is none.

        >>> columns = {"kind": [1, 1, 3], "deliver_after_ts": [5, 8, 8], "restart_epoch": [0, 0, 0]}
        >>> events = Neighbours(pa.record_batch(columns), table_metadata(Catalog(())))
        >>> events._row_before(np.zeros(3, np.int64))[0].tolist()
        [-1, 5, 5]
        """
        times, epochs = (integers(self.events, name) for name in ("deliver_after_ts", "restart_epoch"))
        is_row = is_kind(self.events, Kind.ROW)
        latest = np.full((2, len(groups)), -1)
        for group in np.unique(groups).tolist():
            members = np.flatnonzero(groups == group)
            rows = members[is_row[members]]
            rows = rows[np.lexsort((epochs[rows], times[rows]))]
            # The last row in this order whose time is lower has the highest pair.
            last = np.searchsorted(times[rows], times[members], side="left") - 1
            has_row = last >= 0
            latest[:, members[has_row]] = times[rows[last[has_row]]], epochs[rows[last[has_row]]]
        return latest[0], latest[1]

    @cached_property
    def has_later_resolved(self) -> Flags:
        """For each event, whether it is a resolved event and not the last one of its partition."""
        resolved = np.flatnonzero(is_kind(self.events, Kind.RESOLVED))
        partition, times = (
            integers(self.events, name)[resolved] for name in ("partition_index", "deliver_after_ts")
        )
        order = np.lexsort((times, partition))
        has_later = np.zeros(self.events.num_rows, bool)
        followed = partition[order][1:] == partition[order][:-1]
        has_later[resolved[order[:-1][followed]]] = True
        return has_later

    @cached_property
    def split_halves(self) -> Flags:
        """For each event, whether it is one half of a split update."""
        halves: Flags = pc.fill_null(self.events.column("split"), False).to_numpy(zero_copy_only=False)
        return halves

    @cached_property
    def _updates(self) -> Numbers:
        """A number per update: equal for the two halves of one that was split."""
        keys = zip(
            integers(self.events, "commit_ts").tolist(),
            integers(self.events, "table_id").tolist(),
            (key[self.metadata.row_key_start :] for key in self.events.column("txn_order_key").to_pylist()),
            is_kind(self.events, Kind.ROW).tolist(),
            strict=True,
        )
        codes: dict[tuple[int, int, bytes, bool], int] = {}
        return np.array([codes.setdefault(key, len(codes)) for key in keys], np.int64)

    def partners(self, number: int) -> Flags:
        """Return whether each event is a half of the same update as an event."""
        partners: Flags = self.split_halves & (self._updates == self._updates[number])
        return partners

    @cached_property
    def deleted_half(self) -> Numbers:
        """For each half of a split update, the number of the delete; -1 for other events."""
        deletes = np.flatnonzero(has_op(self.events, Op.DELETE))
        delete_of = np.full(self.events.num_rows, -1)
        updates = self._updates
        of_update = np.full(int(updates.max(initial=0)) + 1, -1)
        of_update[updates[deletes]] = deletes
        delete_of[self.split_halves] = of_update[updates[self.split_halves]]
        return delete_of
