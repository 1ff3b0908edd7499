"""Expected events of handle-key-only messages."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ticdc_producer.model.event import Op
from ticdc_producer.model.fidelity import Fidelity


def reduce_to_handle_key(expected: DataFrame, fidelity: Fidelity) -> DataFrame:
    """Reduce rows to their handle key where ``large`` is true; drop the columns ``large`` and ``handle_key``.

    Handle key columns never differ between the images of an update, so an old image that has only the changed
    columns is empty then.

    :param expected: the result of ``expected_events`` with ``handle_key``, and with ``large``.
    """
    large, names = F.col("large"), F.col("handle_key")

    def image(name: str) -> Column:
        return F.map_filter(name, lambda column, _: F.array_contains(names, column))

    old = image("before")
    if not fidelity.names_operation:
        old = F.when(F.size(old) > 0, old)
    columns = F.filter("columns", lambda column: F.array_contains(names, column["name"]))
    reduced = {"columns": columns, "before": old, "after": image("after"), "handle_key_only": F.lit(1)}
    chosen = {
        name: F.when(large, value.cast(expected.schema[name].dataType)).otherwise(F.col(name))
        for name, value in reduced.items()
    }
    events = expected.withColumns(chosen)
    if not fidelity.names_operation:
        silent = large & (F.col("op") == Op.UPDATE.label) & F.col("before").isNull()
        events = events.withColumn("op", F.when(silent, Op.INSERT.label).otherwise(F.col("op")))
    return events.drop("large", "handle_key")
