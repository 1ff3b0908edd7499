"""Net mutations of generated rows: at most one per row key and transaction."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ticdc_producer.model.event import Op

_STAYS, _LEAVES, _ARRIVES = 0, 1, 2
"""Whether the row stays on its key, or leaves one key and arrives at another."""


def net_mutations(changes: DataFrame, *, moves: bool = True) -> DataFrame:
    """Mutations of changes of which no transaction has two of one row.

    :param moves: whether any change may move its row to another key.
    """
    stay = _one_key_each(changes) if moves else changes.drop("old_table_id", "old_row_key", "old_row_id")
    return _with_op(stay.drop("row_seq"))


def _with_op(net: DataFrame) -> DataFrame:
    return net.where(~F.col("before").eqNullSafe(F.col("after"))).withColumn("op", _net_op())


def _net_op() -> Column:
    inserted = F.when(F.col("before").isNull(), Op.INSERT)
    return inserted.when(F.col("after").isNull(), Op.DELETE).otherwise(Op.UPDATE).cast("byte")


def _one_key_each(changes: DataFrame) -> DataFrame:
    """Replace an update that moves its row to another key by a delete and an insert.

    ``explode`` gets numbers: an array of the two halves would copy the images of every row.
    """
    moved = F.col("old_row_key").isNotNull()
    halves = F.when(moved, F.array(F.lit(_LEAVES), F.lit(_ARRIVES))).otherwise(F.array(F.lit(_STAYS)))
    leaves, arrives = F.col("half") == _LEAVES, F.col("half") == _ARRIVES
    old_key = [
        F.when(leaves, F.col(f"old_{name}")).otherwise(F.col(name)).alias(name)
        for name in ("table_id", "row_key", "row_id")
    ]
    return changes.withColumn("half", F.explode(halves)).select(
        "commit_ts",
        "commit_seq",
        "row_seq",
        "table_version",
        *old_key,
        F.when(~arrives, F.col("before")).alias("before"),
        F.when(~leaves, F.col("after")).alias("after"),
    )
