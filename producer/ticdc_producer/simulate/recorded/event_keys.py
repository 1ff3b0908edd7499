"""The keys of the events of a stream, and of recorded events.

The key of an event is its commit-ts, its table and the key of its row, which depend on no protocol,
dispatch rule or number of partitions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Batches
from ticdc_producer.faults.event_traps import integers
from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.column_functions import Numbers
from ticdc_producer.model.event import Kind, Op
from ticdc_producer.model.shapes import RECORDED_FAULTS
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import CommitClock
from ticdc_producer.model.xx_hash import xx_hash
from ticdc_producer.pipeline.row_images import column_values
from ticdc_producer.scenario.frames.map_columns import map_columns

EVENT_KEY = "event_key"
BY_EVENT_KEY = pa.field(EVENT_KEY, pa.int64())
KEYED_FAULTS = RECORDED_FAULTS.append(BY_EVENT_KEY).append(pa.field("required", pa.bool_()))
"""Recorded events with the keys of their events, and whether an event of the stream has to have the key."""


@dataclass(frozen=True)
class EventKeys:
    """The keys of the events of a stream, and of recorded events.

    :param has_messages: whether the stream has the damaged messages.
    """

    catalog: Catalog
    clock: CommitClock
    has_messages: bool

    def of_events(self, batches: Batches) -> Batches:
        """Yield events with their event key.

        >>> from ticdc_producer.model.column import ColumnInfo
        >>> from ticdc_producer.model.mysql_type import MySQLType
        >>> column = ColumnInfo(name="id", type=MySQLType.LONG)
        >>> tables = (TableInfo(schema="s", name="t", table_id=1, columns=(column,)),)
        >>> image, op = pa.array([[b"1"]] * 3, pa.list_(pa.binary())), [Op.INSERT, Op.INSERT, Op.DELETE]
        >>> events = {"kind": [Kind.ROW] * 3, "table_version": [0] * 3, "op": op, "commit_ts": [9] * 3}
        >>> batch = pa.record_batch({**events, "partition": [0, 1, 1], "before": image, "after": image})
        >>> keys = EventKeys(Catalog(tables), CommitClock(), has_messages=True)
        >>> insert, copy, delete = next(keys.of_events(iter([batch]))).column("event_key").to_pylist()
        >>> insert == copy, insert == delete
        (True, False)
        """
        for events in batches:
            ids, kinds = np.zeros(events.num_rows, np.int64), integers(events, "kind")
            versions = np.where(kinds == Kind.ROW, integers(events, "table_version"), -1)
            deleted = integers(events, "op") == Op.DELETE
            for version in np.unique(versions[versions >= 0]).tolist():
                table = self.catalog.tables[version]
                for is_delete in (False, True):
                    rows = np.flatnonzero((versions == version) & (deleted == is_delete))
                    images = events.column("before" if is_delete else "after")
                    values = [column_values(images, rows, index) for index in _key(table).values()]
                    ts = events.column("commit_ts").take(pa.array(rows))
                    ids[rows] = _row_ids(table.qualified_name, ts, values, is_delete=is_delete)
            ddls = np.flatnonzero(kinds == Kind.DDL)
            if len(ddls):
                numbers = integers(events, "ddl")[ddls].tolist()
                queries = pa.array([self.catalog.ddls[number].query for number in numbers], pa.string())
                ids[ddls] = _ids(events.column("commit_ts").take(pa.array(ddls)), queries)
            resolved = np.flatnonzero(kinds == Kind.RESOLVED)
            ids[resolved] = _ids(events.column("commit_ts").take(pa.array(resolved)), "resolved")
            yield events.append_column(BY_EVENT_KEY, pa.array(ids))

    def of_faults(self, batches: Batches) -> Batches:
        """Yield recorded events with the event key of their event.

        An update that changes its key also has that of the delete that it may be split into.
        """
        for batch in batches:
            kinds = batch.column("kind")
            for kind in ("ddl", "resolved"):
                own = batch.filter(pc.equal(kinds, kind))
                text = own.column("statement") if kind == "ddl" else kind
                yield _with_ids(own, _ids(own.column("commit_ts"), text), required=True)
            damages = batch.filter(pc.equal(kinds, "damage"))
            if self.has_messages:
                damages = damages.filter(pc.invert(has_content(damages)))
            yield _with_ids(damages, np.zeros(damages.num_rows, np.int64), required=True)
            rows = batch.filter(pc.equal(kinds, "row"))
            names = pc.binary_join_element_wise(rows.column("schema"), rows.column("table"), ".")
            deleted = pc.equal(rows.column("op"), Op.DELETE.label).to_numpy(zero_copy_only=False)
            updated = pc.equal(rows.column("op"), Op.UPDATE.label).to_numpy(zero_copy_only=False)
            ts = rows.column("commit_ts").to_numpy()
            for name in pc.unique(names).to_pylist():
                own = pc.equal(names, name).to_numpy(zero_copy_only=False)
                for number, table in self._tables_at(name, ts[own]):
                    indexes = np.flatnonzero(own)[number]
                    yield from _rows_of(rows, indexes[~deleted[indexes]], table, required=True)
                    yield from _rows_of(rows, indexes[deleted[indexes]], table, is_delete=True, required=True)
                    yield from _rows_of(rows, indexes[updated[indexes]], table, is_delete=True)
                if name not in self._versions:
                    unknown = rows.filter(pa.array(own))
                    yield _with_ids(unknown, np.zeros(unknown.num_rows, np.int64), required=True)

    def _tables_at(self, name: str, ts: Numbers) -> Iterator[tuple[Numbers, TableInfo]]:
        """Yield the versions of a table at some times, each with the numbers of these times."""
        versions = self._versions.get(name, [])
        for number, numbers in _versions_at([since for since, _ in versions], ts):
            yield numbers, versions[number][1]

    @cached_property
    def _versions(self) -> Mapping[str, list[tuple[int, TableInfo]]]:
        """The versions of each table by name, in order, each with the time from which it holds."""
        versions: dict[str, list[tuple[int, TableInfo]]] = {}
        for job in self.catalog.ddls:
            if job.version_after >= 0:
                table = self.catalog.tables[job.version_after]
                versions.setdefault(table.qualified_name, []).append((self.clock.ts(job.commit_seq), table))
        return versions


def _versions_at(since: Sequence[int], ts: Numbers) -> Iterator[tuple[int, Numbers]]:
    """Yield the versions that hold at some times, each with the numbers of these times.

    The first one also holds before it.

    >>> [(version, numbers.tolist()) for version, numbers in _versions_at([5, 9], np.array([3, 9, 10]))]
    [(0, [0, 1]), (1, [2])]
    """
    versions = np.maximum(np.searchsorted(np.array(since, np.int64), ts) - 1, 0)
    for version in np.unique(versions).tolist() if since else ():
        yield version, np.flatnonzero(versions == version)


def _key(table: TableInfo) -> Mapping[str, int]:
    """Return the columns that identify a row by name, each with its index in images: all without a key."""
    handle = table.handle_index
    offsets = table.sent if handle is None else handle.offsets
    indexes = {table.columns[offset].name: table.image_index(offset) for offset in offsets}
    return {name: index for name, index in sorted(indexes.items()) if index is not None}


def _row_ids(name: str, ts: pa.Array, values: Sequence[pa.Array], *, is_delete: bool) -> Numbers:
    parts = [part for column in values for part in (column.is_valid().cast(pa.int32()), column)]
    return _ids(ts, name, int(is_delete), *parts)


def _ids(ts: pa.Array, *parts: pa.Array | int | str) -> Numbers:
    ids: Numbers = xx_hash(len(ts), ts, *parts).view(np.int64)
    return ids


def _with_ids(faults: pa.RecordBatch, ids: Numbers, *, required: bool) -> pa.RecordBatch:
    columns = [*faults.columns, pa.array(ids), pa.repeat(required, faults.num_rows)]
    typed = [column.cast(kind.type) for column, kind in zip(columns, KEYED_FAULTS, strict=True)]
    return pa.RecordBatch.from_arrays(typed, schema=KEYED_FAULTS)


def _rows_of(
    rows: pa.RecordBatch,
    indexes: Numbers,
    table: TableInfo,
    *,
    is_delete: bool = False,
    required: bool = False,
) -> Iterator[pa.RecordBatch]:
    """Yield some recorded rows of a table version with their event key."""
    if not len(indexes):
        return
    own = rows.take(pa.array(indexes))
    columns = {
        name: values.cast(pa.binary())
        for name, values, _ in map_columns(own.column("before" if is_delete else "after"))
    }
    absent = pa.nulls(len(indexes), pa.binary())
    values = [columns.get(name, absent) for name in _key(table)]
    ids = _row_ids(table.qualified_name, own.column("commit_ts"), values, is_delete=is_delete)
    yield _with_ids(own, ids, required=required)


def has_content(faults: pa.RecordBatch) -> pa.Array:
    """Return which damaged messages have their bytes: none of a masked recording."""
    return pc.or_(faults.column("key").is_valid(), faults.column("value").is_valid())
