"""The old row of updates and deletes: from a column of the DataFrame, or from the previous change."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from ticdc_producer.model.event import Op
from ticdc_producer.scenario.dataframe.refusal import stop_job


def given_old_row(now: Column, old: Column, has_old: Column, key: Column, name: str) -> Column:
    """The old image: of an update from a column, of a delete the deleted row itself.

    :param name: name of the column with the old rows.
    :param key: text of the row's key, for the message if an update has no old row, or another operation one.
    """
    op = F.col("op")
    lacks = stop_job(f"{name!r} is NULL for the update of row ", key)
    extra = stop_job(f"{name!r} must be NULL for inserts and deletes, and is not for row ", key)
    return (
        F.when((op == Op.UPDATE) & has_old, old)
        .when(op == Op.UPDATE, lacks)
        .when(has_old, extra)
        .when(op == Op.DELETE, now)
    )


def with_previous_row(changes: DataFrame) -> DataFrame:
    """Add ``before``: the image after the previous change under the same key.

    :param changes: ``op``, ``commit_seq``, ``row_seq``, ``row_key``, ``after``, and ``key_text``, which names
        the row in the message if the history is inconsistent and the job stops.
    """
    window = Window.partitionBy("row_key").orderBy("commit_seq", "row_seq")
    position = F.struct("commit_seq", "row_seq")
    with_lag = changes.withColumns({
        "previous": F.lag("after").over(window),
        "previous_position": F.lag(position).over(window),
    })  # fmt: skip
    return with_lag.withColumn("before", _checked(position, F.col("previous"), F.col("key_text")))


def _checked(position: Column, previous: Column, key: Column) -> Column:
    inserts = F.col("op") == Op.INSERT
    same_position = stop_job("two changes have the same position in the order, those of row ", key)
    exists = stop_job("insert of a row that exists, row ", key)
    hint = "an update that changes the key needs `before`"
    absent = stop_job(f"update or delete of a row that no earlier change inserted ({hint}), row ", key)
    return (
        F.when(F.col("previous_position") == position, same_position)
        .when(inserts & previous.isNotNull(), exists)
        .when(~inserts & previous.isNull(), absent)
        .otherwise(previous)
    )
