"""What the changes of a large frame do with hidden row ids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Batches
from ticdc_producer.model.column_functions import Flags, Numbers
from ticdc_producer.model.event import OP_OF_LABEL, Op
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.columns.key_columns import stored_key
from ticdc_producer.scenario.frames.frame_changes import Locations, VersionChanges
from ticdc_producer.scenario.frames.frame_plan import FramePlan
from ticdc_producer.scenario.frames.image_values import image_values
from ticdc_producer.scenario.frames.version_rows import VersionRows, rows_by_version

TAKES, USES, ENTERS, LEAVES = range(4)
"""What a change does: it takes an id for the row at its key; gives the AUTO_INCREMENT column a value; moves a
row to its key, or away from it."""
RANGES = 4096
"""Ranges of commits, of all tables; a range of a table is counted in order by one task."""

AT = [
    ("table_id", pa.int64()),
    ("row_key", pa.binary()),
    ("commit_seq", pa.int64()),
    ("row_seq", pa.int64()),
]
STEPS = pa.schema([*AT, ("table_version", pa.int32()), ("table", pa.int64()), ("range", pa.int64()),
                    ("step", pa.int8()), ("used", pa.int64()), ("row_id", pa.int64()),
                    ("new_key", pa.binary())])  # fmt: skip
"""What changes do with ids. ``table`` is the logical id; ``used`` is the value of an AUTO_INCREMENT column
with the same counter; ``new_key`` is the key to which a row leaves."""
COUNTED = pa.schema([field for field in STEPS if field.name not in ("row_id", "new_key")])
GROUP = ("table", "range")
Group: TypeAlias = tuple[int, int]
"""Table and range of commits."""


def columns_read(plan: FramePlan) -> set[str]:
    """Return the names of the columns of keys and of ids, in lower case."""
    tables = (plan.versions.table[version] for version in plan.versions_with_row_ids)
    return {table.columns[offset].name.lower() for table in tables for offset in _offsets(plan, table)}


def _offsets(plan: FramePlan, table: TableInfo) -> list[int]:
    ids = table.auto_increment if table.table_id in plan.sharing else ()
    return sorted({*stored_key(table).offsets, *ids})


def steps_of(plan: FramePlan, batches: Batches) -> Batches:
    """Yield what the changes of a frame do with ids (shape ``STEPS``)."""
    width = range_width(plan)
    for batch in batches:
        for rows in rows_by_version(plan, batch.filter(_may_concern_ids(plan, batch))):
            if rows.table.table_id in plan.row_ids:
                yield from _steps_of_version(plan, width, rows)


def _may_concern_ids(plan: FramePlan, batch: pa.RecordBatch) -> pa.Array:
    """Return which rows may have a step: no delete, and no update without a row before that uses no id."""
    if "after" not in batch.schema.names:
        return pa.array(np.zeros(batch.num_rows, bool))
    chosen = batch.column("after").is_valid()
    if plan.sharing or "op" not in batch.schema.names:
        return chosen
    updates = pa.array([label for label, op in OP_OF_LABEL.items() if op == Op.UPDATE])
    stays = pc.is_in(pc.utf8_lower(batch.column("op").cast(pa.string())), updates)
    if "before" in batch.schema.names:
        stays = pc.and_(stays, batch.column("before").is_null())
    return pc.and_not(chosen, stays)


def range_width(plan: FramePlan) -> int:
    """Return the number of commits in a range."""
    ranges = max(1, RANGES // len(plan.row_ids))
    return max(1, -(-(plan.stop - plan.first_commit) // ranges))


def taking(plan: FramePlan, rows: VersionRows) -> tuple[Flags, bool]:
    """Return which changes take an id, and whether one moves its row to another key or partition."""
    takes, updates = rows.ops == Op.INSERT, np.flatnonzero(rows.existed & rows.exists)
    if not len(updates):
        return takes, False
    (_, _, old_homes), (_, _, homes), moved = _located(plan, rows, updates)[1]
    takes[updates] = moved & (old_homes != homes)
    return takes, bool(moved.any())


def _located(
    plan: FramePlan, rows: VersionRows, chosen: Numbers
) -> tuple[dict[int, pa.Array], tuple[Locations, Locations, Flags]]:
    """Return the values after some changes, and where the rows are before and after them."""
    offsets = _offsets(plan, rows.table)
    of_chosen = chosen if rows.image_rows is None else rows.image_rows[chosen]
    flags = (rows.ops[chosen], rows.existed[chosen], rows.exists[chosen])
    images = (
        image_values(rows.table, column, plan.mode, offsets, of_chosen)
        for column in (rows.before, rows.after)
    )
    changes = VersionChanges(plan, rows.table, *flags, *images)
    before, after = changes.old_values(offsets), changes.new_values(offsets)
    return after, changes.locations(before, after)


def _steps_of_version(plan: FramePlan, width: int, rows: VersionRows) -> Iterator[pa.RecordBatch]:
    table, shares = rows.table, rows.table.table_id in plan.sharing
    chosen = np.flatnonzero(rows.exists & (rows.existed | (rows.ops == Op.INSERT) | shares))
    after, ((old_keys, _, old_homes), (keys, _, homes), moved) = _located(plan, rows, chosen)
    retains = moved & (old_homes == homes)  # hidden row ids do not move between partitions
    takes = (rows.ops[chosen] == Op.INSERT) | (moved & ~retains)
    used = _used(table, after) if shares else pa.nulls(len(chosen), pa.int64())
    flags = {TAKES: takes, USES: ~takes & shares, ENTERS: retains, LEAVES: retains}
    for step, has_step in flags.items():
        own = np.flatnonzero(has_step)
        if not len(own):
            continue
        commits, of_own = rows.commits[chosen][own], pa.array(own)
        columns = {
            "table_id": homes[own],
            "row_key": (old_keys if step == LEAVES else keys).take(of_own),
            "commit_seq": commits,
            "row_seq": rows.seq[chosen][own],
            "table_version": pa.repeat(table.version, len(own)),
            "table": pa.repeat(table.table_id, len(own)),
            "range": (commits - plan.first_commit) // width,
            "step": pa.repeat(step, len(own)),
            "used": used.take(of_own),
            "row_id": pa.nulls(len(own)),
            "new_key": keys.take(of_own) if step == LEAVES else pa.nulls(len(own)),
        }
        arrays = [pa.array(columns[field.name]).cast(field.type) for field in STEPS]
        yield pa.record_batch(arrays, schema=STEPS)


def _used(table: TableInfo, values: Mapping[int, pa.Array]) -> pa.Array:
    """Return the values of the AUTO_INCREMENT column of a table."""
    (offset,) = table.auto_increment
    return values[offset].cast(pa.string()).cast(pa.int64())
