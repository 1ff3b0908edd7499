"""Stage: order large transactions that have a split update as Go's unstable sort does.

After splitting an update, TiCDC sorts the rows of a table in a transaction again, by kind alone. Up to 12
rows this is the stable order of ``split``; above that, the order of ``go_sort``. Which transactions are
large is known if the scenario was executed on the driver. A stream made from DataFrames has the stable
order, which is valid, too: TiCDC guarantees no order within a kind.

Source: tiflow ``TrySplitAndSortUpdateEvent`` (``sort.Sort`` of ``txnRows``).
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pyarrow as pa

from ticdc_producer.pipeline.go_sort import go_sorted
from ticdc_producer.pipeline.row_images import numbers

_TABLE, _KIND, _KIND_BEFORE = slice(0, 8), slice(8, 9), slice(9, 10)


def go_sort_order(rows: pa.RecordBatch, large_transactions: Collection[tuple[int, int]]) -> pa.RecordBatch:
    """Replace ``txn_order_key`` of the rows in the given transactions.

    :param rows: results of ``split``; those of each of these transactions are complete.
    :param large_transactions: commit-ts and physical table id of the transactions to reorder; few.
    """
    if not large_transactions:
        return rows
    commit_ts, table_ids = numbers(rows.column("commit_ts")), numbers(rows.column("table_id"))
    keys = rows.column("txn_order_key").to_pylist()
    for ts, table_id in large_transactions:
        of_transaction = np.flatnonzero((commit_ts == ts) & (table_ids == table_id)).tolist()
        renumbered = renumbered_keys([keys[row] for row in of_transaction])
        for row, key in zip(of_transaction, renumbered, strict=True):
            keys[row] = key
    index = rows.schema.get_field_index("txn_order_key")
    return rows.set_column(index, rows.schema.field(index), pa.array(keys, pa.binary()))


def renumbered_keys(order_keys: list[bytes]) -> list[bytes]:
    """The new ``txn_order_key`` of each row of one table in one transaction."""
    sources = sorted(range(len(order_keys)), key=lambda row: _before_sorting(order_keys[row]))
    before = [order_keys[row] for row in sources]
    is_split = any(key[_KIND] != key[_KIND_BEFORE] for key in before)
    order = go_sorted([key[_KIND][0] for key in before]) if is_split else range(len(before))
    renumbered = [b""] * len(before)
    for number, at in enumerate(order):
        renumbered[sources[at]] = before[at][_TABLE] + number.to_bytes(8, "big")
    return renumbered


def _before_sorting(key: bytes) -> tuple[bytes, bytes]:
    """Sort key of the order before Go's sort: the halves of a split are adjacent, the delete first."""
    return key[_KIND_BEFORE] + key[10:], key[_KIND]
