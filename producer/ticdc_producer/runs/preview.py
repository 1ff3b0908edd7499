"""The first messages of a topic, in the format of the documentation sample (docs/documentation-sample.md)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from pyspark.sql import DataFrame, Row, Window
from pyspark.sql import functions as F

from ticdc_producer.errors import DecodeError
from ticdc_producer.protocols.open_protocol.decoder import OpenDecoder
from ticdc_producer.protocols.open_protocol.log_lines import log_lines

MAX_LINES = 14
"""Number of lines, that of the documentation sample."""
_PARTITIONS = 8


def first_lines(messages: DataFrame, protocol: str) -> list[str]:
    """Numbered lines of the first messages of the first partitions, by commit-ts.

    :param messages: shape ``MESSAGES``.
    :return: empty for protocols other than Open Protocol. Messages that do not decode are skipped.
    """
    if protocol != "open-protocol":
        return []
    in_order = Window.partitionBy("topic", "partition").orderBy("offset")
    first = messages.withColumn("nth", F.row_number().over(in_order)).where(F.col("nth") <= MAX_LINES)
    rows = first.orderBy("nth", "topic", "partition").limit(MAX_LINES * _PARTITIONS).collect()
    timed = [(ts, row) for row in rows if (ts := _commit_ts(row)) is not None]
    lines = [line for row in _merge_partitions(timed) for line in log_lines(row["partition"], *_bytes(row))]
    return [f"{number}. {line}" for number, line in enumerate(lines[:MAX_LINES], start=1)]


def _merge_partitions(timed: list[tuple[int, Row]]) -> Iterator[Row]:
    """Merge the partitions: each keeps its order, and the head with the lowest commit-ts comes next.

    :param timed: pairs of the commit-ts of a message's first event and the message.
    """
    queues: dict[tuple[str, int], deque[tuple[int, Row]]] = {}
    for ts, row in timed:
        queues.setdefault((row["topic"], row["partition"]), deque()).append((ts, row))
    while queues:
        partition = min(queues, key=lambda partition: (queues[partition][0][0], partition))
        yield queues[partition].popleft()[1]
        if not queues[partition]:
            del queues[partition]


def _commit_ts(row: Row) -> int | None:
    """Commit-ts of a message's first event; None for a message that does not decode or has no event."""
    try:
        return next((event.commit_ts for event in OpenDecoder().events(*_bytes(row))), None)
    except DecodeError:
        return None


def _bytes(row: Row) -> tuple[bytes, bytes]:
    return bytes(row["key"] or b""), bytes(row["value"] or b"")
