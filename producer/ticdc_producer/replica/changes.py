"""Reads the changes of followed tables from decoded events."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.event import MAX_EVENTS
from ticdc_producer.replica.rows import ROWS, Replica, columns_of, image_array
from ticdc_producer.replica.versions import NO_VERSION, Numbers


def row_changes(decoded: pa.RecordBatch, replica: Replica, until: int | None = None) -> pa.RecordBatch:
    """The changes of followed tables (shape ``rows.ROWS``), in no order.

    An update that changes the handle key also deletes the row with the old key.

    :param decoded: shape ``DECODED``, in any order; other events than rows are ignored.
    :param until: only changes up to this commit-ts (TSO); None: all.
    """
    rows = decoded.filter(pc.fill_null(pc.equal(decoded.column("kind"), "row"), False))
    versions = _versions(rows, replica)
    chosen = versions != NO_VERSION
    if until is not None:
        chosen &= _numbers(rows, "commit_ts") <= until
    rows, versions = rows.filter(pa.array(chosen)), versions[chosen]
    deleted = pc.equal(rows.column("op"), "delete")
    images = pc.if_else(deleted, rows.column("before"), rows.column("after"))
    changes = _batch(rows, versions, deleted, images, replica)
    return pa.concat_batches([changes, *_left_keys(rows, versions, replica)])


def _versions(rows: pa.RecordBatch, replica: Replica) -> Numbers:
    """The number of the version of each row; ``NO_VERSION`` for other tables."""
    found, ts = np.full(rows.num_rows, NO_VERSION), _numbers(rows, "commit_ts")
    for schema, table in sorted(replica.lineage.names):
        named = (pc.equal(rows.column(name), text) for name, text in (("schema", schema), ("table", table)))
        own = np.flatnonzero(pc.fill_null(reduce(pc.and_, named), False))
        found[own] = replica.lineage.version_of(schema, table, ts[own])
    return found


def _left_keys(rows: pa.RecordBatch, versions: Numbers, replica: Replica) -> list[pa.RecordBatch]:
    """The deletions of the old keys of updates. An old image lacks columns that did not change."""
    updates = np.flatnonzero(pc.and_(pc.equal(rows.column("op"), "update"), rows.column("before").is_valid()))
    found = []
    for number in np.unique(versions[updates]).tolist():
        key = replica.key_of(replica.lineage.followed[number])
        own = pa.array(updates[versions[updates] == number])
        if not key:
            continue
        before, after = (columns_of(rows.column(image).take(own), key) for image in ("before", "after"))
        old = [pc.coalesce(*columns) for columns in zip(before, after, strict=True)]
        differs = reduce(np.logical_or, (_differ(*columns) for columns in zip(old, after, strict=True)))
        moved = pa.array(np.flatnonzero(differs))
        if len(moved):
            left = rows.take(own).take(moved)
            images = image_array(key, [column.take(moved) for column in old])
            gone = pa.array(np.ones(len(moved), bool))
            found.append(_batch(left, np.full(len(moved), number), gone, images, replica))
    return found


def _differ(first: pa.Array, second: pa.Array) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    different: np.ndarray[tuple[int], np.dtype[np.bool_]] = pc.fill_null(
        pc.not_equal(first, second), False
    ).to_numpy(zero_copy_only=False)
    return different


def _batch(
    rows: pa.RecordBatch, versions: Numbers, deleted: pa.Array, images: pa.MapArray, replica: Replica
) -> pa.RecordBatch:
    columns = {
        "group": replica.groups(images, versions),
        "version": versions,
        "commit_ts": _numbers(rows, "commit_ts"),
        "deleted": deleted,
        "topic": rows.column("topic"),
        "partition": _numbers(rows, "partition"),
        "position": _numbers(rows, "offset") * MAX_EVENTS + _numbers(rows, "index"),
        "image": images,
    }
    arrays = [pa.array(columns[field.name]).cast(field.type) for field in ROWS]
    return pa.record_batch(arrays, schema=ROWS)


def _numbers(rows: pa.RecordBatch, name: str) -> Numbers:
    found: Numbers = pc.fill_null(rows.column(name), 0).to_numpy(zero_copy_only=False).astype(np.int64)
    return found
