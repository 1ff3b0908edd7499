"""The messages of a Kafka partition as Arrow batches, their events, and counts of those delivered."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model import tso
from ticdc_producer.model.column_functions import Numbers, concatenated
from ticdc_producer.model.event import DAMAGE, ROW_ELSEWHERE, Kind
from ticdc_producer.model.shapes import (
    CARRIED,
    EVENT_STREAM,
    HEADERS,
    MESSAGES,
    CarriedBatch,
    EventBatch,
    EventOffsetBatch,
    StoredMessageBatch,
)
from ticdc_producer.protocols.arrow_text import as_int64
from ticdc_producer.protocols.message_batch import MessageBatch

_CHUNK = 2048
_CHUNK_BYTES = 8 << 20
CLAIMS = pa.list_(pa.struct([("name", pa.string()), ("content", pa.binary())]))
STORED_MESSAGES = pa.schema([*MESSAGES, ("commit_ts", pa.int64()), ("claims", CLAIMS)])
"""Messages with the columns that a writer needs: the commit-ts of the first event, and the claim-check
objects of the message, which are written before it."""
_NO_HEADERS = pa.array([], MESSAGES.field("headers").type.value_type)


class MessageRows:
    """Messages with their offsets, beginning with 0.

    The timestamp is the physical part of the first event's commit-ts.
    """

    def __init__(self, topic: str, partition: int) -> None:
        self._topic = topic
        self._partition = partition
        self._offset = 0

    def with_offsets(self, batch: MessageBatch) -> StoredMessageBatch:
        """Return the next messages (:data:`STORED_MESSAGES`)."""
        start, self._offset = self._offset, self._offset + len(batch)
        return self._batch(batch, np.arange(start, self._offset))

    def _batch(self, batch: MessageBatch, offsets: Numbers) -> StoredMessageBatch:
        count = len(batch)
        columns = [
            pa.repeat(self._topic, count),
            pa.repeat(pa.scalar(self._partition, pa.int32()), count),
            pa.array(offsets),
            batch.key,
            batch.value,
            _headers(batch),
            pc.shift_right(batch.commit_ts, tso.LOGICAL_BITS),
            pa.repeat(Kind.ROW.label, count) if batch.types is None else batch.types,
            batch.events,
            batch.commit_ts,
            _claims(batch),
        ]
        typed = [
            column if column.type == field.type else column.cast(field.type)
            for column, field in zip(columns, STORED_MESSAGES, strict=True)
        ]
        rows: StoredMessageBatch = pa.record_batch(typed, schema=STORED_MESSAGES)
        return rows


def _headers(batch: MessageBatch) -> pa.Array:
    if not batch.headers:  # no TiCDC encoder sets headers; those of other packages may
        return pa.ListArray.from_arrays(pa.array(np.zeros(len(batch) + 1, np.int32)), _NO_HEADERS)
    return pa.array([batch.headers.get(index, ()) for index in range(len(batch))], HEADERS)


def _claims(batch: MessageBatch) -> pa.Array:
    if not batch.claims:
        return pa.nulls(len(batch), CLAIMS)
    objects = (batch.claims.get(index) for index in range(len(batch)))
    rows = [
        None if claims is None else [{"name": claim.name, "content": claim.content} for claim in claims]
        for claims in objects
    ]
    return pa.array(rows, CLAIMS)


class Chunks:
    """Small batches of equal columns (a shape such as ``CARRIED``), joined in their order."""

    def __init__(self) -> None:
        self._held: list[pa.RecordBatch] = []
        self._rows = self._size = 0

    def add(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Add a batch; yield the held batches as one if they are large enough."""
        self._held.append(batch)
        self._rows, self._size = self._rows + batch.num_rows, self._size + batch.nbytes
        if self._rows >= _CHUNK or self._size >= _CHUNK_BYTES:
            yield from self.rest()

    def rest(self) -> Iterator[pa.RecordBatch]:
        """Yield the held batches as one, if there are any."""
        held, self._held, self._rows, self._size = self._held, [], 0, 0
        if held:
            yield concatenated(held)


_OF_EVENT = [name for name in CARRIED.names if name in EVENT_STREAM.names]
_OF_POSITION = [name for name in CARRIED.names if name not in EVENT_STREAM.names]


def at_positions(events: EventBatch, offsets: EventOffsetBatch, first_ordinal: int = 0) -> CarriedBatch:
    """Return events with their positions (shape ``CARRIED``), in the order of the positions.

    :param events: successive events of a partition, with at least the columns of events in ``CARRIED``.
    :param offsets: positions of some of these events (shape ``EVENT_OFFSETS``).
    :param first_ordinal: ordinal of the first of ``events``.

    >>> from ticdc_producer.model.shapes import EVENT_OFFSETS
    >>> events = pa.RecordBatch.from_pylist([{"commit_ts": 7}, {"commit_ts": 8}], EVENT_STREAM)
    >>> offsets = pa.RecordBatch.from_pylist([{"event_ordinal": 5, "offset": 3, "index": 0}], EVENT_OFFSETS)
    >>> at_positions(events, offsets, 4).select(["commit_ts", "offset", "index"]).to_pylist()
    [{'commit_ts': 8, 'offset': 3, 'index': 0}]
    """
    rows = as_int64(offsets.column("event_ordinal")) - first_ordinal
    events = _rows(events.select(_OF_EVENT), rows)
    columns = {name: events.column(name) for name in _OF_EVENT}
    columns |= {name: offsets.column(name) for name in _OF_POSITION}
    batch: CarriedBatch = pa.record_batch([columns[name] for name in CARRIED.names], schema=CARRIED)
    return batch


def _rows(events: EventBatch, rows: Numbers) -> pa.RecordBatch:
    """Return some rows; without a copy if they are consecutive.

    >>> _rows(pa.record_batch({"id": [7, 8, 9]}), np.array([1, 2])).to_pydict()
    {'id': [8, 9]}
    """
    if len(rows) and np.array_equal(rows, np.arange(rows[0], rows[0] + len(rows))):
        return events.slice(rows[0], len(rows))
    return events.take(pa.array(rows))


class PendingEvents:
    """The events that an encoder reads, until the messages that carry them are known.

    :param repeat_distance: a message carries an event again at most this number of messages later.
    """

    def __init__(self, repeat_distance: int = 0) -> None:
        self._held: deque[tuple[int, pa.RecordBatch]] = deque()
        self._read = 0
        # The ordinals at which the latest messages begin, without repeated messages.
        self._latest: deque[int] = deque([-1], maxlen=repeat_distance + 1)

    def passing(self, batches: Iterable[EventBatch]) -> Iterator[EventBatch]:
        """Yield the events of the partition unchanged, and keep them until they are encoded.

        :param batches: with at least the columns of events in ``CARRIED``.
        """
        for batch in batches:
            if (own := _of_partition(batch)).num_rows:
                self._held.append((self._read, own))
                self._read += own.num_rows
            yield batch

    def at_offsets(self, offsets: EventOffsetBatch) -> Iterator[CarriedBatch]:
        """Yield the events of the next messages (shape ``CARRIED``), in the order of the messages.

        :param offsets: their positions (shape ``EVENT_OFFSETS``).

        >>> from ticdc_producer.model.shapes import EVENT_OFFSETS
        >>> pending = PendingEvents()
        >>> events = [pa.RecordBatch.from_pylist([{"commit_ts": ts}], EVENT_STREAM) for ts in (7, 8)]
        >>> _ = [*pending.passing(events)]
        >>> rows = [{"event_ordinal": ordinal, "offset": 0, "index": ordinal} for ordinal in (0, 1)]
        >>> batches = pending.at_offsets(pa.RecordBatch.from_pylist(rows, EVENT_OFFSETS))
        >>> [row["commit_ts"] for batch in batches for row in batch.to_pylist()]
        [7, 8]
        """
        ordinals = as_int64(offsets.column("event_ordinal"))
        holders = np.searchsorted([first for first, _ in self._held], ordinals, side="right") - 1
        bounds = [*np.flatnonzero(np.diff(holders, prepend=-1)).tolist(), len(ordinals)]
        for start, end in pairwise(bounds):
            first, events = self._held[int(holders[start])]
            yield at_positions(events, offsets.slice(start, end - start), first)
        self._drop(ordinals[np.flatnonzero(np.diff(as_int64(offsets.column("offset")), prepend=-1))])

    def _drop(self, begins: Numbers) -> None:
        """Drop the batches that no later message can carry.

        :param begins: the ordinals at which the messages begin. A repeated message begins below an earlier
            one.
        """
        highest = np.maximum.accumulate(np.concatenate([[self._latest[-1]], begins]))
        self._latest.extend(begins[begins > highest[:-1]][-(self._latest.maxlen or 1) :].tolist())
        while len(self._held) > 1 and self._held[1][0] <= self._latest[0]:
            self._held.popleft()


def _of_partition(events: EventBatch) -> pa.RecordBatch:
    """Return the events without the places of rows of other partitions and without damaged messages."""
    elsewhere = pc.is_in(events.column("kind"), pa.array([ROW_ELSEWHERE, DAMAGE], pa.int8()))
    return events.filter(pc.invert(elsewhere)) if pc.any(elsewhere).as_py() else events


@dataclass
class KindCount:
    """Counts of one kind of message; ``size`` in bytes of keys and values."""

    messages: int = 0
    events: int = 0
    size: int = 0


@dataclass(frozen=True)
class DeliveryStats:
    """Counts of the messages of one partition.

    :param kinds: by label of ``model.event.Kind``.
    """

    kinds: defaultdict[str, KindCount] = field(default_factory=lambda: defaultdict(KindCount))

    @property
    def messages(self) -> int:
        """Number of messages of all kinds."""
        return sum(count.messages for count in self.kinds.values())

    def counted(self, batches: Iterable[MessageBatch]) -> Iterator[MessageBatch]:
        """Pass the batches through and count them."""
        for batch in batches:
            self._count(batch)
            yield batch

    def _count(self, batch: MessageBatch) -> None:
        events, sizes = as_int64(batch.events), _lengths(batch.key) + _lengths(batch.value)
        if batch.types is None:
            self._add(Kind.ROW.label, events, sizes)
            return
        types = batch.types.dictionary_encode()
        kinds = as_int64(types.indices)
        for number, kind in enumerate(types.dictionary.to_pylist()):
            self._add(kind, events[kinds == number], sizes[kinds == number])

    def _add(self, kind: str, events: Numbers, sizes: Numbers) -> None:
        count = self.kinds[kind]
        count.messages += len(events)
        count.events += int(events.sum())
        count.size += int(sizes.sum())


def _lengths(texts: pa.Array) -> Numbers:
    lengths = pc.binary_length(texts)
    return as_int64(lengths.fill_null(0) if lengths.null_count else lengths).astype(np.int64)
