"""Stages: collapse each transaction to what TiKV stores: at most one mutation per row key.

Source: TiDB's two-phase commit writes one value per key. docs/stream-semantics.md §2 lists the cases (a
delete and an insert of one key are an update, an insert and a delete are nothing).
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.event import Op
from ticdc_producer.model.whole_groups import first_of_groups
from ticdc_producer.pipeline.row_images import present, same_images, without

ROW = ("table_id", "row_key")
"""The columns that identify a row upstream: changes of one row belong to one group."""
KEY = ("commit_ts", *ROW)
"""The columns that identify a mutation."""
IN_KEY_ORDER = (*KEY, "row_seq")
"""The columns by which ``collapse`` needs its input sorted."""


def split_moved(changes: pa.RecordBatch) -> pa.RecordBatch:
    """Replace an update that moves its row to another key by a delete at the old key and an insert.

    :param changes: a change log with ``commit_ts``.
    :return: without the ``old_`` columns.
    """
    moved = changes.column("old_row_key").is_valid().to_numpy(zero_copy_only=False)
    if not moved.any():
        return changes.drop_columns(["old_table_id", "old_row_key", "old_row_id"])
    rows = np.repeat(np.arange(len(moved)), 1 + moved)
    arrives = np.zeros(len(rows), bool)
    arrives[1:] = rows[1:] == rows[:-1]
    leaves = moved[rows] & ~arrives
    halves = changes.take(pa.array(rows))
    columns = {name: halves.column(name) for name in changes.schema.names if not name.startswith("old_")}
    for name in ("table_id", "row_key", "row_id"):
        columns[name] = pc.if_else(pa.array(leaves), halves.column(f"old_{name}"), columns[name])
    columns["before"] = without(columns["before"], arrives)
    columns["after"] = without(columns["after"], leaves)
    return pa.RecordBatch.from_pydict(columns)


def in_key_order(changes: pa.RecordBatch) -> pa.RecordBatch:
    """Sort changes for ``collapse``."""
    return changes.take(pc.sort_indices(changes, [(name, "ascending") for name in IN_KEY_ORDER]))


def collapse(changes: pa.RecordBatch) -> pa.RecordBatch:
    """Collapse the changes of each transaction to net mutations.

    :param changes: sorted by ``IN_KEY_ORDER``; every group of ``KEY`` is complete.
    :return: one row per mutation with its ``op``; changes without a net effect are removed.
    """
    first = first_of_groups(changes, KEY)
    last = np.roll(first, -1)
    if (~first).any():
        net = changes.filter(pa.array(last))
        net = _replaced(net, "before", changes.column("before").filter(pa.array(first)))
    else:
        net = changes
    return _without_unchanged(net_mutations(net))


def net_mutations(changes: pa.RecordBatch) -> pa.RecordBatch:
    """The mutations of changes of which no transaction has two at one row key: sets their ``op``."""
    existed, exists = present(changes.column("before")), present(changes.column("after"))
    op = np.where(existed, np.where(exists, int(Op.UPDATE), int(Op.DELETE)), int(Op.INSERT)).astype(np.int8)
    return _replaced(changes.drop_columns(["row_seq"]), "op", pa.array(op))


def _without_unchanged(mutations: pa.RecordBatch) -> pa.RecordBatch:
    unchanged = same_images(mutations.column("before"), mutations.column("after"))
    return mutations.filter(pa.array(~unchanged)) if unchanged.any() else mutations


def _replaced(batch: pa.RecordBatch, name: str, column: pa.Array) -> pa.RecordBatch:
    index = batch.schema.get_field_index(name)
    return batch.set_column(index, batch.schema.field(index), column)
