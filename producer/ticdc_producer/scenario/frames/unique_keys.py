"""Checks the unique keys of a large frame besides the keys of its rows: two shuffles of keys, without images.

The first brings the keys of each row together, and gives when the row took and left each key. The second
brings each key together: a row that takes a key which another row holds is a duplicate.
"""

from __future__ import annotations

from functools import partial
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Batches, Dataset, Order, Part
from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import IndexInfo
from ticdc_producer.model.column_functions import first_of_groups, whole_groups
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.columns.key_columns import StoredKey, row_keys, stored_key
from ticdc_producer.scenario.columns.row_images import columns_of
from ticdc_producer.scenario.frames.frame_changes import FRAME_CHANGES, image_text
from ticdc_producer.scenario.frames.frame_plan import FramePlan

Numbers: TypeAlias = npt.NDArray[np.int64]
Position: TypeAlias = tuple[int, int, bytes]
"""Commit, position in it, and row key of a change."""
Conflict: TypeAlias = tuple[Position, Position, str, int]
"""The change that takes a key, the change whose row holds it, the name of the index, and a table version."""

_ROW = ("table_id", "row_key", "index")
_KEYS = pa.schema([
    ("table_id", pa.int64()), ("row_key", pa.binary()), ("index", pa.string()), ("key", pa.binary()),
    ("commit_seq", pa.int64()), ("row_seq", pa.int64()), ("table_version", pa.int32()),
])  # fmt: skip
"""The key that a row has in an index after a change; NULL: it has none."""
_KEY = ("table_id", "index", "key")
_MOVES = _KEYS.append(pa.field("takes", pa.int8()))
"""A row takes a key, or leaves it."""


def unique_indexes(table: TableInfo) -> list[IndexInfo]:
    """Return the unique indexes of a table besides the key of its rows."""
    own = stored_key(table).index
    return [index for index in table.unique_indexes if index is not own]


def check_unique_keys(changes: Dataset, plan: FramePlan) -> None:
    """Check that no two rows have one key at a time.

    :param changes: shape ``FRAME_CHANGES``, in any order.
    :raises ScenarioError: for the first duplicate, with both rows.
    """
    tables = [table for table in plan.versions.tables if table.table_id in plan.table_ids]
    if not any(unique_indexes(table) for table in tables):
        return
    keys = changes.map(partial(_keys, plan), _KEYS).shuffle(_ROW, Order((*_ROW, "commit_seq", "row_seq")))
    moves = keys.map(_moves, _MOVES)
    by_key = moves.shuffle(_KEY, Order((*_KEY, "commit_seq", "row_seq", "takes")))
    conflicts = [conflict for conflict in by_key.results(_first_conflict) if conflict is not None]
    if conflicts:
        raise _duplicate(changes, plan, min(conflicts))


def _keys(plan: FramePlan, batches: Batches) -> Batches:
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
                yield _keys_of(table, index, rows, columns)


def _keys_of(
    table: TableInfo, index: IndexInfo, rows: pa.RecordBatch, columns: dict[int, pa.Array]
) -> pa.RecordBatch:
    """Return the keys that rows have in one index.

    A column that a DDL rewrites has another id, and its keys are not those from before.
    """
    name = "/".join([index.name, *(str(table.columns[offset].id) for offset in index.offsets)])
    if all(offset in columns for offset in index.offsets):
        keys, _ = row_keys(StoredKey(table, index, integer=False), columns)
    else:  # a virtual column, which messages do not have either
        keys = pa.nulls(rows.num_rows, pa.binary())
    given = {"index": pa.repeat(name, rows.num_rows), "key": keys}
    arrays = [given.get(field.name) for field in _KEYS]
    filled = [
        rows.column(field.name) if array is None else array
        for field, array in zip(_KEYS, arrays, strict=True)
    ]
    return pa.record_batch(filled, schema=_KEYS)


def _moves(batches: Batches) -> Batches:
    """Yield the keys that rows take and leave.

    :param batches: the keys of each row together, in the order of its changes.
    """
    for rows in whole_groups(batches, _ROW):
        before = rows.column("key").take(
            pa.array(np.arange(rows.num_rows) - 1, mask=first_of_groups(rows, _ROW))
        )
        same = pc.fill_null(pc.equal(before, rows.column("key")), False)
        for keys, takes in ((before, 0), (rows.column("key"), 1)):
            moved = rows.set_column(3, _KEYS.field("key"), keys)
            moved = moved.append_column(
                _MOVES.field("takes"), pa.repeat(pa.scalar(takes, pa.int8()), len(keys))
            )
            yield moved.filter(pc.and_(keys.is_valid(), pc.invert(same)))


def _first_conflict(_part: Part, batches: Batches) -> Conflict | None:
    """Return the first change of a part that takes a key which another row holds."""
    conflicts = []
    for rows in whole_groups(batches, _KEY):
        takes = rows.column("takes").to_numpy().astype(np.int64)
        total = np.cumsum(takes * 2 - 1)
        starts = np.flatnonzero(first_of_groups(rows, _KEY))
        sizes = np.diff(np.append(starts, rows.num_rows))
        before = np.concatenate([[0], total])[starts]
        held = total - np.repeat(before, sizes)
        for row in np.flatnonzero((held > 1) & (takes == 1))[:1].tolist():
            holder = int(np.flatnonzero(takes[:row] == 1)[-1])
            index, version = rows.column("index")[row].as_py(), rows.column("table_version")[row].as_py()
            conflicts.append((_position(rows, row), _position(rows, holder), index, version))
    return min(conflicts, default=None)


def _position(rows: pa.RecordBatch, row: int) -> Position:
    commit, seq, key = (rows.column(name)[row].as_py() for name in ("commit_seq", "row_seq", "row_key"))
    return commit, seq, key


def _duplicate(changes: Dataset, plan: FramePlan, conflict: Conflict) -> ScenarioError:
    """Return the error of a duplicate, with the content of both rows."""
    taker, holder, index, _ = conflict
    rows = changes.map(partial(_at, (taker, holder)), FRAME_CHANGES).small(4).to_pylist()
    written = {(row["commit_seq"], row["row_seq"], row["row_key"]): row for row in rows if row["after"]}
    table = plan.versions.table[written[taker]["table_version"]]
    texts = []
    for position in (taker, holder):
        version = plan.versions.table[written[position]["table_version"]]
        origin = "of an earlier step" if position[0] < 0 else f"of {plan.numbering.text(position[0])}"
        texts.append(f"{image_text(version, written[position]['after'])} {origin}")
    name = index.partition("/")[0]
    key = next(each for each in table.unique_indexes if each.name == name)
    image = dict(zip(table.sent, written[taker]["after"], strict=True))
    entry = "-".join((image[offset] or b"").decode("utf-8", "backslashreplace") for offset in key.offsets)
    what = (
        f"Duplicate entry {entry!r} for key '{table.name}.{name}': it is the key of {texts[1]}, in {texts[0]}"
    )
    return ScenarioError(what, value=entry, column=table.columns[key.offsets[0]].name)


def _at(positions: tuple[Position, ...], batches: Batches) -> Batches:
    """Yield the changes at some positions."""
    for batch in batches:
        wanted = pc.is_in(batch.column("row_key"), pa.array([key for _, _, key in positions], pa.binary()))
        for name, at in (("commit_seq", 0), ("row_seq", 1)):
            numbers = pa.array([position[at] for position in positions], pa.int64())
            wanted = pc.and_(wanted, pc.is_in(batch.column(name), numbers))
        yield batch.filter(wanted)
