"""Stage 3b: order large transactions that have a split update as Go's unstable sort does.

After splitting an update, TiCDC sorts the rows of a table in a transaction again, by kind alone. Up to 12
rows this is the stable order of ``split``; above that, the order of ``go_sort``. Which transactions are
large is known if the scenario was executed on the driver. A stream made from DataFrames has the stable
order, which is valid, too: TiCDC guarantees no order within a kind.

Source: tiflow ``TrySplitAndSortUpdateEvent`` (``sort.Sort`` of ``txnRows``).
"""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ticdc_producer.pipeline.go_sort import go_sorted

_NEW_KEYS = "commit_ts long, txn_order_key binary, new_txn_order_key binary"
_TABLE, _KIND, _KIND_BEFORE = slice(0, 8), slice(8, 9), slice(9, 10)


def go_sort_order(rows: DataFrame, large_transactions: Collection[tuple[int, int]]) -> DataFrame:
    """Replace ``txn_order_key`` of the rows in the given transactions.

    :param rows: the result of ``split``.
    :param large_transactions: commit-ts and physical table id of the transactions to reorder; few.
    """
    if not large_transactions:
        return rows
    spark = rows.sparkSession
    keys = F.broadcast(spark.createDataFrame(sorted(large_transactions), "commit_ts long, table_id long"))
    wanted = rows.join(keys, ["commit_ts", "table_id"], "left_semi").select(
        "commit_ts", "table_id", "txn_order_key"
    )
    new_keys = wanted.groupBy("commit_ts", "table_id").applyInArrow(_renumbered, _NEW_KEYS)
    joined = rows.join(F.broadcast(new_keys), ["commit_ts", "txn_order_key"], "left")
    key = F.coalesce("new_txn_order_key", "txn_order_key")
    return joined.withColumn("txn_order_key", key).select(*rows.columns)


def _renumbered(group: pa.Table) -> pa.Table:
    """The old and new ``txn_order_key`` of each row of one table in one transaction."""
    before = sorted(group["txn_order_key"].to_pylist(), key=_before_sorting)
    is_split = any(key[_KIND] != key[_KIND_BEFORE] for key in before)
    order = go_sorted([key[_KIND][0] for key in before]) if is_split else range(len(before))
    sorted_keys = [before[at] for at in order]
    numbered = [key[_TABLE] + n.to_bytes(8, "big") for n, key in enumerate(sorted_keys)]
    columns = [
        pa.array([group["commit_ts"][0].as_py()] * len(before), pa.int64()),
        pa.array(sorted_keys, pa.binary()),
        pa.array(numbered, pa.binary()),
    ]
    return pa.Table.from_arrays(columns, names=["commit_ts", "txn_order_key", "new_txn_order_key"])


def _before_sorting(key: bytes) -> tuple[bytes, bytes]:
    """Sort key of the order before Go's sort: the halves of a split are adjacent, the delete first."""
    return key[_KIND_BEFORE] + key[10:], key[_KIND]
