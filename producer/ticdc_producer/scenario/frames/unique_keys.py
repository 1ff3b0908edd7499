"""Checks the unique keys of a large frame besides the keys of its rows, without moving its images.

A change leaves the keys of the row before, and takes those of the row after. A shuffle brings each key
together: a row that takes a key which another row holds is a duplicate. If the frame does not give all rows
before, a shuffle of the keys by row comes first, and finds when a row left a key. So it does if a later DDL
adds a key, or rewrites a column of one: earlier rows have it as the DDL gives it to them, and at the DDL no
two may. Keys are moved as digests of 64 bits; rows of one digest are compared before they are refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Batches, Dataset, Order, Part
from ticdc_producer.model.column import IndexInfo
from ticdc_producer.model.column_functions import first_of_groups, whole_groups
from ticdc_producer.model.event import Op
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.columns.row_images import Flags
from ticdc_producer.scenario.frames.duplicate_keys import MOST_COMPARED, OF_DDL, Conflict, duplicate_error
from ticdc_producer.scenario.frames.frame_changes import VersionChanges
from ticdc_producer.scenario.frames.frame_plan import FramePlan
from ticdc_producer.scenario.frames.frame_rows import Numbers
from ticdc_producer.scenario.frames.image_values import image_values
from ticdc_producer.scenario.frames.index_keys import (
    KEYS,
    added_indexes,
    digests,
    index_number,
    keys_of,
    unique_indexes,
)
from ticdc_producer.scenario.frames.version_rows import VersionRows, rows_by_version

Since: TypeAlias = Mapping[int, tuple[int, frozenset[int]]]
"""By the number of an index that a DDL adds: its commit, and the physical ids of the table after it."""

_ROW = ("table_id", "row_key", "index")
_KEY = ("table_id", "index", "key")
_MOVES = pa.schema([*(field for field in KEYS if field.name != "row_key"), ("takes", pa.int8())])
"""``takes`` is 1 if a row gets a key, 0 if it gives the key up."""
_UNKNOWN = -1
"""The table id of a change whose old row is not given."""


def check_unique_keys(rows: Dataset, before: Dataset, changes: Dataset, plan: FramePlan) -> None:
    """Check that no two rows have one key at a time.

    :param rows: the rows of the frame, with the columns of ``frame_rows.frame_rows``.
    :param before: the rows that the tables had before (shape ``FRAME_CHANGES``).
    :param changes: all changes (shape ``FRAME_CHANGES``), in any order.
    :raises ScenarioError: for the first duplicate, with both rows.
    """
    tables = [table for table in plan.versions.tables if table.table_id in plan.table_ids]
    if not any(unique_indexes(table) for table in tables):
        return
    added = {index.number: index for indexes in added_indexes(plan).values() for index in indexes}
    since = {number: (index.since, _physical_ids(index.table)) for number, index in added.items()}
    conflicts: list[Conflict] | None = None
    if not added:
        first = before.map(partial(keys_of, plan), KEYS).map(_moves, _MOVES)
        conflicts = _conflicts(first.union(rows.map(partial(_given_moves, plan), _MOVES)), since)
    if conflicts is None:
        keys = changes.map(partial(keys_of, plan), KEYS)
        by_row = keys.shuffle(_ROW, Order((*_ROW, "commit_seq", "row_seq")))
        conflicts = _conflicts(by_row.map(_moves, _MOVES), since)
    for conflict in sorted(conflicts or ()):
        error = duplicate_error(changes, plan, conflict)
        if error is not None:
            raise error


def _physical_ids(table: TableInfo) -> frozenset[int]:
    return frozenset([part.id for part in table.partitions] or [table.table_id])


def _conflicts(moves: Dataset, since: Since) -> list[Conflict] | None:
    """Return the first conflicts; None if a row before is not given.

    :param moves: shape ``_MOVES``, in any order.
    """
    by_key = moves.shuffle(_KEY, Order((*_KEY, "commit_seq", "row_seq", "takes")))
    of_parts = by_key.results(partial(_of_part, since))
    if any(conflicts is None for conflicts in of_parts):
        return None
    return [conflict for conflicts in of_parts for conflict in conflicts or ()]


def _given_moves(plan: FramePlan, batches: Batches) -> Batches:
    """Yield the keys that changes leave and take, if the frame gives the rows before."""
    for batch in batches:
        for rows in rows_by_version(plan, batch):
            indexes = unique_indexes(rows.table)
            if not indexes:
                continue
            offsets = sorted({offset for index in indexes for offset in index.offsets})
            images = (image_values(rows.table, i, plan.mode, offsets) for i in (rows.before, rows.after))
            of_version = VersionChanges(plan, rows.table, rows.ops, rows.existed, rows.exists, *images)
            unknown = rows.exists & ~rows.existed & (rows.ops == Op.UPDATE)
            unknown |= np.full(len(unknown), plan.deletes_by_key) & ~rows.exists
            for offset in offsets:
                unknown |= of_version.before.missing.get(offset, False) & rows.existed
            if unknown.any():
                zero = np.zeros(1, np.int64)
                yield _moves_of(zero + _UNKNOWN, 0, pa.array(zero), zero, zero, 0)
                continue
            yield from _moves_of_version(of_version, rows, indexes, offsets)


def _moves_of_version(
    changes: VersionChanges, rows: VersionRows, indexes: list[IndexInfo], offsets: list[int]
) -> Batches:
    old, new = changes.old_values(offsets), changes.new_values(offsets)
    homes = changes.homes(old, rows.existed), changes.homes(new, rows.exists)
    for index in indexes:
        keys = digests(rows.table, index, old), digests(rows.table, index, new)
        same = pc.fill_null(pc.equal(*keys), False).to_numpy(zero_copy_only=False)
        same &= rows.existed & rows.exists & (homes[0] == homes[1])
        for takes, present in ((0, rows.existed), (1, rows.exists)):
            valid = keys[takes].is_valid().to_numpy(zero_copy_only=False)
            at = np.flatnonzero(present & valid & ~same)
            number = index_number(rows.table, index)
            yield _moves_of(
                homes[takes][at],
                number,
                keys[takes].take(pa.array(at)),
                rows.commits[at],
                rows.seq[at],
                takes,
            )


def _moves_of(
    homes: Numbers, index: int, keys: pa.Array, commits: Numbers, seq: Numbers, takes: int
) -> pa.RecordBatch:
    count = len(keys)
    columns = [
        pa.array(homes), pa.repeat(pa.scalar(index, pa.int64()), count), keys, pa.array(commits),
        pa.array(seq),
        pa.repeat(pa.scalar(takes, pa.int8()), count),
    ]  # fmt: skip
    return pa.record_batch(
        [column.cast(field.type) for column, field in zip(columns, _MOVES, strict=True)], schema=_MOVES
    )


def _moves(batches: Batches) -> Batches:
    """Yield the keys that rows take and leave.

    :param batches: the keys of each row together, in the order of its changes.
    """
    for rows in whole_groups(batches, _ROW):
        first = first_of_groups(rows, _ROW)
        before = rows.column("key").take(pa.array(np.arange(rows.num_rows) - 1, mask=first))
        same = pc.fill_null(pc.equal(before, rows.column("key")), False)
        for keys, takes in ((before, 0), (rows.column("key"), 1)):
            chosen = pc.and_(keys.is_valid(), pc.invert(same))
            index = KEYS.get_field_index("key")
            moved = rows.set_column(index, KEYS.field("key"), keys).filter(chosen).drop_columns(["row_key"])
            number = pa.repeat(pa.scalar(takes, pa.int8()), moved.num_rows)
            yield moved.append_column(_MOVES.field("takes"), number)


def _of_part(since: Since, _part: Part, batches: Batches) -> list[Conflict] | None:
    """Return the first changes of a part that take a key which another row holds, as ``_conflicts``."""
    conflicts: list[Conflict] = []
    for rows in whole_groups(batches, _KEY):
        if pc.any(pc.equal(rows.column("table_id"), _UNKNOWN)).as_py():
            for _ in batches:
                pass
            return None
        takes = rows.column("takes").to_numpy().astype(np.int64)
        total = np.cumsum(takes * 2 - 1)
        first = first_of_groups(rows, _KEY)
        starts = np.flatnonzero(first)
        before = np.concatenate([[0], total])[starts]
        held = total - np.repeat(before, np.diff(np.append(starts, rows.num_rows)))
        added, exists = _additions(rows, since)
        early = rows.column("commit_seq").to_numpy() < added
        lasts = ~np.append(early[1:] & ~first[1:], False)
        shared = (held > 1) & np.where(early, lasts & exists, takes == 1)
        for row in np.flatnonzero(shared)[:MOST_COMPARED].tolist():
            at = (int(added[row]), OF_DDL) if early[row] else _position(rows, row)
            holder = int(np.flatnonzero(takes[: row + early[row]] == 1)[-1])
            key = rows.column("index")[row].as_py(), rows.column("key")[row].as_py()
            conflicts.append(Conflict(at, _position(rows, holder), *key))
    return sorted(conflicts)[:MOST_COMPARED]


def _additions(rows: pa.RecordBatch, since: Since) -> tuple[Numbers, Flags]:
    """Return the commit of the DDL that adds the index of each row, and whether the table then exists."""
    commits, exists = np.full(rows.num_rows, OF_DDL), np.zeros(rows.num_rows, bool)
    if since:
        tables, indexes = (rows.column(name).to_numpy() for name in ("table_id", "index"))
        for index, (commit, ids) in since.items():
            own = indexes == index
            commits[own], exists[own] = commit, np.isin(tables[own], [*ids])
    return commits, exists


def _position(rows: pa.RecordBatch, row: int) -> tuple[int, int]:
    return rows.column("commit_seq")[row].as_py(), rows.column("row_seq")[row].as_py()
