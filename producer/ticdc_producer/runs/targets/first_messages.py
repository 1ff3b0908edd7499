"""The first events of a topic: as ``decode`` prints them, and as the log of docs/documentation-sample.md."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from ticdc_producer.config import Changefeed
from ticdc_producer.engine.dataset import Batches
from ticdc_producer.engine.spool import empty
from ticdc_producer.model.column_functions import first_of_groups
from ticdc_producer.model.event_line import DecodedRow, event_text
from ticdc_producer.model.shapes import DECODED, MESSAGES, BatchFunction
from ticdc_producer.verifier.messages import Messages

MAX_LINES = 14
"""Number of lines, that of the documentation sample."""


_PARTITIONS = 8


_MOST = 10_000_000
"""Messages of all parts that are read."""


_PARTITION = ("topic", "partition")
_MESSAGE = (*_PARTITION, "offset")


@dataclass(frozen=True)
class FirstEvents:
    """The first events of a run.

    :param lines: as ``decode`` prints them. A DDL or resolved event that is next in several partitions is one
        line.
    :param events: number of events in the lines.
    """

    lines: tuple[str, ...] = ()
    events: int = 0


_Row: TypeAlias = DecodedRow
_BROADCAST = ("ddl", "resolved")


@dataclass(frozen=True)
class FirstMessages:
    """The first messages of each partition, and their events.

    :param messages: shape ``MESSAGES``, in the order of topic, partition and offset.
    :param events: shape ``DECODED``, in the same order.
    """

    messages: pa.Table
    events: pa.Table

    @classmethod
    def of(cls, messages: pa.Table, decode: BatchFunction) -> FirstMessages:
        """Decode messages that are in any order.

        :param decode: to events (shape ``DECODED``).
        """
        in_order = messages.sort_by([(name, "ascending") for name in _MESSAGE]).combine_chunks()
        return cls(in_order, pa.Table.from_batches(decode(iter(in_order.to_batches())), DECODED))

    def first_events(self) -> FirstEvents:
        """Return the first events of all partitions, by commit-ts."""
        heads = [rows.slice(0, MAX_LINES).to_pylist() for rows in _partitions(self.events)]
        rows = list(islice(_delivered(heads), MAX_LINES))
        return FirstEvents(tuple(_line(row, count) for row, count in rows), sum(count for _, count in rows))

    def log_lines(self, changefeed: Changefeed) -> list[str]:
        """Return numbered lines of the first messages of the first partitions, by commit-ts.

        :return: empty for protocols whose consumers log no lines. Messages that do not decode are skipped.
        """
        log_lines = changefeed.spec.log_lines
        if log_lines is None:
            return []
        heads = [rows.slice(0, MAX_LINES).to_pylist() for rows in _partitions(self.messages)[:_PARTITIONS]]
        times = self._times()
        timed = [
            [(times[name], row) for row in head for name in [_name(row)] if name in times] for head in heads
        ]
        rows = heapq.merge(*timed, key=itemgetter(0))  # each partition keeps its order
        lines = [line for _, row in rows for line in log_lines(row["partition"], *_bytes(row))]
        return [f"{number}. {line}" for number, line in enumerate(lines[:MAX_LINES], start=1)]

    def _times(self) -> dict[tuple[str, int, int], int]:
        """Return the commit-ts of the first event of each message that decodes and has events."""
        firsts = self.events.select([*_MESSAGE, "index", "commit_ts"]).to_pylist()
        return {
            _name(row): row["commit_ts"]
            for row in firsts
            if row["index"] == 0 and row["commit_ts"] is not None
        }


def _delivered(partitions: Sequence[Sequence[_Row]]) -> Iterator[tuple[_Row, int]]:
    """Merge the partitions, each in its order; the head with the lowest commit-ts comes next.

    :return: each row, and the number of partitions that have it as their next one.
    """
    queues = [deque(rows) for rows in partitions]
    while queues:
        first = min(queues, key=lambda queue: _rank(queue[0]))
        row = first[0]
        same = [queue for queue in queues if queue is first or _is_copy(queue[0], row)]
        for queue in same:
            queue.popleft()
        yield row, len(same)
        queues = [queue for queue in queues if queue]


def _rank(row: _Row) -> tuple[int, bool]:
    """Return the key of the merge: resolved events come after the rows of their commit-ts."""
    return row["commit_ts"] or 0, row["kind"] == "resolved"


def _is_copy(row: _Row, other: _Row) -> bool:
    """Return whether a row is the event that TiCDC sends to all partitions, in another partition."""
    return row["kind"] in _BROADCAST and _broadcast_content(row) == _broadcast_content(other)


def _broadcast_content(row: _Row) -> tuple[object, ...]:
    return row["kind"], row["commit_ts"], row["schema"], row["table"], row["query"]


def _line(row: _Row, partitions: int) -> str:
    return event_text(row) + (f" (in {partitions} partitions)" if partitions > 1 else "")


def first_messages(messages: Messages) -> pa.Table:
    """Return the first messages of each partition in each part (shape ``MESSAGES``)."""
    one_partition = messages.read_at is not None  # a part has messages of one partition of a topic

    def heads(batches: Batches) -> Iterator[pa.RecordBatch]:
        seen: dict[tuple[str, int], int] = {}
        for batch in batches:
            for rows in _partitions(pa.Table.from_batches([batch])):
                name = rows["topic"][0].as_py(), rows["partition"][0].as_py()
                head = rows.slice(0, MAX_LINES - seen.get(name, 0))
                seen[name] = seen.get(name, 0) + head.num_rows
                # A slice would hold the whole batch in memory.
                yield from head.take(np.arange(head.num_rows)).to_batches()
            if one_partition and min(seen.values(), default=0) == MAX_LINES:
                return

    return messages.rows.map(heads, MESSAGES).small(_MOST)


def _partitions(messages: pa.Table) -> list[pa.Table]:
    """Return the messages of each partition, which are consecutive."""
    (batch,) = messages.select(_PARTITION).combine_chunks().to_batches() or [empty(messages.schema)]
    starts = np.flatnonzero(first_of_groups(batch, _PARTITION)).tolist()
    return [messages.slice(start, end - start) for start, end in pairwise([*starts, len(batch)])]


def _name(row: Mapping[str, Any]) -> tuple[str, int, int]:
    return row["topic"], row["partition"], row["offset"]


def _bytes(row: Mapping[str, Any]) -> tuple[bytes, bytes]:
    return bytes(row["key"] or b""), bytes(row["value"] or b"")
