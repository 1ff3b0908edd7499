"""Checks the unique keys of a large frame besides the keys of its rows, without moving its images.

A shuffle of two digests brings all rows together that ever have a key. If each key is that of one row, no
two rows have it at a time. Else a change leaves the keys of the row before, and takes those of the row after:
a shuffle of the keys by row finds when a row left a key, and a shuffle by key finds a row that takes a key
which another row holds. The same is done if a later DDL adds a key, or rewrites a column of a key: earlier
rows have it as the DDL gives it to them, and at the DDL no two may. Keys are moved as digests of 64 bits, and
rows of one digest are compared before they are refused.
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
from ticdc_producer.model.column_functions import Flags, Numbers, first_of_groups, whole_groups
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.xx_hash import xx_hash
from ticdc_producer.scenario.columns.key_columns import StoredKey, row_keys, stored_key
from ticdc_producer.scenario.columns.row_images import columns_of
from ticdc_producer.scenario.frames.frame_changes import VersionChanges
from ticdc_producer.scenario.frames.frame_plan import FramePlan
from ticdc_producer.scenario.frames.image_values import canonical_values, image_values
from ticdc_producer.scenario.frames.unique.duplicate_keys import (
    MOST_COMPARED,
    OF_DDL,
    Conflict,
    duplicate_error,
)
from ticdc_producer.scenario.frames.unique.index_keys import (
    KEYS,
    added_indexes,
    index_number,
    indexes_of,
    keys_of,
    refuse_unchecked_keys,
    unique_indexes,
)
from ticdc_producer.scenario.frames.version_rows import rows_by_version

Since: TypeAlias = Mapping[int, tuple[int, frozenset[int]]]
"""By the number of an index that a DDL adds: its commit, and the physical ids of the table after it."""

_ROW = ("table_id", "row_key", "index")
_KEY = ("table_id", "index", "key")
_MOVES = pa.schema([*(field for field in KEYS if field.name != "row_key"), ("takes", pa.int8())])
"""``takes`` is 1 if a row gets a key, 0 if it gives the key up."""
_HOLDERS = pa.schema([("key", pa.int64()), ("row", pa.int64())])
"""Digests of a key in an index, and of the key of a row that has it."""


def check_unique_keys(rows: Dataset, before: Dataset, changes: Dataset, plan: FramePlan) -> None:
    """Check that no two rows have one key at a time.

    :param rows: the rows of the frame, with the columns of ``frame_rows.frame_rows``.
    :param before: the rows that the tables had before (shape ``FRAME_CHANGES``).
    :param changes: all changes (shape ``FRAME_CHANGES``), in any order.
    :raises ScenarioError: for the first duplicate, with both rows.
    :raises UnsupportedSQL: for a key that cannot be checked.
    """
    tables = [table for table in plan.versions.tables if table.table_id in plan.table_ids]
    for table in () if plan.canonical else tables:  # the upstream has checked the keys of canonical rows
        refuse_unchecked_keys(table)
    if not any(unique_indexes(table) for table in tables):
        return
    added = {index.number: index for indexes in added_indexes(plan).values() for index in indexes}
    if not added and _are_of_one_row(rows, before, plan):
        return
    since = {number: (index.since, _physical_ids(index.table)) for number, index in added.items()}
    keys = changes.map(partial(keys_of, plan), KEYS)
    by_row = keys.shuffle(_ROW, Order((*_ROW, "commit_seq", "row_seq")))
    for conflict in sorted(_conflicts(by_row.map(_moves, _MOVES), since)):
        error = duplicate_error(changes, plan, conflict)
        if error is not None:
            raise error


def _physical_ids(table: TableInfo) -> frozenset[int]:
    return frozenset([part.id for part in table.partitions] or [table.table_id])


def _conflicts(moves: Dataset, since: Since) -> list[Conflict]:
    """Return the first conflicts.

    :param moves: shape ``_MOVES``, in any order.
    """
    by_key = moves.shuffle(_KEY, Order((*_KEY, "commit_seq", "row_seq", "takes")))
    return [conflict for conflicts in by_key.results(partial(_of_part, since)) for conflict in conflicts]


def _are_of_one_row(rows: Dataset, before: Dataset, plan: FramePlan) -> bool:
    """Return whether each key is that of one row, before and after all changes.

    :param rows: as of ``check_unique_keys``, like ``before``.
    """
    holders = before.map(partial(_holders_before, plan), _HOLDERS)
    holders = holders.union(rows.map(partial(_holders, plan), _HOLDERS))
    by_key = holders.shuffle(("key",), Order(("key", "row")))
    return not any(by_key.results(_has_shared_key))


def _holders(plan: FramePlan, batches: Batches) -> Batches:
    """Yield which row has which key after each change.

    :param batches: rows of the frame, with the columns of ``frame_rows.frame_rows``.
    """
    read = canonical_values if plan.canonical else image_values
    for batch in batches:
        for rows in rows_by_version(plan, batch):
            indexes = unique_indexes(rows.table)
            if not indexes:
                continue
            own = stored_key(rows.table)
            offsets = sorted({*own.offsets, *(offset for index in indexes for offset in index.offsets)})
            columns = (rows.before, rows.after)
            images = (read(rows.table, column, plan.mode, offsets, rows.image_rows) for column in columns)
            changes = VersionChanges(plan, rows.table, rows.ops, rows.existed, rows.exists, *images)
            values = changes.new_values(offsets)
            keys = row_keys(own, values)[0]
            for index in indexes:
                yield _holders_in(rows.table, index, values, keys, pa.array(rows.exists))


def _holders_before(plan: FramePlan, batches: Batches) -> Batches:
    """Yield which row has which key before the frame.

    :param batches: shape ``FRAME_CHANGES``.
    """
    for batch in batches:
        versions = batch.column("table_version").to_numpy()
        for version in np.unique(versions).tolist():
            table = plan.versions.table[version]
            rows = batch.filter(pa.array(versions == version))
            values = dict(zip(table.sent, columns_of(rows.column("after"), len(table.sent)), strict=True))
            for index in indexes_of(plan, version):
                yield _holders_in(
                    table, index, values, rows.column("row_key"), rows.column("after").is_valid()
                )


def _holders_in(
    table: TableInfo, index: IndexInfo, values: Mapping[int, pa.Array], rows: pa.Array, exist: pa.Array
) -> pa.RecordBatch:
    """Return which row has which key in an index.

    :param values: by offset.
    :param rows: the keys of the rows.
    """
    own = row_keys(StoredKey(table, index, integer=False), values)[0]
    keys = xx_hash(len(own), table.table_id, index_number(table, index), own)
    columns = [pa.array(hashes.view(np.int64)) for hashes in (keys, xx_hash(len(rows), rows))]
    return pa.record_batch(columns, schema=_HOLDERS).filter(pc.and_(exist, own.is_valid()))


def _has_shared_key(_part: Part, batches: Batches) -> bool:
    """Return whether several rows of a part have one key.

    >>> pairs = [{"key": [1, 1], "row": [8, 8]}, {"key": [1, 2], "row": [9, 9]}]
    >>> _has_shared_key(Part(0), map(pa.record_batch, pairs)), _has_shared_key(Part(0), iter([]))
    (True, False)

    :param batches: shape ``_HOLDERS``, in the order of its columns.
    """
    shared = False
    key = row = None
    for batch in batches:
        keys, rows = (column.to_numpy() for column in batch.columns)
        if not len(keys):
            continue
        shared |= bool(((keys[1:] == keys[:-1]) & (rows[1:] != rows[:-1])).any())
        shared |= bool(key == keys[0] and row != rows[0])
        key, row = keys[-1], rows[-1]
    return shared


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


def _of_part(since: Since, _part: Part, batches: Batches) -> list[Conflict]:
    """Return the first changes of a part that take a key which another row holds.

    A row may take a key in the commit in which another one leaves it, and before a DDL adds the index.

    >>> moves = [{"takes": takes, "commit_seq": commit} for takes, commit in [(1, 1), (0, 2), (1, 2), (1, 3)]]
    >>> key = {"table_id": 7, "index": 1, "key": 9, "row_seq": 0}
    >>> batch = pa.RecordBatch.from_pylist([key | move for move in moves], _MOVES)
    >>> [conflict.at for conflict in _of_part({}, Part(0), [batch])]
    [(3, 0)]
    >>> [conflict.at == (4, OF_DDL) for conflict in _of_part({1: (4, frozenset([7]))}, Part(0), [batch])]
    [True]
    """
    conflicts: list[Conflict] = []
    for rows in whole_groups(batches, _KEY):
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
            conflicts.append(Conflict(at, *(rows.column(name)[row].as_py() for name in _KEY)))
    return sorted(conflicts)[:MOST_COMPARED]


def _additions(rows: pa.RecordBatch, since: Since) -> tuple[Numbers, Flags]:
    """Return the commit of the DDL that adds the index of each row, and whether the table then exists.

    >>> rows = pa.record_batch({"table_id": [7, 8, 7], "index": [1, 1, 2]})
    >>> commits, exists = _additions(rows, {1: (4, frozenset([7]))})  # table 8 is gone then
    >>> commits.tolist() == [4, 4, OF_DDL], exists.tolist()
    (True, [True, False, False])
    """
    commits, exists = np.full(rows.num_rows, OF_DDL), np.zeros(rows.num_rows, bool)
    if since:
        tables, indexes = (rows.column(name).to_numpy() for name in ("table_id", "index"))
        for index, (commit, ids) in since.items():
            own = indexes == index
            commits[own], exists[own] = commit, np.isin(tables[own], [*ids])
    return commits, exists


def _position(rows: pa.RecordBatch, row: int) -> tuple[int, int]:
    return rows.column("commit_seq")[row].as_py(), rows.column("row_seq")[row].as_py()
