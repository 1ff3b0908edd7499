"""Limits of micro-batches, which Spark has since 4.2."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark_ticdc.offsets import Partitions

if TYPE_CHECKING:
    from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows
    from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow as TriggerAvailableNow
else:
    try:
        from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows
        from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow as TriggerAvailableNow
    except ImportError:  # Spark 4.1, which never calls what needs them

        class ReadLimit:
            """Replaces the class of Spark 4.2."""

        ReadMaxRows = TriggerAvailableNow = ReadLimit

__all__ = ["ReadLimit", "ReadMaxRows", "TriggerAvailableNow", "limited"]


def limited(starts: Partitions, ends: Partitions, limit: ReadLimit | None) -> dict[tuple[str, int], int]:
    """Return the ends of a micro-batch.

    A limit is divided among the partitions in proportion to their messages, as Spark's Kafka source does.

    >>> limited({("t", 0): 0, ("t", 1): 5}, {("t", 0): 30, ("t", 1): 15}, ReadMaxRows(8))
    {('t', 0): 6, ('t', 1): 7}
    """
    sizes = {position: end - starts[position] for position, end in ends.items()}
    total = sum(sizes.values())
    if not isinstance(limit, ReadMaxRows) or total <= limit.max_rows:
        return dict(ends)
    most = limit.max_rows
    # At least one message, so that no partition waits forever.
    shares = {position: min(size, max(1, size * most // total)) for position, size in sizes.items()}
    return {position: starts[position] + share for position, share in shares.items()}
