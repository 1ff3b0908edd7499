"""Checks the unique keys of a large frame besides the keys of its rows, without moving its images.

A change leaves the keys of the row before, and takes those of the row after. A shuffle brings each key
together: a row that takes a key which another row holds is a duplicate. If the frame does not give all rows
before, a shuffle of the keys by row comes first, and finds when a row left a key. Keys are moved as digests
of 64 bits; two rows of one digest are compared before they are refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Batches, Dataset, Order, Part
from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import IndexInfo
from ticdc_producer.model.column_functions import first_of_groups, whole_groups, xx_hash
from ticdc_producer.model.event import Op
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.columns.key_columns import StoredKey, row_keys, stored_key
from ticdc_producer.scenario.columns.row_images import columns_of
from ticdc_producer.scenario.frames.frame_changes import (
    FRAME_CHANGES,
    VersionChanges,
    VersionRows,
    image_text,
    rows_by_version,
)
from ticdc_producer.scenario.frames.frame_plan import FramePlan
from ticdc_producer.scenario.frames.image_values import image_values

Numbers: TypeAlias = npt.NDArray[np.int64]
Conflict: TypeAlias = tuple[tuple[int, int], tuple[int, int], int, int]
"""Commit and position of the change that takes a key, and of the one whose row holds it; index and key."""

_ROW = ("table_id", "row_key", "index")
_KEYS = pa.schema([
    ("table_id", pa.int64()), ("row_key", pa.binary()), ("index", pa.int64()), ("key", pa.int64()),
    ("commit_seq", pa.int64()), ("row_seq", pa.int64()),
])  # fmt: skip
"""The key that a row has in an index after a change; NULL: it has none."""
_KEY = ("table_id", "index", "key")
_MOVES = pa.schema([*(field for field in _KEYS if field.name != "row_key"), ("takes", pa.int8())])
"""A row takes a key, or leaves it."""
_UNKNOWN = -1
"""The table id of a move that says that a row before is not given."""
_MOST_COMPARED = 16
_MOST_PARTS = 100_000
"""Changes of a conflict: two in each part that has any."""


def unique_indexes(table: TableInfo) -> list[IndexInfo]:
    """Return the unique indexes of a table besides the key of its rows, without those of virtual columns."""
    own = stored_key(table).index
    indexes = (index for index in table.unique_indexes if index is not own)
    return [index for index in indexes if all(offset in table.sent for offset in index.offsets)]


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
    first = before.map(partial(_keys, plan), _KEYS).map(_moves, _MOVES)
    conflicts = _conflicts(first.union(rows.map(partial(_given_moves, plan), _MOVES)))
    if conflicts is None:
        keys = changes.map(partial(_keys, plan), _KEYS)
        conflicts = _conflicts(
            keys.shuffle(_ROW, Order((*_ROW, "commit_seq", "row_seq"))).map(_moves, _MOVES)
        )
    for conflict in sorted(conflicts or ()):
        error = _duplicate(changes, plan, conflict)
        if error is not None:
            raise error


def _conflicts(moves: Dataset) -> list[Conflict] | None:
    """Return the first conflicts; None if a row before is not given.

    :param moves: shape ``_MOVES``, in any order.
    """
    by_key = moves.shuffle(_KEY, Order((*_KEY, "commit_seq", "row_seq", "takes")))
    of_parts = by_key.results(_of_part)
    if any(conflicts is None for conflicts in of_parts):
        return None
    return [conflict for conflicts in of_parts for conflict in conflicts or ()]


def _index_number(table: TableInfo, index: IndexInfo) -> int:
    """Return a number of an index. A column that a DDL rewrites has another id, and so has its index then."""
    name = "/".join([str(index.id), *(str(table.columns[offset].id) for offset in index.offsets)])
    return int(xx_hash(1, name).view(np.int64)[0])


def _digests(table: TableInfo, index: IndexInfo, values: Mapping[int, pa.Array]) -> pa.Array:
    """Return the keys of rows in an index as numbers, NULL if a column is."""
    keys, _ = row_keys(StoredKey(table, index, integer=False), values)
    return pa.array(
        xx_hash(len(keys), keys).view(np.int64), mask=keys.is_null().to_numpy(zero_copy_only=False)
    )


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
        keys = _digests(rows.table, index, old), _digests(rows.table, index, new)
        same = pc.fill_null(pc.equal(*keys), False).to_numpy(zero_copy_only=False)
        same &= rows.existed & rows.exists & (homes[0] == homes[1])
        for takes, present in ((0, rows.existed), (1, rows.exists)):
            valid = keys[takes].is_valid().to_numpy(zero_copy_only=False)
            at = np.flatnonzero(present & valid & ~same)
            number = _index_number(rows.table, index)
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


def _keys(plan: FramePlan, batches: Batches) -> Batches:
    """Yield the keys that rows have after changes (shape ``FRAME_CHANGES``)."""
    for batch in batches:
        versions = batch.column("table_version").to_numpy()
        for version in np.unique(versions).tolist():
            table = plan.versions.table[version]
            indexes = unique_indexes(table)
            if not indexes:
                continue
            rows = batch.filter(pa.array(versions == version))
            columns = dict(zip(table.sent, columns_of(rows.column("after"), len(table.sent)), strict=True))
            for index in indexes:
                given = {
                    "index": pa.repeat(pa.scalar(_index_number(table, index), pa.int64()), rows.num_rows),
                    "key": _digests(table, index, columns),
                }
                arrays = [given.get(name) for name in _KEYS.names]
                arrays = [
                    rows.column(n) if a is None else a for n, a in zip(_KEYS.names, arrays, strict=True)
                ]
                yield pa.record_batch(arrays, schema=_KEYS)


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
            index = _KEYS.get_field_index("key")
            moved = rows.set_column(index, _KEYS.field("key"), keys).filter(chosen).drop_columns(["row_key"])
            number = pa.repeat(pa.scalar(takes, pa.int8()), moved.num_rows)
            yield moved.append_column(_MOVES.field("takes"), number)


def _of_part(_part: Part, batches: Batches) -> list[Conflict] | None:
    """Return the first changes of a part that take a key which another row holds, as ``_conflicts``."""
    conflicts: list[Conflict] = []
    for rows in whole_groups(batches, _KEY):
        if pc.any(pc.equal(rows.column("table_id"), _UNKNOWN)).as_py():
            for _ in batches:
                pass
            return None
        takes = rows.column("takes").to_numpy().astype(np.int64)
        total = np.cumsum(takes * 2 - 1)
        starts = np.flatnonzero(first_of_groups(rows, _KEY))
        before = np.concatenate([[0], total])[starts]
        held = total - np.repeat(before, np.diff(np.append(starts, rows.num_rows)))
        for row in np.flatnonzero((held > 1) & (takes == 1))[:_MOST_COMPARED].tolist():
            holder = int(np.flatnonzero(takes[:row] == 1)[-1])
            index, key = rows.column("index")[row].as_py(), rows.column("key")[row].as_py()
            conflicts.append((_position(rows, row), _position(rows, holder), index, key))
    return sorted(conflicts)[:_MOST_COMPARED]


def _position(rows: pa.RecordBatch, row: int) -> tuple[int, int]:
    return rows.column("commit_seq")[row].as_py(), rows.column("row_seq")[row].as_py()


def _duplicate(changes: Dataset, plan: FramePlan, conflict: Conflict) -> ScenarioError | None:
    """Return the error of a duplicate, with both rows; None if only the digests of their keys are equal."""
    rows = changes.map(partial(_at, plan, conflict), FRAME_CHANGES).small(_MOST_PARTS).to_pylist()
    by_position = {(row["commit_seq"], row["row_seq"]): row for row in rows}
    if conflict[0] == conflict[1]:  # two rows without a position, in one transaction
        taker, holder = rows[-1], rows[0]
    else:
        taker, holder = by_position[conflict[0]], by_position[conflict[1]]
    table = plan.versions.table[taker["table_version"]]
    index = next(i for i in unique_indexes(table) if _index_number(table, i) == conflict[2])
    image = dict(zip(table.sent, taker["after"], strict=True))
    other_table = plan.versions.table[holder["table_version"]]
    other = dict(zip(other_table.sent, holder["after"], strict=True))
    theirs = next(i for i in unique_indexes(other_table) if i.id == index.id)
    keys = index_key(table, index, image), index_key(other_table, theirs, other)
    if keys[0] != keys[1]:
        return None
    texts = []
    for row in (taker, holder):
        commit, version = row["commit_seq"], plan.versions.table[row["table_version"]]
        origin = "of an earlier step" if commit < 0 else f"of {plan.numbering.text(commit)}"
        texts.append(f"{image_text(version, row['after'])} {origin}")
    entry = "-".join((image[offset] or b"").decode("utf-8", "backslashreplace") for offset in index.offsets)
    what = f"Duplicate entry {entry!r} for key '{table.name}.{index.name}'"
    column = table.columns[index.offsets[0]].name
    return ScenarioError(f"{what}: it is the key of {texts[1]}, in {texts[0]}", value=entry, column=column)


def index_key(table: TableInfo, index: IndexInfo, image: Mapping[int, bytes | None]) -> bytes | None:
    """Return the key of a row in an index."""
    values = {offset: pa.array([value], pa.binary()) for offset, value in image.items()}
    key: bytes | None = row_keys(StoredKey(table, index, integer=False), values)[0][0].as_py()
    return key


def _at(plan: FramePlan, conflict: Conflict, batches: Batches) -> Batches:
    """Yield the first two changes of a conflict; without positions in a transaction there may be more."""
    taker, holder, index, key = conflict
    yielded = 0
    for batch in batches:
        commits, numbers = batch.column("commit_seq"), batch.column("row_seq")
        of_taker, of_holder = (
            pc.and_(pc.equal(commits, commit), pc.equal(numbers, number))
            for commit, number in (taker, holder)
        )
        wanted = pc.and_(batch.column("after").is_valid(), pc.or_(of_taker, of_holder))
        for row in _rows(batch.filter(wanted)):
            keys = pa.Table.from_batches(list(_keys(plan, iter([row]))), _KEYS)
            held = pc.and_(pc.equal(keys.column("index"), index), pc.equal(keys.column("key"), key))
            if pc.any(held).as_py():
                yield row
                yielded += 1
                if yielded == 2:
                    return


def _rows(batch: pa.RecordBatch) -> Batches:
    return (batch.slice(row, 1) for row in range(batch.num_rows))
