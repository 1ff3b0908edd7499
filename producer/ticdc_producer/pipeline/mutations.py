"""Stage 2: what TiKV keeps of a transaction: at most one mutation per row key.

Source: TiDB's two-phase commit writes one value per key; the table of cases stands in
stream-semantics §2 (a delete and insert of one key is an update, an insert and delete is nothing).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ticdc_producer.model.event import Op

KEY = ("commit_ts", "table_id", "row_key")
_STAYS, _LEAVES, _ARRIVES = 0, 1, 2
"""What becomes of the key: it stays, or the row leaves one and arrives at another."""


def mutations(changes: DataFrame) -> DataFrame:
    """Collapse the changes of each transaction to net mutations.

    :param changes: a change log with ``commit_ts``.
    :return: ``commit_ts, commit_seq, table_version, table_id, row_key, row_id, op, before, after``, one
        row per mutation; what changes nothing in the end is gone.
    """
    net = (
        _one_key_each(changes)
        .groupBy(*KEY)
        .agg(
            F.min("commit_seq").alias("commit_seq"),
            F.max_by("table_version", "row_seq").alias("table_version"),
            F.max_by("row_id", "row_seq").alias("row_id"),
            F.min_by("before", "row_seq").alias("before"),
            F.max_by("after", "row_seq").alias("after"),
        )
    )
    return _told(net)


def net_mutations(changes: DataFrame, *, moves: bool = True) -> DataFrame:
    """The same for changes of which no transaction has two of one row: nothing has to be shuffled.

    :param moves: whether any of them may have taken its row to another key.
    """
    stay = _one_key_each(changes) if moves else changes.drop("old_table_id", "old_row_key", "old_row_id")
    return _told(stay.drop("row_seq"))


def _told(net: DataFrame) -> DataFrame:
    return net.where(~F.col("before").eqNullSafe(F.col("after"))).withColumn("op", _net_op())


def _net_op() -> Column:
    inserted = F.when(F.col("before").isNull(), Op.INSERT)
    return inserted.when(F.col("after").isNull(), Op.DELETE).otherwise(Op.UPDATE).cast("byte")


def _one_key_each(changes: DataFrame) -> DataFrame:
    """Changes that stay on their key; an update that moved its row is a delete and an insert.

    Each change is multiplied by numbers: an array of halves would copy the images of every row into it.
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
