"""The first messages of a topic, printed as the seed documents print their log."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from producer.codec.open.log_lines import log_lines

SHOWN = 14
"""As many lines as the seeds' example has."""
_PER_PARTITION = 8


def first_lines(messages: DataFrame, protocol: str) -> list[str]:
    """Numbered log lines of the first messages of every partition.

    :param messages: shape ``MESSAGES``.
    :return: none for a protocol that has no such form.
    """
    if protocol != "open-protocol":
        return []
    in_order = Window.partitionBy("topic", "partition").orderBy("offset")
    first = messages.withColumn("nth", F.row_number().over(in_order)).where(F.col("nth") <= _PER_PARTITION)
    rows = first.orderBy("nth", "topic", "partition").limit(2 * SHOWN).collect()
    lines = [
        line
        for row in rows
        for line in log_lines(row["partition"], bytes(row["key"]), bytes(row["value"] or b""))
    ]
    return [f"{number}. {line}" for number, line in enumerate(lines[:SHOWN], start=1)]
