"""The first messages of a topic, printed as the seed documents print their log."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from pyspark.sql import DataFrame, Row, Window
from pyspark.sql import functions as F

from ticdc_producer.errors import DecodeError
from ticdc_producer.protocols.open_protocol.decoder import OpenDecoder
from ticdc_producer.protocols.open_protocol.log_lines import log_lines

SHOWN = 14
"""As many lines as the seeds' example has."""
_PARTITIONS = 8


def first_lines(messages: DataFrame, protocol: str) -> list[str]:
    """Numbered log lines of the first messages of the first partitions, the oldest first.

    :param messages: shape ``MESSAGES``.
    :return: none for a protocol that has no such form. Messages that do not decode are passed over.
    """
    if protocol != "open-protocol":
        return []
    in_order = Window.partitionBy("topic", "partition").orderBy("offset")
    first = messages.withColumn("nth", F.row_number().over(in_order)).where(F.col("nth") <= SHOWN)
    rows = first.orderBy("nth", "topic", "partition").limit(SHOWN * _PARTITIONS).collect()
    timed = [(ts, row) for row in rows if (ts := _commit_ts(row)) is not None]
    lines = [line for row in _merged(timed) for line in log_lines(row["partition"], *_bytes(row))]
    return [f"{number}. {line}" for number, line in enumerate(lines[:SHOWN], start=1)]


def _merged(timed: list[tuple[int, Row]]) -> Iterator[Row]:
    """The messages of all partitions as one list: each partition's order kept, the oldest head next.

    :param timed: messages behind the commit-ts of their first event.
    """
    queues: dict[tuple[str, int], deque[tuple[int, Row]]] = {}
    for ts, row in timed:
        queues.setdefault((row["topic"], row["partition"]), deque()).append((ts, row))
    while queues:
        place = min(queues, key=lambda place: (queues[place][0][0], place))
        yield queues[place].popleft()[1]
        if not queues[place]:
            del queues[place]


def _commit_ts(row: Row) -> int | None:
    """Of the first event; None for a message that does not decode, or has none."""
    try:
        return next((event.commit_ts for event in OpenDecoder().events(*_bytes(row))), None)
    except DecodeError:
        return None


def _bytes(row: Row) -> tuple[bytes, bytes]:
    return bytes(row["key"] or b""), bytes(row["value"] or b"")
