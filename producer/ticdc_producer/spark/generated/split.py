"""Split updates of a handle or unique column into a delete and an insert; add ``txn_order_key``.

The order inside a transaction is: physical table id; deletes, updates, inserts; row key. The halves of a
split update are where a stable sort by kind puts them: after the other deletes, before the other inserts.
TiCDC new architecture does not sort again: the delete takes the position of the update, and the insert
follows all rows of the table. ``txn_order_key`` encodes this order, so no task needs to see other rows.

Source: tiflow ``TrySplitAndSortUpdateEvent``, sorter ``key.go``; ticdc ``pkg/common/event/dml_event.go``.
"""

from __future__ import annotations

from functools import reduce
from operator import or_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ticdc_producer.model.event import Op
from ticdc_producer.model.profile import Profile
from ticdc_producer.spark.generated.table_metadata import TableMetadata, join_table_metadata

_KIND_ORDER = {Op.DELETE: "00", Op.UPDATE: "01", Op.INSERT: "02"}
_AFTER_ALL = "03"
_WHOLE, _DELETED, _INSERTED = 0, 1, 2


def split(
    mutations: DataFrame,
    table_metadata: TableMetadata,
    *,
    raw_change_event: bool = False,
    profile: Profile = "classic",
) -> DataFrame:
    """Split key-changing updates and add ``txn_order_key``, the order inside the transaction.

    :param raw_change_event: TiCDC's ``output-raw-change-event``: nothing is split.
    """
    rows = mutations.withColumn("kind_before", F.col("op"))
    if table_metadata.split_columns and not raw_change_event:
        rows = _halved(rows, table_metadata)
    kinds = _kinds if profile == "classic" else _kinds_unsorted
    order_key = F.concat(_eight_bytes(F.col("table_id")), kinds(), F.col("row_key"))
    return rows.withColumn("txn_order_key", order_key).drop("kind_before", "row_key")


def _halved(mutations: DataFrame, table_metadata: TableMetadata) -> DataFrame:
    """``explode`` gets numbers: an array of the two halves would copy the images of every row."""
    updates = join_table_metadata(mutations, table_metadata.rows, "split_columns")
    indexes = [F.get("split_columns", F.lit(number)) for number in range(table_metadata.split_columns)]
    differs = reduce(or_, (~_at("before", index).eqNullSafe(_at("after", index)) for index in indexes))
    parted = (F.col("op") == Op.UPDATE) & differs
    halves = F.when(parted, F.array(F.lit(_DELETED), F.lit(_INSERTED))).otherwise(F.array(F.lit(_WHOLE)))
    deleted, inserted = F.col("half") == _DELETED, F.col("half") == _INSERTED
    op = F.when(deleted, Op.DELETE).when(inserted, Op.INSERT).otherwise(F.col("op"))
    both = updates.withColumn("half", F.explode(halves)).withColumns({
        "op": op.cast("byte"),
        "before": F.when(~inserted, F.col("before")),
        "after": F.when(~deleted, F.col("after")),
    })  # fmt: skip
    return both.drop("half", "split_columns")


def _at(image: str, index: Column) -> Column:
    return F.get(F.col(image), index)


def _kinds() -> Column:
    """The order of kinds after the second sort, then the order before it."""
    return F.concat(_kind_order("op"), _kind_order("kind_before"))


def _kinds_unsorted() -> Column:
    """The order of kinds without a second sort: only the inserts of split updates are moved."""
    moved = (F.col("op") == Op.INSERT) & (F.col("kind_before") == Op.UPDATE)
    return F.when(moved, F.unhex(F.lit(_AFTER_ALL))).otherwise(_kind_order("kind_before"))


def _kind_order(column: str) -> Column:
    order = F.lit(None)
    for op, text in _KIND_ORDER.items():
        order = F.when(F.col(column) == op, F.unhex(F.lit(text))).otherwise(order)
    return order


def _eight_bytes(number: Column) -> Column:
    """A non-negative long as 8 bytes, big-endian."""
    return F.unhex(F.lpad(F.hex(number), 16, "0"))
