"""Stage 2: what TiKV keeps of a transaction: at most one mutation per row key.

Source: TiDB's two-phase commit writes one value per key; the table of cases stands in
stream-semantics §2 (a delete and insert of one key is an update, an insert and delete is nothing).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from producer.model.event import Op

KEY = ("commit_ts", "table_id", "row_key")


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


def net_mutations(changes: DataFrame) -> DataFrame:
    """The same for changes of which no transaction has two of one row: nothing has to be shuffled."""
    return _told(_one_key_each(changes).drop("row_seq"))


def _told(net: DataFrame) -> DataFrame:
    return net.where(~F.col("before").eqNullSafe(F.col("after"))).withColumn("op", _net_op())


def _net_op() -> Column:
    inserted = F.when(F.col("before").isNull(), Op.INSERT)
    return inserted.when(F.col("after").isNull(), Op.DELETE).otherwise(Op.UPDATE).cast("byte")


def _one_key_each(changes: DataFrame) -> DataFrame:
    """Changes that stay on their key; an update that moved its row is a delete and an insert."""
    no_image = F.lit(None).cast("array<binary>")
    stays = _half("table_id", "row_key", "row_id", F.col("before"), F.col("after"))
    leaves = _half("old_table_id", "old_row_key", "old_row_id", F.col("before"), no_image)
    arrives = _half("table_id", "row_key", "row_id", no_image, F.col("after"))
    moved = F.col("old_row_key").isNotNull()
    return changes.select(
        "commit_ts",
        "commit_seq",
        "row_seq",
        "table_version",
        F.inline(F.when(moved, F.array(leaves, arrives)).otherwise(F.array(stays))),
    )


def _half(table_id: str, row_key: str, row_id: str, before: Column, after: Column) -> Column:
    return F.struct(
        F.col(table_id).alias("table_id"),
        F.col(row_key).alias("row_key"),
        F.col(row_id).alias("row_id"),
        before.alias("before"),
        after.alias("after"),
    )
