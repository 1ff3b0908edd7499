"""Encodes an event stream in one pass: its messages, the events that they carry, and notes about them.

All of it comes from one function on the events, as *entries* of one DataFrame, so that it can be stored and
then read in parts. The entries are deterministic: a task that runs again makes the same ones.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Protocol

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from ticdc_producer.errors import EncodeError
from ticdc_producer.model import tso
from ticdc_producer.model.shapes import CARRIED, MESSAGES, BatchFunction
from ticdc_producer.protocols.message_batch import MessageBatch
from ticdc_producer.targets.encoding.encode import (
    MAX_LISTED_REFUSED,
    EncodePlan,
    PartitionEncoder,
    rejection,
)
from ticdc_producer.targets.encoding.encode_partition import PartitionEventOffsets
from ticdc_producer.targets.encoding.message_rows import CarriedEvents, MessageRows, chunks
from ticdc_producer.targets.encoding.ordered_events import OrderedEvents, split_by_partition
from ticdc_producer.targets.encoding.row_batches import NEEDED
from ticdc_producer.targets.kafka.delivery_stats import DeliveryStats

COUNTS = "counts"
"""``type`` of the entry with the counts of a partition. Its value has, as JSON, ``kinds`` (number of messages
and of events, and bytes, by kind of message), ``rejected``, the number of events that TiCDC would not send,
and ``rejected_tables``."""

REFUSED = "refused"
"""``type`` of the entry of an event that TiCDC would not send; its value has, as JSON, the reason and the
event's ordinal in the partition, which is also its ``offset``. A partition has an entry for at most its first
``MAX_LISTED_REFUSED`` events of this kind."""

FAULT = "fault"
"""``type`` of the entry of a fault; its value has the fault as JSON."""

CLAIM = "claim"
"""``type`` of the entry of a claim-check object, before the message that names it, with its offset. Key and
value are the name and the content."""

EVENT = "event"
"""``type`` of the entry of an event and the position of the message that carries it."""

NOT_MESSAGES = (COUNTS, REFUSED, FAULT, CLAIM, EVENT)
"""Types of the entries that are not messages."""

_POSITIONED = ("topic", "partition", "offset", "commit_ts")
"""Columns of the shape ``CARRIED`` that every entry has."""

ENCODED = pa.schema(
    [
        *MESSAGES,
        ("commit_ts", pa.int64()),
        ("event", pa.struct([field for field in CARRIED if field.name not in _POSITIONED])),
    ]
)
"""The entries of an encoded stream. ``event`` is absent if no events are wanted."""

_FAULT_COLUMNS = ("fault", "restart_epoch")


class FaultLog(Protocol):
    """Collects the faults of one partition while its events pass."""

    def sent(self, faulted_events: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The events without those that faults removed.

        :param faulted_events: events of the partition in delivery order, with ``NEEDED``, ``fault`` and
            ``restart_epoch``.
        :return: the same columns and order.
        """

    def carried(self, offsets: pa.RecordBatch) -> None:
        """Record which messages carry the events that passed (shape ``EVENT_OFFSETS``)."""

    def occurrences(self, message_faults: Iterable[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
        """The faults of the partition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is wanted of an encoded stream besides counts and rejected events.

    :param messages: the messages and their claim-check objects.
    :param events: the events that messages carry, with their positions.
    :param fault_log: makes the log of a partition's faults; None: faults are not wanted.
    """

    messages: bool = False
    events: bool = False
    fault_log: Callable[[str, int], FaultLog] | None = None


def encoded_stream(events: OrderedEvents, plan: EncodePlan, wanted: Wanted) -> DataFrame:
    """The entries of an event stream (shape ``ENCODED``), in delivery order in each partition.

    Each evaluation encodes all events.

    :param events: the ordered event stream; the events of each Kafka partition are contiguous. With a fault
        log it includes the events that faults removed.
    """
    schema = ENCODED if wanted.events else pa.schema([field for field in ENCODED if field.name != "event"])

    def encode(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for (topic, partition), events in split_by_partition(batches):
            yield from chunks(_PartitionEntries(plan, wanted, schema, topic, partition).of(events))

    columns = NEEDED if wanted.fault_log is None else (*NEEDED, *_FAULT_COLUMNS)
    return events.mapped(encode, from_arrow_schema(schema), columns)


def carried_events(
    events: OrderedEvents, plan: EncodePlan, function: BatchFunction, schema: StructType | str
) -> DataFrame:
    """The result of a function that is called with the events that the messages of each partition carry.

    :param events: as for ``encoded_stream``, without events that faults removed.
    :param function: gets the events of a partition (shape ``CARRIED``), in the order of the messages. Events
        that it leaves unread are not encoded.
    :param schema: that of the result.
    """
    wanted = Wanted(events=True)

    def carried(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        partitions = (
            _PartitionEntries(plan, wanted, ENCODED, *partition).carried(events)
            for partition, events in split_by_partition(batches)
        )
        return function(chain.from_iterable(partitions))

    return events.mapped(carried, schema, NEEDED)


def messages_of(entries: DataFrame) -> DataFrame:
    """The messages among the entries of an encoded stream (shape ``MESSAGES``)."""
    return entries.where(~F.col("type").isin(*NOT_MESSAGES)).select(*MESSAGES.names)


class _PartitionEntries:
    """Makes the entries of one partition."""

    def __init__(
        self, plan: EncodePlan, wanted: Wanted, schema: pa.Schema, topic: str, partition: int
    ) -> None:
        self._wanted, self._schema = wanted, schema
        self._topic, self._partition = topic, partition
        self._encoder = PartitionEncoder(plan, topic, partition)
        self._offsets = PartitionEventOffsets(topic, partition, self._encoder)
        self._messages = MessageRows(topic, partition)
        self._carried = CarriedEvents(plan.faults.repeat_distance if plan.faults else 0)
        self._faults = wanted.fault_log(topic, partition) if wanted.fault_log else None
        self._stats = DeliveryStats()

    def of(self, events: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if self._faults is not None:
            events = self._faults.sent(events)
        if self._wanted.events:
            events = self._carried.passing(events)
        for batch in self._stats.counted(self._encoder.batches(events)):
            if self._wanted.messages:
                yield from self._of_messages(batch)
            if self._faults is not None or self._wanted.events:
                yield from self._of_events(batch)
        yield self._notes()

    def carried(self, events: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The events that the messages carry (shape ``CARRIED``), without entries."""
        for batch in self._encoder.batches(self._carried.passing(events)):
            yield from self._carried.carried(self._offsets.carried(batch))

    def _of_messages(self, batch: MessageBatch) -> Iterator[pa.RecordBatch]:
        messages = self._messages.with_offsets(batch)
        offsets = messages.column("offset")
        claims = [
            {"offset": offsets[index].as_py(), "type": CLAIM, "key": one.name.encode(), "value": one.content}
            for index, objects in sorted(batch.claims.items())
            for one in objects
        ]
        if claims:
            yield self._note_rows(claims)
        yield self._entries({**_columns(messages), "commit_ts": batch.commit_ts}, len(batch))

    def _of_events(self, batch: MessageBatch) -> Iterator[pa.RecordBatch]:
        offsets = self._offsets.carried(batch)
        if self._faults is not None:
            self._faults.carried(offsets)
        if not self._wanted.events:
            return
        for carried in self._carried.carried(offsets):
            columns = {name: carried.column(name) for name in _POSITIONED}
            fields = list(ENCODED.field("event").type)
            event = pa.StructArray.from_arrays([carried.column(one.name) for one in fields], fields=fields)
            kind = pa.repeat(EVENT, carried.num_rows)
            yield self._entries({**columns, "type": kind, "event": event}, carried.num_rows)

    def _notes(self) -> pa.RecordBatch:
        kinds = {kind: (one.messages, one.events, one.size) for kind, one in self._stats.kinds.items()}
        rejected = self._encoder.rejected
        tables = sorted({error.table for error in rejected.values()})
        counts = {"kinds": kinds, "rejected": len(rejected), "rejected_tables": tables}
        notes = [{"type": COUNTS, "value": json.dumps(counts).encode()}]
        notes += [_refusal(*refused) for refused in _earliest(rejected)]
        if self._faults is not None:
            of_messages = [note for note in self._encoder.faults if "trap" in note]
            found = self._faults.occurrences(of_messages)
            notes += [{"type": FAULT, "value": json.dumps(fault).encode()} for fault in found]
        return self._note_rows(notes)

    def _note_rows(self, notes: Sequence[Mapping[str, Any]]) -> pa.RecordBatch:
        of_partition = {"topic": self._topic, "partition": self._partition}
        return pa.RecordBatch.from_pylist([{**of_partition, **note} for note in notes], schema=self._schema)

    def _entries(self, columns: Mapping[str, pa.Array], rows: int) -> pa.RecordBatch:
        found = [
            columns[field.name].cast(field.type) if field.name in columns else pa.nulls(rows, field.type)
            for field in self._schema
        ]
        return pa.record_batch(found, schema=self._schema)


def _columns(batch: pa.RecordBatch) -> dict[str, pa.Array]:
    return dict(zip(batch.schema.names, batch.columns, strict=True))


def _earliest(rejected: Mapping[int, EncodeError]) -> list[tuple[int, EncodeError]]:
    """The first rejected events of a partition that a report may list, by time and ordinal."""

    def key(one: tuple[int, EncodeError]) -> tuple[int, int]:
        return tso.physical(one[1].commit_ts), one[0]

    return sorted(rejected.items(), key=key)[:MAX_LISTED_REFUSED]


def _refusal(ordinal: int, error: EncodeError) -> dict[str, Any]:
    return {
        "type": REFUSED,
        "offset": ordinal,
        "timestamp": tso.physical(error.commit_ts),
        "value": json.dumps(rejection(ordinal, error)).encode(),
    }
