"""Expected rows as a reader gets them of messages that show the handle key alone."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ticdc_producer.model.event import Op
from ticdc_producer.model.fidelity import Losses


def shown_by_handle_key(expected: DataFrame, losses: Losses) -> DataFrame:
    """Rows reduced to their handle key where ``large`` is true; both helping columns go.

    Handle key columns never differ between the images of an update, so an old image of what changed
    shows nothing then.

    :param expected: as ``stream.expected`` gives it, with ``handle_key``, and ``large``.
    """
    large, names = F.col("large"), F.col("handle_key")

    def image(name: str) -> Column:
        return F.map_filter(name, lambda column, _: F.array_contains(names, column))

    old = image("before")
    if not losses.names_operation:
        old = F.when(F.size(old) > 0, old)
    columns = F.filter("columns", lambda column: F.array_contains(names, column["name"]))
    reduced = {"columns": columns, "before": old, "after": image("after"), "handle_key_only": F.lit(1)}
    chosen = {
        name: F.when(large, value.cast(expected.schema[name].dataType)).otherwise(F.col(name))
        for name, value in reduced.items()
    }
    events = expected.withColumns(chosen)
    if not losses.names_operation:
        silent = large & (F.col("op") == Op.UPDATE.word) & F.col("before").isNull()
        events = events.withColumn("op", F.when(silent, Op.INSERT.word).otherwise(F.col("op")))
    return events.drop("large", "handle_key")
