"""The encode loop of a partition: its messages, the events that they carry, its faults, and a summary.

A dry run, a folder, Kafka and a storage use this loop, so the checked messages are the messages that are
sent. Its rows are deterministic: a task that runs again yields the same rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Protocol, TypeAlias, TypedDict

import numpy as np
import pyarrow as pa

from ticdc_producer.errors import EncodeError
from ticdc_producer.model import tso
from ticdc_producer.model.event import MessageNote
from ticdc_producer.model.shapes import CARRIED, CarriedBatch, EventBatch, EventOffsetBatch
from ticdc_producer.protocols.arrow_text import as_int64
from ticdc_producer.protocols.base import LastDescription
from ticdc_producer.protocols.message_batch import MessageBatch
from ticdc_producer.targets.encode import (
    MAX_LISTED_REJECTED,
    EncodePlan,
    PartitionEncoder,
    PartitionEventOffsets,
    Rejection,
    rejection,
)
from ticdc_producer.targets.message_rows import (
    STORED_MESSAGES,
    Chunks,
    DeliveryStats,
    KindCount,
    MessageRows,
    PendingEvents,
)
from ticdc_producer.targets.row_batches import NEEDED

MESSAGE, EVENT, FAULT = "message", "event", "fault"
FAULTS = pa.schema(
    [
        ("trap", pa.string()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("until", pa.int64()),
        ("events", pa.int64()),
        ("commit_ts", pa.int64()),
    ]
)
"""The positions of the faults of a run, see ``simulate.counts``."""
KINDS: Mapping[str, pa.Schema] = {MESSAGE: STORED_MESSAGES, EVENT: CARRIED, FAULT: FAULTS}
"""The kinds of rows that the loop yields: messages, the events that they carry, and faults."""
MAX_LISTED_FAULTS = 1000
"""Faults that a report lists; a golden folder lists all of them."""
FAULT_COLUMNS = ("fault", "restart_epoch")
Tagged: TypeAlias = tuple[str, pa.RecordBatch]


class FaultRow(TypedDict):
    """A row of :data:`FAULTS`: an occurrence of a fault in a partition.

    :ivar offset: offset of the first message; None if no message follows a removed event.
    :ivar until: offset of the last message.
    :ivar events: number of events that it concerns.
    :ivar commit_ts: lowest commit-ts of these events.
    """

    trap: str
    topic: str
    partition: int
    offset: int | None
    until: int | None
    events: int
    commit_ts: int


class FaultLog(Protocol):
    """The faults of one partition, collected while its events pass."""

    def sent(self, faulted_events: Iterable[EventBatch]) -> Iterator[EventBatch]:
        """Return the events without those that faults removed.

        :param faulted_events: events of the partition in delivery order, with ``NEEDED`` and
            ``FAULT_COLUMNS``.
        :return: the same columns and order.
        """

    def record_offsets(self, offsets: EventOffsetBatch) -> None:
        """Record which messages carry the events that passed (shape ``EVENT_OFFSETS``)."""

    def record_messages(self, batch: MessageBatch, first_offset: int) -> None:
        """Record the faults that are whole messages."""

    def occurrences(self, message_faults: Iterable[MessageNote]) -> Sequence[FaultRow]:
        """Return the faults of the partition, in order."""

    def identities(self, message_faults: Iterable[MessageNote]) -> Mapping[str, frozenset[int]]:
        """Return a number for each fault that may have several occurrences, by trap."""


@dataclass(frozen=True, kw_only=True)
class PartitionSummary:
    """The counts of an encoded partition; small.

    :param kinds: messages, events and bytes by kind of message.
    :param rejections: the first events that TiCDC's encoder rejects, with the physical time of each in ms.
    :param rejected: number of such events.
    :param rejected_tables: ``schema.table`` of their tables.
    :param faults: number of faults by trap, and the first of them (:data:`FAULTS`).
    :param fault_identities: by trap a number for each fault; a fault has the same in all partitions.
    :param large_rows: number of rows that are too large for a message.
    :param key_updates: number of updates that change a key, if the plan counts them.
    :param described: the last descriptions of tables, if the plan has those of earlier events.
    """

    topic: str
    partition: int
    kinds: Mapping[str, KindCount]
    rejections: Sequence[tuple[int, Rejection]] = ()
    rejected: int = 0
    rejected_tables: frozenset[str] = frozenset()
    faults: Counter[str] = field(default_factory=Counter)
    first_faults: Sequence[FaultRow] = ()
    fault_identities: Mapping[str, frozenset[int]] = field(default_factory=dict)
    large_rows: int = 0
    key_updates: int = 0
    described: Mapping[int, LastDescription] = field(default_factory=dict)


def needed_columns(*, faults: bool) -> tuple[str, ...]:
    """Return the columns of ``EVENT_STREAM`` that the loop reads."""
    return (*NEEDED, *FAULT_COLUMNS) if faults else NEEDED


def encode_partition(
    plan: EncodePlan,
    topic: str,
    partition: int,
    events: Iterable[EventBatch],
    *,
    kinds: Collection[str] = (),
    fault_log: Callable[[str, int], FaultLog] | None = None,
) -> Generator[Tagged, None, PartitionSummary]:
    """Encode the events of a partition.

    :param events: in delivery order, with ``needed_columns``. With a fault log they include the events that
        faults removed.
    :param kinds: the kinds of rows to yield, of :data:`KINDS`.
    :param fault_log: makes the log of the partition's faults; None: faults are not wanted.
    :return: yields rows with their kind, in order, and returns the summary.
    :raises EncodeError: for a row that TiCDC rejects, unless the plan skips such rows.
    """
    loop = _Loop(plan, topic, partition, None if fault_log is None else fault_log(topic, partition))
    chunks = {kind: Chunks() for kind in KINDS}
    for kind, batch in loop.rows(events, kinds):
        for chunk in chunks[kind].add(batch):
            yield kind, chunk
    for kind, rest in chunks.items():
        for chunk in rest.rest():
            yield kind, chunk
    return loop.summary


def encode_part(
    plan: EncodePlan,
    kinds: Collection[str],
    fault_log: Callable[[str, int], FaultLog] | None,
    batches: Iterator[pa.RecordBatch],
) -> Generator[Tagged, None, list[PartitionSummary]]:
    """Encode the events of whole partitions, one after the other, see :func:`encode_partition`."""
    summaries = []
    for (topic, partition), events in split_by_partition(batches):
        loop = encode_partition(plan, topic, partition, events, kinds=kinds, fault_log=fault_log)
        summaries.append((yield from loop))
    return summaries


def split_by_partition(
    batches: Iterator[EventBatch],
) -> Iterator[tuple[tuple[str, int], Iterator[EventBatch]]]:
    """Yield each ``(topic, partition)`` with its events, in order.

    :param batches: with ``topic`` and ``partition`` of ``EVENT_STREAM``; the events of each partition are
        contiguous. The events of one partition must be consumed before the next partition is requested.
    """
    runs = (run for batch in batches if batch.num_rows for run in _runs(batch))
    for partition, same in groupby(runs, key=itemgetter(0)):
        yield partition, map(itemgetter(1), same)


def _runs(batch: pa.RecordBatch) -> Iterator[tuple[tuple[str, int], pa.RecordBatch]]:
    """Yield the consecutive rows of one topic and partition, with topic and partition.

    >>> batch = pa.record_batch({"topic": ["t", "t", "t"], "partition": [0, 0, 1]})
    >>> [(key, rows.num_rows) for key, rows in _runs(batch)]
    [(('t', 0), 2), (('t', 1), 1)]
    """
    topics = batch.column("topic").dictionary_encode()
    keys = as_int64(topics.indices), as_int64(batch.column("partition"))
    changes = [np.flatnonzero(np.diff(part)) + 1 for part in keys]
    starts = np.unique(np.concatenate([[0], *changes])).tolist()
    for start, end in zip(starts, [*starts[1:], batch.num_rows], strict=True):
        partition = batch.column("topic")[start].as_py(), batch.column("partition")[start].as_py()
        yield partition, batch.slice(start, end - start)


class _Loop:
    """The loop that encodes one partition."""

    def __init__(self, plan: EncodePlan, topic: str, partition: int, fault_log: FaultLog | None) -> None:
        self._topic, self._partition, self._log = topic, partition, fault_log
        self._encoder = PartitionEncoder(plan, topic, partition)
        self._offsets = PartitionEventOffsets(self._encoder, plan.wire)
        self._messages = MessageRows(topic, partition)
        self._pending = PendingEvents(plan.faults.repeat_distance if plan.faults else 0)
        self._stats = DeliveryStats()
        self._count_key_updates, self._key_updates = plan.key_updates, 0
        self._faults: Sequence[FaultRow] = ()
        self._fault_identities: Mapping[str, frozenset[int]] = {}

    def rows(self, events: Iterable[EventBatch], kinds: Collection[str]) -> Iterator[Tagged]:
        if self._log is not None:
            events = self._log.sent(events)
        if self._count_key_updates is not None:
            events = self._counted(events, self._count_key_updates)
        if EVENT in kinds:
            events = self._pending.passing(events)
        for batch in self._stats.counted(self._encoder.batches(events)):
            if self._log is not None:
                self._log.record_messages(batch, self._stats.messages - len(batch))
            if MESSAGE in kinds:
                yield MESSAGE, self._messages.with_offsets(batch)
            if self._log is not None or EVENT in kinds:
                yield from self._of_events(batch, kinds)
        if self._log is not None:
            notes = [note for note in self._encoder.faults if "trap" in note]
            self._faults, self._fault_identities = self._log.occurrences(notes), self._log.identities(notes)
            if FAULT in kinds and self._faults:
                yield FAULT, pa.RecordBatch.from_pylist([*self._faults], schema=FAULTS)

    def _counted(
        self, events: Iterable[EventBatch], key_updates: Callable[[pa.RecordBatch], int]
    ) -> Iterator[EventBatch]:
        for batch in events:
            self._key_updates += key_updates(batch)
            yield batch

    def _of_events(self, batch: MessageBatch, kinds: Collection[str]) -> Iterator[Tagged]:
        offsets = self._offsets.event_offsets(batch)
        if self._log is not None:
            self._log.record_offsets(offsets)
        if EVENT in kinds:
            for events in self._pending.at_offsets(offsets):
                yield EVENT, events

    @property
    def summary(self) -> PartitionSummary:
        rejected = self._encoder.rejected
        return PartitionSummary(
            topic=self._topic,
            partition=self._partition,
            kinds=dict(self._stats.kinds),
            rejections=[
                (tso.physical(error.commit_ts), rejection(ordinal, error))
                for ordinal, error in _earliest(rejected)
            ],
            rejected=len(rejected),
            rejected_tables=frozenset(error.table for error in rejected.values()),
            faults=Counter(fault["trap"] for fault in self._faults),
            first_faults=self._faults[:MAX_LISTED_FAULTS],
            fault_identities=self._fault_identities,
            large_rows=self._encoder.large_rows,
            key_updates=self._key_updates,
            described=self._encoder.described,
        )


def _earliest(rejected: Mapping[int, EncodeError]) -> list[tuple[int, EncodeError]]:
    """Return the first rejected events of a partition that a report may list, by time and ordinal."""

    def key(entry: tuple[int, EncodeError]) -> tuple[int, int]:
        return tso.physical(entry[1].commit_ts), entry[0]

    return sorted(rejected.items(), key=key)[:MAX_LISTED_REJECTED]


def encoded_events(
    plan: EncodePlan, topic: str, partition: int, events: Iterable[EventBatch]
) -> Iterator[CarriedBatch]:
    """Yield the events that messages carry (shape ``CARRIED``), in the order of the messages.

    Events are encoded when they are read.

    :param events: as for :func:`encode_partition`, without events that faults removed.
    """
    for kind, batch in _Loop(plan, topic, partition, None).rows(events, (EVENT,)):
        if kind == EVENT:
            yield batch
