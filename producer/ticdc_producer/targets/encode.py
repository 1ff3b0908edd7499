"""Encodes the event stream of one Kafka partition in the task of an engine, and finds its events in messages.

A dry run, a folder and Kafka use the same function, so the checked messages are the messages that are sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias, TypedDict, cast

import numpy as np
import pyarrow as pa

from ticdc_producer.errors import EncodeError
from ticdc_producer.model import shapes
from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.column_functions import Numbers, flat_positions
from ticdc_producer.model.event import Message, MessageNote
from ticdc_producer.model.shapes import EventBatch, EventOffsetBatch
from ticdc_producer.protocols import registry
from ticdc_producer.protocols.arrow_text import as_int64
from ticdc_producer.protocols.base import DescribingEncoder, LastDescription
from ticdc_producer.protocols.message_batch import MessageBatch
from ticdc_producer.protocols.spec import Options
from ticdc_producer.protocols.wire_digests import WireDigests, contents
from ticdc_producer.targets import row_batches
from ticdc_producer.targets.row_batches import EncodedPart, Interleaver

Described: TypeAlias = Mapping[tuple[str, int], Mapping[int, LastDescription]]
"""By topic and partition the last message that describes each table, by table id."""
MAX_LISTED_REJECTED = 1000
"""Rejected events that a report lists; it counts all of them."""


class MessageStage(Protocol):
    """A transformation of the messages of one partition between encoder and sink.

    :ivar repeat_distance: a message is sent again at most this number of messages after its first delivery.
    """

    @property
    def repeat_distance(self) -> int: ...

    def __call__(
        self, batches: Iterable[MessageBatch], topic: str, partition: int, notes: list[MessageNote]
    ) -> Iterator[MessageBatch]:
        """Transform messages.

        :param notes: filled by this call with JSON objects that describe the changes.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodePlan:
    """The parameters with which a task encodes; small, sent with the task.

    :param skip_rejected: skip and report rows that TiCDC rejects, instead of stopping.
    :param faults: injects faults into messages.
    :param wire: computes the digests of the events; None: they are not needed.
    :param partition_keys: whether the keys of row messages are dispatch keys, as those of Pulsar are.
    :param key_updates: counts the updates of a batch that change a key; None: they are not counted.
    :param described: the last descriptions of tables before these events, which are a slice of a stream;
        None: they are a whole stream.
    """

    protocol: str
    options: Options
    catalog: Catalog
    skip_rejected: bool = False
    faults: MessageStage | None = None
    wire: WireDigests | None = None
    partition_keys: bool = False
    key_updates: Callable[[pa.RecordBatch], int] | None = None
    described: Described | None = None

    @property
    def describes_in_first(self) -> bool:
        """Whether messages of partition 0 that describe tables follow from the rows of all partitions."""
        return registry.protocol_spec(self.protocol).describes_in_first(self.options)

    @property
    def claim_storage(self) -> str:
        """URI of the claim-check storage; empty without claim-check."""
        claimed = self.options.get("large_message_handle_option") == "claim-check"
        return str(self.options["claim_check_storage_uri"]) if claimed else ""


class Rejection(TypedDict):
    """An event that TiCDC's encoder rejects, as reports list it.

    :ivar event: number of the event in its partition.
    """

    error: str
    code: str
    table: str
    commit_ts: int
    event: int


def rejection(ordinal: int, error: EncodeError) -> Rejection:
    """Return an event that TiCDC's encoder rejects, for reports.

    :param ordinal: number of the event in its partition.
    """
    return Rejection(
        error=error.what, code=error.code, table=error.table, commit_ts=error.commit_ts, event=ordinal
    )


class PartitionEncoder:
    """The encoder of one Kafka partition.

    :ivar rejected: rows that were skipped because TiCDC would not send them, by event ordinal in the
        partition.
    :ivar handle_key_only: event ordinals of the rows that were too large and are sent with their handle key
        only.
    :ivar large_rows: number of the rows that were too large, with those that are in the claim-check storage.
    :ivar faults: notes of the plan's ``faults``.
    :ivar described: the last descriptions of tables, if the plan has those of earlier events.
    """

    def __init__(self, plan: EncodePlan, topic: str = "", partition: int = 0) -> None:
        self._plan, self._topic, self._partition = plan, topic, partition
        self.rejected: dict[int, EncodeError] = {}
        self.handle_key_only: list[int] = []
        self.large_rows = 0
        self.faults: list[MessageNote] = []
        self.described: Mapping[int, LastDescription] = {}
        self._events = 0

    def messages(self, batches: Iterable[EventBatch]) -> Iterator[Message]:
        """Yield the messages in delivery order, independent of the size of the Arrow batches.

        :param batches: events of the partition in delivery order, with the columns of ``EVENTS_ARROW``.
        :raises EncodeError: for a row that TiCDC rejects, unless such rows are skipped.
        """
        for batch in self.batches(batches):
            yield from batch.messages()

    def batches(self, batches: Iterable[EventBatch]) -> Iterator[MessageBatch]:
        """Yield ``messages`` as batches, of the same events (``EVENTS_ARROW``)."""
        if self._plan.faults is None:
            return self._encoded(batches)
        return self._plan.faults(self._encoded(batches), self._topic, self._partition, self.faults)

    def _encoded(self, batches: Iterable[EventBatch]) -> Iterator[MessageBatch]:
        encoder = registry.encoder(self._plan.protocol, self._plan.options)
        if self._plan.described is not None and isinstance(encoder, DescribingEncoder):
            encoder.described.update(self._plan.described.get((self._topic, self._partition), {}))
            self.described = encoder.described
        describes = self._plan.describes_in_first and self._partition == 0
        describer = cast("DescribingEncoder", encoder) if describes else None
        catalog = self._plan.catalog
        bounded = (part for batch in batches for part in row_batches.bounded_batches(batch, catalog))
        encoded = (row_batches.encoded(part, encoder, catalog, describer) for part in bounded)
        parts = map(self._without_rejected, encoded)
        for first in parts:
            interleaver = Interleaver(encoder, partition_keys=self._plan.partition_keys)
            yield from interleaver.batches(_until_barrier(first, parts))

    def _without_rejected(self, part: EncodedPart) -> EncodedPart:
        """Remove rejected rows if they are to be skipped, and record them."""
        start, self._events = self._events, self._events + len(part)
        if part.rows is None or not part.rows.statuses:
            return part
        rejected = dict(part.rows.rejected()) if self._plan.skip_rejected else {}
        events_before = part.events_before
        for row, status in sorted(part.rows.statuses.items()):
            event = start + row + int(events_before[row])
            if row in rejected:
                self.rejected[event] = rejected[row]
                continue
            self.large_rows += status.handle_key_only or status.claim is not None
            if status.handle_key_only:
                self.handle_key_only.append(event)
        return part.without(list(rejected)) if rejected else part


def _until_barrier(first: EncodedPart, parts: Iterator[EncodedPart]) -> Iterator[EncodedPart]:
    """Yield parts up to one after which no row can share a message with an earlier row."""
    part: EncodedPart | None = first
    while part is not None:
        yield part
        part = None if part.ends_with_barrier else next(parts, None)


class PartitionEventOffsets:
    """The offsets and indexes of the events of one partition.

    :param encoder: its records of rejected and large events and of faults are complete for all messages
        that it has returned so far.
    :param wire: computes the digests of the events; None: they are 0.
    """

    def __init__(self, encoder: PartitionEncoder, wire: WireDigests | None = None) -> None:
        self._encoder, self._wire = encoder, wire
        self._offset = self._sent = self._notes_read = 0

    def event_offsets(self, batch: MessageBatch) -> EventOffsetBatch:
        """Return one row per event of the next messages.

        :return: shape ``EVENT_OFFSETS``, in the order of the messages; offsets begin with 0.

        >>> from ticdc_producer.model.catalog import Catalog
        >>> from ticdc_producer.model.event import Message
        >>> from ticdc_producer.protocols.message_batch import from_messages
        >>> plan = EncodePlan(protocol="open-protocol", options={}, catalog=Catalog(()))
        >>> offsets = PartitionEventOffsets(PartitionEncoder(plan))
        >>> messages = [Message(b"", b"", "row", 1, events=count) for count in (2, 1)]
        >>> rows = offsets.event_offsets(from_messages(messages))
        >>> rows.select(["event_ordinal", "offset", "index"]).to_pydict()
        {'event_ordinal': [0, 1, 2], 'offset': [0, 0, 1], 'index': [0, 1, 0]}
        """
        counts = as_int64(batch.events).astype(np.int64)
        first = self._first_of_each(counts)
        index = flat_positions(np.zeros_like(counts), counts)
        rejected = np.fromiter(self._encoder.rejected, np.int64)
        event = _among_all(flat_positions(first, counts), rejected)
        offset = np.repeat(np.arange(self._offset, self._offset + len(counts)), counts)
        self._offset += len(counts)
        self._sent = int(first[-1] + counts[-1]) if len(counts) else self._sent
        large = np.isin(event, np.array(self._encoder.handle_key_only, np.int64))
        wire = np.zeros(len(event), np.int64)
        if self._wire is not None:
            keys, values = [*batch.keys()], batch.value.to_pylist()
            wire = self._wire.of_messages(
                keys, values, counts.tolist(), contents(batch.claims), batch.headers
            )
        columns = event, offset, index.astype(np.int32), large, wire
        rows: EventOffsetBatch = pa.record_batch([*map(pa.array, columns)], schema=shapes.EVENT_OFFSETS)
        return rows

    def _first_of_each(self, counts: Numbers) -> Numbers:
        """Return the ordinal, among the sent events, of each message's first event.

        Messages of 2, 3 and 1 events begin at 0, 2 and 5. A fault that lost the message of event 2 makes them
        jump: they begin at 0, 3 and 6.
        """
        first = self._sent + counts.cumsum() - counts
        for jump in self._jumps():
            at = jump["offset"] - self._offset
            first[at:] += jump["event_ordinal"] - first[at]
        return first

    def _jumps(self) -> Iterator[MessageNote]:
        """Yield the records of faults in the latest messages that make event ordinals jump."""
        notes, self._notes_read = self._encoder.faults[self._notes_read :], len(self._encoder.faults)
        return (note for note in notes if "event_ordinal" in note)


def _among_all(sent: Numbers, rejected: Numbers) -> Numbers:
    """Convert ordinals among the sent events to ordinals among all events.

    >>> _among_all(np.array([0, 1, 2]), rejected=np.array([1, 2])).tolist()
    [0, 3, 4]
    """
    return sent + np.searchsorted(rejected - np.arange(len(rejected)), sent, side="right")
