"""The first messages of a topic, printed as the seed documents print their log."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from pyspark.sql import DataFrame, Row, Window
from pyspark.sql import functions as F

from producer.codec.open.decoder import OpenDecoder
from producer.codec.open.log_lines import log_lines

SHOWN = 14
"""As many lines as the seeds' example has."""
_PARTITIONS = 8


def first_lines(messages: DataFrame, protocol: str) -> list[str]:
    """Numbered log lines of the first messages of the first partitions, the oldest first.

    :param messages: shape ``MESSAGES``.
    :return: none for a protocol that has no such form.
    """
    if protocol != "open-protocol":
        return []
    in_order = Window.partitionBy("topic", "partition").orderBy("offset")
    first = messages.withColumn("nth", F.row_number().over(in_order)).where(F.col("nth") <= SHOWN)
    rows = first.orderBy("nth", "topic", "partition").limit(SHOWN * _PARTITIONS).collect()
    lines = [line for row in _merged(rows) for line in log_lines(row["partition"], *_bytes(row))]
    return [f"{number}. {line}" for number, line in enumerate(lines[:SHOWN], start=1)]


def _merged(rows: list[Row]) -> Iterator[Row]:
    """The messages of all partitions as one list: each partition's order kept, the oldest head next."""
    queues: dict[tuple[str, int], deque[Row]] = {}
    for row in rows:
        queues.setdefault((row["topic"], row["partition"]), deque()).append(row)
    while queues:
        place = min(queues, key=lambda place: (_commit_ts(queues[place][0]), place))
        yield queues[place].popleft()
        if not queues[place]:
            del queues[place]


def _commit_ts(row: Row) -> int:
    return next(OpenDecoder().events(*_bytes(row))).commit_ts


def _bytes(row: Row) -> tuple[bytes, bytes]:
    return bytes(row["key"] or b""), bytes(row["value"] or b"")
