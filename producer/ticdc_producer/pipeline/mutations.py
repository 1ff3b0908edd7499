"""Stages: collapse each transaction to its net mutations in TiKV, and split updates.

The order inside a transaction is: physical table id; deletes, updates, inserts; row key. The halves of a
split update are where a stable sort by kind puts them: after the other deletes, before the other inserts.
TiCDC new architecture does not sort again: the delete takes the position of the update, and the insert
follows all rows of the table. ``txn_order_key`` encodes this order, so no task needs to see other rows.

Source: tiflow ``TrySplitAndSortUpdateEvent``, sorter ``key.go``; ticdc ``pkg/common/event/dml_event.go``.

Source: TiDB's two-phase commit writes one value per key. docs/stream-semantics.md §2 lists the cases (a
delete and an insert of one key are an update, an insert and a delete are nothing).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column_functions import Flags, Numbers, first_of_groups, fixed_bytes, operations
from ticdc_producer.model.event import REWRITE, Op
from ticdc_producer.model.mysql_type import INTEGERS
from ticdc_producer.model.parameter import Profile
from ticdc_producer.model.shapes import ChangeBatch, MutationBatch
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.sql_value import display_value
from ticdc_producer.pipeline.row_images import (
    column_values,
    numbers,
    present,
    same_images,
    same_values,
    without,
)

_KIND_ORDER = np.zeros(max(Op) + 1, np.uint8)
_KIND_ORDER[[Op.DELETE, Op.UPDATE, Op.INSERT]] = 0, 1, 2
_AFTER_ALL = 3


def split(
    mutations: MutationBatch,
    tables: Iterable[TableInfo],
    *,
    raw_change_event: bool = False,
    profile: Profile = "classic",
) -> MutationBatch:
    """Split key-changing updates, and add ``split`` and ``txn_order_key``, the order inside the transaction.

    >>> from ticdc_producer.model.column import ColumnInfo, IndexInfo
    >>> from ticdc_producer.model.mysql_type import MySQLType
    >>> columns = (ColumnInfo(name="c", type=MySQLType.LONG),)
    >>> unique = IndexInfo(id=1, name="c", offsets=(0,), unique=True)
    >>> table = TableInfo(schema="s", name="t", table_id=9, columns=columns, indexes=(unique,))
    >>> updates = {"op": pa.array([Op.UPDATE] * 2, pa.int8()), "table_version": [0, 0], "table_id": [9, 9]}
    >>> images = {"row_key": [b"k", b"l"], "before": [[b"1"], [b"3"]], "after": [[b"2"], [b"3"]]}
    >>> rows = split(pa.record_batch(updates | images), [table])
    >>> [Op(code).name for code in rows["op"].to_pylist()], rows["split"].to_pylist()
    (['DELETE', 'INSERT', 'UPDATE'], [True, True, False])
    >>> [key[8:] for key in rows["txn_order_key"].to_pylist()]  # after the id of the table
    [b'\\x00\\x01k', b'\\x02\\x01k', b'\\x01\\x01l']

    :param mutations: as ``net_mutations`` returns them, in any order.
    :param tables: all table versions of the mutations.
    :param raw_change_event: TiCDC's ``output-raw-change-event``: nothing is split.
    :return: in the same order, without ``row_key``; the insert of a split update follows its delete.
    """
    changes_key = np.zeros(mutations.num_rows, bool) if raw_change_event else changed_keys(mutations, tables)
    kind_before, is_half = numbers(mutations.column("op")), changes_key
    if changes_key.any():
        halves = np.repeat(np.arange(len(changes_key)), 1 + changes_key)
        kind_before, is_half = kind_before[halves], changes_key[halves]
        mutations = _halved(mutations.take(pa.array(halves)), is_half, halves)
    kinds = _kinds(profile, numbers(mutations.column("op")), kind_before)
    order_key = pc.binary_join_element_wise(
        eight_bytes(numbers(mutations.column("table_id"))), kinds, mutations.column("row_key"), b""
    )
    rows = mutations.drop_columns(["row_key"]).append_column("txn_order_key", order_key)
    return rows.append_column("split", pa.array(is_half))


def split_columns(table: TableInfo) -> list[int]:
    """Return the image indexes of the columns whose change splits an update: handle key and unique columns.

    A mutation stays on its row key, so integer columns of a clustered key cannot change and are excluded.
    Text columns can change to values that are equal under their collation.

    Source: tiflow ``ShouldSplitUpdateEvent``; nullable unique keys count too.
    """
    keys = [index for index in table.indexes if index.unique or index.primary]
    stored_under = table.clustered_key.offsets if table.clustered_key else ()
    unchangeable = {offset for offset in stored_under if table.columns[offset].type in INTEGERS}
    offsets = set(chain.from_iterable(index.offsets for index in keys)) - unchangeable
    return [index for offset in sorted(offsets) if (index := table.image_index(offset)) is not None]


def eight_bytes(values: Numbers) -> pa.Array:
    """Encode non-negative numbers as 8 bytes each, big-endian, which sort like the numbers.

    >>> [key.hex() for key in eight_bytes(np.array([1, 258])).to_pylist()]
    ['0000000000000001', '0000000000000102']
    """
    return fixed_bytes(values.astype(">i8").view(np.uint8).reshape(-1, 8))


def changed_keys(mutations: pa.RecordBatch, tables: Iterable[TableInfo]) -> Flags:
    """Return whether each row is an update that changes a handle key or a unique key.

    :param mutations: with the columns ``table_version``, ``op``, ``before`` and ``after``.
    """
    versions, ops = numbers(mutations.column("table_version")), numbers(mutations.column("op"))
    before, after = mutations.column("before"), mutations.column("after")
    changed = np.zeros(len(ops), bool)
    for table in tables:
        columns = split_columns(table)
        updated = (ops == Op.UPDATE) & (versions == table.version)
        if columns and updated.any():
            rows = np.flatnonzero(updated)
            for index in columns:
                values = (column_values(images, rows, index) for images in (before, after))
                changed[rows] |= ~same_values(*values)
    return changed


def _halved(rows: pa.RecordBatch, halved: Flags, source: Numbers) -> pa.RecordBatch:
    """Make the first of two rows of one mutation a delete, and the second an insert.

    >>> columns = {"op": pa.array([Op.UPDATE] * 2, pa.int8()), "before": [[b"1"]] * 2, "after": [[b"2"]] * 2}
    >>> rows = _halved(pa.record_batch(columns), np.array([True, True]), np.array([0, 0]))
    >>> [Op(code).name for code in rows.column("op").to_pylist()], rows.column("before").to_pylist()
    (['DELETE', 'INSERT'], [[b'1'], None])

    :param rows: mutations; each update that is split occurs twice.
    :param source: number of the mutation of each row.
    """
    inserted = np.zeros(len(source), bool)
    inserted[1:] = source[1:] == source[:-1]
    deleted = halved & ~inserted
    op = np.where(deleted, Op.DELETE, np.where(inserted, Op.INSERT, numbers(rows.column("op"))))
    changes = {
        "op": pa.array(op.astype(np.int8)),
        "before": without(rows.column("before"), inserted),
        "after": without(rows.column("after"), deleted),
    }
    for name, column in changes.items():
        index = rows.schema.get_field_index(name)
        rows = rows.set_column(index, rows.schema.field(index), column)
    return rows


def _kinds(profile: Profile, op: Numbers, kind_before: Numbers) -> pa.Array:
    """Encode the order of kinds after the second sort, then before it.

    TiCDC new architecture has no second sort: only the latter is encoded.

    >>> ops, before = np.array([Op.DELETE, Op.INSERT]), np.array([Op.UPDATE, Op.UPDATE])  # a split update
    >>> [key.hex() for key in _kinds("classic", ops, before).to_pylist()]
    ['0001', '0201']
    >>> [key.hex() for key in _kinds("new", ops, before).to_pylist()]
    ['01', '03']
    """
    before = _KIND_ORDER[kind_before]
    if profile == "classic":
        return fixed_bytes(np.stack([_KIND_ORDER[op], before], axis=1))
    moved = (op == Op.INSERT) & (kind_before == Op.UPDATE)
    return fixed_bytes(np.where(moved, np.uint8(_AFTER_ALL), before)[:, None])


def row_key_start(profile: Profile) -> int:
    """Return the position of the row key in ``txn_order_key``: it follows the table id and the kinds."""
    return 8 + (2 if profile == "classic" else 1)


ROW = ("table_id", "row_key")
"""The columns that identify a row upstream: changes of one row belong to one group."""
KEY = ("commit_ts", *ROW)
"""The columns that identify a mutation."""
IN_KEY_ORDER = (*KEY, "row_seq")
"""The columns by which ``collapse`` needs its input sorted."""


def split_moved(changes: ChangeBatch) -> ChangeBatch:
    """Replace an update that moves its row to another key by a delete at the old key and an insert.

    >>> ids, keys = pa.array([1]), pa.array([b"k2"])
    >>> columns = {"table_id": ids, "row_key": keys, "row_id": ids, "before": [[b"a"]], "after": [[b"b"]]}
    >>> columns |= {"old_table_id": ids, "old_row_key": pa.array([b"k1"]), "old_row_id": ids, "op": ids}
    >>> split_moved(pa.record_batch(columns)).select(["row_key", "before", "after"]).to_pylist()
    [{'row_key': b'k1', 'before': [b'a'], 'after': None}, {'row_key': b'k2', 'before': None, 'after': [b'b']}]

    :param changes: shape ``CHANGE_LOG`` with ``commit_ts`` (TSO).
    :return: in the same order, without the ``old_`` columns; the insert follows its delete.
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
    columns["op"] = pc.if_else(pa.array(arrives), pa.scalar(int(Op.INSERT), pa.int8()), columns["op"])
    columns["before"] = without(columns["before"], arrives)
    columns["after"] = without(columns["after"], leaves)
    split_changes: ChangeBatch = pa.RecordBatch.from_pydict(columns)
    return split_changes


def collapse(changes: ChangeBatch) -> MutationBatch:
    """Collapse the changes of each transaction to net mutations.

    >>> key = {"commit_ts": [9, 9], "table_id": [1, 1], "row_key": [b"k", b"k"], "row_seq": [0, 1]}
    >>> columns = key | {"op": pa.array([Op.INSERT, Op.UPDATE], pa.int8()), "table_version": [0, 0]}
    >>> columns |= {"before": [None, [b"1"]], "after": [[b"1"], [b"2"]]}
    >>> collapse(pa.record_batch(columns)).select(["before", "after"]).to_pylist()
    [{'before': None, 'after': [b'2']}]

    :param changes: as ``split_moved`` returns them, but sorted by ``IN_KEY_ORDER``; every group of ``KEY`` is
        complete.
    :return: one row per mutation with its ``op``, without ``row_seq``, sorted by ``KEY``; changes without a
        net effect are removed.
    :raises ScenarioError: for two changes of a row whose order is not known.
    """
    first = first_of_groups(changes, KEY)
    last = np.roll(first, -1)
    rewritten = numbers(changes.column("op")) == REWRITE
    if (~first).any():
        _check_order(changes, first)
        net = changes.filter(pa.array(last))
        net = _replaced(net, "before", changes.column("before").filter(pa.array(first)))
        rewritten = np.logical_or.reduceat(rewritten, np.flatnonzero(first))
    else:
        net = changes
    return _without_unchanged(net_mutations(net), rewritten)


def _check_order(changes: ChangeBatch, first: Flags) -> None:
    """Check that the changes of a transaction to one row have different positions.

    :param first: whether a change is the first one of its transaction and row.
    """
    positions = numbers(changes.column("row_seq"))
    same = np.flatnonzero(~first[1:] & (positions[1:] == positions[:-1]))
    if not len(same):
        return
    change = int(same[0]) + 1
    image = changes.column("after")[change].as_py() or changes.column("before")[change].as_py()
    texts = ("NULL" if value is None else display_value(value.decode("utf-8", "replace")) for value in image)
    row = ", ".join(texts)
    ts = changes.column("commit_ts")[change].as_py()
    what = f"two changes of the row ({row}) have the same position in their transaction, commit-ts {ts}"
    raise ScenarioError(what, hint="a column with the position gives the order of the changes of one row")


def net_mutations(changes: ChangeBatch) -> MutationBatch:
    """Set ``op`` of changes of which no transaction has two at one row key.

    >>> columns = {"row_seq": [0, 1], "op": pa.array([2, 2], pa.int8())}
    >>> columns |= {"before": [None, [b"1"]], "after": [[b"1"], [b"2"]]}
    >>> [Op(code).name for code in net_mutations(pa.record_batch(columns)).column("op").to_pylist()]
    ['INSERT', 'UPDATE']

    :param changes: as ``split_moved`` returns them, in any order.
    :return: in the same order, without ``row_seq``.
    """
    existed, exists = present(changes.column("before")), present(changes.column("after"))
    op = operations(existed, exists).astype(np.int8)
    mutations: MutationBatch = _replaced(changes.drop_columns(["row_seq"]), "op", pa.array(op))
    return mutations


def _without_unchanged(mutations: MutationBatch, rewritten: Flags) -> MutationBatch:
    """Remove mutations that leave the stored bytes of their row as they were.

    A row that an ADD COLUMN found is stored without the column: an update writes it, even with equal values.

    :param rewritten: whether the row of each mutation was stored with other columns than its table has now.
    """
    unchanged = same_images(mutations.column("before"), mutations.column("after"))
    unchanged &= ~(rewritten & present(mutations.column("after")))
    return mutations.filter(pa.array(~unchanged)) if unchanged.any() else mutations


def _replaced(batch: pa.RecordBatch, name: str, column: pa.Array) -> pa.RecordBatch:
    index = batch.schema.get_field_index(name)
    return batch.set_column(index, batch.schema.field(index), column)
