"""The old row of updates and deletes: from a column of the DataFrame, or from the change before."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from ticdc_producer.model.event import Op
from ticdc_producer.scenario.dataframe.refusal import stop


def given_old_row(now: Column, old: Column, has_old: Column, key: Column, name: str) -> Column:
    """The old image where updates bring theirs and deletes are their own.

    :param name: of the column that holds the old rows.
    :param key: shown where an update has none, or another operation has one.
    """
    op = F.col("op")
    lacks = stop(f"{name!r} is NULL for the update of row ", key)
    extra = stop(f"{name!r} must be NULL for inserts and deletes, and is not for row ", key)
    return (
        F.when((op == Op.UPDATE) & has_old, old)
        .when(op == Op.UPDATE, lacks)
        .when(has_old, extra)
        .when(op == Op.DELETE, now)
    )


def with_previous_row(changes: DataFrame) -> DataFrame:
    """Add ``before``: the image that the change before left under the same key.

    :param changes: ``op``, ``commit_seq``, ``row_seq``, ``row_key``, ``after``, and ``shown``, which names
        the row where the history does not fit together and the job stops.
    """
    window = Window.partitionBy("row_key").orderBy("commit_seq", "row_seq")
    place = F.struct("commit_seq", "row_seq")
    looked_back = changes.withColumns({
        "previous": F.lag("after").over(window),
        "previous_place": F.lag(place).over(window),
    })  # fmt: skip
    return looked_back.withColumn("before", _checked(place, F.col("previous"), F.col("shown")))


def _checked(place: Column, previous: Column, key: Column) -> Column:
    inserts = F.col("op") == Op.INSERT
    same_place = stop("two changes have the same place in the order, those of row ", key)
    exists = stop("insert of a row that exists, row ", key)
    hint = "an update that changes the key needs `before`"
    absent = stop(f"update or delete of a row that no change before made ({hint}), row ", key)
    return (
        F.when(F.col("previous_place") == place, same_place)
        .when(inserts & previous.isNotNull(), exists)
        .when(~inserts & previous.isNull(), absent)
        .otherwise(previous)
    )
